/** What has to follow from a commit: documents, logs, reports, the journal. All of it can be done twice. */
import { attempt } from "../kernel/attempt.ts";
import type { Commit, Effect } from "../kernel/types/run.ts";
import { rename, rmdir, unlink } from "../native/disk.ts";
import { localTime } from "../native/libc.ts";
import { archiveRun, findRunDir, readCommit, seqsIn } from "./commits.ts";
import {
  appendLine,
  ensureDir,
  errorCode,
  hashOf,
  insideRoot,
  linkIfFree,
  lookAt,
  messageOf,
  namesIn,
  PathError,
  quarantine,
  readTail,
  readText,
  syncDir,
  withTemp,
  writeAtomic,
} from "./files.ts";
import { appendJournal, hasJournal } from "./journal.ts";
import { basename, dirname, join } from "./names.ts";

const LOG_TAIL = 8 * 1024;
const FARTHEST_BACK = 200;

type EffectOf<K extends Effect["kind"]> = Extract<Effect, { kind: K }>;

/** Says what failed; one failure keeps nothing else from happening. */
export const project = (root: string, commit: Commit): string[] => follow(root, commit, false);

/** After a crash: does again whatever the journal does not know to be done. */
export function recover(root: string, commit: Commit): string[] {
  const problems: string[] = [];
  record(problems, "recover", () => {
    const missing = missingCommits(root, commit);
    for (const one of missing.toReversed())
      problems.push(...follow(root, one === commit ? one : withoutPlaces(one), true));
    if (missing[0] !== commit && wantsArchive(commit)) archiveRun(root, commit.run.id);
  });
  return problems;
}

/** Of an earlier commit only what is added to something: its documents were overtaken by later ones. */
function withoutPlaces(commit: Commit): Commit {
  return { ...commit, effects: commit.effects.filter(({ kind }) => kind === "log" || kind === "report") };
}

/**
 * Newest first. A power cut takes the journal's end, so the gap reaches back to the first commit that is in it. The
 * one before a double delivery is looked for in any case: of the two processes the first may have died.
 */
function missingCommits(root: string, commit: Commit): Commit[] {
  const missing = hasJournal(root, commit) ? [] : [commit];
  if (missing.length === 0 && !commit.records.some((one) => one.kind === "doubled")) return missing;
  const dir = findRunDir(root, commit.run.id);
  const earlier = (dir === null ? [] : (seqsIn(dir) ?? [])).filter((seq) => seq < commit.run.seq);
  for (const seq of earlier.reverse().slice(0, FARTHEST_BACK)) {
    const read = readCommit(dir as string, commit.run.id, seq);
    if (!read.ok) continue;
    if (hasJournal(root, read.commit)) break;
    missing.push(read.commit);
  }
  return missing;
}

const wantsArchive = (commit: Commit): boolean => commit.effects.some((effect) => effect.kind === "archive");

function follow(root: string, commit: Commit, again: boolean): string[] {
  const problems: string[] = [];
  for (const effect of commit.effects) {
    record(problems, effect.kind, () => perform(root, commit, effect, again));
  }
  const journalled = record(problems, "journal", () => appendJournal(root, commit));
  // An archived run is never loaded again, so no one would give its journal what is missing.
  if (journalled && wantsArchive(commit)) {
    record(problems, "archive", () => archiveRun(root, commit.run.id));
    if (commit.run.checks.verdicts ?? commit.run.checks.base_tree)
      record(problems, "tidy", () => dropLeftovers(root, commit.run));
  }
  return problems;
}

// Only runs with gates leave something.
const dropLeftovers: typeof import("./jobs.ts").dropLeftovers = (root, run) =>
  (require("./jobs.ts") as typeof import("./jobs.ts")).dropLeftovers(root, run);

function record(problems: string[], what: string, work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    problems.push(`${what}: ${messageOf(error)}`);
    return false;
  }
}

function perform(root: string, commit: Commit, effect: Effect, again: boolean): void {
  if (effect.kind === "document") placeDocument(root, commit, effect);
  else if (effect.kind === "quarantine") putAside(root, commit, effect, again);
  else if (effect.kind === "log") writeLog(root, commit, effect, again);
  else if (effect.kind === "report") writeReport(root, commit, effect);
}

/** Workflow files name these paths, so our own state is out of their reach. */
function openPath(root: string, relative: string): string {
  const path = insideRoot(root, relative);
  const ours = ["runs", "archive", "journal", "jobs", "objects", "receipts"].map((name) => join(root, ".pawl", name));
  if (ours.some((folder) => path === folder || path.startsWith(`${folder}/`))) {
    throw new PathError(`${relative}: belongs to Pawl's own state`);
  }
  return path;
}

// ── Documents ───────────────────────────────────────────────────────────────

function placeDocument(root: string, commit: Commit, effect: EffectOf<"document">): void {
  const path = openPath(root, effect.path);
  const now = currentHash(path);
  if (effect.text === null) {
    if (now !== "" && now === effect.expect) keepInRun(root, commit.run.id, path);
    return;
  }
  if (now === hashOf(effect.text) || now !== effect.expect) return;
  if (effect.path.includes("/")) ensureDir(root, dirname(effect.path), "unsynced");
  // Not synced: it follows from the run, and what a power cut eats is written again.
  withTemp(dirname(path), effect.text, 0o600, (temp) => overKnownBytes(temp, path, effect.expect), "unsynced");
}

/** "" where there is none. */
function currentHash(path: string): string {
  const file = readText(path);
  if (file.ok) return file.hash;
  if (file.why === "missing") return "";
  throw new Error(`${path}: ${file.detail ?? file.why}`);
}

/** Looks once more when the new bytes are ready: writing them took a while, and someone may have saved meanwhile. */
function overKnownBytes(temp: string, path: string, expect: string): void {
  if (expect !== "" && currentHash(path) === expect) rename(temp, path);
  else if (expect === "") linkIfFree(temp, path);
}

/** Moved, not copied: a late edit goes along with it. */
function keepInRun(root: string, id: string, path: string): void {
  const dir = runDir(root, id);
  const end = path.endsWith(".json") ? "json" : "md";
  for (let count = 1; ; count++) {
    const kept = join(dir, count === 1 ? `document.${end}` : `document-${count}.${end}`);
    if (lookAt(kept) !== undefined) continue;
    moveFile(path, kept);
    syncDir(dir);
    syncDir(dirname(path));
    // Each formal workflow has a folder of its own, which goes with its document unless something else is in it.
    if (end === "json") attempt(() => rmdir(dirname(path)), undefined);
    return;
  }
}

function moveFile(from: string, to: string): void {
  try {
    rename(from, to);
  } catch (error) {
    if (errorCode(error) !== "EXDEV") throw error;
    const file = readText(from);
    if (!file.ok) throw new Error(`${from}: ${file.detail ?? file.why}`);
    writeAtomic(to, file.text);
    if (currentHash(from) === file.hash) unlink(from);
  }
}

function runDir(root: string, id: string): string {
  const dir = findRunDir(root, id);
  if (dir === null) throw new Error(`run ${id} has no folder`);
  return dir;
}

function putAside(root: string, commit: Commit, effect: EffectOf<"quarantine">, again: boolean): void {
  const path = openPath(root, effect.path);
  if (lookAt(path) === undefined || (again && wasPutAside(path, commit.event.at))) return;
  quarantine(path);
}

/** What lies at the path after the first attempt is the good file that followed. */
function wasPutAside(path: string, since: string): boolean {
  const prefix = `${basename(path)}.corrupt`;
  const asides = (namesIn(dirname(path)) ?? []).filter((name) => name.startsWith(prefix));
  return asides.some((name) => (lookAt(join(dirname(path), name))?.ctimeMs ?? 0) >= Date.parse(since));
}

// ── Log and report ──────────────────────────────────────────────────────────

function writeLog(root: string, commit: Commit, effect: EffectOf<"log">, again: boolean): void {
  const path = openPath(root, effect.path);
  const stamp = localTime(commit.event.at);
  const lines = effect.lines.map((line) => `[${stamp}] ${oneLine(line)}`);
  const present = new Set(again ? readTail(path, LOG_TAIL)?.text.split("\n") : []);
  const fresh = lines.filter((line) => !present.has(line));
  if (fresh.length === 0) return;
  if (effect.path.includes("/")) ensureDir(root, dirname(effect.path), "unsynced");
  appendLine(path, fresh.join("\n"));
}

const oneLine = (text: string) =>
  text.includes("\n") || text.includes("\r") || text.includes("\0") ? text.replace(/[\r\n\0]+/g, " ") : text;

function writeReport(root: string, commit: Commit, effect: EffectOf<"report">): void {
  if (effect.file.includes("/")) throw new PathError(`${effect.file}: not a report's name`);
  const reports = ensureDir(runDir(root, commit.run.id), "reports");
  const path = insideRoot(reports, effect.file);
  const now = readText(path, Number.MAX_SAFE_INTEGER);
  if (now.ok && now.hash === hashOf(effect.text)) return;
  writeAtomic(path, effect.text);
}
