/**
 * Replaces a file that a person may be editing. Looking first and renaming then would lose what was written in between,
 * so the two files change places in one step of the kernel; what comes out is compared with what was expected, and if
 * it is something else, they change back.
 */
import { closeSync, constants, linkSync, readFileSync, renameSync, writeSync } from "node:fs";
import { ffi } from "../libc.ts";
import { lookAt, openRegular, syncDir, withTemp } from "../store/files.ts";
import { dirname } from "../store/names.ts";

const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;
/** Whoever had the old file open when it left its place may write a moment later. */
const LATE_MS = 5;

/** false: the file does not hold `expected` (any more), and was left as it is. */
export function swapFile(path: string, expected: string, text: string): boolean {
  if (!holds(path, expected)) return false;
  const mode = (lookAt(path)?.mode ?? 0o600) & 0o777;
  let swapped = false;
  withTemp(dirname(path), text, mode, (temp) => {
    swapped = publish(temp, path, expected, text);
  });
  return swapped;
}

export function publish(temp: string, path: string, expected: string, text: string): boolean {
  if (!exchange(temp, path)) {
    renameSync(temp, path);
    return true;
  }
  const wanted = Buffer.from(expected);
  if (!bytesOf(temp)?.equals(wanted)) return changeBack(temp, path, text);
  syncDir(dirname(path));
  Bun.sleepSync(LATE_MS);
  const late = bytesOf(temp);
  if (!late?.subarray(0, wanted.length).equals(wanted)) return changeBack(temp, path, text);
  append(path, late.subarray(wanted.length));
  return true;
}

/** At once: what is written to the new file meanwhile would have to be kept beside it. */
function changeBack(temp: string, path: string, text: string): false {
  exchange(temp, path);
  if (!holds(temp, text)) linkSync(temp, `${path}.kept-${Bun.nanoseconds()}`);
  return false;
}

/** What was added to the old file after it had left its place. */
function append(path: string, bytes: Buffer): void {
  if (bytes.length === 0) return;
  const fd = openRegular(path, constants.O_WRONLY | constants.O_APPEND);
  try {
    writeSync(fd, bytes);
  } finally {
    closeSync(fd);
  }
}

const holds = (path: string, expected: string) => bytesOf(path)?.equals(Buffer.from(expected)) === true;

/** null: not to be read. */
function bytesOf(path: string): Buffer | null {
  try {
    const fd = openRegular(path, constants.O_RDONLY);
    try {
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

/** false: not possible here (another system, an old kernel, some file systems). */
function exchange(a: string, b: string): boolean {
  const bytes = [a, b].map((path) => new TextEncoder().encode(`${path}\0`)) as [Uint8Array, Uint8Array];
  try {
    return renameat2()(AT_FDCWD, ffi.ptr(bytes[0]), AT_FDCWD, ffi.ptr(bytes[1]), RENAME_EXCHANGE) === 0;
  } catch {
    return false;
  }
}

type Renameat2 = (fromDir: number, from: number, toDir: number, to: number, flags: number) => number;
let known: Renameat2 | undefined;

function renameat2(): Renameat2 {
  if (process.platform !== "linux") throw new Error("not here");
  known ??= (
    ffi.dlopen("libc.so.6", {
      renameat2: { args: ["i32", "ptr", "i32", "ptr", "u32"], returns: "i32" },
    }) as unknown as { symbols: { renameat2: Renameat2 } }
  ).symbols.renameat2;
  return known;
}
