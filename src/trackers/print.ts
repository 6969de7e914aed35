/** What a file held when it was read, in a few bytes: to tell later whether it still does, without keeping it. */
import { read } from "../store/disk.ts";

export interface Print {
  /** how many bytes were taken at a time */
  parts: number[];
  hash: bigint;
  size: number;
}

export const newPrint = (): Print => ({ parts: [], hash: 0n, size: 0 });

export function addTo(print: Print, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  print.parts.push(bytes.length);
  print.hash = Bun.hash.wyhash(bytes, print.hash);
  print.size += bytes.length;
}

/** "longer": it begins with all that was there, and more follows. */
export function compare(fd: number, print: Print): "same" | "longer" | "other" {
  const found = newPrint();
  const buffer = roomFor(Math.max(1, ...print.parts));
  for (const size of print.parts) {
    const got = fill(fd, buffer, 0, size, found.size);
    if (got < size) return "other";
    addTo(found, buffer.subarray(0, size));
  }
  if (found.hash !== print.hash) return "other";
  return fill(fd, buffer, 0, 1, print.size) === 0 ? "same" : "longer";
}

/** On a buffer of its own: the engine moves the bytes of small arrays. */
export const roomFor = (size: number) => new Uint8Array(new ArrayBuffer(size));

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
