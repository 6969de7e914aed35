/** What the page reads. Every answer is data: texts of agents and repositories stay strings, whatever is in them. */
import { type Filter, type Insight, openInsight } from "../insight/query.ts";
import { asGone } from "../insight/rows.ts";
import type { RunRow, StageRow } from "../insight/types.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import { logError } from "../store/errors.ts";
import { isRunning, type KeptLoop, listLoops } from "../store/loops.ts";
import { isRunId } from "../store/names.ts";
import { journalPage } from "./journal-page.ts";
import { liveViews, nowView, type Words } from "./now.ts";
import type { Projects } from "./projects.ts";
import { runFromJournal, runPage, waitedIn } from "./run-page.ts";
import { RequestError } from "./security.ts";
import { listTasks } from "./tasks.ts";

export interface Api {
  projects: Projects;
  words: Words;
  /** why nothing can be changed; null: it can */
  readOnly: string | null;
  figures: ReturnType<typeof openFigures>;
}

type Query = URLSearchParams;

const BUCKETS = 12;
/** A request never waits much longer for the journals than this. */
const STEP_MS = 40;
const MOST_LINES = 20;

const QUESTIONS = {
  now: (api: Api, query: Query) => ({
    ...nowView(chosenRoots(api, query), new Date().toISOString(), api.words),
    readOnly: api.readOnly !== null,
    why: api.readOnly,
  }),
  runs: (api: Api, query: Query) => figure(api, (insight) => listRunRows(insight, parseFilter(api, query))),
  run: oneRun,
  stats: (api: Api, query: Query) => figure(api, (insight) => readStats(insight, parseFilter(api, query))),
  tasks: (api: Api, query: Query) => listTasks(chosenRoots(api, query)),
  loops: (api: Api, query: Query) => ({ rows: allLoops(api, query), next: null }),
  journal: (api: Api, query: Query) => journalPage(chosenRoots(api, query), query, api.words),
};

/** The page imports these types, and nothing else of the server. */
export type Question = keyof typeof QUESTIONS;
export type Answer<Q extends Question> = Awaited<ReturnType<(typeof QUESTIONS)[Q]>>;

/** null: there is no such question. */
export async function readApi(api: Api, name: string, query: Query): Promise<unknown> {
  return Object.hasOwn(QUESTIONS, name) ? QUESTIONS[name as Question](api, query) : null;
}

const chosenRoots = ({ projects }: Api, query: Query) => projects.chosen(query.get("project"));

/** Without the database there are no figures, which is another thing than none to show. */
function figure<T>({ figures }: Api, question: (insight: Insight) => T): T {
  const found = figures.ask(question);
  if (found === null) throw new RequestError("the figures cannot be read; see errors.log in ~/.local/state/pawl", 503);
  return found;
}

const readStats = (insight: Insight, filter: Filter) => ({
  counts: insight.counts(filter),
  stages: insight.stageStats(filter),
  trend: insight.trend(filter, BUCKETS),
  bottleneck: insight.bottleneck(filter),
});

function parseFilter({ projects }: Api, query: Query): Filter {
  const filter: Filter = {};
  const project = query.get("project");
  if (project) filter.project = projects.named(project);
  for (const key of ["workflow", "status", "since", "until", "after"] as const) {
    const value = query.get(key);
    if (value) filter[key] = value.slice(0, 200);
  }
  return filter;
}

const LIVE_STATES = ["active", "waiting", "halted", "paused"];

/** Figures know where a run is; whether it needs the person, its own view says. */
function listRunRows(insight: Insight, filter: Filter) {
  const wanted = LIVE_STATES.find((state) => state === filter.status);
  for (let after = filter.after; ; ) {
    const page = insight.runs({ ...filter, ...(wanted && { status: "live" }), ...(after && { after }) });
    const rows = withStates(page.rows).filter(({ state }) => wanted === undefined || state === wanted);
    if (rows.length > 0 || page.next === null) return { rows, next: page.next };
    after = page.next;
  }
}

function withStates(rows: RunRow[]): (RunRow & { state: string })[] {
  const at = new Date().toISOString();
  const open = rows.filter(({ status }) => status !== "ended");
  const idsIn = (root: string) => open.flatMap(({ project, id }) => (project === root ? [id] : []));
  const roots = [...new Set(open.map(({ project }) => project))];
  const views = new Map(roots.map((root) => [root, liveViews(root, idsIn(root), at)]));
  return rows.map((row) => ({ ...row, state: views.get(row.project)?.get(row.id)?.state ?? row.status }));
}

function oneRun({ projects, words, figures }: Api, query: Query) {
  const root = query.get("project") ?? "";
  const id = query.get("id") ?? "";
  if (!isRunId(id)) throw new RequestError("this is no run's name");
  const known = figures.ask((insight) => insight.run(root, id));
  // Figures also know of projects and worktrees that were removed; on disk only those are looked at that are known.
  const here = known && !projects.all().includes(root) ? null : projects.named(root);
  const page = here && runPage(here, id, words);
  if (page) {
    const waited = (stage: StageRow) => ({ ...stage, ...waitedIn(page.waited, stage, page.waits !== null) });
    return { ...known, ...page, stages: (known?.stages ?? []).map(waited) };
  }
  if (!known) throw new RequestError("there is no such run", 404);
  const gone = asGone(known);
  const still = { waited_since: null };
  const stages = gone.stages.map((stage) => ({ ...stage, ...still }));
  return {
    ...gone,
    stages,
    run: { ...gone.run, state: gone.run.status, ...still },
    ...runFromJournal(here, id, words),
  };
}

/** Those on disk say more; those that are only remembered follow. */
function allLoops(api: Api, query: Query) {
  const here = chosenRoots(api, query).flatMap(loopsIn);
  const isHere = ({ project, run }: { project: string; run: string }) =>
    here.some((loop) => loop.project === project && (loop.run === run || loop.id === run));
  const before = api.figures.ask((insight) => insight.loops(parseFilter(api, query))) ?? [];
  const left = { running: false, waiting: null, lines: [] as (typeof here)[number]["lines"] };
  const all = [...here, ...before.filter((loop) => !isHere(loop)).map((loop) => ({ ...loop, id: loop.run, ...left }))];
  return all.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at));
}

function loopsIn(root: string) {
  try {
    return listLoops(root).map((kept) => loopView(root, kept));
  } catch (error) {
    logError(root, "dashboard", error);
    return [];
  }
}

function loopView(project: string, kept: KeptLoop) {
  const { id, run, procedure, ai, iterations, cost_usd, outcome, updated_at, lines } = kept.state;
  const about = { project, id, run, procedure, ai, iterations, cost_usd, outcome, updated_at };
  return {
    ...about,
    failures: lines.filter(({ verdict }) => verdict === "failure").length,
    approximate: !kept.state.cost_known,
    why: safeText(kept.state.why),
    started_at: kept.state.created_at,
    running: isRunning(kept),
    waiting: kept.waiting,
    limits: kept.limits ?? null,
    lines: lines.slice(-MOST_LINES).map((line) => ({ ...line, why: safeText(line.why) })),
  };
}

// ── Figures ─────────────────────────────────────────────────────────────────

/** What the database of insight knows: runs over time, stages, loops that are long over. */
export function openFigures(projects: Projects) {
  let insight: Insight | null = null;
  let known = "";
  let share = 1;
  let next: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    clearTimeout(next);
    next = undefined;
    share = 1;
    insight?.close();
    insight = null;
  };
  const ready = (): Insight => {
    const roots = projects.all();
    if (insight && known !== roots.join("\n")) close();
    known = roots.join("\n");
    insight ??= openInsight({ projects: roots });
    // Each time: what a page was just told of has to be in its figures. Unless that is under way.
    if (next === undefined) step(insight);
    return insight;
  };
  /** A long history is read between requests, not before the first one. */
  const step = (of: Insight) => {
    share = of.syncSome(STEP_MS).share;
    if (share < 1) next ??= setTimeout(goOn);
  };
  const goOn = () => {
    next = undefined;
    attempt(() => insight && step(insight));
  };
  const attempt = <T>(work: () => T): T | null => {
    try {
      return work();
    } catch (error) {
      logError(null, "dashboard", error);
      close();
      return null;
    }
  };
  return {
    /** null: the database cannot be used; the rest of the dashboard goes on without it */
    ask: <T>(question: (insight: Insight) => T): T | null => attempt(() => question(ready())),
    /** How much of the journals is in the figures, from 0 to 1; the rest is being read. */
    share: () => share,
    close,
  };
}
