/** What is added to a file that another process writes, cuts and puts aside (see output.ts). */
import { closeSync, constants, fstatSync, readSync, statSync } from "node:fs";
import { openRegular } from "../store/files.ts";

export interface Tail {
  /** what came since; of much, the newest part, from the beginning of a line */
  read(): Uint8Array[];
  /** from the beginning again: the file is about something else now */
  restart(): void;
  close(): void;
}

const MOST_BYTES = 128 << 10;
const NEWLINE = 10;
const NOTHING = new Uint8Array(0);

export function openTail(path: string): Tail {
  let fd = -1;
  let at = 0;
  let torn = false;
  const leave = () => {
    if (fd >= 0) closeSync(fd);
    fd = -1;
    at = 0;
    torn = false;
  };
  const newest = (): Uint8Array => {
    const { size } = fstatSync(fd);
    // Cut by the next iteration.
    if (size < at) at = 0;
    const from = Math.max(at, size - MOST_BYTES);
    torn ||= from > at;
    const bytes = readAt(fd, from);
    at = from + bytes.length;
    const line = torn ? bytes.indexOf(NEWLINE) + 1 : 0;
    if (torn && line === 0) return NOTHING;
    torn = false;
    return bytes.subarray(line);
  };
  const read = () => {
    if (fd < 0) fd = openOrNone(path);
    if (fd < 0) return [];
    const old = newest();
    if (fstatSync(fd).ino === inodeOf(path)) return [old];
    // It was put aside: what is open here is the rest of it, and a new one is in its place.
    leave();
    fd = openOrNone(path);
    return fd < 0 ? [old] : [old, newest()];
  };
  return { read, restart: leave, close: leave };
}

function readAt(fd: number, from: number): Uint8Array {
  const buffer = new Uint8Array(MOST_BYTES);
  let used = 0;
  for (let got = -1; got !== 0 && used < MOST_BYTES; used += got) {
    got = readSync(fd, buffer, used, MOST_BYTES - used, from + used);
  }
  return buffer.subarray(0, used);
}

function openOrNone(path: string): number {
  try {
    return openRegular(path, constants.O_RDONLY);
  } catch {
    return -1;
  }
}

function inodeOf(path: string): number {
  try {
    return statSync(path).ino;
  } catch {
    return -1;
  }
}
