/** What needs the person, and every run under way. Read from the runs themselves, so it is exact. */
import { openDraft } from "../engine/core/draft.ts";
import { choiceLines, fill, valuesOf } from "../engine/core/guide.ts";
import { MOST_SIGNS, type RunView, short, stageOf, viewRun, type WaitKind } from "../engine/core/run-view.ts";
import { openCall } from "../hosts/claude/open-call.ts";
import { plain } from "../kernel/text/safe-text.ts";
import type { Commit, EventOf, Run, RunSummary, Workflow } from "../kernel/types/run.ts";
import { readCost } from "../store/cost.ts";
import { logError } from "../store/errors.ts";
import { listRuns, loadRun } from "../store/runs.ts";
import { STALE_MS } from "../store/waiting.ts";
import { projectNames } from "./projects.ts";

export interface QuestionView {
  text: string;
  /** when it was put: an answer may name it, so that it is not taken for one to a later question */
  asked: string;
  choices: { name: string; label: string }[];
}

export interface Need {
  project: string;
  run: string;
  workflow: string;
  what: string;
  how: string;
  since: string;
  kind: WaitKind | "unreadable";
  question: QuestionView | null;
  canApprove: boolean;
  /** when the claim was made that can be approved: an approval may name it, as an answer its question */
  claimed: string | null;
}

export interface StageView {
  id: string;
  title: string;
  state: "done" | "now" | "open";
}

export interface LiveRun {
  project: string;
  run: string;
  workflow: string;
  title: string;
  task: string | null;
  stages: StageView[];
  stage: string;
  since: string;
  doing: string;
  waits: string | null;
  session: string | null;
  host: string | null;
  cost_usd: number | null;
  status: string;
  paused: boolean;
  updated_at: string;
}

/** A record of the journal in plain words. */
export type Words = (record: Commit["records"][number]) => string;

type Loaded = { commit: Commit; workflow: Workflow };

export function nowView(roots: string[], at: string, words: Words) {
  const seen = roots.map((root) => ({ root, ...lookAtProject(root, at, words) }));
  const nameOf = projectNames(roots);
  // As in the report: what has waited longest stands first.
  const oldest = (a: Need, b: Need) => a.since.localeCompare(b.since);
  return {
    at,
    needs: seen.flatMap(({ needs }) => needs).toSorted(oldest),
    live: seen.flatMap(({ live }) => live).toSorted((a, b) => b.updated_at.localeCompare(a.updated_at)),
    projects: seen.map(({ root, needs, live }) => ({
      root,
      ...nameOf(root),
      live: live.length,
      needs: needs.length,
      updated_at:
        live
          .map(({ updated_at }) => updated_at)
          .sort()
          .at(-1) ?? null,
    })),
  };
}

function lookAtProject(root: string, at: string, words: Words): { needs: Need[]; live: LiveRun[] } {
  const needs: Need[] = [];
  const live: LiveRun[] = [];
  const attempt = (run: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      logError(root, "dashboard", error);
      needs.push(unreadable(root, run, at));
    }
  };
  attempt("", () => {
    for (const one of listRuns(root).filter((run) => isShown(run, at)))
      attempt(one.id, () => {
        const loaded = loadRun(root, one.id);
        if (loaded === null || loaded.commit.run.status === "ended" || loaded.workflow.watch) return;
        const { run, records } = loaded.commit;
        const { workflow } = loaded;
        const view = viewRun(run, { at, workflow, ownerGone: one.owner_gone, call: openCall(run), records });
        live.push(liveRun(root, loaded, view, words));
        needs.push(...needOf(root, loaded, view));
      });
  });
  return { needs, live };
}

/** As STATUS: what no one touched for a week is not brought up. */
const isShown = ({ status, updated_at }: RunSummary, at: string) =>
  status !== "ended" && Date.parse(at) - Date.parse(updated_at) <= STALE_MS;

const unreadable = (project: string, run: string, since: string): Need => ({
  project,
  run,
  workflow: "",
  what: run === "" ? "the runs of this project could not be read" : `run ${run} could not be read`,
  how: "`pawl doctor` there shows what is wrong",
  since,
  kind: "unreadable",
  question: null,
  canApprove: false,
  claimed: null,
});

// ── Needs ───────────────────────────────────────────────────────────────────

function needOf(project: string, { commit: { run }, workflow }: Loaded, { waits, claimed }: RunView): Need[] {
  if (waits === null) return [];
  const about = { project, run: run.id, workflow: run.workflow };
  const question = waits.kind === "question" ? questionOf(run, workflow) : null;
  return [{ ...about, ...waits, question, canApprove: claimed !== null, claimed }];
}

export function questionOf(run: Run, workflow: Workflow): QuestionView | null {
  const ask = workflow.asks[run.question?.ask ?? ""];
  if (!ask || !run.question) return null;
  const draft = openDraft({ workflow, run, event: NOBODY, facts: {} });
  const text = plain(fill(ask.person, { ...valuesOf(draft), choices: choiceLines(ask) }));
  const choices = Object.entries(ask.choices).map(([name, { label }]) => ({ name, label: plain(label) }));
  return { text: withoutList(text, choices), asked: run.question.at, choices };
}

/** The page shows them as buttons. */
function withoutList(text: string, choices: { label: string }[]): string {
  const listed = choices.map(({ label }, at) => `${at + 1}. ${label}`);
  const lines = text.split("\n").filter((line) => !listed.includes(line.trim()));
  return lines.join("\n").trim();
}

/** Templates are filled from the run; nothing happens here. */
const NOBODY: EventOf<"noticed"> = {
  id: "",
  at: "",
  host: "",
  session: "",
  turn: "",
  via: "dashboard",
  kind: "noticed",
  what: "",
  detail: "",
};

// ── Runs under way ──────────────────────────────────────────────────────────

function liveRun(project: string, { commit, workflow }: Loaded, view: RunView, words: Words): LiveRun {
  const { run } = commit;
  return {
    project,
    run: run.id,
    workflow: run.workflow,
    title: view.title ?? plain(workflow.title),
    task: run.task?.id ?? null,
    stages: stagesOf(run, workflow),
    stage: stageOf(run, MOST_SIGNS),
    since: run.entered_at,
    doing: view.doing || workOf(commit, workflow, words),
    waits: view.waits?.what ?? null,
    session: run.owner?.session ?? null,
    host: run.owner?.host ?? null,
    cost_usd: readCost(project, run.id)?.usd ?? null,
    status: run.status,
    paused: view.paused,
    updated_at: run.updated_at,
  };
}

export function stagesOf(run: Run, workflow: Workflow): StageView[] {
  if (run.formal) return phasesOf(run.formal);
  const now = run.status === "ended" ? -1 : run.plan.indexOf(run.stage);
  return run.plan.map((id, at) => ({
    id,
    title: plain(workflow.stages.find((stage) => stage.id === id)?.title ?? id),
    state: at === now ? "now" : run.done[id] ? "done" : "open",
  }));
}

function phasesOf({ phase, phases }: NonNullable<Run["formal"]>): StageView[] {
  return Array.from({ length: Math.min(Math.max(1, phase.total), 100) }, (_, at) => {
    const name = at + 1 === phase.current ? phase.name : (phases[at] ?? `Phase ${at + 1}`);
    const isDone = at + 1 < phase.current || (at + 1 === phase.current && phase.status === "completed");
    return {
      id: String(at + 1),
      title: short(name, MOST_SIGNS),
      state: isDone ? "done" : at + 1 === phase.current ? "now" : "open",
    };
  });
}

/** What the agent works on: the stage, and what was heard last. */
function workOf({ run, records }: Commit, workflow: Workflow, words: Words): string {
  const heard = records.filter(({ kind }) => !QUIET.has(kind)).at(-1);
  const stage = calm(workflow.stages.find(({ id }) => id === run.stage)?.title ?? run.stage);
  return short(heard ? `${stage}: ${words(heard)}` : stage, 200);
}

/** Some workflows shout their stages' names; the page's track does not either. */
const calm = (title: string) =>
  /^[A-Z0-9_]+$/.test(title) ? title.charAt(0) + title.slice(1).toLowerCase().replaceAll("_", " ") : title;

/** Bookkeeping, which tells a person nothing. */
export const QUIET = new Set(["owed", "delivered", "noticed", "left", "committed", "continued", "stopped"]);
