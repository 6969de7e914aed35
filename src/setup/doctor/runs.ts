/** What is kept: runs, their owners, what was put aside, sessions of projects that are gone. Looks, mends nothing. */
import { lstatSync } from "node:fs";
import type { Commit, Run } from "../../kernel/types/run.ts";
import { liveDir, readCommit, readPinned, seqsIn } from "../../store/commits.ts";
import { isObject, lookAt, messageOf, parseJson, readTail, readText } from "../../store/files.ts";
import { statePath } from "../../store/home.ts";
import { dirname, isRunId, join } from "../../store/names.ts";
import type { Pointer } from "../../store/place.ts";
import { ownerGone } from "../../store/processes/owner.ts";
import { ageOf, clean, type Finding, type Ground, note, ok, shown, trouble } from "./finding.ts";
import { namesIn } from "./settings-files.ts";

const MOST_RUNS = 500;
const MOST_POINTERS = 5_000;
const MOST_NAMES = 20_000;
const MOST_SHOWN = 5;
const STALE_MS = 7 * 24 * 3_600_000;
const JOURNAL_TAIL = 1024 * 1024;

type Read = { ok: true; commit: Commit } | { ok: false; id: string; why: string };

export function checkRuns(ground: Ground): Finding[] {
  const read = readRuns(ground.root);
  const runs = read.flatMap((one) => (one.ok && one.commit.run.status !== "ended" ? [one.commit.run] : []));
  const broken = read.flatMap((one) => (one.ok ? [] : [brokenRun(one)]));
  const found = [
    ...broken,
    ...runs.flatMap((run) => checkRun(run, ground.now)),
    ...checkAside(ground, runs),
    ...checkPointers(ground),
  ];
  return found.length > 0
    ? found
    : [ok("runs", runs.length === 0 ? "no active run" : `${runs.length} active, all fine`)];
}

function readRuns(root: string): Read[] {
  const ids = namesIn(join(root, ".pawl/runs")).filter(isRunId).sort().slice(0, MOST_RUNS);
  return ids.flatMap((id) => readRun(root, id) ?? []);
}

/** null: nothing was committed yet. */
function readRun(root: string, id: string): Read | null {
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

const brokenRun = ({ id, why }: { id: string; why: string }) =>
  trouble(
    "run-broken",
    `run ${id} cannot be read: ${clean(why)}`,
    "its next event sets the broken part aside and continues, or reports it; `pawl log --run " +
      id +
      "` shows what is known",
  );

function checkRun(run: Run, now: number): Finding[] {
  const name = `run ${run.id} (${clean(run.workflow, 40)}, ${clean(run.stage, 40)})`;
  const age = now - Date.parse(run.updated_at);
  const rest = age > STALE_MS ? `, untouched for ${ageOf(age)}` : "";
  const end = `\`pawl runs abort ${run.id}\` ends it`;
  if (run.status === "halted")
    return [
      note(
        "run-halted",
        `${name} is stopped${rest}: ${clean(run.why ?? "", 120)}`,
        `type its command again to go on; ${end}`,
      ),
    ];
  if (isGone(run))
    return [
      note(
        "run-alone",
        `${name}: its session has ended${rest}`,
        `type its command again in any session to go on; ${end}`,
      ),
    ];
  return rest === "" ? [] : [note("run-stale", `${name} is ${run.status}${rest}`, end)];
}

function isGone({ id, owner }: Run): boolean {
  if (owner === null) return false;
  if (owner.ended_at !== undefined) return true;
  const pointer = readPointerFile(statePath("sessions", `${owner.host}-${owner.session}`));
  return pointer !== null && pointer.run === id && ownerGone(pointer);
}

/** Unlike the hook's own reading this leaves a broken one where it is. */
function readPointerFile(path: string): Pointer | null {
  const file = readText(path, 64 * 1024);
  const value = file.ok ? parseJson(file.text) : null;
  return isObject(value) && typeof value.root === "string" ? (value as unknown as Pointer) : null;
}

// ── Put aside ───────────────────────────────────────────────────────────────

function checkAside(ground: Ground, runs: Run[]): Finding[] {
  const { root } = ground;
  const documents = runs.map(({ document }) => dirname(join(root, document.path || "x")));
  const beside = [...new Set([join(root, ".claude"), ...documents])].flatMap((dir) =>
    namesIn(dir).map((name) => join(dir, name)),
  );
  const below = [join(root, ".pawl"), join(root, "untracked/workflow-state"), statePath("sessions")].flatMap(walk);
  const aside = [...new Set([...beside, ...below])].filter((path) => /\.corrupt(-\d+)?$/.test(path));
  if (aside.length === 0) return [];
  const names = aside.slice(0, MOST_SHOWN).map((path) => clean(shown(path, ground), 120));
  const what = `${aside.length === 1 ? "something damaged was" : `${aside.length} damaged things were`} put aside`;
  const more = aside.length > MOST_SHOWN ? [`and ${aside.length - MOST_SHOWN} more`] : [];
  return [
    {
      ...note("put-aside", what, "nothing needs it any more: look into it, then remove it"),
      lines: [...names, ...more],
    },
  ];
}

/** Everything below, links not followed, up to a bound. */
function walk(folder: string): string[] {
  const found: string[] = [];
  const queue = isRealFolder(folder) ? [folder] : [];
  for (let dir = queue.shift(); dir !== undefined && found.length < MOST_NAMES; dir = queue.shift()) {
    for (const name of namesIn(dir)) {
      const path = join(dir, name);
      found.push(path);
      if (isRealFolder(path)) queue.push(path);
    }
  }
  return found;
}

function isRealFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

// ── Sessions ────────────────────────────────────────────────────────────────

function checkPointers(ground: Ground): Finding[] {
  const folder = statePath("sessions");
  const gone = namesIn(folder)
    .slice(0, MOST_POINTERS)
    .filter((name) => {
      const pointer = readPointerFile(join(folder, name));
      return pointer?.root.startsWith("/") && !pointer.root.includes("\0") && lookAt(pointer.root) === undefined;
    });
  if (gone.length === 0) return [];
  const what = `${gone.length} of ${shown(folder, ground)} belong${gone.length === 1 ? "s" : ""} to projects that are gone`;
  const lines = gone.slice(0, MOST_SHOWN).map((name) => clean(name, 120));
  return [{ ...note("pointers", what, "harmless; they may be removed"), lines }];
}

/** Two ways of the hook brought the same event, within the last week. */
export function checkDoubled({ root, now }: Ground): Finding[] {
  const folder = join(root, ".pawl/journal");
  const newest = namesIn(folder)
    .filter((name) => /^\d{4}-\d{2}\.jsonl$/.test(name))
    .sort()
    .at(-1);
  const tail = newest === undefined ? null : readTail(join(folder, newest), JOURNAL_TAIL);
  const lines = (tail?.text.split("\n") ?? []).filter((line) => line.includes('"kind":"doubled"')).map(parseJson);
  const recent = lines.filter(isObject).filter(({ at }) => typeof at === "string" && now - Date.parse(at) < STALE_MS);
  const ways = [
    ...new Set(recent.map(({ first, second }) => `${clean(String(first), 20)} and ${clean(String(second), 20)}`)),
  ];
  if (ways.length === 0) return [];
  return [
    note(
      "doubled",
      `within a week the same events came twice: by ${ways.slice(0, MOST_SHOWN).join("; by ")}`,
      "keep one installation (see above)",
    ),
  ];
}
