/**
 * The few entries of git's index that need a closer look than git takes. The file is scanned as it is: having git list
 * 50,000 entries would take longer than the whole hash may.
 */

export const REPOSITORY = 0o160000;
const FOLDER = 0o040000;

const ASSUME_UNCHANGED = 0x8000;
const EXTENDED = 0x4000;
const STAGE = 0x3000;
const LONG_NAME = 0xfff;
const SKIP_WORKTREE = 0x4000;

export interface IndexEntry {
  /** raw */
  path: string;
  mode: number;
  oid: string;
  unmerged: boolean;
  /** how git was told not to check the file */
  mark: "assume-unchanged" | "skip-worktree" | null;
  /** its file changed in the second in which the index was written, though its mtime is older */
  doubtful: boolean;
}

export interface IndexScan {
  /** marked, doubtful, unmerged, a repository, or one that `mayMatter` */
  entries: IndexEntry[];
  /** the whole as a tree, where git remembers it and no entry has changed since */
  root: string | null;
  /** parts are in another file, or whole folders in one entry: git has to write the index out first */
  partial: boolean;
}

/** `mayMatter` gets the position of a path in the bytes, so that most paths need not become strings. */
export function scanIndex(bytes: Buffer, width: 20 | 32, writtenAt: number, mayMatter: MayMatter): IndexScan {
  const version = bytes.length < 12 ? 0 : bytes.readUInt32BE(4);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) throw notUnderstood();
  const scan: IndexScan = { entries: [], root: null, partial: false };
  let at = 12;
  let last = "";
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + 40 + width;
    if (flagsAt + 4 > bytes.length) throw notUnderstood();
    const flags = bytes.readUInt16BE(flagsAt);
    const mode = bytes.readUInt32BE(at + 24);
    const skipped = (flags & EXTENDED) !== 0 && (bytes.readUInt16BE(flagsAt + 2) & SKIP_WORKTREE) !== 0;
    const mark = skipped ? "skip-worktree" : flags & ASSUME_UNCHANGED ? "assume-unchanged" : null;
    const name = readName(bytes, flagsAt + (flags & EXTENDED ? 4 : 2), flags, version === 4 ? last : null);
    if (name.to < name.from) throw notUnderstood();
    if (name.path !== null) last = name.path;
    const doubtful = bytes.readUInt32BE(at) >= writtenAt && bytes.readUInt32BE(at + 8) < writtenAt;
    if (mark || doubtful || flags & STAGE || mode === REPOSITORY || mayMatter(name)) {
      const path = name.path ?? bytes.toString("latin1", name.from, name.to);
      const oid = bytes.toString("hex", at + 40, flagsAt);
      scan.entries.push({ path, mode, oid, unmerged: (flags & STAGE) !== 0, mark, doubtful });
    }
    scan.partial ||= mode === FOLDER;
    // Up to version 3 an entry is padded to a multiple of eight, with at least one zero.
    at = version === 4 ? name.to + 1 : at + ((name.to - at + 8) & ~7);
  }
  readExtensions(bytes, at, width, scan);
  return scan;
}

const notUnderstood = () => new Error("git's index has a form that is not understood");

interface Name {
  from: number;
  to: number;
  /** null: it is in the bytes as it is */
  path: string | null;
}

export type MayMatter = (name: Name) => boolean;

/** In version 4 a name says how much of the `last` one to drop, then what comes instead; before, it is written out. */
function readName(bytes: Buffer, from: number, flags: number, last: string | null): Name {
  if (last === null) {
    const length = flags & LONG_NAME;
    return { from, to: length < LONG_NAME ? from + length : bytes.indexOf(0, from), path: null };
  }
  let at = from;
  let byte = bytes[at++]!;
  let drop = byte & 127;
  while (byte & 128) {
    byte = bytes[at++]!;
    drop = (drop + 1) * 128 + (byte & 127);
  }
  const to = bytes.indexOf(0, at);
  return { from: at, to, path: last.slice(0, last.length - drop) + bytes.toString("latin1", at, to) };
}

/** "TREE" begins with an empty name, a count of entries (-1: something has changed) and the tree's object. */
function readExtensions(bytes: Buffer, from: number, width: number, scan: IndexScan): void {
  for (let at = from; at + 8 <= bytes.length - width; at += 8 + bytes.readUInt32BE(at + 4)) {
    const name = bytes.toString("latin1", at, at + 4);
    scan.partial ||= name === "link";
    const line = name === "TREE" ? bytes.indexOf("\n", at + 8) + 1 : 0;
    if (line > 0 && !bytes.toString("latin1", at + 9, line).startsWith("-"))
      scan.root = bytes.toString("hex", line, line + width);
  }
}
