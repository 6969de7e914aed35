/** What a file held when it was read, in a few bytes: to tell later whether it still does, without keeping it. */
import { read } from "../native/disk.ts";

export interface Print {
  parts: Part[];
  size: number;
}

interface Part {
  size: number;
  hash: bigint;
}

export const newPrint = (): Print => ({ parts: [], size: 0 });

export const partOf = (bytes: Uint8Array): Part => ({ size: bytes.length, hash: Bun.hash.wyhash(bytes) });

export function addTo(print: Print, part: Part): void {
  if (part.size === 0) return;
  print.parts.push(part);
  print.size += part.size;
}

/** "longer": it begins with all that was there, and more follows. */
export function compare(fd: number, print: Print): "same" | "longer" | "other" {
  const buffer = roomForParts(print);
  let position = 0;
  for (const { size, hash } of print.parts) {
    const got = fill(fd, buffer, 0, size, position);
    if (got < size || partOf(buffer.subarray(0, size)).hash !== hash) return "other";
    position += size;
  }
  return fill(fd, buffer, 0, 1, print.size) === 0 ? "same" : "longer";
}

/** On a buffer of its own: the engine moves the bytes of small arrays. */
export const roomFor = (size: number) => new Uint8Array(new ArrayBuffer(size));

export const roomForParts = ({ parts }: Print) => roomFor(parts.reduce((most, { size }) => Math.max(most, size), 1));

/** As many bytes as were asked for, unless the file ends before. */
export function fill(fd: number, into: Uint8Array, from: number, size: number, position: number): number {
  let done = 0;
  while (done < size) {
    const got = read(fd, into, from + done, size - done, position + done);
    if (got === 0) break;
    done += got;
  }
  return done;
}
