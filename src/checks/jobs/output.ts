/** A command's output, however much it is: its digest, its beginning, its end, and a file to look at meanwhile. */
import { closeSync, ftruncateSync, writeSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
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
      head.set(first, Math.min(total, HEAD_BYTES));
      tail.add(chunk.subarray(first.length));
      total += chunk.length;
      file.add(chunk, () => tail.bytes().subarray(-KEPT_IN_FILE));
    },
    text: () => joined(head.subarray(0, Math.min(total, HEAD_BYTES)), tail.bytes(), total),
    digest: () => hasher.digest("hex"),
    close: file.close,
  };
}

/** The last bytes that came, in one buffer that is written round: however much comes, nothing is left to collect. */
export function makeRing(size: number): { add(bytes: Uint8Array): void; bytes(): Uint8Array } {
  const ring = new Uint8Array(size);
  let total = 0;
  const add = (bytes: Uint8Array) => {
    const kept = bytes.subarray(-size);
    total += bytes.length;
    const at = (total - kept.length) % size;
    ring.set(kept.subarray(0, size - at), at);
    ring.set(kept.subarray(size - at));
  };
  const bytes = () => {
    if (total <= size) return ring.slice(0, total);
    return Buffer.concat([ring.subarray(total % size), ring.subarray(0, total % size)]);
  };
  return { add, bytes };
}

/** A letter of several bytes may be cut through: the decoder leaves out half of one at the end of the beginning. */
function joined(head: Uint8Array, tail: Uint8Array, total: number): string {
  const cut = total - head.length - tail.length;
  if (cut === 0) return new TextDecoder().decode(Buffer.concat([head, tail]));
  const beginning = new TextDecoder().decode(head, { stream: true });
  return `${beginning}\n[${cut} bytes cut of ${total}]\n${new TextDecoder().decode(withoutHalf(tail))}`;
}

/** What is no UTF-8 at all stays as it is. */
function withoutHalf(bytes: Uint8Array): Uint8Array {
  let at = 0;
  while (at < 3 && (bytes[at]! & 0xc0) === 0x80) at++;
  return bytes.subarray(at);
}

/** A courtesy: if the disk takes no more, the command goes on all the same. */
function openProgress(place: JobPlace): { add(bytes: Uint8Array, last: () => Uint8Array): void; close(): void } {
  const fd = attempt(() => openOutput(place), null);
  let size = 0;
  const restart = () => {
    if (fd !== null) ftruncateSync(fd, 0);
    size = 0;
  };
  const add = (bytes: Uint8Array, last: () => Uint8Array) => {
    const fits = size + bytes.length <= LARGEST_FILE;
    if (!fits) restart();
    if (fd !== null) size += writeSync(fd, fits ? bytes : last());
  };
  attempt(restart, undefined);
  return {
    add: (bytes, last) => attempt(() => add(bytes, last), undefined),
    close: () => attempt(() => fd !== null && closeSync(fd), undefined),
  };
}
