/** Which projects there are: those that Pawl has heard of, and those that were seen before and may be gone. A worktree is one of its own. */
import type { Database } from "bun:sqlite";
import { lookAt } from "../store/files.ts";
import { statePath } from "../store/home.ts";
import { join } from "../store/names.ts";
import { knownProjects } from "../store/projects.ts";

export interface Project {
  id: number;
  root: string;
  gone: boolean;
}

/** `wanted`: instead of all that are known. Writes down what is new. */
export function registerProjects(db: Database, wanted: string[] | undefined): Project[] {
  const add = db.query("INSERT INTO projects (root, gone) VALUES (?, 0) ON CONFLICT (root) DO NOTHING");
  for (const root of wanted ?? heardOf()) add.run(root);
  const mark = db.query("UPDATE projects SET gone = ? WHERE id = ? AND gone <> ?");
  return allProjects(db).map(({ id, root }) => {
    const gone = !isThere(root);
    mark.run(gone ? 1 : 0, id, gone ? 1 : 0);
    return { id, root, gone };
  });
}

let known: { places: string; roots: string[] } | null = null;

/** Every session has a file of its own, so they are only looked through again when one came or went. */
function heardOf(): string[] {
  const places = ["sessions", "greeted"].map((name) => changeOf(statePath(name))).join(" ");
  if (known === null || known.places !== places) known = { places, roots: knownProjects() };
  return known.roots;
}

function changeOf(folder: string): string {
  try {
    const found = lookAt(folder);
    return `${folder}:${found?.ino}:${found?.mtimeMs}`;
  } catch {
    return folder;
  }
}

function allProjects(db: Database): Project[] {
  const rows = db.query("SELECT id, root, gone FROM projects ORDER BY root").all() as (Omit<Project, "gone"> & {
    gone: number;
  })[];
  return rows.map((row) => ({ ...row, gone: row.gone === 1 }));
}

/** Nothing of Pawl's is there. Looked for each time: a disk may come back. What may not be looked at is there all the same. */
function isThere(root: string): boolean {
  try {
    return root.startsWith("/") && lookAt(join(root, ".pawl")) !== undefined;
  } catch {
    return true;
  }
}
