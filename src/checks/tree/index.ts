/** Git's index, read as it lies on disk: starting git for it would cost as much as the whole question may. */
import { TreeError } from "./git.ts";

export const FOLDER = 0o040000;
export const LINK = 0o120000;
export const REPOSITORY = 0o160000;
const MODES = new Set([0o100644, 0o100755, LINK, REPOSITORY, FOLDER]);

const ASSUME_UNCHANGED = 0x8000;
const EXTENDED = 0x4000;
const SKIP_WORKTREE = 0x4000;
const INTENT_TO_ADD = 0x2000;
const LONG_NAME = 0xfff;

export interface Entry {
  /** bytes, one per character */
  path: string;
  mode: number;
  stage: number;
  /** only announced with `git add -N` */
  intended: boolean;
  oid: string;
}

/** A folder's object as git remembers it; "" where something below has changed since. */
export interface KnownTree {
  oid: string;
  /** entries of the index below it */
  count: number;
  children: Map<string, KnownTree>;
}

export interface Mark {
  i: number;
  skipped: boolean;
  /** see doubtful */
  doubted?: true;
}

export interface Index {
  bytes: Buffer;
  width: 20 | 32;
  /** where each entry begins; most are never looked at more closely */
  starts: Uint32Array;
  path(i: number): string;
  /** names are not written out one by one */
  shortened: boolean;
  /** entries that git was told not to look at: assume-unchanged, skip-worktree */
  marked: Mark[];
  /** entries that are repositories of their own */
  inner: number[];
  known: KnownTree | null;
  /** parts of it are in another file, or whole folders in one entry: git has to write it out first */
  partial: boolean;
}

export function entryAt({ bytes, width, starts, path }: Index, i: number): Entry {
  const at = starts[i]!;
  const flags = bytes.readUInt16BE(at + 40 + width);
  return {
    path: path(i),
    mode: bytes.readUInt32BE(at + 24),
    stage: (flags >> 12) & 3,
    intended: (flags & EXTENDED) !== 0 && (bytes.readUInt16BE(at + 42 + width) & INTENT_TO_ADD) !== 0,
    oid: bytes.toString("hex", at + 40, at + 40 + width),
  };
}

/** One byte of a path, without making the path. */
export function pathByte({ bytes, width, starts, shortened, path }: Index, i: number, offset: number): number {
  if (shortened) return path(i).charCodeAt(offset);
  const flags = starts[i]! + 40 + width;
  return bytes[flags + (bytes[flags]! & (EXTENDED >> 8) ? 4 : 2) + offset]!;
}

/** The first entry that does not come before this path. */
export function firstFrom(index: Index, path: string): number {
  let low = 0;
  let high = index.starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (index.path(middle) < path) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function noIndex(width: 20 | 32): Index {
  const nothing = { bytes: Buffer.alloc(0), starts: new Uint32Array(0), marked: [], inner: [], known: null };
  return { ...nothing, width, path: () => "", shortened: false, partial: false };
}

export function parseIndex(bytes: Buffer, width: 20 | 32): Index {
  const version = bytes.length < 12 ? 0 : bytes.readUInt32BE(4);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) throw notUnderstood();
  const { end, ...entries } = readEntries(bytes, width, version);
  const parts = readExtensions(bytes, end, width);
  const tree = parts.get("TREE");
  const known = tree ? readKnown(tree, width) : null;
  return { bytes, width, ...entries, known, partial: parts.has("link") || parts.has("sdir") };
}

const notUnderstood = () => new TreeError("git's index has a form that is not understood");

/** The one loop that sees every file of the repository: it makes nothing of an entry without need. */
function readEntries(bytes: Buffer, width: number, version: number) {
  const starts = new Uint32Array(bytes.readUInt32BE(8));
  const marked: Index["marked"] = [];
  const inner: number[] = [];
  const names: string[] | null = version === 4 ? [] : null;
  let at = 12;
  for (let i = 0; i < starts.length; i++) {
    const mode = (bytes[at + 26]! << 8) | bytes[at + 27]!;
    if (at + 42 + width >= bytes.length || !MODES.has(mode)) throw notUnderstood();
    starts[i] = at;
    const flags = (bytes[at + 40 + width]! << 8) | bytes[at + 41 + width]!;
    const extended = (flags & EXTENDED) !== 0;
    const skipped = extended && (bytes[at + 42 + width]! & (SKIP_WORKTREE >> 8)) !== 0;
    if (skipped || flags & ASSUME_UNCHANGED) marked.push({ i, skipped });
    if (mode === REPOSITORY) inner.push(i);
    const nameAt = at + 42 + width + (extended ? 2 : 0);
    at = names ? readShortened(bytes, nameAt, names) : at + ((nameEnd(bytes, nameAt, flags) - at + 8) & ~7);
  }
  const path = (i: number) => names?.[i] ?? nameOf(bytes, width, starts[i]!);
  return { starts, marked, inner, path, shortened: version === 4, end: at };
}

/** Up to version 3 an entry is filled up to a multiple of eight, with at least one zero. */
const nameEnd = (bytes: Buffer, nameAt: number, flags: number) =>
  (flags & LONG_NAME) < LONG_NAME ? nameAt + (flags & LONG_NAME) : bytes.indexOf(0, nameAt);

function nameOf(bytes: Buffer, width: number, at: number): string {
  const flags = bytes.readUInt16BE(at + 40 + width);
  const nameAt = at + 42 + width + (flags & EXTENDED ? 2 : 0);
  return bytes.toString("latin1", nameAt, nameEnd(bytes, nameAt, flags));
}

/** In version 4: how much of the last name to drop, then what comes instead. */
function readShortened(bytes: Buffer, from: number, names: string[]): number {
  const { value, end } = readNumber(bytes, from);
  const last = names.at(-1) ?? "";
  const zero = bytes.indexOf(0, end);
  names.push(last.slice(0, last.length - value) + bytes.toString("latin1", end, zero));
  return zero + 1;
}

/** Seven bits a byte, the highest first; each further byte counts one more. */
function readNumber(bytes: Buffer, from: number): { value: number; end: number } {
  let at = from;
  let byte = bytes[at++]!;
  let value = byte & 127;
  while (byte & 128) {
    byte = bytes[at++]!;
    value = (value + 1) * 128 + (byte & 127);
  }
  return { value, end: at };
}

function readExtensions(bytes: Buffer, from: number, width: number): Map<string, Buffer> {
  const parts = new Map<string, Buffer>();
  for (let at = from; at + 8 <= bytes.length - width; ) {
    const size = bytes.readUInt32BE(at + 4);
    parts.set(bytes.toString("latin1", at, at + 4), bytes.subarray(at + 8, at + 8 + size));
    at += 8 + size;
  }
  return parts;
}

/** "name\0count children\n" and the object's name unless the count is -1, then the children in the same way. */
function readKnown(part: Buffer, width: number): KnownTree {
  const text = part.toString("latin1");
  let at = 0;
  const read = (): [string, KnownTree] => {
    const nameEnd = text.indexOf("\0", at);
    const lineEnd = text.indexOf("\n", nameEnd);
    const [count, children] = text
      .slice(nameEnd + 1, lineEnd)
      .split(" ")
      .map(Number);
    if (nameEnd < 0 || lineEnd < 0 || !Number.isInteger(count) || !Number.isInteger(children)) throw notUnderstood();
    const name = text.slice(at, nameEnd);
    const valid = count! >= 0;
    at = lineEnd + 1 + (valid ? width : 0);
    const tree = { oid: valid ? part.toString("hex", at - width, at) : "", count: count!, children: new Map() };
    for (let left = children!; left > 0; left--) tree.children.set(...read());
    return [name, tree];
  };
  return read()[1];
}

/**
 * Files that changed in the very second in which the index was written, though their times say otherwise. Git counts
 * seconds, so an edit in that second whose times were put back would look like the file it knows.
 */
export function doubtful({ bytes, starts }: Index, seconds: number): Mark[] {
  const doubted: Mark[] = [];
  for (let i = 0; i < starts.length; i++) {
    const at = starts[i]!;
    if (secondsAt(bytes, at) >= seconds && secondsAt(bytes, at + 8) < seconds)
      doubted.push({ i, skipped: false, doubted: true });
  }
  return doubted;
}

const secondsAt = (bytes: Buffer, at: number) =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;

/** A copy in which git looks at these entries again, whatever it was told about them. */
export function withoutMarks({ bytes, width, starts }: Index, marked: Mark[]): Buffer {
  const copy = Buffer.from(bytes);
  for (const { i, skipped, doubted } of marked) {
    if (doubted) copy.fill(0, starts[i]! + 8, starts[i]! + 16);
    const flags = starts[i]! + 40 + width;
    copy.writeUInt16BE(copy.readUInt16BE(flags) & ~ASSUME_UNCHANGED, flags);
    if (skipped) copy.writeUInt16BE(copy.readUInt16BE(flags + 2) & ~SKIP_WORKTREE, flags + 2);
  }
  return sealed(copy.subarray(0, copy.length - width), width);
}

export interface Blob {
  path: string;
  mode: number;
  oid: string;
}

/** An index of a few files, none of which git believes to know. */
export function smallIndex(files: Blob[], width: 20 | 32): Buffer {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const head = Buffer.alloc(12);
  head.write("DIRC");
  head.writeUInt32BE(2, 4);
  head.writeUInt32BE(sorted.length, 8);
  return sealed(Buffer.concat([head, ...sorted.map((file) => smallEntry(file, width))]), width);
}

function smallEntry({ path, mode, oid }: Blob, width: number): Buffer {
  const nameAt = 42 + width;
  const entry = Buffer.alloc((nameAt + path.length + 8) & ~7);
  entry.writeUInt32BE(mode, 24);
  entry.write(oid, 40, "hex");
  entry.writeUInt16BE(Math.min(path.length, LONG_NAME), 40 + width);
  entry.write(path, nameAt, "latin1");
  return entry;
}

const sealed = (content: Buffer, width: 20 | 32) => Buffer.concat([content, digest(content, width)]);

export const digest = (content: Uint8Array, width: 20 | 32): Buffer =>
  Buffer.from((width === 20 ? Bun.SHA1 : Bun.SHA256).hash(content) as Uint8Array);
