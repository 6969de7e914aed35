/**
 * Which commands of a repository the person approved. One sealed file per approval, outside every repository: two at
 * once cannot lose one another, and nothing that a repository ships can stand in for one.
 */

import { namesOf, realpath, rmdir } from "../native/disk.ts";
import { type Closure, type ClosureItem, closureHash, itemHash } from "./closure.ts";
import {
  errorCode,
  hashOf,
  isObject,
  lookAt,
  makeDirs,
  messageOf,
  parseJson,
  readText,
  removeQuietly,
  writeAtomic,
} from "./files.ts";
import { findGit, gitDirOf } from "./git-dir.ts";
import { homeDir, PlaceError } from "./home.ts";
import { dirname, join } from "./names.ts";
import { seal, unseal } from "./seal.ts";

/** `broken`: it cannot be told, and a new approval would not help. */
export type TrustState = { trusted: true; at: string } | { trusted: false; why: string; broken?: true };

interface Approval {
  v: 1;
  /** the project it is for, for people who look */
  key: string;
  hash: string;
  at: string;
  by: string;
  items: ClosureItem[];
}

const KEPT = 20;
const FILE = /^([0-9a-f]{64})\.json$/;
const LARGEST = 16 * 1024 * 1024;

/** Every single command has to be approved as it is now; in one approval or in several. */
export function trustOf(root: string, closure: Closure): TrustState {
  if (closure.items.length === 0) return { trusted: true, at: "" };
  try {
    const store = storeOf(root);
    const wrong = looseness(store);
    if (wrong !== null) return { trusted: false, why: wrong, broken: true };
    return judge(store, closure);
  } catch (error) {
    return { trusted: false, why: messageOf(error), broken: true };
  }
}

function judge(store: Store, closure: Closure): TrustState {
  const exact = readApproval(store, closureHash(closure.items));
  if (exact) return { trusted: true, at: exact.at };
  const approvals = readApprovals(store);
  const known = new Map(approvals.flatMap(({ items, at }) => items.map((item) => [itemHash(item), at] as const)));
  const fresh = closure.items.filter((item) => !known.has(itemHash(item)));
  if (fresh.length === 0) return { trusted: true, at: known.get(itemHash(closure.items[0]!)) ?? "" };
  const why =
    approvals.length === 0 ? "its commands are not approved yet" : "its commands changed since they were approved";
  return { trusted: false, why };
}

/** Throws where it would not count: a store that others can write to. */
export function grantTrust(root: string, closure: Closure, by: string): void {
  if (closure.items.length === 0) return;
  const store = storeOf(root);
  for (const folder of [store.share, store.trust, store.folder]) makeDirs(folder, 0o700);
  const wrong = looseness(store);
  if (wrong !== null) throw new PlaceError(wrong);
  const hash = closureHash(closure.items);
  const approval: Approval = { v: 1, key: store.key, hash, at: new Date().toISOString(), by, items: closure.items };
  writeAtomic(pathOf(store, hash), `${seal(contextOf(store, hash), bounded(approval))}\n`);
  for (const old of readApprovals(store).slice(KEPT)) removeQuietly(pathOf(store, old.hash));
}

/** The texts of scripts are kept only to show a difference later. */
function bounded(approval: Approval): string {
  const json = JSON.stringify(approval);
  if (json.length <= LARGEST / 4) return json;
  const items = approval.items.map((item) => ({
    ...item,
    scripts: item.scripts.map(({ text: _text, ...rest }) => rest),
  }));
  return JSON.stringify({ ...approval, items });
}

/** How many approvals were forgotten. Files that are none of ours stay. */
export function revokeTrust(root: string): number {
  const store = storeOf(root);
  const hashes = hashesIn(store);
  for (const hash of hashes) removeQuietly(pathOf(store, hash));
  try {
    rmdir(store.folder);
  } catch {
    // something else is in it, or it was never there
  }
  return hashes.length;
}

/** To show what changed since. */
export function lastTrusted(root: string): Closure | null {
  const store = storeOf(root);
  const last = looseness(store) === null ? readApprovals(store)[0] : undefined;
  return last ? { hash: last.hash, items: last.items } : null;
}

// ── Where ───────────────────────────────────────────────────────────────────

interface Store {
  /** the person's own folder of Pawl */
  share: string;
  trust: string;
  /** of this project */
  folder: string;
  key: string;
}

function storeOf(root: string): Store {
  const share = join(homeDir(), ".local/share/pawl");
  const trust = join(share, "trust");
  const here = realpath(root);
  const real = realOrSame(share);
  if (real === here || real.startsWith(`${here}/`))
    throw new PlaceError("the home folder lies inside the project: nothing in a project can approve its own commands");
  const key = keyOf(here);
  return { share, trust, folder: join(trust, hashOf(key)), key };
}

function realOrSame(path: string): string {
  try {
    return realpath(path);
  } catch {
    return path === "/" ? path : join(realOrSame(dirname(path)), path.slice(dirname(path).length));
  }
}

/**
 * All worktrees of a repository share its approvals. What merely says it belongs to a repository, as an unpacked archive
 * could, is on its own: git has to know it too.
 */
function keyOf(root: string): string {
  const git = findGit(root);
  if (!git || !belongsTo(git.top, git.common)) return root;
  return git.top === root ? git.common : `${git.common} ${root.slice(git.top.length)}`;
}

function belongsTo(top: string, common: string): boolean {
  const dot = join(top, ".git");
  if (lookAt(dot)?.isDirectory()) return common === dot;
  const gitDir = realpath(gitDirOf(top) ?? top);
  const back = readText(join(gitDir, "gitdir"), 64 * 1024);
  return dirname(gitDir) === join(common, "worktrees") && back.ok && realOrSame(back.text.trim()) === dot;
}

// ── Approvals ───────────────────────────────────────────────────────────────

const pathOf = (store: Store, hash: string) => join(store.folder, `${hash}.json`);
const contextOf = (store: Store, hash: string) => `trust ${hash} ${store.key}`;

function hashesIn({ folder }: Store): string[] {
  try {
    return namesOf(folder).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

/** Newest first. */
function readApprovals(store: Store): Approval[] {
  const all = hashesIn(store).flatMap((hash) => readApproval(store, hash) ?? []);
  return all.toSorted((a, b) => (a.at < b.at ? 1 : -1));
}

/** null: there is none, or it is not what Pawl wrote for this project. */
function readApproval(store: Store, hash: string): Approval | null {
  const path = pathOf(store, hash);
  const file = readText(path, LARGEST);
  if (!file.ok || faultOf(path) !== null) return null;
  const json = unseal(contextOf(store, hash), file.text.trimEnd());
  const value = json === null ? undefined : parseJson(json);
  if (!isObject(value) || !Array.isArray(value.items)) return null;
  const approval = value as unknown as Approval;
  return closureHash(approval.items) === hash ? approval : null;
}

// ── Rights ──────────────────────────────────────────────────────────────────

/** Why nothing in the store can be believed; null: it is the person's alone. */
function looseness({ share, trust, folder }: Store): string | null {
  for (const path of [share, join(share, "key"), trust, folder]) {
    const fault = faultOf(path);
    if (fault !== null) return `${path} ${fault}: no approval counts`;
  }
  return null;
}

function faultOf(path: string): string | null {
  const found = lookAt(path);
  if (!found) return null;
  if (found.isSymbolicLink()) return "is a symbolic link";
  if (found.uid !== process.getuid?.()) return "belongs to another user";
  return (found.mode & 0o022) === 0 ? null : `can be written by others (mode ${(found.mode & 0o777).toString(8)})`;
}
