/** Paths that cannot lead out of the project. */
import { close, FLAGS, type Found, fsync, lstat, mkdir, open } from "../native/disk.ts";
import { dirname, join } from "./names.ts";

const LONGEST_NAME = 255;
const LONGEST_PATH = 1024;

export class PathError extends Error {
  override name = "PathError";
}

export function errorCode(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** undefined: nothing there. */
export function lookAt(path: string): Found | undefined {
  try {
    return lstat(path);
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** Some file systems cannot sync a folder; then the kernel's own order has to do. */
export function syncDir(dir: string): void {
  const fd = open(dir, FLAGS.O_RDONLY | FLAGS.O_DIRECTORY);
  try {
    fsync(fd);
  } catch (error) {
    if (!["EINVAL", "ENOTSUP", "EBADF"].includes(errorCode(error))) throw error;
  } finally {
    close(fd);
  }
}

/** The absolute path of something inside the project; throws where it could lead out of it. */
export function insideRoot(root: string, relative: string): string {
  let path = checkedRoot(root);
  let exists = true;
  const parts = checkedParts(relative);
  let left = parts.length;
  for (const part of parts) {
    left--;
    path = join(path, part);
    exists = exists && checkStep(path, relative, left === 0);
  }
  return path;
}

/** "unsynced": for what can be made again, should a power cut take it. */
export function ensureDir(root: string, relativeDir: string, how: "synced" | "unsynced" = "synced"): string {
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

function makeDir(path: string, mode: number): boolean {
  try {
    mkdir(path, mode);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

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
  let found: Found | undefined;
  try {
    found = lookAt(path);
  } catch (error) {
    throw new PathError(`${relative.slice(0, 200)}: ${messageOf(error)}`);
  }
  if (found?.isSymbolicLink()) throw new PathError(`${relative}: ${path} is a symbolic link`);
  if (found && !last && !found.isDirectory()) throw new PathError(`${relative}: ${path} is not a folder`);
  return found !== undefined;
}
