/** One run on disk, live or archived: a folder of numbered files which are never changed. */
import { attempt } from "../kernel/attempt.ts";
import type { Commit, Workflow } from "../kernel/types/run.ts";
import { rename } from "../native/disk.ts";
import { logError } from "./errors.ts";
import {
  ensureDir,
  insideRoot,
  isObject,
  lookAt,
  namesIn,
  namesOrNone,
  parseJson,
  type ReadResult,
  readText,
  removeIfThere,
  syncDir,
  TEMP_PREFIX,
  tolerate,
  writeAtomic,
} from "./files.ts";
import { DIGITS, isMadeOf, isRunId, join } from "./names.ts";
import { seal, unseal } from "./seal.ts";

export const LARGEST_COMMIT = 64 * 1024 * 1024;
/** The format that is written. None before it was published: older runs are archived unread. */
const RUN_FORMAT = 2;
const RUN_STATUS = ["active", "waiting", "halted", "ended"];

/** The machine is short of something for the moment; the file itself may be fine. */
const PASSING = ["EMFILE", "ENFILE", "ENOMEM", "EINTR", "EAGAIN"];

export class RunError extends Error {
  override name = "RunError";
}

/** `forged`: something whole lies there, but Pawl did not write it, or not for this place. `older`: in a format of before. */
export type CommitRead =
  | { ok: true; commit: Commit }
  | { ok: false; missing: boolean; why: string; forged?: { text: string }; older?: true };

const NOT_OURS = "not written by Pawl";

export function checkId(id: string): void {
  if (!isRunId(id)) throw new RunError(`not a run's name: ${String(id).slice(0, 80)}`);
}

export const commitContext = (id: string, seq: number) => `run/${id}/${seq}`;
export const workflowContext = (id: string) => `run/${id}/workflow`;

export const liveDir = (id: string) => `.pawl/runs/${id}`;
export const archivedDir = (id: string) => `.pawl/archive/${id}`;
export const seqName = (seq: number) => `${String(seq).padStart(6, "0")}.json`;

/** Ascending; null: no such folder. */
export function seqsIn(dir: string): number[] | null {
  const names = namesIn(dir);
  if (names === null) return null;
  return names
    .map(parseSeq)
    .filter((seq) => seq > 0)
    .sort((a, b) => a - b);
}

/** 0: not the name of a commit. */
function parseSeq(name: string): number {
  const digits = name.endsWith(".json") ? name.slice(0, -".json".length) : "";
  return digits.length >= 6 && digits.length <= 15 && isMadeOf(digits, DIGITS) ? Number(digits) : 0;
}

export const isFolder = (path: string): boolean => lookAt(path)?.isDirectory() === true;

/** A single failed read says little about the file, two in a row do. */
function readOwn(path: string): ReadResult {
  const first = readText(path, LARGEST_COMMIT);
  const file = !first.ok && first.why === "unreadable" ? readText(path, LARGEST_COMMIT) : first;
  if (!file.ok && PASSING.includes(file.detail ?? "")) throw new RunError(`${path}: ${file.detail}; try again`);
  return file;
}

export function readCommit(dir: string, id: string, seq: number): CommitRead {
  const path = join(dir, seqName(seq));
  const file = readOwn(path);
  if (!file.ok) return { ok: false, missing: file.why === "missing", why: file.detail ?? file.why };
  const json = unseal(commitContext(id, seq), file.text);
  // The seal first: what another wrote must not even be able to call itself newer.
  if (json === null && isWhole(file.text)) return { ok: false, missing: false, why: NOT_OURS, forged: file };
  const value = json === null ? null : parseJson(json);
  if (isObject(value) && isObject(value.run) && typeof value.run.v === "number" && value.run.v < RUN_FORMAT)
    return { ok: false, missing: false, why: "written by an older Pawl", older: true };
  const commit = asCommit(value, id, seq);
  return commit === null ? { ok: false, missing: false, why: "no whole commit in it" } : { ok: true, commit };
}

/** A crash or a bad disk leaves no whole object; an edit does. */
const isWhole = (text: string) => isObject(parseJson(text));

export type PinnedRead = { ok: true; workflow: Workflow } | { ok: false; why: string };

/** The workflow a run is pinned to. */
export function readPinned(dir: string, id: string): PinnedRead {
  const file = readOwn(join(dir, "workflow.json"));
  const json = file.ok ? unseal(workflowContext(id), file.text) : null;
  if (file.ok && json === null && isWhole(file.text)) return { ok: false, why: `its pinned workflow was ${NOT_OURS}` };
  const workflow = json === null ? null : asWorkflow(parseJson(json), id);
  return workflow === null ? { ok: false, why: "its pinned workflow is gone or broken" } : { ok: true, workflow };
}

/** Checks what the rest of the program relies on; throws on what only a newer Pawl understands. */
export function asCommit(value: unknown, id: string, seq: number): Commit | null {
  if (!isObject(value) || !isObject(value.run)) return null;
  refuseNewer(value.run.v, RUN_FORMAT, `run ${id}`);
  const { run, event, records, effects } = value;
  const whole =
    run.v === RUN_FORMAT &&
    run.id === id &&
    run.seq === seq &&
    areStrings(run.workflow, run.stage, run.created_at, run.updated_at) &&
    RUN_STATUS.includes(String(run.status)) &&
    isOwner(run.owner) &&
    Array.isArray(run.plan) &&
    Array.isArray(run.reports) &&
    Array.isArray(run.recent) &&
    isObject(run.done) &&
    isObject(run.ledger) &&
    isObject(run.work) &&
    isObject(run.checks) &&
    isObject(run.document) &&
    areStrings(run.document.path) &&
    isObject(event) &&
    areStrings(event.id, event.at, event.host, event.session, event.via, event.kind) &&
    areKinds(records) &&
    areKinds(effects);
  return whole ? (value as unknown as Commit) : null;
}

function asWorkflow(value: unknown, id: string): Workflow | null {
  if (!isObject(value)) return null;
  refuseNewer(value.v, 1, `the workflow of run ${id}`);
  const whole =
    value.v === 1 &&
    areStrings(value.name, value.signals, value.intro) &&
    Array.isArray(value.stages) &&
    isObject(value.asks) &&
    isObject(value.anywhere);
  return whole ? (value as unknown as Workflow) : null;
}

function refuseNewer(version: unknown, known: number, what: string): void {
  if (typeof version === "number" && version > known) throw new RunError(`${what} was written by a newer Pawl`);
}

const areStrings = (...values: unknown[]): boolean => values.every((value) => typeof value === "string");

function isOwner(value: unknown): boolean {
  return value === null || (isObject(value) && areStrings(value.host, value.session));
}

const areKinds = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => isObject(item) && typeof item.kind === "string");

// ── Ended runs ──────────────────────────────────────────────────────────────
// At every moment of archiving, all commits can be read from one place or the other. What does not bear Pawl's seal is
// not lost here, but marked: nothing goes on from it.

const COMPACTED = "commits.jsonl";
const LARGEST_ARCHIVE = 1024 * 1024 * 1024;

/** `forged`: its seal does not hold. */
export type KeptCommit = Commit & { forged?: true };

interface StoredRun {
  commits: Map<number, KeptCommit>;
  /** numbers which have a file of their own */
  seqs: number[];
  /** those of them whose seal holds */
  held: number[];
  /** false: something in the compacted file cannot be read, so it must not be rewritten */
  whole: boolean;
}

/** Of a live run only what its seal holds for: the next load puts the rest aside. */
export function readCommits(root: string, id: string): KeptCommit[] {
  if (!isRunId(id)) return [];
  for (let tries = 0; tries < 10; tries++) {
    const dir = findRunDir(root, id);
    if (dir === null) return [];
    const stored = readStored(dir, id);
    const isShown = (commit: KeptCommit) => !commit.forged || dir.endsWith(archivedDir(id));
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

function inOrder(commits: Map<number, KeptCommit>): KeptCommit[] {
  return [...commits.keys()].sort((a, b) => a - b).map((seq) => commits.get(seq) as KeptCommit);
}

/** List, then the files, then the compacted one: what another process clears away meanwhile is then surely in it. */
function readStored(dir: string, id: string): StoredRun | "changed" {
  const seqs = seqsIn(dir);
  if (seqs === null) return "changed";
  const own: [number, KeptCommit][] = [];
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

const isForged = ([, commit]: [number, KeptCommit]) => commit.forged === true;

/** What an unsealed text says it is. */
function claimed(value: unknown, id: string, seq: number): KeptCommit | null {
  const commit = attempt(() => asCommit(value, id, seq), null);
  if (commit === null) return null;
  const { run, event, records, effects } = commit;
  return { run, event, records, effects, forged: true };
}

function readCompacted(dir: string, id: string): { commits: Map<number, KeptCommit>; whole: boolean } {
  const commits = new Map<number, KeptCommit>();
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

function lineCommit(line: string, id: string): KeptCommit | null {
  const value = parseJson(line);
  const seq = isObject(value) && isObject(value.run) ? value.run.seq : undefined;
  if (typeof seq !== "number") return null;
  const json = unseal(lineContext(id, seq), line);
  return json === null ? claimed(value, id, seq) : asCommit(parseJson(json), id, seq);
}

export function archiveRun(root: string, id: string): void {
  checkId(id);
  const live = insideRoot(root, liveDir(id));
  const archived = insideRoot(root, archivedDir(id));
  if (isFolder(live)) moveToArchive(root, live, archived);
  if (isFolder(archived)) compact(archived, id);
}

function moveToArchive(root: string, live: string, archived: string): void {
  const parent = ensureDir(root, ".pawl/archive");
  if (tolerate(["ENOENT"], () => rename(live, archived), "gone") === "gone") return;
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
    for (const seq of old) removeIfThere(join(dir, seqName(seq)));
  }
  for (const name of namesIn(dir) ?? []) if (name.startsWith(TEMP_PREFIX)) removeIfThere(join(dir, name));
}

export function isArchived(root: string, id: string): boolean {
  return lookAt(insideRoot(root, archivedDir(id))) !== undefined;
}

export function listArchived(root: string): { id: string; commit: KeptCommit }[] {
  const ids = (namesIn(insideRoot(root, ".pawl/archive")) ?? []).filter(isRunId).sort();
  return ids.flatMap((id) => {
    try {
      const dir = insideRoot(root, archivedDir(id));
      const read = readCommit(dir, id, seqsIn(dir)?.at(-1) ?? 0);
      const commit = read.ok ? read.commit : readCommits(root, id).at(-1);
      return commit === undefined ? [] : [{ id, commit }];
    } catch (error) {
      logError(root, "archive", error);
      return [];
    }
  });
}

/** The files of a run that has not ended were removed: it is neither live nor archived nor set aside, and its project is still there. */
export function isGone(root: string, id: string): boolean {
  if (!lookAt(root)?.isDirectory() || lookAt(join(root, ".pawl/archive", id))) return false;
  return !namesOrNone(join(root, ".pawl/runs")).some((name) => name === id || name.startsWith(`${id}.corrupt`));
}
