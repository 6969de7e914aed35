/** What the page reads. Every answer is data: texts of agents and repositories stay strings, whatever is in them. */
import { isRunId } from "../store/names.ts";
import { journalPage } from "./journal-page.ts";
import { loopsOf } from "./loops.ts";
import { nowView, type Words } from "./now.ts";
import { AskedError, type Projects } from "./projects.ts";
import { runPage } from "./run-page.ts";
import { tasksOf } from "./tasks.ts";

export interface Api {
  projects: Projects;
  words: Words;
  readOnly: string | null;
}

type Query = URLSearchParams;

/** null: there is no such question. */
export async function readApi(api: Api, name: string, query: Query): Promise<unknown> {
  const roots = () => api.projects.chosen(query.get("project"));
  switch (name) {
    case "now":
      return now(api, roots());
    case "run":
      return oneRun(api, query);
    case "tasks":
      return tasksOf(roots());
    case "loops":
      return { rows: loopsOf(roots()), next: null };
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

function oneRun({ projects, words }: Api, query: Query): unknown {
  const root = projects.named(query.get("project"));
  const id = query.get("id") ?? "";
  if (!isRunId(id)) throw new AskedError("this is no run's name");
  const page = runPage(root, id, words);
  if (page === null) throw new AskedError("there is no such run", 404);
  return page;
}

const journalQuery = (query: Query) => ({
  q: (query.get("q") ?? "").slice(0, 200),
  kind: query.get("kind") ?? "",
  run: query.get("run") ?? "",
  after: query.get("after") ?? "",
});
