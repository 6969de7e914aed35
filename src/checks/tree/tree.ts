/**
 * The tree as it is on disk, as one hash: git's own name for what `git add -A` would put into a commit now, without
 * Pawl's own files. Git looks for what differs from its index, as for `git status`; the objects on the way are built here,
 * so neither the index nor the repository's objects are written.
 *
 * 1. Where the project is a folder of a larger repository, the hash is about that folder only. Where the repository
 *    ignores that folder, it is read without git.
 * 2. A repository inside (submodule or not) counts with its commit while it is as committed, else with a name made of
 *    its commit and its own tree.
 * 3. Marks that make git look away (assume-unchanged; skip-worktree on a file that is there) are not heeded, and times
 *    that were put back are not believed.
 * 4. No filter, hook, monitor or remote of the repository is run or asked; see tree-disk.ts for git-lfs.
 */
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Fact } from "../../kernel/types/run.ts";
import { hashOf, lookAt, messageOf, TEMP_PREFIX } from "../../store/files.ts";
import { gitDirOf, isLinkedWorktree } from "../../store/git-dir.ts";
import { join } from "../../store/names.ts";
import { isOwned, OWNED } from "../../store/owned.ts";
import { buildTree, type Made, type Patch, writeObject } from "./build.ts";
import { diffTrees, type TreeChange } from "./diff.ts";
import { type Look, lookAtDisk } from "./disk.ts";
import { ask, bytesOf, deadline, findRepo, type Repo, raw, readable, settingsOf, TreeError } from "./git.ts";
import {
  doubtful,
  entryAt,
  firstFrom,
  type Index,
  type Mark,
  noIndex,
  parseIndex,
  pathByte,
  REPOSITORY,
  withoutMarks,
} from "./index.ts";
import { walkedHash } from "./walk.ts";

export type { TreeChange } from "./diff.ts";

const DEEPEST = 8;

/**
 * `objects`: an absolute folder of the caller's that keeps what git has not got yet, so that the tree can be compared
 * later, or null: then nothing is kept.
 */
export function treeHash(root: string, objects: string | null): Fact<string> {
  return asFact(() => {
    const until = deadline();
    const ours = ownPaths(root, objects);
    const repo = findRepo(root);
    if (repo === null || ignoresRoot(repo, until)) return walkedHash(root, until, ours);
    if (objects !== null) makeFolder(objects);
    return hashRepo(repo, objects, until, ours, 0);
  });
}

/** Between a kept tree (or any commit or tree of the repository) and a tree of now, both told by treeHash with `objects`. */
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
    if (repo === null) throw new TreeError("no git");
    if (ignoresRoot(repo, until)) throw new TreeError("no git: the repository ignores this folder");
    const kept = objects !== null && lookAt(objects)?.isDirectory() ? objects : null;
    return diffTrees({ repo, base, now, objects: kept, until, wanted, isOurs: ownPaths(root, objects) });
  });
}

function asFact<T>(work: () => T): Fact<T> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, why: messageOf(error) };
  }
}

/** Seen from the project. Where the kept objects lie in it, they are ours, too. */
function ownPaths(root: string, objects: string | null): (path: string) => boolean {
  const kept = objects?.startsWith(`${root}/`) ? objects.slice(root.length + 1) : null;
  return (path) => isOwned(path) || (kept !== null && (path === kept || path.startsWith(`${kept}/`)));
}

function makeFolder(objects: string): void {
  if (lookAt(objects) === undefined) mkdirSync(objects, { recursive: true, mode: 0o700 });
  if (!lookAt(objects)?.isDirectory()) throw new TreeError(`${objects} is not a folder`);
}

function ignoresRoot(repo: Repo, until: number): boolean {
  if (repo.prefix === "") return false;
  const command = ["check-ignore", "--no-index", "--", `./${readable(repo.prefix.slice(0, -1))}`];
  return ask(repo, command, { until, also: [1] }) !== "";
}

// ── One repository ──────────────────────────────────────────────────────────

function hashRepo(
  repo: Repo,
  objects: string | null,
  until: number,
  ours: (path: string) => boolean,
  depth: number,
): string {
  if (depth > DEEPEST) throw new TreeError(`more than ${DEEPEST} repositories inside each other`);
  const temp = mkdtempSync(join(tmpdir(), "pawl-tree-"));
  try {
    const settings = settingsOf(repo, until);
    const isOurs = (path: string) => path.startsWith(repo.prefix) && ours(readable(path.slice(repo.prefix.length)));
    const { index, file } = openIndex(repo, settings.width, until, temp);
    const look: Look = { repo, settings, until, index: file, temp, objects, isOurs };
    const { patches, inner, made } = lookAtDisk(look);
    for (const path of ownTracked(index, repo, isOurs)) patches.set(path, null);
    addRepositories(look, index, inner, patches, depth);
    const tree = buildTree(index, patches, repo.prefix);
    if (objects !== null) keep(look, objects, [...made, ...tree.made]);
    return tree.oid;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** `file`: a copy for git to look at instead, where the index is not all there or hides something. */
function openIndex(
  repo: Repo,
  width: 20 | 32,
  until: number,
  temp: string,
): { index: Index; file: string | undefined } {
  const path = join(repo.gitDir, "index");
  if (lookAt(path) === undefined) return { index: noIndex(width), file: undefined };
  const file = join(temp, "index");
  const { mtimeMs } = statSync(path);
  const own = parseIndex(readFileSync(path), width);
  if (own.partial) writeAt(file, own.bytes, mtimeMs);
  const index = own.partial ? writtenOut(repo, file, width, until) : own;
  const marked = [...marksInTheWay(repo, index), ...doubtful(index, Math.floor(mtimeMs / 1000))];
  if (marked.length > 0) writeAt(file, withoutMarks(index, marked), own.partial ? statSync(file).mtimeMs : mtimeMs);
  return { index, file: own.partial || marked.length > 0 ? file : undefined };
}

/** A file as young as the index is compared by content, so a copy must not look younger than the index. */
function writeAt(file: string, bytes: Uint8Array, mtimeMs: number): void {
  writeFileSync(file, bytes);
  const seconds = Math.floor(mtimeMs - 1) / 1000;
  utimesSync(file, seconds, seconds);
}

function writtenOut(repo: Repo, file: string, width: 20 | 32, until: number): Index {
  ask(repo, ["update-index", "--force-write-index"], { until, index: file });
  const index = parseIndex(readFileSync(file), width);
  if (index.partial) throw new TreeError("git did not write out its index");
  return index;
}

/** Of a sparse checkout most are not there, and are as the index says. */
function marksInTheWay(repo: Repo, index: Index): Mark[] {
  const missing = new Set<string>();
  const isThere = (path: string) => {
    const dir = path.slice(0, path.lastIndexOf("/") + 1);
    if (missing.has(dir)) return false;
    if (dir !== "" && !exists(repo, dir)) missing.add(dir);
    return !missing.has(dir) && exists(repo, path);
  };
  return index.marked.filter(({ i, skipped }) => !skipped || isThere(index.path(i)));
}

function exists(repo: Repo, path: string): boolean {
  return (
    lstatSync(Buffer.concat([Buffer.from(`${repo.top}/`), bytesOf(path)]), { throwIfNoEntry: false }) !== undefined
  );
}

const FIRST_BYTES = new Set(OWNED.map((pattern) => pattern.charCodeAt(0)));

/** Someone may have added files of ours by force. Few names can be meant, and the others are not even read. */
function ownTracked(index: Index, { prefix }: Repo, isOurs: (path: string) => boolean): string[] {
  const anywhere = index.bytes.includes(TEMP_PREFIX);
  const own: string[] = [];
  for (let i = firstFrom(index, prefix); i < index.starts.length; i++) {
    if (!anywhere && !FIRST_BYTES.has(pathByte(index, i, prefix.length))) continue;
    const path = index.path(i);
    if (!path.startsWith(prefix)) break;
    if (isOurs(path)) own.push(path);
  }
  return own;
}

// ── Repositories inside ─────────────────────────────────────────────────────

function addRepositories(look: Look, index: Index, inner: string[], patches: Map<string, Patch>, depth: number): void {
  const known = index.inner.map((i) => entryAt(index, i));
  const counting = known.filter(({ path }) => path.startsWith(look.repo.prefix) && !patches.has(path));
  const oids = new Map(counting.map(({ path, oid }) => [path, oid]));
  for (const path of new Set([...oids.keys(), ...inner])) {
    const oid = innerName(look, path, oids.get(path), depth);
    if (oid !== undefined && oid !== oids.get(path)) patches.set(path, { mode: REPOSITORY, oid });
  }
}

/** Its commit if it is as committed, else a name for commit and content; `known` where a submodule is not fetched. */
function innerName(look: Look, path: string, known: string | undefined, depth: number): string | undefined {
  const { repo, until } = look;
  const top = join(repo.top, readable(path));
  // Another worktree is another project, even if it lies in this one.
  if (known === undefined && isLinkedWorktree(top)) return undefined;
  const inside = raw(readable(path)) === path && gitDirOf(top) !== null ? findRepo(top) : null;
  if (inside === null && known !== undefined) return known;
  if (inside === null) throw new TreeError(`the repository in ${readable(path)} cannot be read`);
  const tree = hashRepo(inside, null, until, isOwned, depth + 1);
  const asked = { until, input: "HEAD\nHEAD^{tree}\n" };
  const [commit, committed] = ask(inside, ["cat-file", "--batch-check=%(objectname)"], asked).split("\n");
  return committed === tree ? commit! : hashOf(`${commit} ${tree}`).slice(0, look.settings.width * 2);
}

/** Most of it git has already: only what is missing is written. */
function keep({ repo, until }: Look, objects: string, made: Made[]): void {
  if (made.length === 0) return;
  const input = made.map(({ oid }) => `${oid}\n`).join("");
  const lines = ask(repo, ["cat-file", "--batch-check"], { until, input, objects }).split("\n");
  made.forEach((object, i) => {
    if (lines[i]?.endsWith(" missing")) writeObject(objects, object);
  });
}
