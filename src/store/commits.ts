/** One run on disk: a folder of numbered files which are never changed. */
import type { Commit, Workflow } from "../kernel/types/run.ts";
import { namesOf } from "../native/disk.ts";
import { errorCode, isObject, lookAt, parseJson, type ReadResult, readText } from "./files.ts";
import { DIGITS, isMadeOf, join } from "./names.ts";
import { unseal } from "./seal.ts";

export const LARGEST_COMMIT = 64 * 1024 * 1024;
const RUN_STATUS = ["active", "waiting", "halted", "ended"];

/** The machine is short of something for the moment; the file itself may be fine. */
const PASSING = ["EMFILE", "ENFILE", "ENOMEM", "EINTR", "EAGAIN"];

export class RunError extends Error {
  override name = "RunError";
}

/** `forged`: something whole lies there, but Pawl did not write it, or not for this place. */
export type CommitRead =
  | { ok: true; commit: Commit }
  | { ok: false; missing: boolean; why: string; forged?: { text: string } };

const NOT_OURS = "not written by Pawl";

export const commitContext = (id: string, seq: number) => `run/${id}/${seq}`;
export const workflowContext = (id: string) => `run/${id}/workflow`;

export function liveDir(id: string): string {
  return `.pawl/runs/${id}`;
}

export function archivedDir(id: string): string {
  return `.pawl/archive/${id}`;
}

export function seqName(seq: number): string {
  return `${String(seq).padStart(6, "0")}.json`;
}

/** null: no such folder. */
export function namesIn(dir: string): string[] | null {
  try {
    return namesOf(dir);
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENOTDIR") return null;
    throw error;
  }
}

/** Ascending; null: no such folder. */
export function seqsIn(dir: string): number[] | null {
  const names = namesIn(dir);
  if (names === null) return null;
  const seqs: number[] = [];
  for (const name of names) {
    const seq = seqOf(name);
    if (seq > 0) seqs.push(seq);
  }
  return seqs.sort((a, b) => a - b);
}

/** 0: not the name of a commit. */
function seqOf(name: string): number {
  const digits = name.endsWith(".json") ? name.slice(0, -".json".length) : "";
  return digits.length >= 6 && digits.length <= 15 && isMadeOf(digits, DIGITS) ? Number(digits) : 0;
}

export function isFolder(path: string): boolean {
  return lookAt(path)?.isDirectory() === true;
}

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
  const commit = json === null ? null : asCommit(parseJson(json), id, seq);
  return commit === null ? { ok: false, missing: false, why: "no whole commit in it" } : { ok: true, commit };
}

/** A crash or a bad disk leaves no whole object; whoever edits does. */
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
  refuseNewer(value.run.v, `run ${id}`);
  const { run, event, records, effects } = value;
  const whole =
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
  refuseNewer(value.v, `the workflow of run ${id}`);
  const whole =
    value.v === 1 &&
    areStrings(value.name, value.signals, value.intro) &&
    Array.isArray(value.stages) &&
    isObject(value.asks) &&
    isObject(value.anywhere);
  return whole ? (value as unknown as Workflow) : null;
}

function refuseNewer(version: unknown, what: string): void {
  if (typeof version === "number" && version > 1) throw new RunError(`${what} was written by a newer Pawl`);
}

function areStrings(...values: unknown[]): boolean {
  for (const value of values) if (typeof value !== "string") return false;
  return true;
}

function isOwner(value: unknown): boolean {
  return value === null || (isObject(value) && areStrings(value.host, value.session));
}

function areKinds(value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  for (const item of value) if (!isObject(item) || typeof item.kind !== "string") return false;
  return true;
}
