/**
 * Bun: it writes JUnit's XML at its end, out of the tests' reach until then, and a file of ours says when it starts. All
 * processes write into one pipe: into a file, each would overwrite what the one before it wrote.
 */
import { closeSync, constants, existsSync, openSync, readFileSync, readSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { join } from "../../store/names.ts";
import { readBunPipe } from "../core/bun-report.ts";
import { type Family, isPlain, readFresh } from "./family.ts";
import preload from "./hooks/bun.cjs" with { type: "text" };

const PIPE = "bun.pipe";

export const bun: Family = {
  // The compiler takes it for a module; with `type: "text"` it is what the file says.
  hooks: { "bun.cjs": preload as unknown as string },
  env({ hooks, reports }, { BUN_OPTIONS = "" }) {
    const pipe = join(reports, PIPE);
    if (!isPlain(pipe) || !existsSync(pipe)) return {};
    const ours = `--preload=${hooks}/bun.cjs --reporter=junit --reporter-outfile=${pipe}`;
    return { BUN_OPTIONS: `${ours} ${BUN_OPTIONS}`.trim() };
  },
  read: (place) =>
    readBunPipe(place.piped(), {
      read: (path) => attempt(() => readFileSync(path, "utf8"), null),
      readReport: (path) => readFresh(place, path),
    }),
};

export interface Pipe {
  /** takes out what is in it: a writer waits where it is full */
  drain(): void;
  text(): string;
  close(): void;
}

const LARGEST = 64 << 20;

/** Kept open for both directions: without a reader, a process would wait at its end. */
export function openPipe(reports: string): Pipe {
  const path = join(reports, PIPE);
  const isMade = attempt(() => Bun.spawnSync(["mkfifo", "-m", "600", path]).success, false);
  const fd = isMade ? attempt(() => openSync(path, constants.O_RDWR | constants.O_NONBLOCK), null) : null;
  const parts: Buffer[] = [];
  const bytes = Buffer.alloc(64 << 10);
  let size = 0;
  const drain = () => {
    for (let count = 1; fd !== null && count > 0; size += count) {
      count = attempt(() => readSync(fd, bytes), 0);
      if (size < LARGEST) parts.push(Buffer.from(bytes.subarray(0, count)));
    }
  };
  return {
    drain,
    text: () => Buffer.concat(parts).toString("utf8"),
    close: () => attempt(() => fd !== null && closeSync(fd), undefined),
  };
}
