/** Reads a growing file of lines from its end. What it costs depends on how far back one looks, not on the file. */

import type { Fact } from "../../kernel/types/run.ts";
import * as disk from "../../native/disk.ts";
import { errorCode, messageOf } from "../../store/files.ts";

const FIRST_WINDOW = 64 * 1024;
/** what is read at once when one looks far back: never more than has been read already */
const FAR_WINDOW = 1024 * 1024;
const WIDEST_WINDOW = 16 * 1024 * 1024;
/** nothing that is longer can matter */
const LONGEST_LINE = 64 * 1024 * 1024;
const NEWLINE = 10;
const POLL_MS = 10;

type OpenedFile = { fd: number; size: number } | { why: string; missing: boolean };

/**
 * Reads until `enough`, again whenever the file has grown, for at most waitMs.
 * A missing file may still come; anything but a regular file never will be one.
 */
export function pollFile<T>(
  path: string,
  waitMs: number,
  read: (fd: number, size: number) => T,
  enough: (value: T) => boolean,
): Fact<T> {
  const deadline = performance.now() + waitMs;
  let seen = -1;
  let found: Fact<T> = { ok: false, why: "not read" };
  for (;;) {
    const file = openRegular(path);
    if ("fd" in file && file.size !== seen) found = readAndClose(file, read);
    else if ("fd" in file) disk.close(file.fd);
    else if (!file.missing) return { ok: false, why: file.why };
    else found = { ok: false, why: file.why };
    if ("fd" in file) seen = file.size;
    if (found.ok && enough(found.value)) return found;
    if (performance.now() >= deadline) return found;
    Bun.sleepSync(POLL_MS);
  }
}

/** O_NONBLOCK: opening a FIFO that no one writes to must not hang the hook. */
export function openRegular(path: string): OpenedFile {
  try {
    const fd = disk.open(path, disk.FLAGS.O_RDONLY | disk.FLAGS.O_NONBLOCK);
    const stat = disk.fstat(fd);
    if (stat.isFile()) return { fd, size: stat.size };
    disk.close(fd);
    return { why: "not a regular file", missing: false };
  } catch (error) {
    return { why: messageOf(error), missing: errorCode(error) === "ENOENT" };
  }
}

function readAndClose<T>(file: { fd: number; size: number }, read: (fd: number, size: number) => T): Fact<T> {
  try {
    return { ok: true, value: read(file.fd, file.size) };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  } finally {
    disk.close(file.fd);
  }
}

/** Lines, the last one first, at most `reach` bytes back; every byte is read once. */
export function* linesFromEnd(fd: number, size: number, reach: number): Generator<Buffer> {
  for (const { lines } of piecesFromEnd(fd, size, reach)) yield* lines;
}

interface Piece {
  lines: Buffer[];
  /** how far back it has been read */
  start: number;
}

/**
 * The same, all lines of one read at a time: for many lines that is much cheaper. The window widens while no line break
 * turns up, so a long line takes few reads and one copy.
 */
export function* piecesFromEnd(fd: number, size: number, reach: number): Generator<Piece> {
  const floor = Math.max(0, size - reach);
  let end = size;
  let usual = FIRST_WINDOW;
  let window = usual;
  /** of the line that begins further back; null: it is too long already */
  let open: Buffer[] | null = [];
  while (end > floor) {
    const start = Math.max(floor, end - window);
    const chunk = readRange(fd, start, end - start);
    end = start;
    const first = chunk.lastIndexOf(NEWLINE);
    if (first < 0) {
      const held: number = (open ?? []).reduce((sum, { length }) => sum + length, 0);
      open = open !== null && held < LONGEST_LINE ? [chunk, ...open] : null;
      window = Math.min(window * 4, WIDEST_WINDOW);
      yield { lines: [], start };
      continue;
    }
    const lines = open === null ? [] : [Buffer.concat([chunk.subarray(first + 1), ...open])];
    open = [chunk.subarray(0, takeInnerLines(chunk, first, lines))];
    yield { lines, start };
    window = usual = Math.min(size - start, usual * 2, FAR_WINDOW);
  }
  if (floor === 0 && open !== null) yield { lines: [Buffer.concat(open)], start: 0 };
}

/** The lines that begin and end inside the chunk, before `end`; gives back where the open one ends. */
function takeInnerLines(chunk: Buffer, end: number, lines: Buffer[]): number {
  let stop = end;
  while (stop > 0) {
    const newline = chunk.lastIndexOf(NEWLINE, stop - 1);
    if (newline < 0) break;
    lines.push(chunk.subarray(newline + 1, stop));
    stop = newline;
  }
  return stop;
}

function readRange(fd: number, start: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const read = disk.read(fd, buffer, filled, length - filled, start + filled);
    if (read === 0) throw new Error("the file shrank while it was read");
    filled += read;
  }
  return buffer;
}
