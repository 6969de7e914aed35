/** Preloaded into a child process: makes the k-th call that changes (or opens) something fail. */
import { mock } from "bun:test";
import { join } from "node:path";
import * as disk from "../../src/store/disk.ts";

type Call = (...args: never[]) => unknown;
export interface Faults {
  kind: string;
  at: number;
  count: number;
  /** what the failed call was */
  hit: string;
}

const faults: Faults = { kind: process.env.FAULT_KIND ?? "", at: Number(process.env.FAULT_AT ?? 0), count: 0, hit: "" };
Object.assign(globalThis, { faults });

const watched = ["open", "write", "fsync", "link", "rename", "mkdir", "unlink", "unlinkIfThere"] as const;
/** Syncing cannot be seen from outside short of a power cut, and takes most of the time. */
const real: Record<string, unknown> = { ...disk, fsync: () => undefined };

function failing(name: string): Call {
  const call = real[name] as Call;
  return (...args) => {
    if (++faults.count !== faults.at) return call(...args);
    faults.hit = name === "unlinkIfThere" ? "unlink" : name;
    if (faults.kind === "before") process.exit(9);
    if (faults.kind === "short" && name === "write") return call(...halved(args));
    if (faults.kind.startsWith("E")) {
      throw Object.assign(new Error(`${faults.kind}: injected, ${name}`), { code: faults.kind });
    }
    try {
      return call(...args);
    } finally {
      if (faults.kind === "after") process.exit(9);
    }
  };
}

function halved(args: never[]): never[] {
  const [fd, bytes, from, length] = args as unknown as [number, Uint8Array, number, number];
  return [fd, bytes, from, Math.ceil(length / 2)] as unknown as never[];
}

const replaced = Object.fromEntries(watched.map((name) => [name, failing(name)]));
mock.module(join(import.meta.dir, "../../src/store/disk.ts"), () => ({ ...real, ...replaced }));
