/**
 * The tree as it is on disk, as one hash: git's own name for what `git add -A` would put into a commit now, without
 * Pawl's own files. Git does the work on a private copy of its index and with a private object folder, so neither the
 * index nor the repository's objects are written.
 *
 * 1. Where the project is a folder of a larger repository, the hash is about that folder only. Where the repository
 *    ignores that folder, it is read without git.
 * 2. A repository inside (submodule or not) counts with its commit while it is as committed, else with a name made of
 *    its commit and its own tree.
 * 3. Marks that tell git not to check a file (assume-unchanged; skip-worktree on a file that is there) are ignored, and
 *    times that were put back are not believed.
 * 4. No filter, hook, monitor or remote of the repository is run or asked; see lfs.ts for git-lfs.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import type { Fact } from "../../kernel/types/run.ts";
import { hashOf, lookAt, messageOf, TEMP_PREFIX } from "../../store/files.ts";
import { findGitDir, isLinkedWorktree } from "../../store/git-dir.ts";
import { join } from "../../store/names.ts";
import { isOwned, OWNED } from "../../store/owned.ts";
import { diffTrees, type TreeChange } from "./diff.ts";
import {
  askGit,
  deadline,
  emptyTree,
  findRepo,
  ignoresRoot,
  type Repo,
  readable,
  readSettings,
  resolveName,
  toRaw,
} from "./git.ts";
import { type IndexEntry, type IndexScan, type MayMatter, REPOSITORY, scanIndex } from "./index.ts";
import { lfsPointers } from "./lfs.ts";
import { type DiskChanges, type Look, onDisk, readStatus } from "./status.ts";
import { walkedHash } from "./walk.ts";

export type { TreeChange } from "./diff.ts";

const DEEPEST = 8;

/**
 * `objects`: an absolute folder of the caller's that keeps the objects git does not have yet, so that the tree can be
 * compared later; null keeps nothing.
 */
export function treeHash(root: string, objects: string | null): Fact<string> {
  return asFact(() => {
    const until = deadline();
    const isOwn = ownPaths(root, objects);
    const repo = findRepo(root);
    if (repo === null || ignoresRoot(repo, until)) return walkedHash(root, until, isOwn);
    if (objects !== null) makeFolder(objects);
    return hashRepo(repo, objects, until, isOwn, 0);
  });
}

/** Between a kept tree (or any commit or tree of the repository) and a tree of now, both from treeHash with `objects`. */
export function changesSince(
  root: string,
  base: string,
  now: string,
  objects: string | null,
  wanted: (path: string) => boolean,
): Fact<TreeChange[]> {
  return asFact(() => {
    const until = deadline();
    const repo = findRepo(root);
    if (repo === null) throw new Error("no git");
    if (ignoresRoot(repo, until)) throw new Error("no git: the repository ignores this folder");
    const kept = objects !== null && lookAt(objects)?.isDirectory() ? objects : null;
    return diffTrees({ repo, base, now, objects: kept, until, wanted, isOwn: ownPaths(root, objects) });
  });
}

/** The names of what differs; what cannot be compared is something, too. */
export function changedPaths(root: string, before: string, after: string, objects: string | null): string[] {
  const changes = after === "" ? null : changesSince(root, before, after, objects, () => false);
  return changes?.ok && changes.value.length > 0 ? changes.value.map(({ path }) => path) : ["something"];
}

function asFact<T>(work: () => T): Fact<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

/** Paths seen from the project. Kept objects that are in the project are Pawl's own, too. */
function ownPaths(root: string, objects: string | null): (path: string) => boolean {
  const kept = objects?.startsWith(`${root}/`) ? objects.slice(root.length + 1) : null;
  return (path) => isOwned(path) || (kept !== null && (path === kept || path.startsWith(`${kept}/`)));
}

function makeFolder(objects: string): void {
  if (lookAt(objects) === undefined) mkdirSync(objects, { recursive: true, mode: 0o700 });
  if (!lookAt(objects)?.isDirectory()) throw new Error(`${objects} is not a folder`);
}

// ── One repository ──────────────────────────────────────────────────────────

function hashRepo(
  repo: Repo,
  objects: string | null,
  until: number,
  isOwn: (path: string) => boolean,
  depth: number,
): string {
  if (depth > DEEPEST) throw new Error(`more than ${DEEPEST} repositories inside each other`);
  const temp = mkdtempSync(join(tmpdir(), "pawl-tree-"));
  try {
    const settings = readSettings(repo, until);
    const look: Look = {
      repo,
      settings,
      temp,
      call: { until, index: join(repo.gitDir, "index"), objects: objects ?? temp, filters: settings.filters },
      kept: objects !== null,
      isOwn: (path) => path.startsWith(repo.prefix) && isOwn(readable(path.slice(repo.prefix.length))),
    };
    return hashLook(look, openIndex(look), depth);
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** Files come last: they may take the place of a folder that was removed. */
function hashLook(look: Look, { entries, root }: IndexScan, depth: number): string {
  const { repo, call, kept } = look;
  const changes = readStatus(look);
  const pointers = lfsPointers(look, changes.files);
  const files = [...changes.files.keys()].filter((path) => !pointers.has(path)).map((path) => `${path}\0`);
  const lines = editLines(look, entries, changes, pointers, depth);
  if (lines.length + files.length === 0 && root !== null) return below(look, root);
  editIndex(look, lines);
  // Where the objects are not kept, names are enough.
  const command = ["update-index", ...(kept ? [] : ["--info-only"]), "--add", "--remove", "--replace", "-z", "--stdin"];
  if (files.length > 0) askGit(repo, command, { ...call, input: files.join("") });
  // With --missing-ok git need not look for 50,000 objects.
  return below(look, askGit(repo, ["write-tree", "--missing-ok"], call).trim());
}

/** All that changed and is no plain file, as `git update-index --index-info` reads it. */
function editLines(
  look: Look,
  entries: IndexEntry[],
  { removed, files, repositories }: DiskChanges,
  pointers: Map<string, string>,
  depth: number,
): string[] {
  const { repo, settings } = look;
  const lines = removed.map((path) => removal(look, path));
  for (const [path, oid] of pointers) {
    const mode = settings.fileMode && files.get(path)!.mode & 0o100 ? "100755" : "100644";
    lines.push(`${mode} ${oid}\t${path}\0`);
  }
  const inside = entries.filter(({ path, mode }) => mode === REPOSITORY && path.startsWith(repo.prefix));
  const known = new Map(inside.filter(({ path }) => !removed.includes(path)).map(({ path, oid }) => [path, oid]));
  for (const path of new Set([...known.keys(), ...repositories])) {
    const oid = innerName(look, path, known.get(path), depth);
    if (oid !== undefined && oid !== known.get(path)) lines.push(`${REPOSITORY.toString(8)} ${oid}\t${path}\0`);
  }
  return lines;
}

/** Mode 0 removes an entry. */
const removal = ({ settings }: Look, path: string) => `0 ${"0".repeat(settings.width * 2)}\t${path}\0`;

/** The project's part of the repository's tree. */
function below({ repo, call }: Look, tree: string): string {
  if (repo.prefix === "") return tree;
  return resolveName(repo, `${tree}:${readable(repo.prefix.slice(0, -1))}`, call) ?? emptyTree(repo, call);
}

// ── The private index ───────────────────────────────────────────────────────

const NO_INDEX: IndexScan = { entries: [], root: null, partial: false };

/** Scans the index, and changes a copy where it says something that does not count here. */
function openIndex(look: Look): IndexScan {
  const { repo, call } = look;
  if (lookAt(call.index) === undefined) return NO_INDEX;
  let found = scan(look);
  if (found.partial) {
    makePrivate(look);
    askGit(repo, ["update-index", "--force-write-index"], call);
    found = scan(look);
    if (found.partial) throw new Error("git did not write out its index");
  }
  const isThere = presence(repo);
  const lines = found.entries.flatMap((entry) => correction(look, entry, isThere));
  if (lines.length === 0) return found;
  editIndex(look, lines);
  return { ...found, root: null };
}

function scan({ repo, settings, call }: Look): IndexScan {
  const bytes = readRegular(call.index);
  const { mtimeMs } = statSync(call.index);
  return scanIndex(bytes, settings.width, Math.floor(mtimeMs / 1000), mayBeOwn(bytes, repo.prefix));
}

/** A FIFO that took its place a moment ago would never end. */
function readRegular(path: string): Buffer {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(fd).isFile()) throw new Error(`${path} is not a regular file`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Files of ours go. An unmerged file in the project is replaced by the one on disk; one outside would keep git from
 * writing a tree. An entry that is written again has no mark and no times, so git compares the file by its content.
 */
function correction(look: Look, entry: IndexEntry, isThere: (path: string) => boolean): string[] {
  const { path, mode, oid, unmerged, mark, doubtful } = entry;
  if (look.isOwn(path) || (unmerged && !path.startsWith(look.repo.prefix))) return [removal(look, path)];
  const isMarked = mark === "assume-unchanged" || (mark !== null && isThere(path));
  return !unmerged && (isMarked || doubtful) ? [`${mode.toString(8)} ${oid}\t${path}\0`] : [];
}

/** In a sparse checkout most files with the mark are missing, with their folders, and count as the index has them. */
function presence(repo: Repo): (path: string) => boolean {
  const missing = new Set<string>();
  const exists = (path: string) => lstatSync(onDisk(repo, path), { throwIfNoEntry: false }) !== undefined;
  return (path) => {
    const dir = path.slice(0, path.lastIndexOf("/") + 1);
    if (dir !== "" && !missing.has(dir) && !exists(dir)) missing.add(dir);
    return !missing.has(dir) && exists(path);
  };
}

function editIndex(look: Look, lines: string[]): void {
  makePrivate(look);
  if (lines.length > 0)
    askGit(look.repo, ["update-index", "-z", "--index-info"], { ...look.call, input: lines.join("") });
}

/** Git compares a file as young as the index by its content, so a copy must not look younger than the index. */
function makePrivate({ temp, call }: Look): void {
  const copy = join(temp, "index");
  const source = statSync(call.index, { throwIfNoEntry: false });
  if (source && call.index !== copy) {
    copyFileSync(call.index, copy);
    const seconds = Math.floor(source.mtimeMs - 1) / 1000;
    utimesSync(copy, seconds, seconds);
  }
  call.index = copy;
}

const FIRST_BYTES = new Set(OWNED.map((pattern) => pattern.charCodeAt(0)));

/** Someone may have added files of Pawl by force. Their names begin with few letters; the others are not even read. */
function mayBeOwn(bytes: Buffer, prefix: string): MayMatter {
  const anywhere = bytes.includes(TEMP_PREFIX);
  return ({ from, path }) =>
    anywhere || FIRST_BYTES.has(path === null ? bytes[from + prefix.length]! : path.charCodeAt(prefix.length));
}

// ── Repositories inside ─────────────────────────────────────────────────────

/** Its commit if it is as committed, else a name for commit and content; `known` where a submodule is not fetched. */
function innerName(look: Look, path: string, known: string | undefined, depth: number): string | undefined {
  const { repo } = look;
  const { until } = look.call;
  const top = join(repo.top, readable(path));
  // Another worktree is another project, even if it is a folder of this one.
  if (known === undefined && isLinkedWorktree(top)) return undefined;
  const inside = toRaw(readable(path)) === path && findGitDir(top) !== null ? findRepo(top) : null;
  if (inside === null && known !== undefined) return known;
  if (inside === null) throw new Error(`the repository in ${readable(path)} cannot be read`);
  const tree = hashRepo(inside, null, until, isOwned, depth + 1);
  const heads = { until, input: "HEAD\nHEAD^{tree}\n" };
  const [commit, committed] = askGit(inside, ["cat-file", "--batch-check=%(objectname)"], heads).split("\n");
  // Names in a repository inside may be of another length, which cannot be written into this one's tree.
  const digits = look.settings.width * 2;
  return committed === tree && tree.length === digits ? commit! : hashOf(`${commit} ${tree}`).slice(0, digits);
}
