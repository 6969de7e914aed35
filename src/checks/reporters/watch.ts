/**
 * Follows the report files while the command runs. What was read once counts, whatever the tested code does to the
 * files afterwards; a file that shrank or went away is said to be flawed.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { join } from "../../store/names.ts";
import { type ProcessReport, parseReport } from "../core/named.ts";
import type { Pipe } from "./bun.ts";

const LOOK_EVERY_MS = 50;
const LARGEST_REPORT = 64 << 20;

interface Followed {
  fd: number;
  parts: Buffer[];
  size: number;
  flaw?: string;
}

export interface Watching {
  /** looks once more */
  read(): ProcessReport[];
  close(): void;
}

export function watchReports(folder: string, pipe: Pipe): Watching {
  const files = new Map<string, Followed>();
  const look = () => {
    for (const name of attempt(() => readdirSync(folder), [])) if (!files.has(name)) follow(folder, name, files);
    for (const file of files.values()) readOn(file);
    pipe.drain();
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return {
    read() {
      look();
      return [...files].sort(byTime).map(([, file]) => toReport(file));
    },
    close() {
      clearInterval(timer);
      pipe.close();
      for (const { fd } of files.values()) attempt(() => closeSync(fd), undefined);
    },
  };
}

/** A link or a pipe that was put there is no report. */
function follow(folder: string, name: string, files: Map<string, Followed>): void {
  if (!name.endsWith(".ndjson")) return;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const fd = attempt(() => openSync(join(folder, name), flags), null);
  if (fd !== null && fstatSync(fd).isFile()) files.set(name, { fd, parts: [], size: 0 });
}

function readOn(file: Followed): void {
  const { size, nlink } = fstatSync(file.fd);
  if (size < file.size || nlink === 0) file.flaw = "a report was changed while the command ran";
  if (size > LARGEST_REPORT) file.flaw = "a report is too large";
  const length = Math.min(size, LARGEST_REPORT) - file.size;
  if (length <= 0) return;
  const bytes = Buffer.alloc(length);
  const count = readSync(file.fd, bytes, 0, length, file.size);
  file.parts.push(bytes.subarray(0, count));
  file.size += count;
}

function toReport({ parts, flaw }: Followed): ProcessReport {
  const report = parseReport(Buffer.concat(parts).toString("utf8"));
  return flaw === undefined ? report : { ...report, flaw };
}

/** The microseconds at the end of the name. */
const timeOf = (name: string) => Number(/(\d+)\.ndjson$/.exec(name)?.[1] ?? 0);
const byTime = ([a]: [string, Followed], [b]: [string, Followed]) => timeOf(a) - timeOf(b) || (a < b ? -1 : 1);
