/** Preloaded into a child process: makes the k-th call that changes (or opens) something fail. */
import { mock } from "bun:test";
import * as fs from "node:fs";
import { join } from "node:path";
import * as disk from "../../src/native/disk.ts";

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

const watched = ["open", "write", "fsync", "link", "rename", "mkdir", "unlink"];

function failing(name: string, call: Call): Call {
  return (...args) => {
    if (++faults.count !== faults.at) return call(...args);
    faults.hit = name;
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

/** Syncing cannot be seen from outside short of a power cut, and takes most of the time. */
const quick = (name: string, call: Call): Call => (name === "fsync" ? () => undefined : call);

/** `suffix`: what the module's own names have in addition. */
function replaced(module: Record<string, unknown>, suffixes: string[]): Record<string, unknown> {
  const calls = watched.flatMap((name) => suffixes.map((suffix) => [name, `${name}${suffix}`] as const));
  const there = calls.filter(([, own]) => typeof module[own] === "function");
  return Object.fromEntries(there.map(([name, own]) => [own, failing(name, quick(name, module[own] as Call))]));
}

// The store goes to the disk through its own module, what installs through node:fs.
const ofStore = { ...disk, ...replaced(disk, ["", "IfThere"]) };
const ofNode = { ...fs, ...replaced(fs as never, ["Sync"]) };
mock.module(join(import.meta.dir, "../../src/native/disk.ts"), () => ofStore);
mock.module("node:fs", () => ({ ...ofNode, default: ofNode }));
