/** The only way to the disk: nothing here follows a symlink, waits on a FIFO or leaves half a file behind. */
import { attempt } from "../kernel/attempt.ts";
import {
  close,
  type FileStat,
  FLAGS,
  fstat,
  fsync,
  link,
  lstat,
  mkdir,
  open,
  read,
  readNames,
  rename,
  unlink,
  unlinkIfThere,
  write,
} from "../native/disk.ts";
import { dirname, join } from "./names.ts";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = FLAGS;
const MIB = 1024 * 1024;
const NOT_REGULAR = "not a regular file";

/** Names of our unfinished files; a crash may leave one, no one reads it. */
export const TEMP_PREFIX = ".pawl-tmp-";

export type ReadFailure = "missing" | "not a regular file" | "too large" | "unreadable";
export type ReadResult = { ok: true; text: string; hash: string } | { ok: false; why: ReadFailure; detail?: string };

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** undefined: not JSON (which has no undefined). */
export const parseJson = (text: string): unknown => attempt(() => JSON.parse(text), undefined);

export function hashOf(content: string | Uint8Array): string {
  // The same hasher as for seals: each kind has to be set up once.
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
}

// ── Reading ─────────────────────────────────────────────────────────────────

export const openRegular = (path: string, flags: number, mode = 0o600): number => openFile(path, flags, mode).fd;

function openFile(path: string, flags: number, mode = 0o600): { fd: number; size: number } {
  const fd = open(path, flags | O_NONBLOCK | O_NOFOLLOW, mode);
  try {
    const found = fstat(fd);
    if (found.isFile()) return { fd, size: found.size };
    throw Object.assign(new Error(`${path}: ${NOT_REGULAR}`), { code: NOT_REGULAR });
  } catch (error) {
    close(fd);
    throw error;
  }
}

export function readText(path: string, maxBytes = 8 * MIB): ReadResult {
  try {
    const bytes = readBytes(path, maxBytes);
    if (bytes === null) return { ok: false, why: "too large" };
    // A lossy text written back would destroy what the owner wrote, so other encodings are refused.
    const text = attempt(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), null);
    if (text === null) return { ok: false, why: "unreadable", detail: "not UTF-8" };
    // Most readers do not ask for it.
    return {
      ok: true,
      text,
      get hash() {
        return hashOf(bytes);
      },
    };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return { ok: false, why: "missing" };
    if (code === NOT_REGULAR || code === "ELOOP" || code === "ENXIO") return { ok: false, why: NOT_REGULAR };
    return { ok: false, why: "unreadable", detail: code || messageOf(error) };
  }
}

/**
 * Whether a YAML file may have one of these keys: a look that spares most files the parser. Only with a backslash can a
 * key be written in other letters than its own.
 */
export function mayHaveKey(path: string, keys: string[], maxBytes?: number): boolean {
  const file = readText(path, maxBytes);
  return file.ok ? [...keys, "\\"].some((word) => file.text.includes(word)) : file.why !== "missing";
}

function readBytes(path: string, maxBytes: number): Uint8Array | null {
  const { fd, size } = openFile(path, O_RDONLY);
  try {
    return size > maxBytes ? null : readToEnd(fd, size, maxBytes);
  } finally {
    close(fd);
  }
}

/** The size is only a hint: the file may grow meanwhile, and files of /proc say 0. */
function readToEnd(fd: number, size: number, maxBytes: number): Uint8Array | null {
  let buffer = new Uint8Array(Math.max(size + 1, 4096));
  let used = 0;
  for (;;) {
    if (used === buffer.length) {
      const larger = new Uint8Array(buffer.length * 2);
      larger.set(buffer);
      buffer = larger;
    }
    const got = read(fd, buffer, used, buffer.length - used, null);
    if (got === 0) return buffer.subarray(0, used);
    used += got;
    if (used > maxBytes) return null;
  }
}

/** For what others wrote and Pawl only looks at, in any encoding; "" where it cannot be read. */
export const readLossy = (path: string): string =>
  attempt(() => new TextDecoder().decode(readBytes(path, 8 * MIB) ?? new Uint8Array()), "");

/** null: no object in it, or no such file. */
export function readJson(path: string, maxBytes?: number): Record<string, unknown> | null {
  const file = readText(path, maxBytes);
  const value = file.ok ? parseJson(file.text) : null;
  return isObject(value) ? value : null;
}

/** A folder that is not there, or not to be read, holds nothing for us. */
export const namesOrNone = (folder: string): string[] => attempt(() => readNames(folder), []);

/** null: no such folder. */
export const namesIn = (folder: string): string[] | null =>
  tolerate(["ENOENT", "ENOTDIR"], () => readNames(folder), null);

/** The last bytes of a file, and whether that is all of it; null where there is no such regular file. */
export function readTail(path: string, bytes: number): { text: string; whole: boolean } | null {
  const file = attempt(() => openFile(path, O_RDONLY), null);
  if (file === null) return null;
  const { fd, size } = file;
  try {
    const start = Math.max(0, size - bytes);
    const buffer = new Uint8Array(bytes);
    let used = 0;
    for (let got = -1; got !== 0 && used < bytes; used += got) {
      got = read(fd, buffer, used, bytes - used, start + used);
    }
    return { text: new TextDecoder().decode(buffer.subarray(0, used)), whole: start === 0 };
  } finally {
    close(fd);
  }
}

// ── Writing ─────────────────────────────────────────────────────────────────

export function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const wrote = write(fd, bytes, done, bytes.length - done);
    if (wrote <= 0) throw new Error("the disk takes no more bytes");
    done += wrote;
  }
}

/** It may be gone already; what stays is a leftover no one reads. */
export const removeQuietly = (path: string): void => attempt(() => unlinkIfThere(path), undefined);

export const removeIfThere = (path: string): void => tolerate(["ENOENT"], () => unlink(path), undefined);

/** "unsynced": for what can be made again, should a power cut take it. */
export type SyncMode = "synced" | "unsynced";

/** Writes a complete, synced file under a name no one reads; `publish` links or renames it to where it is seen. */
export function withTemp<T>(
  dir: string,
  text: string,
  mode: number,
  publish: (temp: string) => T,
  how: SyncMode = "synced",
): T {
  const temp = join(dir, `${TEMP_PREFIX}${process.pid}-${Bun.nanoseconds()}`);
  const fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  let published: T;
  try {
    try {
      writeAll(fd, new TextEncoder().encode(text));
      if (how === "synced") fsync(fd);
    } finally {
      close(fd);
    }
    published = publish(temp);
  } finally {
    removeQuietly(temp);
  }
  if (how === "synced") syncDir(dir);
  return published;
}

export function writeAtomic(path: string, text: string, mode = 0o600, how: SyncMode = "synced"): void {
  withTemp(dirname(path), text, mode, (temp) => rename(temp, path), how);
}

/** A file of the person's, outside of projects; its folder is made. */
export function writeInHome(path: string, text: string, how: SyncMode = "synced"): void {
  makeDirs(dirname(path), 0o700);
  writeAtomic(path, text, 0o600, how);
}

/** false: something is there already. */
export const linkIfFree = (from: string, path: string): boolean => isMade(() => link(from, path));

const isMade = (make: () => void): boolean => tolerate(["EEXIST"], make, "taken") !== "taken";

/** One write per line. What a full disk cut short is given again as a line of its own. */
export function appendLine(path: string, line: string): void {
  const { fd, size } = openFile(path, O_RDWR | O_APPEND | O_CREAT);
  try {
    const whole = `${line.startsWith("\n") || endsClean(fd, size) ? "" : "\n"}${line}${line.endsWith("\n") ? "" : "\n"}`;
    if (writeOnce(fd, whole) || writeOnce(fd, `\n${whole}`)) return;
    throw new Error(`${path}: the line did not fit`);
  } finally {
    close(fd);
  }
}

function writeOnce(fd: number, text: string): boolean {
  const bytes = new TextEncoder().encode(text);
  return write(fd, bytes, 0, bytes.length) === bytes.length;
}

function endsClean(fd: number, size: number): boolean {
  const last = new Uint8Array(1);
  return size === 0 || read(fd, last, 0, 1, size - 1) === 0 || last[0] === 10;
}

// ── Quarantine ──────────────────────────────────────────────────────────────

/** Moves a broken file or folder aside; the new name is reserved first, so that nothing is ever overwritten. */
export function quarantine(path: string): string {
  const folder = lookAt(path)?.isDirectory() ?? false;
  for (let count = 1; ; count++) {
    const aside = corruptName(path, count);
    const reserve = () =>
      folder ? mkdir(aside, 0o700) : close(open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
    if (!isMade(reserve)) continue;
    rename(path, aside);
    return aside;
  }
}

export function corruptName(path: string, count: number): string {
  return count === 1 ? `${path}.corrupt` : `${path}.corrupt-${count}`;
}

// ── Paths that cannot lead out of the project ───────────────────────────────

const LONGEST_NAME = 255;
const LONGEST_PATH = 1024;

export class PathError extends Error {
  override name = "PathError";
}

export function errorCode(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** For errors that are no failure: the value of the work, or the fallback if it throws one of these codes. */
export function tolerate<T, F>(codes: string[], work: () => T, fallback: F): T | F {
  try {
    return work();
  } catch (error) {
    if (codes.includes(errorCode(error))) return fallback;
    throw error;
  }
}

/** undefined: nothing there. */
export const lookAt = (path: string): FileStat | undefined => tolerate(["ENOTDIR"], () => lstat(path), undefined);

/** The path itself, or the nearest folder above it that exists. */
export const nearestThere = (path: string): string =>
  path === "/" || lookAt(path) !== undefined ? path : nearestThere(dirname(path));

/** Some file systems cannot sync a folder; then the kernel's own order has to do. */
export function syncDir(dir: string): void {
  const fd = open(dir, FLAGS.O_RDONLY | FLAGS.O_DIRECTORY);
  try {
    tolerate(["EINVAL", "ENOTSUP", "EBADF"], () => fsync(fd), undefined);
  } finally {
    close(fd);
  }
}

/** The absolute path of something inside the project; throws where it could lead out of it. */
export function insideRoot(root: string, relative: string): string {
  let path = checkedRoot(root);
  let exists = true;
  const parts = checkedParts(relative);
  for (const [at, part] of parts.entries()) {
    path = join(path, part);
    exists = exists && checkStep(path, relative, at === parts.length - 1);
  }
  return path;
}

export function ensureDir(root: string, relativeDir: string, how: SyncMode = "synced"): string {
  let path = checkedRoot(root);
  for (const part of checkedParts(relativeDir)) {
    const parent = path;
    path = join(path, part);
    if (checkStep(path, relativeDir, false)) continue;
    if (makeDir(path, 0o700) && how === "synced") syncDir(parent);
    checkStep(path, relativeDir, false);
  }
  return path;
}

/** Outside of projects, where links are the person's own: the folder and whatever is missing above it. */
export function makeDirs(path: string, mode: number): void {
  try {
    makeDir(path, mode);
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || path === dirname(path)) throw error;
    makeDirs(dirname(path), mode);
    makeDir(path, mode);
  }
}

const makeDir = (path: string, mode: number): boolean => isMade(() => mkdir(path, mode));

/** Buffer would have to be loaded first; few names are long enough to be counted. */
const bytesIn = (text: string) => (text.length < 80 ? text.length : new TextEncoder().encode(text).length);

function checkedRoot(root: string): string {
  if (!root.startsWith("/") || root.includes("\0")) throw new PathError(`the project's root is not a path: ${root}`);
  return root;
}

function checkedParts(relative: string): string[] {
  const refuse = (why: string): never => {
    throw new PathError(`${JSON.stringify(relative.slice(0, 200))}: ${why}`);
  };
  if (bytesIn(relative) > LONGEST_PATH) refuse("is too long");
  if (relative.includes("\0")) refuse("has a NUL byte");
  if (relative.startsWith("/")) refuse("is not relative to the project");
  const parts: string[] = [];
  for (const part of relative.split("/")) {
    if (part === "..") refuse("leads out of the project");
    if (part.toLowerCase() === ".git") refuse("belongs to git");
    if (bytesIn(part) > LONGEST_NAME) refuse("has a name that is too long");
    if (part !== "" && part !== ".") parts.push(part);
  }
  if (parts.length === 0) refuse("names nothing");
  return parts;
}

/** true: it exists and may be gone through. */
function checkStep(path: string, relative: string, last: boolean): boolean {
  let found: FileStat | undefined;
  try {
    found = lookAt(path);
  } catch (error) {
    throw new PathError(`${relative.slice(0, 200)}: ${messageOf(error)}`);
  }
  if (found?.isSymbolicLink()) throw new PathError(`${relative}: ${path} is a symbolic link`);
  if (found && !last && !found.isDirectory()) throw new PathError(`${relative}: ${path} is not a folder`);
  return found !== undefined;
}
