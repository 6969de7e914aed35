/** What the page reads. Every answer is data: texts of agents and repositories stay strings, whatever is in them. */
import type { Filter } from "../insight/query.ts";
import { asGone } from "../insight/rows.ts";
import { isRunId } from "../store/names.ts";
import { type Figures, stats } from "./figures.ts";
import { journalPage } from "./journal-page.ts";
import { loopsOf } from "./loops.ts";
import { nowView, type Words } from "./now.ts";
import { AskedError, type Projects } from "./projects.ts";
import { runFromJournal, runPage } from "./run-page.ts";
import { tasksOf } from "./tasks.ts";

export interface Api {
  projects: Projects;
  words: Words;
  readOnly: string | null;
  figures: Figures;
}

type Query = URLSearchParams;

// What the page gets; it imports these types and nothing else of the server.
export type NowData = ReturnType<typeof now>;
export type RunData = ReturnType<typeof oneRun>;
export type LoopData = ReturnType<typeof allLoops>[number];
export type StatsData = ReturnType<ReturnType<typeof stats>>;
export type JournalData = Awaited<ReturnType<typeof journalPage>>;
export type TasksData = Awaited<ReturnType<typeof tasksOf>>;

/** null: there is no such question. */
export async function readApi(api: Api, name: string, query: Query): Promise<unknown> {
  const roots = () => api.projects.chosen(query.get("project"));
  switch (name) {
    case "now":
      return now(api, roots());
    case "runs":
      return figure(api, (insight) => insight.runs(filterOf(api, query)));
    case "run":
      return oneRun(api, query);
    case "stats":
      return figure(api, stats(filterOf(api, query)));
    case "tasks":
      return tasksOf(roots());
    case "loops":
      return { rows: allLoops(api, roots(), filterOf(api, query)), next: null };
    case "journal":
      return journalPage(roots(), journalQuery(query), api.words);
    default:
      return null;
  }
}

const now = ({ words, readOnly }: Api, roots: string[]) => ({
  ...nowView(roots, new Date().toISOString(), words),
  readOnly: readOnly !== null,
  why: readOnly,
});

/** Without the database there are no figures, which is another thing than none to show. */
function figure<T>({ figures }: Api, question: Parameters<typeof figures.ask<T>>[0]): T {
  const found = figures.ask(question);
  if (found === null) throw new AskedError("the figures cannot be read; see errors.log in ~/.local/state/pawl", 503);
  return found;
}

function filterOf({ projects }: Api, query: Query): Filter {
  const filter: Filter = {};
  const project = query.get("project");
  if (project) filter.project = projects.named(project);
  for (const key of ["workflow", "status", "since", "until", "after"] as const) {
    const value = query.get(key);
    if (value) filter[key] = value.slice(0, 200);
  }
  return filter;
}

function oneRun({ projects, words, figures }: Api, query: Query) {
  const root = query.get("project") ?? "";
  const id = query.get("id") ?? "";
  if (!isRunId(id)) throw new AskedError("this is no run's name");
  const known = figures.ask((insight) => insight.run(root, id));
  // Figures also know of projects and worktrees that were removed; on disk only those are looked at that are known.
  const here = known && !projects.all().includes(root) ? null : projects.named(root);
  const page = here && runPage(here, id, words);
  if (page) return { ...known, ...page, stages: known?.stages ?? [] };
  if (!known) throw new AskedError("there is no such run", 404);
  return { ...asGone(known), ...runFromJournal(here, id, words) };
}

/** Those on disk say more; those that are only remembered follow. */
function allLoops({ figures }: Api, roots: string[], filter: Filter) {
  const here = loopsOf(roots);
  const isHere = ({ project, run }: { project: string; run: string }) =>
    here.some((loop) => loop.project === project && (loop.run === run || loop.id === run));
  const before = figures.ask((insight) => insight.loops(filter)) ?? [];
  const left = { running: false, waiting: null, lines: [] as (typeof here)[number]["lines"] };
  const all = [...here, ...before.filter((loop) => !isHere(loop)).map((loop) => ({ ...loop, id: loop.run, ...left }))];
  return all.toSorted((a, b) => b.updated_at.localeCompare(a.updated_at));
}

const journalQuery = (query: Query) => ({
  q: (query.get("q") ?? "").slice(0, 200),
  kind: query.get("kind") ?? "",
  run: query.get("run") ?? "",
  after: query.get("after") ?? "",
});
