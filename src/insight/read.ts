/** Reads what was added to a journal file since the last time, in bounded memory. */
import { close, FLAGS, fstat, read } from "../native/disk.ts";
import { hashOf, openRegular } from "../store/files.ts";

/** as much as stays in the processor's cache until its lines are read */
const CHUNK = 256 * 1024;
const LONGEST_LINE = 64 * 1024 * 1024;
const TAIL = 256;
const NEWLINE = 10;

/** How far a file was read: up to the end of a line, and what stood before it, to know the file again. */
export interface Place {
  inode: number;
  offset: number;
  /** inside of a line that is too long to matter */
  skipping: boolean;
  /** a hash of the bytes before the offset: the text itself is nobody's business */
  tail: string;
}

export const nowhere = (inode: number): Place => ({ inode, offset: 0, skipping: false, tail: "" });

export interface Lines {
  /** `bytes` is used again after the call */
  take: (bytes: Buffer, from: number, to: number) => void;
  skipped: () => void;
  /** asked now and then: what is left is read the next time */
  isEnough: () => boolean;
}

/** null: it is not the file that was read before. A last line without an end is left for the next time. `to`: no further. */
export function readOn(path: string, place: Place, lines: Lines, to = Number.POSITIVE_INFINITY): Place | null {
  const fd = openRegular(path, FLAGS.O_RDONLY);
  try {
    const { ino, size } = fstat(fd);
    if (ino !== place.inode || !isSame(fd, place)) return null;
    return size === place.offset ? place : readLines(fd, place, lines, to);
  } finally {
    close(fd);
  }
}

const isSame = (fd: number, { offset, tail }: Place) => offset === 0 || tailAt(fd, offset) === tail;

const tailAt = (fd: number, offset: number) =>
  hashOf(bytesAt(fd, Math.max(0, offset - TAIL), Math.min(TAIL, offset))).slice(0, 32);

function bytesAt(fd: number, from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let used = 0;
  for (let got = -1; got !== 0 && used < length; used += got) got = read(fd, bytes, used, length - used, from + used);
  return bytes.subarray(0, used);
}

/** The first end of a line from there on. null: none that is near. */
export function lineEndAfter(path: string, { inode }: Place, from: number): Place | null {
  const fd = openRegular(path, FLAGS.O_RDONLY);
  try {
    const at = bytesAt(fd, from, CHUNK).indexOf(NEWLINE);
    const offset = from + at + 1;
    return at === -1 ? null : { inode, offset, skipping: false, tail: tailAt(fd, offset) };
  } finally {
    close(fd);
  }
}

let spare: Buffer | null = null;

function readLines(fd: number, place: Place, lines: Lines, to: number): Place {
  let buffer = spare ?? Buffer.allocUnsafe(CHUNK);
  spare = null;
  let { offset, skipping } = place;
  let held = 0;
  for (;;) {
    const room = Math.min(buffer.length, to - offset) - held;
    const got = room === 0 ? 0 : read(fd, buffer, held, room, offset + held);
    if (got === 0) break;
    const filled = held + got;
    const { used, skips } = takeFrom(buffer, held, filled, skipping, lines);
    skipping = skips;
    offset += used;
    held = filled - used;
    if (used > 0) buffer.copyWithin(0, used, filled);
    if (used > 0 && lines.isEnough()) break;
    if (held < buffer.length) continue;
    if (buffer.length < LONGEST_LINE) buffer = larger(buffer);
    else {
      if (!skipping) lines.skipped();
      skipping = true;
      offset += held;
      held = 0;
    }
  }
  if (buffer.length === CHUNK) spare = buffer;
  return { inode: place.inode, offset, skipping, tail: tailAt(fd, offset) };
}

/** Lines that are at hand, the last one with its end. */
export const takeLines = (buffer: Buffer, lines: Lines): void => void takeFrom(buffer, 0, buffer.length, false, lines);

/** Up to the last end of a line. Before `held` there is none. */
function takeFrom(buffer: Buffer, held: number, filled: number, skipping: boolean, { take }: Lines) {
  const bytes = buffer.subarray(0, filled);
  let from = 0;
  let skips = skipping;
  for (let end = bytes.indexOf(NEWLINE, held); end !== -1; end = bytes.indexOf(NEWLINE, from)) {
    if (!skips && end > from) take(buffer, from, end);
    skips = false;
    from = end + 1;
    // Every commit begins with an empty line.
    while (bytes[from] === NEWLINE) from++;
  }
  return { used: from, skips };
}

function larger(buffer: Buffer): Buffer {
  const more = Buffer.allocUnsafe(Math.min(buffer.length * 4, LONGEST_LINE));
  buffer.copy(more);
  return more;
}
