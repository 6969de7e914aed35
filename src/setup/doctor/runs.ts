/** What is kept: runs, their owners, what was put aside, sessions of missing projects, errors. Looks, repairs nothing. */
import { lstatSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { DAY } from "../../kernel/time/calendar.ts";
import type { Commit, Run } from "../../kernel/types/run.ts";
import { liveDir, readCommit, readPinned, seqsIn } from "../../store/commits.ts";
import { isObject, lookAt, messageOf, namesOrNone, parseJson, readJson, readTail } from "../../store/files.ts";
import { statePath } from "../../store/home.ts";
import { dirname, isRunId, join } from "../../store/names.ts";
import type { Pointer } from "../../store/place.ts";
import { ownerGone } from "../../store/processes/owner.ts";
import { STALE_MS } from "../../store/waiting.ts";
import {
  clean,
  type DoctorContext,
  type Finding,
  formatAge,
  MOST_SHOWN,
  note,
  ok,
  shortPath,
  trouble,
} from "./finding.ts";

const MOST_RUNS = 500;
const MOST_POINTERS = 5_000;
const MOST_NAMES = 20_000;
/** Older lines of the journal and of the error log are history. */
const RECENT_MS = 7 * DAY;
const JOURNAL_TAIL = 1024 * 1024;
const ERRORS_TAIL = 64 * 1024;

type RunRead = { ok: true; commit: Commit } | { ok: false; id: string; why: string };

export function checkRuns(ground: DoctorContext): Finding[] {
  const ids = namesOrNone(join(ground.root, ".pawl/runs")).filter(isRunId).sort().slice(0, MOST_RUNS);
  const read = ids.flatMap((id) => readRun(ground.root, id) ?? []);
  const runs = read.flatMap((one) => (one.ok && one.commit.run.status !== "ended" ? [one.commit.run] : []));
  const found = [
    ...read.flatMap((one) => (one.ok ? [] : brokenRun(one))),
    ...runs.flatMap((run) => checkRun(run, ground.now)),
    ...checkAside(ground, runs),
    ...checkPointers(ground),
  ];
  if (found.length > 0) return found;
  return ok("runs", runs.length === 0 ? "no active run" : `${runs.length} active, all fine`);
}

/** null: nothing was committed yet. */
function readRun(root: string, id: string): RunRead | null {
  try {
    const dir = join(root, liveDir(id));
    const seq = seqsIn(dir)?.at(-1);
    if (seq === undefined) return null;
    const read = readCommit(dir, id, seq);
    if (!read.ok) return { ok: false, id, why: `commit ${seq}: ${read.why}` };
    const pinned = readPinned(dir, id);
    return pinned.ok ? read : { ok: false, id, why: pinned.why };
  } catch (error) {
    return { ok: false, id, why: messageOf(error) };
  }
}

function brokenRun({ id, why }: { id: string; why: string }): Finding[] {
  const fix = `its next event sets the broken part aside and continues, or reports it; \`pawl log --run ${id}\` shows what is known`;
  return trouble("run-broken", `run ${id} cannot be read: ${clean(why)}`, fix);
}

function checkRun(run: Run, now: number): Finding[] {
  const name = `run ${run.id} (${clean(run.workflow, 40)}, ${clean(run.stage, 40)})`;
  const age = now - Date.parse(run.updated_at);
  const rest = age > STALE_MS ? `, untouched for ${formatAge(age)}` : "";
  const end = `\`pawl runs abort ${run.id}\` ends it`;
  const halted = `${name} is stopped${rest}: ${clean(run.why ?? "", 120)}`;
  if (run.status === "halted") return note("run-halted", halted, `type its command again to go on; ${end}`);
  const again = `type its command again in any session to go on; ${end}`;
  if (isGone(run)) return note("run-alone", `${name}: its session has ended${rest}`, again);
  return rest === "" ? [] : note("run-stale", `${name} is ${run.status}${rest}`, end);
}

function isGone({ id, owner }: Run): boolean {
  if (owner === null) return false;
  if (owner.ended_at !== undefined) return true;
  const pointer = readPointerFile(statePath("sessions", `${owner.host}-${owner.session}`));
  return pointer !== null && pointer.run === id && ownerGone(pointer);
}

/** Unlike the hook's own reading this leaves a broken one where it is. */
function readPointerFile(path: string): Pointer | null {
  const value = readJson(path, 64 * 1024);
  return typeof value?.root === "string" ? (value as unknown as Pointer) : null;
}

// ── Put aside ───────────────────────────────────────────────────────────────

function checkAside(ground: DoctorContext, runs: Run[]): Finding[] {
  const { root } = ground;
  const documents = runs.map(({ document }) => dirname(join(root, document.path || "x")));
  const near = [...new Set([join(root, ".claude"), ...documents])].flatMap((dir) =>
    namesOrNone(dir).map((name) => join(dir, name)),
  );
  const below = [join(root, ".pawl"), join(root, "untracked/workflow-state"), statePath("sessions")].flatMap(walk);
  const aside = [...new Set([...near, ...below])].filter((path) => /\.corrupt(-\d+)?$/.test(path));
  if (aside.length === 0) return [];
  const names = aside.slice(0, MOST_SHOWN).map((path) => clean(shortPath(path, ground), 120));
  const what = `${aside.length === 1 ? "something damaged was" : `${aside.length} damaged things were`} put aside`;
  const more = aside.length > MOST_SHOWN ? [`and ${aside.length - MOST_SHOWN} more`] : [];
  return note("put-aside", what, "nothing needs it any more: look into it, then remove it", [...names, ...more]);
}

/** Everything below, links not followed, up to a bound. */
function walk(folder: string): string[] {
  const found: string[] = [];
  const queue = isRealFolder(folder) ? [folder] : [];
  for (let dir = queue.shift(); dir !== undefined && found.length < MOST_NAMES; dir = queue.shift()) {
    for (const name of namesOrNone(dir)) {
      const path = join(dir, name);
      found.push(path);
      if (isRealFolder(path)) queue.push(path);
    }
  }
  return found;
}

const isRealFolder = (path: string) => attempt(() => lstatSync(path).isDirectory(), false);

// ── Sessions ────────────────────────────────────────────────────────────────

function checkPointers(ground: DoctorContext): Finding[] {
  const folder = statePath("sessions");
  const gone = namesOrNone(folder)
    .slice(0, MOST_POINTERS)
    .filter((name) => {
      const pointer = readPointerFile(join(folder, name));
      return pointer?.root.startsWith("/") && !pointer.root.includes("\0") && lookAt(pointer.root) === undefined;
    });
  if (gone.length === 0) return [];
  const what = `${gone.length} of ${shortPath(folder, ground)} belong${gone.length === 1 ? "s" : ""} to projects that are gone`;
  const lines = gone.slice(0, MOST_SHOWN).map((name) => clean(name, 120));
  return note("pointers", what, "harmless; they may be removed", lines);
}

/** Two ways of the hook brought the same event, within the last week. */
export function checkDoubled({ root, now }: DoctorContext): Finding[] {
  const folder = join(root, ".pawl/journal");
  const newest = namesOrNone(folder)
    .filter((name) => /^\d{4}-\d{2}\.jsonl$/.test(name))
    .sort()
    .at(-1);
  const tail = newest === undefined ? null : readTail(join(folder, newest), JOURNAL_TAIL);
  const lines = (tail?.text.split("\n") ?? []).filter((line) => line.includes('"kind":"doubled"')).map(parseJson);
  const recent = lines.filter(isObject).filter(({ at }) => typeof at === "string" && now - Date.parse(at) < RECENT_MS);
  const pairs = recent.map(({ first, second }) => `${clean(String(first), 20)} and ${clean(String(second), 20)}`);
  if (pairs.length === 0) return [];
  const ways = [...new Set(pairs)].slice(0, MOST_SHOWN).join("; by ");
  return note("doubled", `within a week the same events came twice: by ${ways}`, "keep one installation (see above)");
}

// ── Errors on our side, at the end of both logs ─────────────────────────────

export function checkErrors(ground: DoctorContext): Finding[] {
  const logs = [join(ground.root, ".pawl/errors.log"), statePath("errors.log")];
  const found = logs.flatMap((path) => recentErrors(path, ground));
  return found.length > 0 ? found : ok("errors", "no errors within a week");
}

function recentErrors(path: string, ground: DoctorContext): Finding[] {
  const at = (line: string) => Date.parse(/^\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(line)?.[0] ?? "");
  const all = (readTail(path, ERRORS_TAIL)?.text ?? "").split("\n").filter((line) => ground.now - at(line) < RECENT_MS);
  if (all.length === 0) return [];
  const last = all.slice(-MOST_SHOWN).map((line) => clean(line, 200));
  const count = `${all.length} error${all.length > 1 ? "s" : ""}`;
  const what = `${all.length > MOST_SHOWN ? `the last ${MOST_SHOWN} of ${count}` : count} within a week, in ${shortPath(path, ground)}`;
  return note("errors", what, "`pawl log` shows what happened around them", last);
}
