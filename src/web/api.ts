/** What the page reads. Every answer is data: texts of agents and repositories stay strings, whatever is in them. */
import { nowView, type Words } from "./now.ts";
import type { Projects } from "./projects.ts";

export interface Api {
  projects: Projects;
  words: Words;
  readOnly: string | null;
}

/** null: there is no such question. */
export async function readApi(api: Api, name: string, query: URLSearchParams): Promise<unknown> {
  const { projects, words, readOnly } = api;
  switch (name) {
    case "now":
      return {
        ...nowView(projects.chosen(query.get("project")), new Date().toISOString(), words),
        readOnly: readOnly !== null,
        why: readOnly,
      };
    default:
      return null;
  }
}
