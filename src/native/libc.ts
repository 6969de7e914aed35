/**
 * Calls into libc that make a hook quick: loading node:fs costs it more than a millisecond, these calls a tenth of
 * that; the first look at the local time zone costs the JavaScript engine five (docs/decisions/0004). Elsewhere than
 * on Linux with glibc this is null, and callers take the ordinary way.
 */
export interface Libc {
  open(path: number, flags: number, mode: number): number;
  close(fd: number): number;
  read(fd: number, at: number, size: number): number;
  pread(fd: number, at: number, size: number, position: number): number;
  write(fd: number, at: number, size: number): number;
  fsync(fd: number): number;
  link(from: number, to: number): number;
  rename(from: number, to: number): number;
  unlink(path: number): number;
  mkdir(path: number, mode: number): number;
  statx(dir: number, path: number, flags: number, mask: number, at: number): number;
  getdents64(fd: number, at: number, size: number): number;
  realpath(path: number, at: number): number | null;
  readlink(path: number, at: number, size: number): number;
  localtime_r(time: number, tm: number): number;
  __errno_location(): number;
}

interface Ffi {
  dlopen(name: string, symbols: Record<string, { args: string[]; returns: string }>): { symbols: Libc };
  ptr(bytes: Uint8Array, offset?: number): number;
  read: { i32(at: number, offset: number): number };
}

/** The native object: the module `bun:ffi` wraps it in JavaScript that has to be loaded first. */
export const ffi = (Bun as unknown as { FFI: Ffi }).FFI;
export const libc = openLibc();

function openLibc(): Libc | null {
  // The flags of open() differ between processors; these two are known.
  if (process.platform !== "linux" || (process.arch !== "x64" && process.arch !== "arm64")) return null;
  const [status, size] = ["i32", "i64_fast"];
  try {
    return ffi.dlopen("libc.so.6", {
      open: { args: ["ptr", "i32", "u32"], returns: status },
      close: { args: ["i32"], returns: status },
      read: { args: ["i32", "ptr", "u64"], returns: size },
      pread: { args: ["i32", "ptr", "u64", "i64"], returns: size },
      write: { args: ["i32", "ptr", "u64"], returns: size },
      fsync: { args: ["i32"], returns: status },
      link: { args: ["ptr", "ptr"], returns: status },
      rename: { args: ["ptr", "ptr"], returns: status },
      unlink: { args: ["ptr"], returns: status },
      mkdir: { args: ["ptr", "u32"], returns: status },
      statx: { args: ["i32", "ptr", "i32", "u32", "ptr"], returns: status },
      getdents64: { args: ["i32", "ptr", "u64"], returns: size },
      realpath: { args: ["ptr", "ptr"], returns: "ptr" },
      readlink: { args: ["ptr", "ptr", "u64"], returns: size },
      localtime_r: { args: ["ptr", "ptr"], returns: "ptr" },
      __errno_location: { args: [], returns: "ptr" },
    }).symbols;
  } catch {
    return null;
  }
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
