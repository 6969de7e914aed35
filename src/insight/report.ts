/** What a report shows, looked up in the projects' own records. One that fails keeps nothing else from being shown. */
import { readProject } from "../definitions/project.ts";
import { minutesBetween, short, viewRun } from "../engine/core/run-view.ts";
import { openCall } from "../hosts/claude/open-call.ts";
import { attempt } from "../kernel/attempt.ts";
import type { Workflow } from "../kernel/types/run.ts";
import { archivedDir, readPinned } from "../store/commits.ts";
import { readCost } from "../store/cost.ts";
import { insideRoot, lookAt, messageOf, namesOrNone } from "../store/files.ts";
import { canResume, isRunning, type KeptLoop, listLoops } from "../store/loops.ts";
import { isRunId } from "../store/names.ts";
import { isOff } from "../store/place.ts";
import { listRuns, loadRun, readCommits } from "../store/runs.ts";
import { STALE_MS } from "../store/waiting.ts";
import {
  type About,
  type CostSum,
  type DatedRecord,
  type ReportedRun,
  type ReportView,
  reportRun,
} from "./core/report-run.ts";

interface Project {
  root: string;
  /** signals whose gates pawl.yaml switches off, by workflow */
  off: Record<string, string[]>;
  loops: KeptLoop[];
}

export function gatherReport(roots: string[], since: string, at: string): ReportView {
  const none = () => ({ count: 0, usd: 0, unknown: 0 });
  const view: ReportView = {
    ...{ at, since, projects: roots, needs: [], done: [], failed: [], running: [], unchecked: [] },
    ...{ cost: { runs: none(), loops: none() }, unread: [] },
  };
  for (const root of roots) addProject(view, root);
  const newest = (a: About, b: About) => b.at.localeCompare(a.at);
  // What has waited longest comes first; of what is over, the newest.
  view.needs.sort((a, b) => newest(b, a));
  for (const list of [view.done, view.failed, view.running]) list.sort(newest);
  return view;
}

function addProject(view: ReportView, root: string): void {
  const project: Project = { root, off: {}, loops: attempt(() => listLoops(root), []) };
  const tried = (work: () => void) => {
    try {
      work();
    } catch (error) {
      view.unread.push({ project: root, why: messageOf(error) });
    }
  };
  tried(() => addSettings(view, project));
  tried(() => {
    for (const { id, owner_gone } of recentRuns(view, root)) tried(() => addLive(view, project, id, owner_gone));
  });
  for (const id of archivedIds(view, root)) tried(() => addArchived(view, project, id));
  for (const loop of project.loops) tried(() => addLoop(view, root, loop));
}

/** What holds for all of its runs. */
function addSettings({ unchecked, unread, at }: ReportView, { root, off }: Project): void {
  if (isOff(root)) unchecked.push({ ...nowhere(root, at), kind: "off", what: "Pawl is switched off here (`pawl on`)" });
  const read = readProject(root);
  if ("errors" in read) unread.push({ project: root, why: `pawl.yaml: ${read.errors[0]?.message ?? "not read"}` });
  else for (const [name, workflow] of Object.entries(read.project.workflows)) off[name] = workflow.off;
}

const nowhere = (project: string, at: string): About => ({
  ...{ project, at, run: "", workflow: "", task: "", title: "" },
});

function spend(sum: CostSum, cost: unknown): void {
  sum.count++;
  if (typeof cost === "number") sum.usd += cost;
  else sum.unknown++;
}

// ── Runs ────────────────────────────────────────────────────────────────────

function recentRuns({ failed, at }: ReportView, root: string): ReturnType<typeof listRuns> {
  const all = listRuns(root);
  const recent = all.filter(({ updated_at }) => Date.parse(at) - Date.parse(updated_at) <= STALE_MS);
  const older = all.length - recent.length;
  const why = `${older} open ${older === 1 ? "run was" : "runs were"} not touched for more than a week`;
  if (older > 0) failed.push({ ...nowhere(root, at), outcome: "left", why, how: "`pawl runs`" });
  return recent;
}

function addLive(view: ReportView, project: Project, id: string, ownerGone: boolean): void {
  const loaded = loadRun(project.root, id);
  if (loaded !== null && !loaded.workflow.watch) addRun(view, project, id, loaded.workflow, ownerGone);
}

/** Whatever ended since then was put there since then: the folder's own time tells, and old ones are not opened. */
function archivedIds({ since }: ReportView, root: string): string[] {
  const isRecent = (id: string) =>
    isRunId(id) && (lookAt(insideRoot(root, archivedDir(id)))?.mtimeMs ?? 0) >= Date.parse(since);
  return attempt(() => namesOrNone(insideRoot(root, ".pawl/archive")).filter(isRecent).sort(), []);
}

function addArchived(view: ReportView, project: Project, id: string): void {
  const pinned = readPinned(insideRoot(project.root, archivedDir(id)), id);
  if (pinned.ok && pinned.workflow.watch) return;
  const isOurs = addRun(view, project, id, pinned.ok ? pinned.workflow : null, false);
  if (!isOurs) throw new Error(`${id}: Pawl wrote nothing of it`);
}

/** false: none of its commits is Pawl's. */
function addRun(view: ReportView, project: Project, id: string, workflow: Workflow | null, ownerGone: boolean) {
  const { root, off, loops } = project;
  const { at, since, cost } = view;
  const commits = readCommits(root, id);
  const own = commits.filter((commit) => !commit.forged);
  const last = own.at(-1);
  if (last === undefined) return false;
  const { run } = last;
  const loop = loops.find(({ state }) => state.run === run.id);
  const seen: ReportedRun = {
    ...{ project: root, run, foreign: commits.length - own.length },
    view: viewRun(run, { at, workflow, ownerGone, call: openCall(run), records: last.records }),
    records: own.flatMap(({ event, records }) => records.map((one): DatedRecord => ({ ...one, at: event.at }))),
    silent: minutesBetween(last.event.at, at),
    off: off[run.workflow] ?? [],
    looping: loop !== undefined && isRunning(loop),
  };
  reportRun(view, seen);
  if (run.updated_at < since || loop !== undefined) return true;
  // A loop whose own notes are gone has told the run what each iteration cost.
  const looped = seen.records.filter(({ kind }) => kind === "looped");
  if (looped.length === 0) spend(cost.runs, readCost(root, run.id)?.usd);
  for (const one of looped) if (one.at >= since) spend(cost.loops, one.cost);
  return true;
}

// ── Loops ───────────────────────────────────────────────────────────────────

/** A loop goes by the id of its run, if it has one; the run already lists what it needs. */
function addLoop({ needs, running, failed, cost, since }: ReportView, root: string, loop: KeptLoop): void {
  const { state, agent, waiting } = loop;
  const { outcome, why } = state;
  const id = state.run || state.id;
  const about = { ...nowhere(root, state.updated_at), run: id, workflow: `loop ${state.procedure}` };
  const isTold = needs.some(({ project, run }) => project === root && run === id);
  if (isRunning(loop)) {
    const doing = agent === null ? `${state.iterations} iterations made` : `at iteration ${agent.iteration}`;
    running.push({ ...about, where: waiting ? `${doing}, waits: ${short(waiting.why, 200)}` : doing, said: "" });
    // How it ended is the loop's own finding; that it succeeded is told by its run, with what proved it.
  } else if (!isTold && state.updated_at >= since && outcome !== "success") {
    const how = canResume(loop) ? `\`pawl loop --resume ${id}\`` : "";
    const reason = short(why || "its process is not running", 400);
    failed.push({ ...about, outcome: outcome ?? "interrupted", why: reason, how });
  }
  for (const line of state.lines) if (line.at >= since) spend(cost.loops, line.cost_usd);
  if (state.created_at >= since) cost.loops.usd += state.trial_usd ?? 0;
}
