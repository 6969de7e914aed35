/**
 * Which commands of a repository the person approved. One sealed file per approval, outside every repository: two at
 * once cannot lose one another, and nothing that a repository ships can stand in for one.
 */

import { attempt } from "../kernel/attempt.ts";
import { readNames, rmdir } from "../native/disk.ts";
import { type Closure, type ClosureItem, closureHash, itemHash } from "./closure.ts";
import { forgetEnvironment, readRecord, recordEnvironment, type Variables } from "./environment.ts";
import { messageOf, removeQuietly, tolerate, writeAtomic } from "./files.ts";
import { join } from "./names.ts";
import { readSealed, seal } from "./seal.ts";
import { findFault, looseness, openForWriting, openStore, type Store } from "./trust-store.ts";

/** `broken`: the state is unknown, and a new approval would not help. */
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
export function readTrust(root: string, closure: Closure): TrustState {
  if (closure.items.length === 0) return { trusted: true, at: "" };
  try {
    const store = openStore(root);
    const wrong = looseness(store);
    if (wrong !== null) return { trusted: false, why: wrong, broken: true };
    const state = judge(store, closure);
    return state.trusted && !readRecord(store) ? { trusted: false, why: NO_ENVIRONMENT } : state;
  } catch (error) {
    return { trusted: false, why: messageOf(error), broken: true };
  }
}

const NO_ENVIRONMENT = "the environment that its commands run in is not recorded yet";

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

/** Throws where it would not count. The environment at hand is recorded with the first approval. */
export function grantTrust(root: string, closure: Closure, by: string, from: Variables = process.env): void {
  if (closure.items.length === 0) return;
  const store = openForWriting(root);
  if (!readRecord(store)) recordEnvironment(root, from);
  const hash = closureHash(closure.items);
  const approval: Approval = { v: 1, key: store.key, hash, at: new Date().toISOString(), by, items: closure.items };
  writeAtomic(approvalPath(store, hash), `${seal(trustContext(store, hash), bounded(approval))}\n`);
  for (const old of readApprovals(store).slice(KEPT)) removeQuietly(approvalPath(store, old.hash));
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
  const store = openStore(root);
  const hashes = hashesIn(store);
  for (const hash of hashes) removeQuietly(approvalPath(store, hash));
  forgetEnvironment(store);
  // Something else may be in it, or it was never there.
  attempt(() => rmdir(store.folder), undefined);
  return hashes.length;
}

/** To show what changed since. */
export function lastTrusted(root: string): Closure | null {
  const store = openStore(root);
  const last = looseness(store) === null ? readApprovals(store)[0] : undefined;
  return last ? { hash: last.hash, items: last.items } : null;
}

// ── Approvals ───────────────────────────────────────────────────────────────

const approvalPath = (store: Store, hash: string) => join(store.folder, `${hash}.json`);
const trustContext = (store: Store, hash: string) => `trust ${hash} ${store.key}`;

function hashesIn({ folder }: Store): string[] {
  const names = tolerate(["ENOENT"], () => readNames(folder), []);
  return names.flatMap((name) => FILE.exec(name)?.[1] ?? []);
}

/** Newest first. */
function readApprovals(store: Store): Approval[] {
  const all = hashesIn(store).flatMap((hash) => readApproval(store, hash) ?? []);
  return all.toSorted((a, b) => (a.at < b.at ? 1 : -1));
}

/** null: there is none, or it is not what Pawl wrote for this project. */
function readApproval(store: Store, hash: string): Approval | null {
  const path = approvalPath(store, hash);
  const value = findFault(path) === null ? readSealed(trustContext(store, hash), path, LARGEST) : null;
  if (!Array.isArray(value?.items)) return null;
  const approval = value as unknown as Approval;
  return closureHash(approval.items) === hash ? approval : null;
}
