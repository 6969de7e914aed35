/** Preloaded into a child process: a signal comes in the middle of every other call. */
import { mock } from "bun:test";
import { join } from "node:path";
import { ffi, type Libc, libc } from "../../src/native/libc.ts";

const EINTR = 4;
/** As they are now: what is mocked is mocked here too. */
const { ptr, read } = ffi;
let interrupted = false;

const interrupting = (name: "open" | "read" | "pread" | "write") => {
  const call = (libc as Libc)[name] as (...args: number[]) => number;
  return (...args: number[]) => {
    interrupted = !interrupted;
    return interrupted ? -1 : call(...args);
  };
};

const i32 = (at: number, offset: number) => (interrupted ? EINTR : read.i32(at, offset));
const calls = ["open", "read", "pread", "write"] as const;
const fake = { ...libc, ...Object.fromEntries(calls.map((name) => [name, interrupting(name)])) };
mock.module(join(import.meta.dir, "../../src/native/libc.ts"), () => ({ libc: fake, ffi: { ptr, read: { i32 } } }));
