/** Ended runs. At every moment of archiving, all commits can be read from one place or the other. */
import { renameSync, unlinkSync } from "node:fs";
import type { Commit } from "../core/types.ts";
import {
  archivedDir,
  asCommit,
  isFolder,
  isRunId,
  liveDir,
  namesIn,
  RunError,
  readCommit,
  seqName,
  seqsIn,
} from "./commits.ts";
import { logError } from "./errors.ts";
import {
  ensureDir,
  errorCode,
  insideRoot,
  isObject,
  lookAt,
  parseJson,
  readText,
  syncDir,
  TEMP_PREFIX,
  writeAtomic,
} from "./files.ts";
import { join } from "./names.ts";

const COMPACTED = "commits.jsonl";
const LARGEST_ARCHIVE = 1024 * 1024 * 1024;

interface Stored {
  commits: Map<number, Commit>;
  /** numbers which have a file of their own */
  seqs: number[];
  /** false: something in the compacted file cannot be read, so it must not be rewritten */
  whole: boolean;
}

export function readCommits(root: string, id: string): Commit[] {
  if (!isRunId(id)) return [];
  for (let tries = 0; tries < 10; tries++) {
    const dir = findRunDir(root, id);
    if (dir === null) return [];
    const stored = readStored(dir, id);
    if (stored !== "changed") return inOrder(stored.commits);
  }
  throw new RunError(`run ${id} keeps changing`);
}

/** Where a run lies now, live or archived. */
export function findRunDir(root: string, id: string): string | null {
  const live = insideRoot(root, liveDir(id));
  if (isFolder(live)) return live;
  const archived = insideRoot(root, archivedDir(id));
  return isFolder(archived) ? archived : null;
}

function inOrder(commits: Map<number, Commit>): Commit[] {
  return [...commits.keys()].sort((a, b) => a - b).map((seq) => commits.get(seq) as Commit);
}

/** List, then the files, then the compacted one: what another process clears away meanwhile is then surely in it. */
function readStored(dir: string, id: string): Stored | "changed" {
  const seqs = seqsIn(dir);
  if (seqs === null) return "changed";
  const own = new Map<number, Commit>();
  for (const seq of seqs) {
    const read = readCommit(dir, id, seq);
    if (read.ok) own.set(seq, read.commit);
    else if (read.missing) return "changed";
  }
  const compacted = readCompacted(dir, id);
  if (!isFolder(dir)) return "changed";
  return { commits: new Map([...compacted.commits, ...own]), seqs, whole: compacted.whole };
}

function readCompacted(dir: string, id: string): { commits: Map<number, Commit>; whole: boolean } {
  const commits = new Map<number, Commit>();
  const file = readText(join(dir, COMPACTED), LARGEST_ARCHIVE);
  if (!file.ok) return { commits, whole: file.why === "missing" };
  let whole = true;
  for (const line of file.text.split("\n")) {
    if (line === "") continue;
    const commit = lineCommit(line, id);
    if (commit === null) whole = false;
    else commits.set(commit.run.seq, commit);
  }
  return { commits, whole };
}

function lineCommit(line: string, id: string): Commit | null {
  const value = parseJson(line);
  const seq = isObject(value) && isObject(value.run) ? value.run.seq : undefined;
  return typeof seq === "number" ? asCommit(value, id, seq) : null;
}

export function archiveRun(root: string, id: string): void {
  if (!isRunId(id)) throw new RunError(`not a run's name: ${id.slice(0, 80)}`);
  const live = insideRoot(root, liveDir(id));
  const archived = insideRoot(root, archivedDir(id));
  if (isFolder(live)) moveToArchive(root, live, archived);
  if (isFolder(archived)) compact(archived, id);
}

function moveToArchive(root: string, live: string, archived: string): void {
  const parent = ensureDir(root, ".pawl/archive");
  try {
    renameSync(live, archived);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw error;
  }
  syncDir(parent);
  syncDir(insideRoot(root, ".pawl/runs"));
}

/** The old files go only after everything in them lies synced in the compacted one; effects are done by then. */
function compact(dir: string, id: string): void {
  const stored = readStored(dir, id);
  if (stored === "changed" || !stored.whole) return;
  const last = Math.max(...stored.seqs);
  const old = stored.seqs.filter((seq) => seq !== last && stored.commits.has(seq));
  if (old.length > 0) {
    const lines = inOrder(stored.commits).map((commit) => JSON.stringify({ ...commit, effects: [] }));
    writeAtomic(join(dir, COMPACTED), `${lines.join("\n")}\n`);
    for (const seq of old) removeOld(join(dir, seqName(seq)));
  }
  for (const name of namesIn(dir) ?? []) if (name.startsWith(TEMP_PREFIX)) removeOld(join(dir, name));
}

function removeOld(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

export function isArchived(root: string, id: string): boolean {
  return lookAt(insideRoot(root, archivedDir(id))) !== undefined;
}

export function listArchived(root: string): { id: string; commit: Commit }[] {
  const ids = (namesIn(insideRoot(root, ".pawl/archive")) ?? []).filter(isRunId).sort();
  return ids.flatMap((id) => {
    const commit = lastArchived(root, id);
    return commit === null ? [] : [{ id, commit }];
  });
}

function lastArchived(root: string, id: string): Commit | null {
  try {
    const dir = insideRoot(root, archivedDir(id));
    const read = readCommit(dir, id, seqsIn(dir)?.at(-1) ?? 0);
    return read.ok ? read.commit : (readCommits(root, id).at(-1) ?? null);
  } catch (error) {
    logError(root, "archive", error);
    return null;
  }
}
