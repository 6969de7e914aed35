/** Reads a file of lines from its beginning, in bounded memory, however long the file or a line is. */

import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

const SMALLEST = 64 * 1024;
const CHUNK = 4 * 1024 * 1024;
/** nothing that is longer can matter */
const LONGEST_LINE = 64 * 1024 * 1024;
const NEWLINE = 10;

/** `take` gets a view of a buffer that is used again: what it keeps it must copy. `pause` comes between the reads. */
export async function readLines(
  path: string,
  take: (line: Buffer) => void,
  pause: (bytes: number) => Promise<void>,
): Promise<void> {
  // O_NONBLOCK: a FIFO in the place of a file must not hang us
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error("not a regular file");
    await readOpened(fd, Buffer.allocUnsafe(Math.min(Math.max(stat.size + 1, SMALLEST), CHUNK)), take, pause);
  } finally {
    closeSync(fd);
  }
}

async function readOpened(
  fd: number,
  first: Buffer,
  take: (line: Buffer) => void,
  pause: (bytes: number) => Promise<void>,
): Promise<void> {
  let buffer = first;
  let held = 0;
  let skipping = false;
  for (;;) {
    if (held === buffer.length && buffer.length < LONGEST_LINE) buffer = grown(buffer);
    else if (held === buffer.length) {
      skipping = true;
      held = 0;
    }
    const got = readSync(fd, buffer, held, buffer.length - held, null);
    if (got === 0) break;
    const filled = buffer.subarray(0, held + got);
    let from = 0;
    for (let end = filled.indexOf(NEWLINE, held); end >= 0; end = filled.indexOf(NEWLINE, from)) {
      if (!skipping) take(filled.subarray(from, end));
      skipping = false;
      from = end + 1;
    }
    held = filled.length - from;
    if (from > 0) buffer.copyWithin(0, from, filled.length);
    await pause(got);
  }
  if (!skipping && held > 0) take(buffer.subarray(0, held));
}

function grown(buffer: Buffer): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(buffer.length * 4, LONGEST_LINE));
  buffer.copy(larger);
  return larger;
}
