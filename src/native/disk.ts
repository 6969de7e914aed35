/**
 * What the store asks of the kernel, one function a call. Through libc where there is one, else through node:fs, which
 * is loaded only then: it costs a hook more than all its files. Both throw errors with the same codes.
 */

import { attempt } from "../kernel/attempt.ts";
import { ffi, type Libc, libc } from "./libc.ts";

const node = () => require("node:fs") as typeof import("node:fs");

/** As node:fs would say it. */
export interface FileStat {
  size: number;
  ino: number;
  mode: number;
  uid: number;
  mtimeMs: number;
  ctimeMs: number;
  /** 0: the file system does not know it */
  birthtimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** Linux differs by processor in two of them. */
const linuxFlags = () => ({
  O_RDONLY: 0,
  O_WRONLY: 1,
  O_RDWR: 2,
  O_CREAT: 0o100,
  O_EXCL: 0o200,
  O_APPEND: 0o2000,
  O_NONBLOCK: 0o4000,
  O_DIRECTORY: process.arch === "x64" ? 0o200000 : 0o40000,
  O_NOFOLLOW: process.arch === "x64" ? 0o400000 : 0o100000,
});
const O_CLOEXEC = 0o2000000;
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const AT_EMPTY_PATH = 0x1000;
const STATX_ALL = 0xfff;

export const FLAGS: ReturnType<typeof linuxFlags> = libc ? linuxFlags() : node().constants;

// ── Failing ─────────────────────────────────────────────────────────────────

const [ENOENT, EINTR, ENAMETOOLONG] = [2, 4, 36];

/** The ones that hooks meet every day, and two that node:util does not know; it has the others, and takes long to load. */
const ERRORS: Record<number, [code: string, words: string]> = {
  [ENOENT]: ["ENOENT", "no such file or directory"],
  17: ["EEXIST", "file already exists"],
  20: ["ENOTDIR", "not a directory"],
  116: ["ESTALE", "stale file handle"],
  122: ["EDQUOT", "disk quota exceeded"],
};

/** As node:fs would throw it. */
function failure(errno: number, call: string, ...paths: string[]): Error {
  const others = () => (require("node:util") as typeof import("node:util")).getSystemErrorMap();
  const [code, words] = ERRORS[errno] ?? others().get(-errno) ?? [`E${errno}`, `error ${errno}`];
  const about = paths.map((path) => `'${path}'`).join(" -> ");
  return Object.assign(new Error(`${code}: ${words}, ${call}${about && ` ${about}`}`), { code });
}

const readErrno = (c: Libc) => ffi.read.i32(c.__errno_location(), 0);

/** A signal came meanwhile, which is no failure: once more. */
const isInterrupted = (c: Libc) => readErrno(c) === EINTR;

function check(c: Libc, result: number, call: string, ...paths: string[]): void {
  if (result < 0) throw failure(readErrno(c), call, ...paths);
}

// ── Memory that libc reads and writes ───────────────────────────────────────

const LONGEST_PATH = 4096;
const LISTING = 32 * 1024;

/** On a buffer of its own: the engine moves the bytes of a small array when a buffer is asked of it later. */
function scratch(size: number): { bytes: Uint8Array<ArrayBuffer>; pointer: number } {
  const bytes = new Uint8Array(new ArrayBuffer(size));
  return { bytes, pointer: libc ? ffi.ptr(bytes) : 0 };
}

const first = scratch(LONGEST_PATH);
const second = scratch(LONGEST_PATH);
const stats = scratch(256);
const stats32 = new Uint32Array(stats.bytes.buffer);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function pointerTo(path: string, { bytes, pointer } = first): number {
  if (path.includes("\0"))
    throw Object.assign(new Error("a path with a NUL byte in it"), { code: "ERR_INVALID_ARG_VALUE" });
  const { read, written } = encoder.encodeInto(path, bytes);
  if (read < path.length || written === bytes.length) throw failure(ENAMETOOLONG, "path", path);
  bytes[written] = 0;
  return pointer;
}

// ── Files ───────────────────────────────────────────────────────────────────
// Written out one by one: each function that runs for the first time costs about as much as ten calls.

export function open(path: string, flags: number, mode = 0o600): number {
  if (!libc) return node().openSync(path, flags, mode);
  let fd: number;
  do fd = libc.open(pointerTo(path), flags | O_CLOEXEC, mode);
  while (fd < 0 && isInterrupted(libc));
  if (fd < 0) throw failure(readErrno(libc), "open", path);
  return fd;
}

/** After a signal the descriptor is closed all the same, and its number may be in use again by now. */
export function close(fd: number): void {
  if (!libc) node().closeSync(fd);
  else if (libc.close(fd) < 0 && !isInterrupted(libc)) throw failure(readErrno(libc), "close");
}

/** `position` null: where the last read ended. */
export function read(fd: number, into: Uint8Array, from: number, length: number, position: number | null): number {
  if (!libc) return node().readSync(fd, into, from, length, position);
  if (length === 0) return 0;
  const at = ffi.ptr(into, from);
  let got: number;
  do got = position === null ? libc.read(fd, at, length) : libc.pread(fd, at, length, position);
  while (got < 0 && isInterrupted(libc));
  if (got < 0) throw failure(readErrno(libc), "read");
  return got;
}

export function write(fd: number, bytes: Uint8Array, from: number, length: number): number {
  if (!libc) return node().writeSync(fd, bytes, from, length);
  if (length === 0) return 0;
  let wrote: number;
  do wrote = libc.write(fd, ffi.ptr(bytes, from), length);
  while (wrote < 0 && isInterrupted(libc));
  if (wrote < 0) throw failure(readErrno(libc), "write");
  return wrote;
}

/** Never twice: after a failure the second call may say that all is well. */
export function fsync(fd: number): void {
  if (!libc) node().fsyncSync(fd);
  else check(libc, libc.fsync(fd), "fsync");
}

export function link(from: string, to: string): void {
  if (!libc) node().linkSync(from, to);
  else check(libc, libc.link(pointerTo(from), pointerTo(to, second)), "link", from, to);
}

export function rename(from: string, to: string): void {
  if (!libc) node().renameSync(from, to);
  else check(libc, libc.rename(pointerTo(from), pointerTo(to, second)), "rename", from, to);
}

/** Two files trade places in one step (renameat2). false: not possible here, or one of them is missing. */
export function exchange(a: string, b: string): boolean {
  const RENAME_EXCHANGE = 2;
  if (!libc) return false;
  return attempt(() => {
    // Opened here, not in libc.ts: few hooks replace a file, and an older libc lacks this one function.
    const call = { renameat2: { args: ["i32", "ptr", "i32", "ptr", "u32"], returns: "i32" } };
    const { renameat2 } = ffi.dlopen("libc.so.6", call).symbols;
    return renameat2(AT_FDCWD, pointerTo(a), AT_FDCWD, pointerTo(b, second), RENAME_EXCHANGE) === 0;
  }, false);
}

export function unlink(path: string): void {
  if (!libc) node().unlinkSync(path);
  else check(libc, libc.unlink(pointerTo(path)), "unlink", path);
}

/** For what need not be there: making an error costs more than the call. */
export function unlinkIfThere(path: string): void {
  if (libc) libc.unlink(pointerTo(path));
  else node().unlinkSync(path);
}

// ── Folders ─────────────────────────────────────────────────────────────────

export function mkdir(path: string, mode: number): void {
  if (!libc) node().mkdirSync(path, { mode });
  else check(libc, libc.mkdir(pointerTo(path), mode), "mkdir", path);
}

export const rmdir = (path: string): void => node().rmdirSync(path);

/** A folder with all that is in it, or nothing. */
export const removeAll = (path: string): void => node().rmSync(path, { recursive: true, force: true });

export interface Entry extends Pick<FileStat, "isFile" | "isDirectory"> {
  name: string;
}

export function readEntries(path: string): Entry[] {
  if (!libc) return node().readdirSync(path, { withFileTypes: true });
  return listed(libc, path).map(({ name, type }) => makeEntry(path, name, type));
}

/** Some file systems do not tell the type along with the name. */
function makeEntry(path: string, name: string, type: number): Entry {
  const mode = type === 0 ? (lstat(`${path}/${name}`)?.mode ?? 0) & KIND : type << 12;
  return { name, isFile: () => mode === 0o100000, isDirectory: () => mode === 0o040000 };
}

export function readNames(path: string): string[] {
  return libc ? listed(libc, path).map(({ name }) => name) : node().readdirSync(path);
}

interface Listed {
  name: string;
  type: number;
}

function listed(c: Libc, path: string): Listed[] {
  const fd = open(path, FLAGS.O_RDONLY | FLAGS.O_DIRECTORY);
  const listing = scratch(LISTING);
  const names: Listed[] = [];
  try {
    for (;;) {
      const size = c.getdents64(fd, listing.pointer, LISTING);
      if (size < 0) throw failure(readErrno(c), "scandir", path);
      if (size === 0) return names;
      addNames(listing.bytes, size, names);
    }
  } finally {
    close(fd);
  }
}

/** struct linux_dirent64: 16 bytes, the entry's length in two, its type in one, then the name up to a zero. */
function addNames(entries: Uint8Array, size: number, names: Listed[]): void {
  for (let at = 0; at < size; at += (entries[at + 16] ?? 0) | ((entries[at + 17] ?? 0) << 8)) {
    const name = decoder.decode(entries.subarray(at + 19, entries.indexOf(0, at + 19)));
    if (name !== "." && name !== "..") names.push({ name, type: entries[at + 18] ?? 0 });
  }
}

// ── Looking ─────────────────────────────────────────────────────────────────

/** undefined: nothing there. */
export function lstat(path: string): FileStat | undefined {
  if (!libc) return node().lstatSync(path, { throwIfNoEntry: false });
  if (libc.statx(AT_FDCWD, pointerTo(path), AT_SYMLINK_NOFOLLOW, STATX_ALL, stats.pointer) === 0) return found();
  const errno = readErrno(libc);
  if (errno === ENOENT) return undefined;
  throw failure(errno, "lstat", path);
}

/** Links followed. */
export function stat(path: string): FileStat {
  if (!libc) return node().statSync(path);
  check(libc, libc.statx(AT_FDCWD, pointerTo(path), 0, STATX_ALL, stats.pointer), "stat", path);
  return found();
}

export function fstat(fd: number): FileStat {
  if (!libc) return node().fstatSync(fd);
  check(libc, libc.statx(fd, pointerTo(""), AT_EMPTY_PATH, STATX_ALL, stats.pointer), "fstat");
  return found();
}

const HIGH = 2 ** 32;

/** struct statx in words of four bytes: owner at 5, mode at 7, inode at 8, size at 10, time of birth at 20, of change at 24, of modification at 28. */
function found(): FileStat {
  const s = stats32;
  return {
    mode: s[7]! & 0xffff,
    uid: s[5]!,
    ino: s[8]! + s[9]! * HIGH,
    size: s[10]! + s[11]! * HIGH,
    birthtimeMs: (s[20]! + s[21]! * HIGH) * 1000 + s[22]! / 1e6,
    ctimeMs: (s[24]! + s[25]! * HIGH) * 1000 + s[26]! / 1e6,
    mtimeMs: (s[28]! + s[29]! * HIGH) * 1000 + s[30]! / 1e6,
    isFile,
    isDirectory,
    isSymbolicLink,
  };
}

const KIND = 0o170000;

function isFile(this: FileStat): boolean {
  return (this.mode & KIND) === 0o100000;
}

function isDirectory(this: FileStat): boolean {
  return (this.mode & KIND) === 0o040000;
}

function isSymbolicLink(this: FileStat): boolean {
  return (this.mode & KIND) === 0o120000;
}

export function realpath(path: string): string {
  if (!libc) return node().realpathSync(path);
  if (!libc.realpath(pointerTo(path), second.pointer)) throw failure(readErrno(libc), "realpath", path);
  return decoder.decode(second.bytes.subarray(0, second.bytes.indexOf(0)));
}

export function readlink(path: string): string {
  if (!libc) return node().readlinkSync(path);
  const size = libc.readlink(pointerTo(path), second.pointer, LONGEST_PATH);
  check(libc, size, "readlink", path);
  return decoder.decode(second.bytes.subarray(0, size));
}
