/**
 * The few calls into libc that make a hook quick. Reading stdin through the event loop costs half a millisecond,
 * through node:fs one and a half, three calls into libc a quarter; the first look at the local time zone costs the
 * JavaScript engine five (docs/decisions/0004). Elsewhere than on Linux with glibc this is null, and callers take the
 * ordinary way.
 */
interface Libc {
  poll(at: number, count: number, ms: number): number;
  read(fd: number, at: number, size: number): number;
  access(at: number, mode: number): number;
  localtime_r(time: number, tm: number): number;
}
interface Ffi {
  dlopen(name: string, symbols: Record<string, { args: string[]; returns: string }>): { symbols: Libc };
  ptr(bytes: Uint8Array, offset?: number): number;
}

/** The native object: the module `bun:ffi` wraps it in JavaScript that has to be loaded first. */
export const ffi = (Bun as unknown as { FFI: Ffi }).FFI;
export const libc = openLibc();
export type { Libc };

function openLibc(): Libc | null {
  if (process.platform !== "linux") return null;
  try {
    return ffi.dlopen("libc.so.6", {
      poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
      read: { args: ["i32", "ptr", "u64"], returns: "i64_fast" },
      access: { args: ["ptr", "i32"], returns: "i32" },
      localtime_r: { args: ["ptr", "ptr"], returns: "ptr" },
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
  const time = new BigInt64Array([BigInt(Math.floor(ms / 1000))]);
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
