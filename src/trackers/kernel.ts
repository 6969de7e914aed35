/** Two things only the kernel can do: let two files change places, and tell whether somebody may still write to one. */
import { ffi } from "../native/libc.ts";

interface Kernel {
  renameat2(fromDir: number, from: number, toDir: number, to: number, flags: number): number;
  fcntl(fd: number, command: number, value: number): number;
  fstatfs(fd: number, at: number): number;
  __errno_location(): number;
}

const [AT_FDCWD, RENAME_EXCHANGE] = [-100, 2];
const [F_SETSIG, F_SETLEASE, F_RDLCK, F_UNLCK] = [10, 1024, 0, 2];
const [EAGAIN, SIGURG] = [11, 23];
/**
 * ext4, xfs, btrfs, tmpfs, f2fs, bcachefs, zfs, overlay. File systems on other machines refuse a lease for reasons of their
 * own, in the same words.
 */
const LOCAL = [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0xf2f52010, 0xca451a4e, 0x2fc12fc1, 0x794c7630];

/** undefined: not looked for yet; null: not on this system. */
let known: Kernel | null | undefined;

function kernel(): Kernel | null {
  if (known === undefined) known = process.platform === "linux" ? openKernel() : null;
  return known;
}

function openKernel(): Kernel | null {
  try {
    return (
      ffi.dlopen("libc.so.6", {
        renameat2: { args: ["i32", "ptr", "i32", "ptr", "u32"], returns: "i32" },
        fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
        fstatfs: { args: ["i32", "ptr"], returns: "i32" },
        __errno_location: { args: [], returns: "ptr" },
      }) as unknown as { symbols: Kernel }
    ).symbols;
  } catch {
    return null;
  }
}

/** false: not possible here (another system, an old kernel, some file systems). */
export function exchange(a: string, b: string): boolean {
  const [first, second] = [new TextEncoder().encode(`${a}\0`), new TextEncoder().encode(`${b}\0`)];
  const c = kernel();
  return c !== null && c.renameat2(AT_FDCWD, ffi.ptr(first), AT_FDCWD, ffi.ptr(second), RENAME_EXCHANGE) === 0;
}

/**
 * Has anybody the file open for writing? The kernel gives a lease for reading only while nobody has; it is given back at
 * once. Who opens the file in between waits for that, and we get a signal, which must not be one that ends us. null: not
 * known; the file system has no leases that tell it, or the file is another user's. `fd`: open for reading only.
 */
export function isBeingWritten(fd: number): boolean | null {
  const c = kernel();
  if (c === null || !isLocal(c, fd) || c.fcntl(fd, F_SETSIG, SIGURG) !== 0) return null;
  if (c.fcntl(fd, F_SETLEASE, F_RDLCK) === 0) {
    c.fcntl(fd, F_SETLEASE, F_UNLCK);
    return false;
  }
  return ffi.read.i32(c.__errno_location(), 0) === EAGAIN ? true : null;
}

/** struct statfs begins with the file system's number. */
function isLocal(c: Kernel, fd: number): boolean {
  const found = new Uint32Array(new ArrayBuffer(256));
  return c.fstatfs(fd, ffi.ptr(new Uint8Array(found.buffer))) === 0 && LOCAL.includes(found[0]!);
}
