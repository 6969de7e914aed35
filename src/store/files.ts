/** The only way to the disk: nothing here follows a symlink, waits on a FIFO or leaves half a file behind. */
import {
  close,
  FLAGS,
  fstat,
  fsync,
  mkdir,
  namesOf,
  open,
  read,
  rename,
  unlinkIfThere,
  write,
} from "../native/disk.ts";
import { dirname, join } from "./names.ts";
import { errorCode, lookAt, messageOf, syncDir } from "./paths.ts";

export { ensureDir, errorCode, insideRoot, lookAt, makeDirs, messageOf, PathError, syncDir } from "./paths.ts";

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
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function hashOf(content: string | Uint8Array): string {
  // The same hasher as for seals: each kind has to be set up once.
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
}

// ── Reading ─────────────────────────────────────────────────────────────────

export function openRegular(path: string, flags: number, mode = 0o600): number {
  return openFile(path, flags, mode).fd;
}

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
    const text = decode(bytes);
    // Most readers do not ask for it.
    return {
      ok: true,
      text,
      get hash() {
        return hashOf(bytes);
      },
    };
  } catch (error) {
    return readFailure(error);
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

/** A lossy text written back would destroy what the owner wrote, so other encodings are refused. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error("not UTF-8");
  }
}

function readFailure(error: unknown): ReadResult {
  const code = errorCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return { ok: false, why: "missing" };
  if (code === NOT_REGULAR || code === "ELOOP" || code === "ENXIO") return { ok: false, why: NOT_REGULAR };
  return { ok: false, why: "unreadable", detail: code || messageOf(error) };
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
    if (used === buffer.length) buffer = twice(buffer);
    const got = read(fd, buffer, used, buffer.length - used, null);
    if (got === 0) return buffer.subarray(0, used);
    used += got;
    if (used > maxBytes) return null;
  }
}

function twice(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2);
  larger.set(bytes);
  return larger;
}

/** A folder that is not there, or not to be read, holds nothing for us. */
export function namesOrNone(folder: string): string[] {
  try {
    return namesOf(folder);
  } catch {
    return [];
  }
}

/** The last bytes of a file, and whether that is all of it; null where there is no such regular file. */
export function readTail(path: string, bytes: number): { text: string; whole: boolean } | null {
  let file: { fd: number; size: number };
  try {
    file = openFile(path, O_RDONLY);
  } catch {
    return null;
  }
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

export function removeQuietly(path: string): void {
  try {
    unlinkIfThere(path);
  } catch {
    // already gone, or a leftover no one reads
  }
}

/** Writes a complete, synced file under a name no one reads; `publish` links or renames it to where it is seen. */
export function withTemp(
  dir: string,
  text: string,
  mode: number,
  publish: (temp: string) => void,
  how: "synced" | "unsynced" = "synced",
): void {
  const temp = join(dir, `${TEMP_PREFIX}${process.pid}-${Bun.nanoseconds()}`);
  const fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    try {
      writeAll(fd, new TextEncoder().encode(text));
      if (how === "synced") fsync(fd);
    } finally {
      close(fd);
    }
    publish(temp);
  } finally {
    removeQuietly(temp);
  }
  if (how === "synced") syncDir(dir);
}

export function writeAtomic(path: string, text: string, mode = 0o600): void {
  withTemp(dirname(path), text, mode, (temp) => rename(temp, path));
}

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
    try {
      if (folder) mkdir(aside, 0o700);
      else close(open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600));
    } catch (error) {
      if (errorCode(error) === "EEXIST") continue;
      throw error;
    }
    rename(path, aside);
    return aside;
  }
}

export function corruptName(path: string, count: number): string {
  return count === 1 ? `${path}.corrupt` : `${path}.corrupt-${count}`;
}
