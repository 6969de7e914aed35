/** A command's output, however much it is: its digest, its beginning, its end, and a file to look at meanwhile. */
import { closeSync, ftruncateSync, writeSync } from "node:fs";
import { type JobPlace, openOutput } from "../../store/jobs.ts";

const HEAD_BYTES = 64 << 10;
const TAIL_BYTES = 192 << 10;
const LARGEST_FILE = 2 << 20;
/** How much of the end is left when the file is begun again. */
const KEPT_IN_FILE = 64 << 10;

export interface Output {
  take(chunk: Uint8Array): void;
  /** beginning and end; in between a line that says how much is missing */
  text(): string;
  digest(): string;
  close(): void;
}

export function collectOutput(place: JobPlace): Output {
  const hasher = new Bun.CryptoHasher("sha256");
  const head = new Uint8Array(HEAD_BYTES);
  const tail = makeRing(TAIL_BYTES);
  const file = openProgress(place);
  let total = 0;
  return {
    take(chunk) {
      hasher.update(chunk);
      const first = chunk.subarray(0, Math.max(0, HEAD_BYTES - total));
      head.set(first, total < HEAD_BYTES ? total : 0);
      tail.add(chunk.subarray(first.length));
      total += chunk.length;
      file.add(chunk, () => lastBytes(head.subarray(0, total), tail.bytes()));
    },
    text: () => joined(head.subarray(0, Math.min(total, HEAD_BYTES)), tail.bytes(), total),
    digest: () => hasher.digest("hex"),
    close: file.close,
  };
}

/** The last bytes that came, in a buffer that never grows. */
export function makeRing(size: number): { add(bytes: Uint8Array): void; bytes(): Uint8Array } {
  const ring = new Uint8Array(size);
  let seen = 0;
  return {
    add(bytes) {
      const last = bytes.subarray(Math.max(0, bytes.length - size));
      const at = (seen + bytes.length - last.length) % size;
      const untilEnd = last.subarray(0, size - at);
      ring.set(untilEnd, at);
      ring.set(last.subarray(untilEnd.length), 0);
      seen += bytes.length;
    },
    bytes() {
      if (seen <= size) return ring.slice(0, seen);
      const at = seen % size;
      const ordered = new Uint8Array(size);
      ordered.set(ring.subarray(at), 0);
      ordered.set(ring.subarray(0, at), size - at);
      return ordered;
    },
  };
}

function lastBytes(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const last = tail.length > 0 ? tail : head;
  return last.subarray(Math.max(0, last.length - KEPT_IN_FILE));
}

function joined(head: Uint8Array, tail: Uint8Array, total: number): string {
  const decoder = new TextDecoder();
  const cut = total - head.length - tail.length;
  if (cut === 0) return decoder.decode(both(head, tail));
  const [beginning, end] = [withoutHalfAtEnd(head), withoutHalfAtStart(tail)];
  const missing = total - beginning.length - end.length;
  return `${decoder.decode(beginning)}\n[${missing} bytes cut of ${total}]\n${decoder.decode(end)}`;
}

function both(first: Uint8Array, second: Uint8Array): Uint8Array {
  const whole = new Uint8Array(first.length + second.length);
  whole.set(first);
  whole.set(second, first.length);
  return whole;
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

/** A letter of several bytes may have been cut through; what is no UTF-8 at all stays as it is. */
function withoutHalfAtEnd(bytes: Uint8Array): Uint8Array {
  let at = bytes.length - 1;
  while (at > bytes.length - 4 && isContinuation(bytes[at])) at--;
  const length = lengthOf(bytes[at] ?? 0);
  return at + length > bytes.length ? bytes.subarray(0, at) : bytes;
}

function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

function withoutHalfAtStart(bytes: Uint8Array): Uint8Array {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at++;
  return bytes.subarray(at);
}

/** A courtesy: if the disk takes no more, the command goes on all the same. */
function openProgress(place: JobPlace): { add(bytes: Uint8Array, last: () => Uint8Array): void; close(): void } {
  let fd: number | null = null;
  let size = 0;
  const quietly = (work: () => void) => {
    try {
      work();
    } catch {
      // seen in the result, if that can be written
    }
  };
  quietly(() => {
    fd = openOutput(place);
    ftruncateSync(fd, 0);
  });
  const write = (bytes: Uint8Array) => {
    if (fd !== null) size += writeSync(fd, bytes);
  };
  const add = (bytes: Uint8Array, last: () => Uint8Array) =>
    quietly(() => {
      if (fd === null) return;
      if (size + bytes.length <= LARGEST_FILE) return write(bytes);
      ftruncateSync(fd, 0);
      size = 0;
      write(last());
    });
  return { add, close: () => quietly(() => fd !== null && closeSync(fd)) };
}
