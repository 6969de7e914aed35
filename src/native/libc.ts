/**
 * Calls into libc that make a hook quick: loading node:fs costs it more than a millisecond, these calls a tenth of
 * that; the first look at the local time zone costs the JavaScript engine five (docs/decisions/0004). Elsewhere than
 * on Linux with glibc this is null, and callers take the ordinary way.
 */
import { attempt } from "../kernel/attempt.ts";

const [INT, SIZE] = ["i32", "i64_fast"] as const;

const CALLS = {
  open: { args: ["ptr", "i32", "u32"], returns: INT },
  close: { args: ["i32"], returns: INT },
  read: { args: ["i32", "ptr", "u64"], returns: SIZE },
  pread: { args: ["i32", "ptr", "u64", "i64"], returns: SIZE },
  write: { args: ["i32", "ptr", "u64"], returns: SIZE },
  fsync: { args: ["i32"], returns: INT },
  link: { args: ["ptr", "ptr"], returns: INT },
  rename: { args: ["ptr", "ptr"], returns: INT },
  unlink: { args: ["ptr"], returns: INT },
  mkdir: { args: ["ptr", "u32"], returns: INT },
  statx: { args: ["i32", "ptr", "i32", "u32", "ptr"], returns: INT },
  getdents64: { args: ["i32", "ptr", "u64"], returns: SIZE },
  realpath: { args: ["ptr", "ptr"], returns: "ptr" },
  readlink: { args: ["ptr", "ptr", "u64"], returns: SIZE },
  localtime_r: { args: ["ptr", "ptr"], returns: "ptr" },
  __errno_location: { args: [], returns: "ptr" },
};

type Calls = Record<string, { args: string[]; returns: string }>;
/** Pointers are numbers, too. */
type Functions<C> = Record<keyof C, (...args: number[]) => number>;
export type Libc = Functions<typeof CALLS>;

interface Ffi {
  dlopen<C extends Calls>(name: string, calls: C): { symbols: Functions<C> };
  ptr(bytes: Uint8Array, offset?: number): number;
  read: { i32(at: number, offset: number): number };
}

/** The native object: the module `bun:ffi` wraps it in JavaScript that has to be loaded first. */
export const ffi = (Bun as unknown as { FFI: Ffi }).FFI;
export const libc = openLibc();

function openLibc(): Libc | null {
  // The flags of open() differ between processors; these two are known.
  if (process.platform !== "linux" || (process.arch !== "x64" && process.arch !== "arm64")) return null;
  return attempt(() => ffi.dlopen("libc.so.6", CALLS).symbols, null);
}

/** `YYYY-MM-DD HH:MM:SS` in the person's own time zone. */
export function localTime(at: string): string {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) throw new Error(`not a time: ${at}`);
  const [year, month, day, hour, minute, second] = libc ? byLibc(libc, ms) : byDate(ms);
  const two = (value = 0) => String(value).padStart(2, "0");
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}`;
}

/** struct tm begins with the ints sec, min, hour, mday, mon, year. */
function byLibc(c: Libc, ms: number): number[] {
  const seconds = Math.floor(ms / 1000);
  const time = new Int32Array([seconds, Math.floor(seconds / 2 ** 32)]); // 64 bits, the lower ones first
  const tm = new Int32Array(16);
  c.localtime_r(ffi.ptr(new Uint8Array(time.buffer)), ffi.ptr(new Uint8Array(tm.buffer)));
  const [second = 0, minute = 0, hour = 0, day = 0, month = 0, year = 0] = tm;
  return [year + 1900, month + 1, day, hour, minute, second];
}

function byDate(ms: number): number[] {
  const time = new Date(ms);
  const date = [time.getFullYear(), time.getMonth() + 1, time.getDate()];
  return [...date, time.getHours(), time.getMinutes(), time.getSeconds()];
}
