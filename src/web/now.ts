/** What needs the person, and every run in progress. Read from the runs themselves, so it is exact. */
import { openDraft } from "../engine/core/draft.ts";
import { choiceLines, fill, templateValues } from "../engine/core/guide.ts";
import {
  MOST_SIGNS,
  type RunView,
  short,
  stageLabel,
  viewRun,
  type Waiting,
  type WaitKind,
} from "../engine/core/run-view.ts";
import { openCall } from "../hosts/claude/open-call.ts";
import { attempt } from "../kernel/attempt.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { Commit, Run, RunSummary, Workflow } from "../kernel/types/run.ts";
import { readCost } from "../store/cost.ts";
import { logError } from "../store/errors.ts";
import { listRuns, loadRun } from "../store/runs.ts";
import { STALE_MS } from "../store/waiting.ts";
import { stageName } from "./page/format.ts";
import { projectNames } from "./projects.ts";

export interface Need extends Omit<Waiting, "kind"> {
  project: string;
  run: string;
  workflow: string;
  kind: WaitKind | "unreadable";
  question: ReturnType<typeof buildQuestion>;
  canApprove: boolean;
  /** when the claim was made that can be approved: an approval may name it, as an answer its question */
  claimed: string | null;
}

export interface StageView {
  id: string;
  title: string;
  state: "done" | "now" | "open";
}

export type LiveRun = ReturnType<typeof liveRun>;

/** A record of the journal in plain words. */
export type Words = (record: Commit["records"][number]) => string;

type LoadedRun = { commit: Commit; workflow: Workflow };

export function nowView(roots: string[], at: string, words: Words) {
  const seen = roots.map((root) => ({ root, ...lookAtProject(root, at, words) }));
  const nameOf = projectNames(roots);
  // As in the report: what has waited longest is first.
  const oldest = (a: Need, b: Need) => a.since.localeCompare(b.since);
  const newest = (a: LiveRun, b: LiveRun) => b.updated_at.localeCompare(a.updated_at);
  return {
    at,
    needs: seen.flatMap(({ needs }) => needs).toSorted(oldest),
    live: seen.flatMap(({ live }) => live).toSorted(newest),
    projects: seen.map(({ root, needs, live }) => {
      const updated_at = live.toSorted(newest)[0]?.updated_at ?? null;
      return { root, ...nameOf(root), live: live.length, needs: needs.length, updated_at };
    }),
  };
}

function lookAtProject(root: string, at: string, words: Words): { needs: Need[]; live: LiveRun[] } {
  const needs: Need[] = [];
  const live: LiveRun[] = [];
  const orUnreadable = (run: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      logError(root, "dashboard", error);
      const what = run === "" ? "the runs of this project could not be read" : `run ${run} could not be read`;
      const how = "`pawl doctor` there shows what is wrong";
      const nothing = { question: null, canApprove: false, claimed: null };
      needs.push({ project: root, run, workflow: "", what, how, since: at, kind: "unreadable", ...nothing });
    }
  };
  orUnreadable("", () => {
    for (const one of listRuns(root).filter((run) => isShown(run, at)))
      orUnreadable(one.id, () => {
        const seen = viewLive(root, one, at);
        if (seen === null || seen.loaded.workflow.watch) return;
        live.push(liveRun(root, seen.loaded, seen.view, words));
        needs.push(...buildNeed(root, seen.loaded, seen.view));
      });
  });
  return { needs, live };
}

/** null: it is over. */
function viewLive(root: string, { id, owner_gone: ownerGone }: RunSummary, at: string) {
  const loaded = loadRun(root, id);
  if (loaded === null || loaded.commit.run.status === "ended") return null;
  const { workflow, commit } = loaded;
  const { run, records } = commit;
  return { loaded, view: viewRun(run, { at, workflow, ownerGone, call: openCall(run), records }) };
}

/** The views of these runs of a project, by id; what is over, or cannot be read, is left out. */
export function liveViews(root: string, ids: string[], at: string): Map<string, RunView> {
  const wanted = ids.length === 0 ? [] : attempt(() => listRuns(root).filter(({ id }) => ids.includes(id)), []);
  return new Map(wanted.flatMap((one) => attempt(() => viewLive(root, one, at)?.view ?? [], [])).map((v) => [v.id, v]));
}

/** As STATUS: what no one touched for a week is not brought up. */
const isShown = ({ status, updated_at }: RunSummary, at: string) =>
  status !== "ended" && Date.parse(at) - Date.parse(updated_at) <= STALE_MS;

// ── Needs ───────────────────────────────────────────────────────────────────

function buildNeed(project: string, { commit: { run }, workflow }: LoadedRun, { waits, claimed }: RunView): Need[] {
  if (waits === null) return [];
  const about = { project, run: run.id, workflow: run.workflow };
  const question = waits.kind === "question" ? buildQuestion(run, workflow) : null;
  return [{ ...about, ...waits, question, canApprove: claimed !== null, claimed }];
}

export function buildQuestion(run: Run, workflow: Workflow) {
  const ask = workflow.asks[run.question?.ask ?? ""];
  if (!ask || !run.question) return null;
  // Templates are filled from the run; nothing happens here.
  const base = { id: "", at: "", host: "", session: "", turn: "", via: "dashboard" };
  const draft = openDraft({ workflow, run, event: { ...base, kind: "noticed", what: "", detail: "" }, facts: {} });
  const text = safeText(fill(ask.person, { ...templateValues(draft), choices: choiceLines(ask) }));
  const choices = Object.entries(ask.choices).map(([name, { label }]) => ({ name, label: safeText(label) }));
  // The page shows the choices as buttons, so they are left out of the text.
  const listed = choices.map(({ label }, at) => `${at + 1}. ${label}`);
  const lines = text.split("\n").filter((line) => !listed.includes(line.trim()));
  // `asked`: an answer may name the question by its time, so that it is not taken for one to a later question.
  return { text: lines.join("\n").trim(), asked: run.question.at, choices };
}

// ── Runs in progress ────────────────────────────────────────────────────────

function liveRun(project: string, { commit, workflow }: LoadedRun, view: RunView, words: Words) {
  const { run } = commit;
  const { status, updated_at, owner } = run;
  const about = { project, run: run.id, workflow: run.workflow, task: run.work.task?.id ?? null, status, updated_at };
  return {
    ...about,
    title: view.title ?? safeText(workflow.title),
    stages: buildStages(run, workflow),
    stage: stageLabel(run, MOST_SIGNS),
    since: run.entered_at,
    doing: view.doing || describeWork(commit, workflow, words),
    waits: view.waits?.what ?? null,
    state: view.state,
    session: owner?.session ?? null,
    host: owner?.host ?? null,
    cost_usd: readCost(project, run.id)?.usd ?? null,
    paused: view.paused,
  };
}

export function buildStages(run: Run, workflow: Workflow): StageView[] {
  if (run.formal) return buildPhases(run.formal);
  const now = run.status === "ended" ? -1 : run.plan.indexOf(run.stage);
  return run.plan.map((id, at) => ({
    id,
    title: safeText(workflow.stages.find((stage) => stage.id === id)?.title ?? id),
    state: at === now ? "now" : run.done[id] ? "done" : "open",
  }));
}

function buildPhases({ phase, phases }: NonNullable<Run["formal"]>): StageView[] {
  return Array.from({ length: Math.min(Math.max(1, phase.total), 100) }, (_, at) => {
    const isNow = at + 1 === phase.current;
    const title = short(isNow ? phase.name : (phases[at] ?? `Phase ${at + 1}`), MOST_SIGNS);
    const isDone = at + 1 < phase.current || (isNow && phase.status === "completed");
    return { id: String(at + 1), title, state: isDone ? "done" : isNow ? "now" : "open" };
  });
}

/** What the agent works on: the stage, and the last thing that happened. */
function describeWork({ run, records }: Commit, workflow: Workflow, words: Words): string {
  const last = records.findLast(({ kind }) => !BOOKKEEPING.has(kind));
  const stage = stageName(workflow.stages.find(({ id }) => id === run.stage)?.title ?? run.stage);
  return short(last ? `${stage}: ${words(last)}` : stage, 200);
}

/** These records tell a person nothing. */
const BOOKKEEPING = new Set(["owed", "delivered", "noticed", "left", "committed", "continued", "stopped"]);
