/** Reads what a command names: only inside the project, bounded, and every answer says what it covers. */
import { closeSync, constants, fstatSync, readSync, realpathSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import type { ClosureScript } from "../../store/closure.ts";
import { hashOf, lookAt, openRegular } from "../../store/files.ts";
import { basename, join } from "../../store/names.ts";

const MIB = 1024 * 1024;
export const MOST_FILES = 200;
/** What is longer is better read in an editor. */
const LONGEST_SHOWN = 8 * 1024;
const LOOKS_LIKE_A_SCRIPT = /^\S+\.(sh|bash|zsh|[cm]?[jt]sx?|py|rb|php|pl|lua|ps1|bat|mk)$/;

export interface ClosureFiles {
  /** as the kernel sees it */
  root: string;
  /** by real path; read once per closure */
  read: Map<string, Content>;
  /** by path, as the command names it */
  found: Map<string, ClosureScript | null>;
}

interface Content {
  what: string;
  sha256: string;
  text: string | null;
}

export const openFiles = (root: string): ClosureFiles => ({
  root: real(root) ?? root,
  read: new Map(),
  found: new Map(),
});

/** null: it names nothing of this project. */
export function scriptAt(files: ClosureFiles, folder: string, word: string): ClosureScript | null {
  const path = (word.startsWith("/") ? word : join(files.root, folder, word)).replaceAll(/(\/\.)+(?=\/)/g, "");
  const known = files.found.get(path);
  if (known !== undefined) return known;
  const script = lookUp(files, path, word);
  files.found.set(path, script);
  return script;
}

function lookUp(files: ClosureFiles, path: string, word: string): ClosureScript | null {
  const found = real(path);
  if (found === null) return missing(files, path, word);
  const inside = relativeTo(files.root, found);
  if (inside === null) return leadsOut(files, path, found);
  if (inside === "" || !lookAt(found)?.isFile()) return null;
  const { what, sha256, text } = contentAt(files, found);
  // Secrets are hashed, not shown and not kept.
  const isShown = text !== null && text.length <= LONGEST_SHOWN && !basename(inside).startsWith(".env");
  return { path: inside, what, sha256, ...(isShown && { text }) };
}

/** The whole text of a regular file inside the project; null where there is none, or where it is too large. */
export function textAt(files: ClosureFiles, path: string): string | null {
  const found = real(join(files.root, path));
  if (found === null || relativeTo(files.root, found) === null || !lookAt(found)?.isFile()) return null;
  return contentAt(files, found).text;
}

/** A folder of the project by its one true name; "." is the root. */
export function folderAt(files: ClosureFiles, from: string, word: string): string | null {
  const found = real(word.startsWith("/") ? word : join(files.root, from, word));
  const inside = found === null ? null : relativeTo(files.root, found);
  return inside !== null && lookAt(found!)?.isDirectory() ? inside || "." : null;
}

/** The folder and all above it, up to the root: ["packages/a", "packages", "."]. */
export function upwards(files: ClosureFiles, folder: string): string[] {
  const parts = (folderAt(files, folder, "") ?? ".").split("/").filter((part) => part !== ".");
  return [...parts.map((_, at) => parts.slice(0, parts.length - at).join("/")), "."];
}

/** libc's answer: `..` after a link leads where the kernel says, not where the text does. */
const real = (path: string) => attempt(() => realpathSync.native(path), null);

function relativeTo(root: string, path: string): string | null {
  if (path === root) return "";
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null;
}

/** A word that is no file is just a word, unless it can hardly mean anything else. */
function missing(files: ClosureFiles, path: string, word: string): ClosureScript | null {
  const isLink = attempt(() => lookAt(path)?.isSymbolicLink(), false);
  if (!isLink && !LOOKS_LIKE_A_SCRIPT.test(word)) return null;
  const inside = relativeTo(files.root, path);
  return inside === null ? null : { path: inside, what: "missing", sha256: "" };
}

/** What is outside was never the repository's; a link of the repository that leads there is. */
function leadsOut(files: ClosureFiles, path: string, found: string): ClosureScript | null {
  const inside = relativeTo(files.root, path);
  if (inside === null || inside.split("/").includes("..")) return null;
  return { path: inside, what: `a link out of the project, to ${found}: its content is not covered`, sha256: "" };
}

function contentAt(files: ClosureFiles, path: string): Content {
  const known = files.read.get(path);
  if (known) return known;
  if (files.read.size >= MOST_FILES)
    return { what: `not covered: more than ${MOST_FILES} files are named`, sha256: "", text: null };
  const content = readContent(path);
  files.read.set(path, content);
  return content;
}

function readContent(path: string): Content {
  try {
    const { bytes, size } = readStart(path);
    if (size > bytes.length) {
      const sha256 = hashOf(`${hashOf(bytes)} ${size}`);
      return { what: "file, larger than 1 MB: only its first MB and its size are covered", sha256, text: null };
    }
    return { what: "file", sha256: hashOf(bytes), text: decode(bytes) };
  } catch {
    return { what: "file that cannot be read", sha256: "", text: null };
  }
}

function readStart(path: string): { bytes: Uint8Array; size: number } {
  const fd = openRegular(path, constants.O_RDONLY);
  try {
    const { size } = fstatSync(fd);
    const bytes = new Uint8Array(Math.min(size, MIB));
    let used = 0;
    for (let got = -1; got !== 0 && used < bytes.length; used += got) {
      got = readSync(fd, bytes, used, bytes.length - used, used);
    }
    return { bytes: bytes.subarray(0, used), size };
  } finally {
    closeSync(fd);
  }
}

const decode = (bytes: Uint8Array) =>
  attempt(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), null);
