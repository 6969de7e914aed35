/** Runs: commits by compare-and-swap, and the way back from damage. */
import { attempt } from "../kernel/attempt.ts";
import type { Commit, JournalRecord, Run, RunSummary, Workflow } from "../kernel/types/run.ts";
import { link, rename } from "../native/disk.ts";
import {
  archivedDir,
  archiveRun,
  checkId,
  commitContext,
  isFolder,
  LARGEST_COMMIT,
  liveDir,
  RunError,
  readCommit,
  readPinned,
  seqName,
  seqsIn,
  workflowContext,
} from "./commits.ts";
import { logError } from "./errors.ts";
import {
  corruptName,
  ensureDir,
  errorCode,
  hashOf,
  insideRoot,
  lookAt,
  namesIn,
  quarantine,
  readText,
  withTemp,
  writeAtomic,
  writeInHome,
} from "./files.ts";
import { statePath } from "./home.ts";
import { isRunId, join } from "./names.ts";
import { excludeOurs } from "./owned.ts";
import { readPointer } from "./place.ts";
import { ownerGone } from "./processes/owner.ts";
import { seal } from "./seal.ts";

export { archiveRun, isArchived, type KeptCommit, listArchived, RunError, readCommits } from "./commits.ts";
export { ownerGone } from "./processes/owner.ts";

// ── Writing ─────────────────────────────────────────────────────────────────

/** "lost": someone else moved first, or the run is archived. Load it again and decide again. */
export function commitRun(root: string, commit: Commit): "committed" | "lost" {
  const { id, seq } = checkedKey(commit.run);
  const dir = insideRoot(root, liveDir(id));
  if (seq === 1 && !openRun(root, id)) return "lost";
  const path = join(dir, seqName(seq));
  if (lookAt(path) !== undefined) return "lost";
  let linked = false;
  try {
    withTemp(dir, commitText(commit), 0o600, (temp) => {
      linked = linkOrSame(temp, path);
    });
  } catch (error) {
    // Once it can be seen it is committed, whatever the clearing up said.
    if (linked) logError(root, "commit", error);
    else if (!isFolder(dir)) return "lost";
    else throw error;
  }
  return linked ? "committed" : "lost";
}

function checkedKey(run: Run): { id: string; seq: number } {
  checkId(run.id);
  if (!Number.isSafeInteger(run.seq) || run.seq < 1) throw new RunError(`run ${run.id}: no such seq: ${run.seq}`);
  return run;
}

function commitText(commit: Commit): string {
  const text = seal(commitContext(commit.run.id, commit.run.seq), JSON.stringify(commit));
  if (text.length > LARGEST_COMMIT / 4 && new TextEncoder().encode(text).length > LARGEST_COMMIT)
    throw new RunError(`run ${commit.run.id}: the commit is too large`);
  return text;
}

/** Arming twice by a replayed event must not wake an archived run. */
function openRun(root: string, id: string): boolean {
  if (lookAt(insideRoot(root, archivedDir(id))) !== undefined) return false;
  if (lookAt(insideRoot(root, ".pawl/.gitignore")) === undefined) excludeOurs(root);
  ensureDir(root, liveDir(id));
  return true;
}

/** A network file system may report failure for a link it has made: the inode tells the truth. */
function linkOrSame(temp: string, path: string): boolean {
  try {
    link(temp, path);
    return true;
  } catch (error) {
    const ours = lookAt(temp);
    if (ours !== undefined && lookAt(path)?.ino === ours.ino) return true;
    if (errorCode(error) === "EEXIST") return false;
    if (["EPERM", "ENOTSUP", "ENOSYS"].includes(errorCode(error))) {
      throw new RunError("this file system has no hard links; Pawl cannot keep runs on it");
    }
    throw error;
  }
}

/** The compiled workflow, next to the run, before its first commit. */
export function pinWorkflow(root: string, id: string, workflow: Workflow): void {
  checkId(id);
  if (!openRun(root, id)) return;
  rememberProject(root);
  const path = insideRoot(root, `${liveDir(id)}/workflow.json`);
  const text = seal(workflowContext(id), JSON.stringify(workflow));
  if (withTemp(insideRoot(root, liveDir(id)), text, 0o600, (temp) => linkOrSame(temp, path))) return;
  const pinned = readText(path, LARGEST_COMMIT);
  if (!pinned.ok || pinned.text !== text) throw new RunError(`run ${id} is pinned to another workflow`);
}

/** For lists of all projects, as a run ends with its session. If the home is full or read-only, the list is shorter. */
function rememberProject(root: string): void {
  attempt(() => {
    const path = statePath("projects", hashOf(root).slice(0, 16));
    if (lookAt(path) === undefined) writeInHome(path, `${root}\n`);
  }, undefined);
}

// ── Reading ─────────────────────────────────────────────────────────────────

/** null: no live run of that name. Throws RunError where there is one that cannot be read. */
export function loadRun(root: string, id: string): { commit: Commit; workflow: Workflow } | null {
  if (!isRunId(id)) return null;
  const dir = insideRoot(root, liveDir(id));
  for (let tries = 0; tries < 10; tries++) {
    const commit = newestCommit(root, id, dir);
    if (commit === "changed") continue;
    const workflow = commit === null ? null : loadPinned(root, id, dir);
    return commit === null || workflow === null ? null : { commit, workflow };
  }
  throw new RunError(`run ${id} keeps changing`);
}

interface BadCommit {
  seq: number;
  why: string;
  forged: boolean;
}

function newestCommit(root: string, id: string, dir: string): Commit | "changed" | null {
  const bad: BadCommit[] = [];
  for (const seq of (seqsIn(dir) ?? []).reverse()) {
    const read = readCommit(dir, id, seq);
    if (read.ok) return bad.length === 0 ? read.commit : replaceBad(root, dir, read.commit, bad);
    if (read.missing) return "changed";
    if (read.older) return archiveOlder(root, id);
    bad.push({ seq, why: read.why, forged: read.forged !== undefined });
  }
  return bad.length === 0 ? null : giveUp(root, id, dir, `no commit that can be used (${bad[0]?.why})`);
}

/** Nothing reads an older format, and nothing of it is lost. */
function archiveOlder(root: string, id: string): null {
  archiveRun(root, id);
  logError(root, "runs", `run ${id} was written by an older Pawl; it is kept in .pawl/archive and not read`);
  return null;
}

function loadPinned(root: string, id: string, dir: string): Workflow | null {
  const pinned = readPinned(dir, id);
  if (pinned.ok) return pinned.workflow;
  return isFolder(dir) ? giveUp(root, id, dir, pinned.why) : null;
}

/**
 * A bad commit keeps its number: a writer that still knows the state before it would otherwise take the number and be
 * told "committed" although the run went on without it. So the bad bytes get a second name, and a commit that says what
 * happened takes their place in one step. Numbers after a gap were never given by us and are free again: they could
 * be so high that none is left above them.
 */
function replaceBad(root: string, dir: string, good: Commit, bad: BadCommit[]): Commit | "changed" {
  const numbers = new Set(bad.map(({ seq }) => seq));
  let last = good.run.seq;
  while (numbers.has(last + 1)) last++;
  const told = bad.filter(({ seq, forged }) => forged || seq > last);
  try {
    for (const { seq, ...one } of bad) {
      const silent = told.some((other) => other.seq === seq);
      const repair = buildRepair(good, seq, silent ? [] : [{ seq, ...one }]);
      const aside = seq > last ? quarantine(join(dir, seqName(seq))) : replaceOne(dir, repair);
      logError(root, "runs", `run ${good.run.id}: ${seqName(seq)}: ${one.why}; kept as ${aside}`);
    }
    // Under a number of its own: the journal may know the old ones already, from the commits that were there before.
    if (told.length > 0) publish(dir, buildRepair(good, last + 1, told.reverse()), linkOrSame);
    return "changed";
  } catch (error) {
    logError(root, "runs", error);
    return last === good.run.seq ? good : buildRepair(good, last, bad);
  }
}

function buildRepair(good: Commit, seq: number, bad: BadCommit[]): Commit {
  const { host, session, via } = good.event;
  const event = { id: `repair-${seq}`, at: new Date().toISOString(), host, session, via, kind: "repaired" };
  const records = bad.map((one): JournalRecord => {
    const fault = one.forged ? `was ${one.why}` : `could not be read (${one.why})`;
    const what = `commit ${one.seq} ${fault}; the run goes on from commit ${good.run.seq}`;
    return { kind: "errored", what, ...(one.forged && { forged: true }) };
  });
  return { run: { ...good.run, seq }, event, records, effects: [] };
}

function replaceOne(dir: string, repair: Commit): string {
  const path = join(dir, seqName(repair.run.seq));
  const folder = isFolder(path);
  const aside = folder ? quarantine(path) : nameTwice(path);
  publish(dir, repair, folder ? linkOrSame : rename);
  return aside;
}

function publish(dir: string, repair: Commit, put: (temp: string, path: string) => void): void {
  withTemp(dir, commitText(repair), 0o600, (temp) => put(temp, join(dir, seqName(repair.run.seq))));
}

function nameTwice(path: string): string {
  for (let count = 1; ; count++) {
    const aside = corruptName(path, count);
    if (linkOrSame(path, aside)) return aside;
  }
}

/** Nothing can go on from here: the whole run steps aside, once and loudly. */
function giveUp(root: string, id: string, dir: string, why: string): never {
  let aside = "left where it is";
  try {
    aside = `kept as ${quarantine(dir)}`;
  } catch (error) {
    logError(root, "runs", error);
  }
  const said = new RunError(`run ${id} is damaged: ${why}; ${aside}`);
  logError(root, "runs", said);
  throw said;
}

// ── Listing ─────────────────────────────────────────────────────────────────

export function listRuns(root: string): RunSummary[] {
  const dir = insideRoot(root, ".pawl/runs");
  const ids = (namesIn(dir) ?? []).filter(isRunId).sort();
  return ids.flatMap((id) => summary(root, id));
}

function summary(root: string, id: string): RunSummary[] {
  try {
    const dir = insideRoot(root, liveDir(id));
    for (const seq of (seqsIn(dir) ?? []).reverse()) {
      const read = readCommit(dir, id, seq);
      if (read.ok) return [summarize(read.commit.run)];
      if (read.older) return archiveOlder(root, id) ?? [];
    }
  } catch (error) {
    logError(root, "runs", error);
  }
  return [];
}

function summarize(run: Run): RunSummary {
  const { id, workflow, status, owner, updated_at, recent } = run;
  const document_path = run.document.path || null;
  return { id, workflow, status, owner, owner_gone: isOwnerGone(run), updated_at, recent, document_path };
}

function isOwnerGone({ id, owner }: Run): boolean {
  if (owner === null) return false;
  if (owner.ended_at !== undefined) return true;
  const pointer = readPointer(owner.host, owner.session);
  return pointer !== null && (pointer.run === id || pointer.formal?.includes(id) === true) && ownerGone(pointer);
}

/** The person accepted the workflow as it is now. */
export function repinWorkflow(root: string, id: string, workflow: Workflow): void {
  checkId(id);
  const path = insideRoot(root, `${liveDir(id)}/workflow.json`);
  writeAtomic(path, seal(workflowContext(id), JSON.stringify(workflow)));
}
