/** What a report tells, looked up in the projects' own records. One that fails keeps nothing else from being told. */
import { readProject } from "../definitions/project.ts";
import { minutesBetween, short, viewRun } from "../engine/core/run-view.ts";
import { openCall } from "../hosts/claude/open-call.ts";
import type { IterationLine } from "../kernel/types/loop.ts";
import type { Workflow } from "../kernel/types/run.ts";
import { archivedDir, readPinned } from "../store/commits.ts";
import { readCost } from "../store/cost.ts";
import { insideRoot, lookAt, messageOf, namesOrNone } from "../store/files.ts";
import { canResume, isRunning, type KeptLoop, listLoops } from "../store/loops.ts";
import { isRunId } from "../store/names.ts";
import { isOff } from "../store/place.ts";
import { type Kept, listRuns, loadRun, readCommits } from "../store/runs.ts";
import { STALE_MS } from "../store/waiting.ts";
import { reportRun, type SeenRun, type Told } from "./core/report-run.ts";
import {
  type About,
  type CostView,
  type FailedLine,
  NO_COST,
  type ReportView,
  type RunningLine,
  spend,
} from "./core/report-view.ts";

const LISTS = ["needs", "done", "failed", "running", "unchecked", "unread"] as const;
type Parts = Pick<ReportView, (typeof LISTS)[number]> & { cost: CostView };

interface Asked {
  root: string;
  since: string;
  at: string;
  /** signals whose gates pawl.yaml switches off, by workflow */
  off: Record<string, string[]>;
}

const noParts = (): Parts => ({
  ...{ needs: [], done: [], failed: [], running: [], unchecked: [], unread: [] },
  cost: NO_COST,
});

export function gatherReport(roots: string[], since: string, at: string): ReportView {
  const all = roots.map((root) => gatherProject({ root, since, at, off: {} })).reduce(joined, noParts());
  const newest = (a: About, b: About) => b.at.localeCompare(a.at);
  const oldest = (a: About, b: About) => a.at.localeCompare(b.at);
  return {
    ...{ at, since, projects: roots, ...all },
    // What has waited longest stands first; of what is over, the newest.
    needs: all.needs.toSorted(oldest),
    done: all.done.toSorted(newest),
    failed: all.failed.toSorted(newest),
    running: all.running.toSorted(newest),
  };
}

function joined(a: Parts, b: Parts): Parts {
  const lists = Object.fromEntries(LISTS.map((name) => [name, [...a[name], ...b[name]]]));
  return { ...(lists as Omit<Parts, "cost">), cost: costs(a.cost, b.cost) };
}

function costs(a: CostView, b: CostView): CostView {
  const sum = (kind: "runs" | "loops") => ({
    count: a[kind].count + b[kind].count,
    usd: a[kind].usd + b[kind].usd,
    unknown: a[kind].unknown + b[kind].unknown,
  });
  return { runs: sum("runs"), loops: sum("loops") };
}

function gatherProject(asked: Asked): Parts {
  const { root } = asked;
  let parts = noParts();
  const attempt = (work: () => Parts) => {
    try {
      parts = joined(parts, work());
    } catch (error) {
      parts.unread.push({ project: root, why: messageOf(error) });
    }
  };
  const loops = attemptOr(() => listLoops(root), []);
  attempt(() => projectParts(asked));
  for (const id of liveIds(asked, attempt)) attempt(() => liveParts(asked, id, loops));
  for (const id of archivedIds(asked)) attempt(() => archivedParts(asked, id, loops));
  for (const loop of loops) attempt(() => loopParts(asked, loop));
  return parts;
}

function attemptOr<T>(work: () => T, otherwise: T): T {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/** What holds for all of its runs. */
function projectParts(asked: Asked): Parts {
  const { root, at } = asked;
  const parts = noParts();
  if (isOff(root))
    parts.unchecked.push({ ...nowhere(root, at), kind: "off", what: "Pawl is switched off here (`pawl on`)" });
  const read = readProject(root);
  if ("errors" in read)
    parts.unread.push({ project: root, why: `pawl.yaml: ${read.errors[0]?.message ?? "not read"}` });
  else for (const [name, { off }] of Object.entries(read.project.workflows)) asked.off[name] = off;
  return parts;
}

const nowhere = (project: string, at: string): About => ({
  ...{ project, at, run: "", workflow: "", task: "", title: "" },
});

// ── Runs ────────────────────────────────────────────────────────────────────

function liveIds({ root, at }: Asked, attempt: (work: () => Parts) => void): { id: string; ownerGone: boolean }[] {
  const ids: { id: string; ownerGone: boolean }[] = [];
  attempt(() => {
    const parts = noParts();
    let older = 0;
    for (const { id, updated_at, owner_gone } of listRuns(root)) {
      if (Date.parse(at) - Date.parse(updated_at) > STALE_MS) older++;
      else ids.push({ id, ownerGone: owner_gone });
    }
    const why = `${older} open ${older === 1 ? "run was" : "runs were"} not touched for more than a week`;
    if (older > 0) parts.failed.push({ ...nowhere(root, at), outcome: "left", why, how: "`pawl runs`" });
    return parts;
  });
  return ids;
}

function liveParts(asked: Asked, { id, ownerGone }: { id: string; ownerGone: boolean }, loops: KeptLoop[]): Parts {
  const loaded = loadRun(asked.root, id);
  if (loaded === null || loaded.workflow.watch) return noParts();
  const commits = readCommits(asked.root, id);
  return runParts(asked, commits, loaded.workflow, loops, ownerGone);
}

/** Whatever ended since then was put there since then: the folder's own time tells, and old ones are not opened. */
function archivedIds({ root, since }: Asked): string[] {
  const isRecent = (id: string) =>
    isRunId(id) && (lookAt(insideRoot(root, archivedDir(id)))?.mtimeMs ?? 0) >= Date.parse(since);
  return attemptOr(() => namesOrNone(insideRoot(root, ".pawl/archive")).filter(isRecent).sort(), []);
}

function archivedParts(asked: Asked, id: string, loops: KeptLoop[]): Parts {
  const pinned = readPinned(insideRoot(asked.root, archivedDir(id)), id);
  if (pinned.ok && pinned.workflow.watch) return noParts();
  const commits = readCommits(asked.root, id);
  if (commits.every(({ forged }) => forged)) throw new Error(`${id}: Pawl wrote nothing of it`);
  return runParts(asked, commits, pinned.ok ? pinned.workflow : null, loops, false);
}

function runParts(
  asked: Asked,
  commits: Kept[],
  workflow: Workflow | null,
  loops: KeptLoop[],
  ownerGone: boolean,
): Parts {
  const { root, since, at } = asked;
  const own = commits.filter((commit) => !commit.forged);
  const last = own.at(-1);
  if (last === undefined) return noParts();
  const { run } = last;
  const loop = loops.find(({ state }) => state.run === run.id);
  const seen: SeenRun = {
    ...{ project: root, run, foreign: commits.length - own.length },
    view: viewRun(run, { at, workflow, ownerGone, call: openCall(run), records: last.records }),
    records: own.flatMap(({ event, records }) => records.map((one): Told => ({ ...one, at: event.at }))),
    silent: minutesBetween(last.event.at, at),
    off: asked.off[run.workflow] ?? [],
    looping: loop !== undefined && isRunning(loop),
  };
  const parts = { ...noParts(), ...reportRun(seen, since) };
  const isCounted = run.updated_at >= since && loop === undefined;
  return isCounted ? { ...parts, cost: runCost(root, seen, since) } : parts;
}

/** A loop whose own notes are gone has told the run what each iteration cost. */
function runCost(root: string, { run, records }: SeenRun, since: string): CostView {
  const looped = records.filter(({ kind }) => kind === "looped");
  if (looped.length === 0) return { ...NO_COST, runs: spend(NO_COST.runs, readCost(root, run.id)?.usd ?? null) };
  const recent = looped.filter(({ at }) => at >= since);
  return { ...NO_COST, loops: recent.reduce((sum, one) => spend(sum, numberOr(one.cost)), NO_COST.loops) };
}

const numberOr = (value: unknown) => (typeof value === "number" ? value : null);

// ── Loops ───────────────────────────────────────────────────────────────────

function loopParts({ root, since }: Asked, loop: KeptLoop): Parts {
  const { state } = loop;
  const parts = noParts();
  const about = { ...nowhere(root, state.updated_at), run: state.id, workflow: `loop ${state.procedure}` };
  if (isRunning(loop)) parts.running.push(loopLine(about, loop));
  else if (state.updated_at >= since) parts.failed.push(...loopEnd(about, loop));
  const lines: IterationLine[] = state.lines.filter((line) => line.at >= since);
  const spent = lines.reduce((sum, one) => spend(sum, one.cost_usd), NO_COST.loops);
  const tried = state.created_at >= since ? (state.trial_usd ?? 0) : 0;
  return { ...parts, cost: { ...NO_COST, loops: { ...spent, usd: spent.usd + tried } } };
}

function loopLine(about: About, { state, agent, waiting }: KeptLoop): RunningLine {
  const doing = agent === null ? `${state.iterations} iterations made` : `at iteration ${agent.iteration}`;
  return { ...about, where: waiting ? `${doing}, waits: ${short(waiting.why, 200)}` : doing, said: "" };
}

/** How it ended is the loop's own finding; that it succeeded is told by its run, with what proved it. */
function loopEnd(about: About, loop: KeptLoop): FailedLine[] {
  const { outcome, why, id } = loop.state;
  if (outcome === "success") return [];
  const how = canResume(loop) ? `\`pawl loop --resume ${id}\`` : "";
  return [{ ...about, outcome: outcome ?? "interrupted", why: short(why || "its process is not running", 400), how }];
}
