/** Runs: commits by compare-and-swap, and the way back from damage. */
import { linkSync, renameSync } from "node:fs";
import type { Commit, Run, RunSummary, Workflow } from "../core/types.ts";
import {
  archivedDir,
  asWorkflow,
  isFolder,
  isRunId,
  LARGEST_COMMIT,
  liveDir,
  namesIn,
  RunError,
  readCommit,
  readOwn,
  seqName,
  seqsIn,
} from "./commits.ts";
import { logError } from "./errors.ts";
import {
  corruptName,
  ensureDir,
  errorCode,
  insideRoot,
  lookAt,
  parseJson,
  quarantine,
  readText,
  withTemp,
  writeAtomic,
} from "./files.ts";
import { join } from "./names.ts";
import { excludeOurs } from "./owned.ts";
import { ownerGone } from "./owner.ts";
import { readPointer } from "./place.ts";

export { archiveRun, isArchived, listArchived, readCommits } from "./archive.ts";
export { RunError } from "./commits.ts";
export { describeParent, ownerGone } from "./owner.ts";

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
  if (!isRunId(run.id)) throw new RunError(`not a run's name: ${String(run.id).slice(0, 80)}`);
  if (!Number.isSafeInteger(run.seq) || run.seq < 1) throw new RunError(`run ${run.id}: no such seq: ${run.seq}`);
  return run;
}

function commitText(commit: Commit): string {
  const text = JSON.stringify(commit);
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
    linkSync(temp, path);
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

/** The compiled workflow, beside the run, before its first commit. */
export function pinWorkflow(root: string, id: string, workflow: Workflow): void {
  if (!isRunId(id)) throw new RunError(`not a run's name: ${id.slice(0, 80)}`);
  if (!openRun(root, id)) return;
  const path = insideRoot(root, `${liveDir(id)}/workflow.json`);
  const text = JSON.stringify(workflow);
  let linked = false;
  withTemp(insideRoot(root, liveDir(id)), text, 0o600, (temp) => {
    linked = linkOrSame(temp, path);
  });
  if (linked) return;
  const pinned = readText(path, LARGEST_COMMIT);
  if (!pinned.ok || pinned.text !== text) throw new RunError(`run ${id} is pinned to another workflow`);
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

function newestCommit(root: string, id: string, dir: string): Commit | "changed" | null {
  const bad: { seq: number; why: string }[] = [];
  for (const seq of (seqsIn(dir) ?? []).reverse()) {
    const read = readCommit(dir, id, seq);
    if (read.ok) return bad.length === 0 ? read.commit : replaceBad(root, dir, read.commit, bad);
    if (read.missing) return "changed";
    bad.push({ seq, why: read.why });
  }
  return bad.length === 0 ? null : giveUp(root, id, dir, `no readable commit (${bad[0]?.why})`);
}

function loadPinned(root: string, id: string, dir: string): Workflow | null {
  const file = readOwn(join(dir, "workflow.json"));
  const workflow = file.ok ? asWorkflow(parseJson(file.text), id) : null;
  if (workflow !== null) return workflow;
  return isFolder(dir) ? giveUp(root, id, dir, "its pinned workflow is gone or broken") : null;
}

/**
 * A broken commit keeps its number: a writer that still knows the state before it would otherwise take the number and
 * be told "committed" although the run went on without it. So the broken bytes get a second name, and a commit that
 * says what happened takes their place in one step.
 */
function replaceBad(root: string, dir: string, good: Commit, bad: { seq: number; why: string }[]): Commit | "changed" {
  try {
    for (const { seq, why } of bad) {
      const aside = replaceOne(dir, seq, repairOf(good, seq, why));
      logError(root, "runs", `run ${good.run.id}: ${seqName(seq)}: ${why}; kept as ${aside}`);
    }
    return "changed";
  } catch (error) {
    logError(root, "runs", error);
    const newest = bad[0] as { seq: number; why: string };
    return repairOf(good, newest.seq, newest.why);
  }
}

function repairOf(good: Commit, seq: number, why: string): Commit {
  const what = `commit ${seq} could not be read (${why}); the run goes on from commit ${good.run.seq}`;
  const { host, session, via } = good.event;
  const event = { id: `repair-${seq}`, at: new Date().toISOString(), host, session, via, kind: "repaired" };
  return { run: { ...good.run, seq }, event, records: [{ kind: "errored", what }], effects: [] };
}

function replaceOne(dir: string, seq: number, repair: Commit): string {
  const path = join(dir, seqName(seq));
  const folder = isFolder(path);
  const aside = folder ? quarantine(path) : nameTwice(path);
  const publish = folder ? linkOrSame : renameSync;
  withTemp(dir, JSON.stringify(repair), 0o600, (temp) => publish(temp, path));
  return aside;
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
      if (read.ok) return [summaryOf(read.commit.run)];
    }
  } catch (error) {
    logError(root, "runs", error);
  }
  return [];
}

function summaryOf(run: Run): RunSummary {
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
  if (!isRunId(id)) throw new RunError(`not a run's name: ${id.slice(0, 80)}`);
  writeAtomic(insideRoot(root, `${liveDir(id)}/workflow.json`), JSON.stringify(workflow));
}
