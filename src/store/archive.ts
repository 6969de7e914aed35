/**
 * Ended runs. At every moment of archiving, all commits can be read from one place or the other. What does not bear
 * Pawl's seal is not lost here, but marked: nothing goes on from it.
 */
import type { Commit } from "../kernel/types/run.ts";
import { rename, unlink } from "../native/disk.ts";
import {
  archivedDir,
  asCommit,
  commitContext,
  isFolder,
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
  namesOrNone,
  parseJson,
  readText,
  syncDir,
  TEMP_PREFIX,
  writeAtomic,
} from "./files.ts";
import { isRunId, join } from "./names.ts";
import { seal, unseal } from "./seal.ts";

const COMPACTED = "commits.jsonl";
const LARGEST_ARCHIVE = 1024 * 1024 * 1024;

/** `forged`: its seal does not hold. */
export type Kept = Commit & { forged?: true };

interface Stored {
  commits: Map<number, Kept>;
  /** numbers which have a file of their own */
  seqs: number[];
  /** those of them whose seal holds */
  held: number[];
  /** false: something in the compacted file cannot be read, so it must not be rewritten */
  whole: boolean;
}

/** Of a live run only what its seal holds for: the next load puts the rest aside. */
export function readCommits(root: string, id: string): Kept[] {
  if (!isRunId(id)) return [];
  for (let tries = 0; tries < 10; tries++) {
    const dir = findRunDir(root, id);
    if (dir === null) return [];
    const stored = readStored(dir, id);
    const isShown = (commit: Kept) => !commit.forged || dir.endsWith(archivedDir(id));
    if (stored !== "changed") return inOrder(stored.commits).filter(isShown);
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

function inOrder(commits: Map<number, Kept>): Kept[] {
  return [...commits.keys()].sort((a, b) => a - b).map((seq) => commits.get(seq) as Kept);
}

/** List, then the files, then the compacted one: what another process clears away meanwhile is then surely in it. */
function readStored(dir: string, id: string): Stored | "changed" {
  const seqs = seqsIn(dir);
  if (seqs === null) return "changed";
  const own: [number, Kept][] = [];
  for (const seq of seqs) {
    const read = readCommit(dir, id, seq);
    const commit = read.ok ? read.commit : claimed(parseJson(read.forged?.text ?? ""), id, seq);
    if (commit !== null) own.push([seq, commit]);
    else if (!read.ok && read.missing) return "changed";
  }
  const compacted = readCompacted(dir, id);
  if (!isFolder(dir)) return "changed";
  const all = [...compacted.commits, ...own];
  // Of two with the same number the one whose seal holds.
  const commits = new Map([...all.filter(isForged), ...all.filter((one) => !isForged(one))]);
  const held = own.filter((one) => !isForged(one)).map(([seq]) => seq);
  return { commits, seqs, held, whole: compacted.whole };
}

const isForged = ([, commit]: [number, Kept]) => commit.forged === true;

/** What an unsealed text says it is. */
function claimed(value: unknown, id: string, seq: number): Kept | null {
  try {
    const commit = asCommit(value, id, seq);
    if (commit === null) return null;
    const { run, event, records, effects } = commit;
    return { run, event, records, effects, forged: true };
  } catch {
    return null;
  }
}

function readCompacted(dir: string, id: string): { commits: Map<number, Kept>; whole: boolean } {
  const commits = new Map<number, Kept>();
  const file = readText(join(dir, COMPACTED), LARGEST_ARCHIVE);
  if (!file.ok) return { commits, whole: file.why === "missing" };
  let whole = true;
  for (const line of file.text.split("\n")) {
    if (line === "") continue;
    const commit = lineCommit(line, id);
    if (commit === null || commit.forged) whole = false;
    if (commit !== null) commits.set(commit.run.seq, commit);
  }
  return { commits, whole };
}

/** Without its effects, so it must not pass for the commit itself. */
const lineContext = (id: string, seq: number) => `${commitContext(id, seq)}/archived`;

function lineCommit(line: string, id: string): Kept | null {
  const value = parseJson(line);
  const seq = isObject(value) && isObject(value.run) ? value.run.seq : undefined;
  if (typeof seq !== "number") return null;
  const json = unseal(lineContext(id, seq), line);
  return json === null ? claimed(value, id, seq) : asCommit(parseJson(json), id, seq);
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
    rename(live, archived);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw error;
  }
  syncDir(parent);
  syncDir(insideRoot(root, ".pawl/runs"));
}

/**
 * The old files go only after everything in them lies synced in the compacted one; effects are done by then. What
 * others wrote stays as it is: sealing it would make it ours.
 */
function compact(dir: string, id: string): void {
  const stored = readStored(dir, id);
  if (stored === "changed" || !stored.whole) return;
  const last = Math.max(...stored.seqs);
  const old = stored.held.filter((seq) => seq !== last);
  if (old.length > 0) {
    const held = inOrder(stored.commits).filter((commit) => !commit.forged);
    const lines = held.map((commit) =>
      seal(lineContext(id, commit.run.seq), JSON.stringify({ ...commit, effects: [] })),
    );
    writeAtomic(join(dir, COMPACTED), `${lines.join("\n")}\n`);
    for (const seq of old) removeOld(join(dir, seqName(seq)));
  }
  for (const name of namesIn(dir) ?? []) if (name.startsWith(TEMP_PREFIX)) removeOld(join(dir, name));
}

function removeOld(path: string): void {
  try {
    unlink(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

export function isArchived(root: string, id: string): boolean {
  return lookAt(insideRoot(root, archivedDir(id))) !== undefined;
}

export function listArchived(root: string): { id: string; commit: Kept }[] {
  const ids = (namesIn(insideRoot(root, ".pawl/archive")) ?? []).filter(isRunId).sort();
  return ids.flatMap((id) => {
    const commit = lastArchived(root, id);
    return commit === null ? [] : [{ id, commit }];
  });
}

function lastArchived(root: string, id: string): Kept | null {
  try {
    const dir = insideRoot(root, archivedDir(id));
    const read = readCommit(dir, id, seqsIn(dir)?.at(-1) ?? 0);
    return read.ok ? read.commit : (readCommits(root, id).at(-1) ?? null);
  } catch (error) {
    logError(root, "archive", error);
    return null;
  }
}

/** The files of a run that has not ended were removed: it is neither live nor archived nor set aside, and its project is still there. */
export function isGone(root: string, id: string): boolean {
  if (!lookAt(root)?.isDirectory() || lookAt(join(root, ".pawl/archive", id))) return false;
  return !namesOrNone(join(root, ".pawl/runs")).some((name) => name === id || name.startsWith(`${id}.corrupt`));
}
