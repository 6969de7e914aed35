/** Reads what was added to a journal file since the last time, in bounded memory. */
import { attempt } from "../kernel/attempt.ts";
import { close, FLAGS, fstat, read } from "../native/disk.ts";
import { hashOf, openRegular } from "../store/files.ts";

const CHUNK = 64 * 1024;
const LONGEST_LINE = 64 * 1024 * 1024;
const TAIL = 256;
const NEWLINE = 10;

/** How far a file was read: up to the end of a line, and what stood before it, to know the file again. */
export interface FilePosition {
  inode: number;
  offset: number;
  /** inside of a line that is too long to matter */
  skipping: boolean;
  /** a hash of the bytes before the offset: the text itself is no one's business */
  tail: string;
}

export const nowhere = (inode: number): FilePosition => ({ inode, offset: 0, skipping: false, tail: "" });

export interface LineReader {
  /** undefined: the line is not JSON */
  take: (value: unknown) => void;
  /** a line that is too long to matter */
  skip: () => void;
  /** asked after every chunk; the rest is read the next time */
  isEnough: () => boolean;
}

/** null: this is not the file that was read before. A last line without an end is left for the next time. */
export function readOn(path: string, place: FilePosition, reader: LineReader): FilePosition | null {
  const fd = openRegular(path, FLAGS.O_RDONLY);
  try {
    const { ino, size } = fstat(fd);
    if (ino !== place.inode || !isSame(fd, place)) return null;
    return size === place.offset ? place : readLines(fd, place, reader);
  } finally {
    close(fd);
  }
}

const isSame = (fd: number, { offset, tail }: FilePosition) => offset === 0 || tailAt(fd, offset) === tail;

const tailAt = (fd: number, offset: number) =>
  hashOf(bytesAt(fd, Math.max(0, offset - TAIL), Math.min(TAIL, offset))).slice(0, 32);

function bytesAt(fd: number, from: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let used = 0;
  for (let got = -1; got !== 0 && used < length; used += got) got = read(fd, bytes, used, length - used, from + used);
  return bytes.subarray(0, used);
}

function readLines(fd: number, place: FilePosition, reader: LineReader): FilePosition {
  let buffer: Buffer = Buffer.allocUnsafe(CHUNK);
  let { offset, skipping } = place;
  let held = 0;
  for (;;) {
    const got = read(fd, buffer, held, buffer.length - held, offset + held);
    if (got === 0) break;
    const filled = held + got;
    const used = buffer.subarray(0, filled).lastIndexOf(NEWLINE) + 1;
    // The end of a line that was too long is no line.
    const from = skipping && used > 0 ? buffer.indexOf(NEWLINE) + 1 : 0;
    if (used > 0) {
      takeLines(buffer.subarray(from, used), reader);
      skipping = false;
      buffer.copyWithin(0, used, filled);
    }
    offset += used;
    held = filled - used;
    if (used > 0 && reader.isEnough()) break;
    if (held < buffer.length) continue;
    if (buffer.length < LONGEST_LINE) {
      const larger = Buffer.allocUnsafe(Math.min(buffer.length * 4, LONGEST_LINE));
      buffer.copy(larger);
      buffer = larger;
    } else {
      if (!skipping) reader.skip();
      skipping = true;
      offset += held;
      held = 0;
    }
  }
  return { inode: place.inode, offset, skipping, tail: tailAt(fd, offset) };
}

/** Whole lines. All at once takes half the time of one by one, but ends at the first one that is not JSON. */
function takeLines(bytes: Buffer, { take }: LineReader): void {
  const { values, read, done } = Bun.JSONL.parseChunk(bytes);
  for (const value of values) take(value);
  if (done) return;
  for (const line of bytes.toString("utf8", read).split("\n"))
    if (line !== "") take(attempt(() => JSON.parse(line) as unknown, undefined));
}
