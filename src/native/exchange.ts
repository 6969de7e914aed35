/** Lets two files trade places in one step of the kernel (Linux renameat2). */
import { ffi } from "./libc.ts";

interface Kernel {
  renameat2(fromDir: number, from: number, toDir: number, to: number, flags: number): number;
}

const [AT_FDCWD, RENAME_EXCHANGE] = [-100, 2];

/** false: not possible here (another system, an old kernel, some file systems), or one of them is missing. */
export function exchange(a: string, b: string): boolean {
  if (process.platform !== "linux") return false;
  const [first, second] = [new TextEncoder().encode(`${a}\0`), new TextEncoder().encode(`${b}\0`)];
  try {
    // Opened here, not in libc.ts: few hooks replace a file, and an older libc lacks this one function.
    const { symbols } = ffi.dlopen("libc.so.6", {
      renameat2: { args: ["i32", "ptr", "i32", "ptr", "u32"], returns: "i32" },
    }) as unknown as { symbols: Kernel };
    return symbols.renameat2(AT_FDCWD, ffi.ptr(first), AT_FDCWD, ffi.ptr(second), RENAME_EXCHANGE) === 0;
  } catch {
    return false;
  }
}
