/**
 * Replaces a file that a person may be editing. Looking first and renaming then would lose what was written in between,
 * so the two files change places in one step of the kernel. What comes out is looked at when nobody can write to it any
 * more: lines added to it are added to the new one; if it is otherwise not what was read, they change back.
 */

import { close, FLAGS, fstat, fsync, link, open, rename } from "../native/disk.ts";
import { lookAt, openRegular, removeQuietly, syncDir, TEMP_PREFIX, writeAll } from "../store/files.ts";
import { dirname, join } from "../store/names.ts";
import type { Splice } from "./core/session-prose.ts";
import { exchange, isBeingWritten } from "./kernel.ts";
import type { Notes } from "./notes.ts";
import { addTo, compare, fill, newPrint, type Print, partOf, roomFor, roomForParts } from "./print.ts";

/** For whoever has the file open to be done. Longer, and it is theirs. */
const PATIENCE_MS = 1_000;
/** Where nobody can tell: who had the file open when it left its place may write a moment later. */
const LATE_MS = 5;

/** false: the file does not hold what was read (any more), or somebody keeps it open; it was left as it is. */
export function swapFile(path: string, read: Pick<Notes, "print" | "closed">, splice: Splice): boolean {
  const mode = (lookAt(path)?.mode ?? 0o600) & 0o777;
  const temp = join(dirname(path), `${TEMP_PREFIX}${process.pid}-${Bun.nanoseconds()}`);
  const fd = open(temp, FLAGS.O_WRONLY | FLAGS.O_CREAT | FLAGS.O_EXCL | FLAGS.O_NOFOLLOW, mode);
  try {
    const written = writeChanged(path, fd, read.print, splice);
    return written !== null && publish(temp, path, read, written);
  } finally {
    removeQuietly(temp);
  }
}

/** What we wrote, and the file that it is in. */
interface Written {
  print: Print;
  ino: number;
}

/** The changed copy, synced; null: what was copied is not what was read. Closes it. */
function writeChanged(path: string, to: number, read: Print, splice: Splice): Written | null {
  try {
    const print = onFile(path, (from) => copyChanged(from, to, read, splice));
    if (print === null) return null;
    fsync(to);
    return { print, ino: fstat(to).ino };
  } finally {
    close(to);
  }
}

function copyChanged(from: number, to: number, read: Print, { from: begin, to: end, by }: Splice): Print | null {
  const written = newPrint();
  const put = (bytes: Uint8Array, part = partOf(bytes)) => {
    writeAll(to, bytes);
    addTo(written, part);
  };
  const buffer = roomForParts(read);
  let at = 0;
  for (const { size, hash } of read.parts) {
    const bytes = buffer.subarray(0, fill(from, buffer, 0, size, at));
    const part = partOf(bytes);
    if (part.size !== size || part.hash !== hash) return null;
    if (begin >= at + size || end < at) put(bytes, part);
    else {
      put(bytes.subarray(0, Math.max(0, begin - at)));
      if (begin >= at) put(new TextEncoder().encode(by));
      put(bytes.subarray(Math.max(0, end - at)));
    }
    at += size;
  }
  if (begin >= at) put(new TextEncoder().encode(by));
  return written;
}

/** `written`: what is in `temp`, which takes the place of `path`. */
export function publish(temp: string, path: string, read: Pick<Notes, "print" | "closed">, written: Written): boolean {
  if (!exchange(temp, path)) {
    rename(temp, path);
    return true;
  }
  syncDir(dirname(path));
  const late = lateIn(temp, read);
  if (late === null) return changeBack(temp, path, written);
  append(path, late);
  return true;
}

/** What was added since to the file that left its place; null: it was changed in another way, or may still be. */
function lateIn(temp: string, { print, closed }: Pick<Notes, "print" | "closed">): Uint8Array | null {
  return onFile(temp, (fd) => {
    if (!isQuiet(fd)) return null;
    const found = compare(fd, print);
    if (found === "other" || (found === "longer" && !closed)) return null;
    return restOf(fd, print.size);
  });
}

/**
 * At once: what is written to the new file meanwhile goes along. Where somebody else has put another file into the place,
 * theirs stays.
 */
export function changeBack(temp: string, path: string, { print: written, ino }: Written): false {
  if (lookAt(path)?.ino !== ino || !exchange(temp, path)) {
    keep(temp, path);
    return false;
  }
  const added = onFile(temp, (fd) =>
    isQuiet(fd) && compare(fd, written) !== "other" ? restOf(fd, written.size) : null,
  );
  if (added === null) keep(temp, path);
  else append(path, added);
  return false;
}

/** Beside it: somebody wrote it. */
const keep = (temp: string, path: string) => link(temp, `${path}.kept-${Bun.nanoseconds()}`);

// ── Files ───────────────────────────────────────────────────────────────────

/** Half a file may have been read while somebody was writing it. "held": somebody keeps it open for writing. */
export function stateOf(path: string, read: Print): "as read" | "changed" | "held" {
  return onFile(path, (fd) => {
    if (!isQuiet(fd, 0)) return "held";
    return fstat(fd).size === read.size ? "as read" : "changed";
  });
}

/** Waits until nobody has it open for writing. false: somebody keeps it so. */
function isQuiet(fd: number, late_ms = LATE_MS): boolean {
  const until = Bun.nanoseconds() / 1e6 + PATIENCE_MS;
  for (;;) {
    const written = isBeingWritten(fd);
    if (written === null) Bun.sleepSync(late_ms);
    if (written !== true) return true;
    if (Bun.nanoseconds() / 1e6 > until) return false;
    Bun.sleepSync(1);
  }
}

function restOf(fd: number, from: number): Uint8Array {
  let [bytes, used] = [roomFor(1), 0];
  for (;;) {
    used += fill(fd, bytes, used, bytes.length - used, from + used);
    if (used < bytes.length) return bytes.subarray(0, used);
    const larger = roomFor(4_096 + 2 * bytes.length);
    larger.set(bytes);
    bytes = larger;
  }
}

function append(path: string, bytes: Uint8Array): void {
  if (bytes.length === 0) return;
  const fd = openRegular(path, FLAGS.O_WRONLY | FLAGS.O_APPEND);
  try {
    writeAll(fd, bytes);
  } finally {
    close(fd);
  }
}

function onFile<T>(path: string, use: (fd: number) => T): T {
  const fd = openRegular(path, FLAGS.O_RDONLY);
  try {
    return use(fd);
  } finally {
    close(fd);
  }
}
