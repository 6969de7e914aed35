/** Which projects the dashboard shows. What a request names is looked up here, never taken as a path. */

import { lookAt } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { basename, dirname, join } from "../store/names.ts";
import { knownProjects } from "../store/projects.ts";

/** What the person may be told: the request was wrong. */
export class AskedError extends Error {
  override name = "AskedError";
  constructor(
    message: string,
    readonly status: 400 | 403 | 404 | 409 | 503 = 400,
  ) {
    super(message);
  }
}

const MOST_PROJECTS = 500;
const FRESH_MS = 2_000;

export interface Projects {
  all(): string[];
  /** throws AskedError for what is none of them */
  named(root: string | null): string;
  /** the one that is named; all if none is */
  chosen(root: string | null): string[];
}

/** Git's, Pawl's own, or tasks: without any of them a folder is no project. */
const SIGNS = [".git", ".pawl", "pawl.yaml", "session.md", ".beads"];

function isProject(root: string): boolean {
  try {
    return SIGNS.some((name) => lookAt(join(root, name)) !== undefined);
  } catch {
    return false;
  }
}

/** `here`: where the dashboard was started, known or not, if it is a project. */
export function openProjects(here: string | null, known: () => string[] = knownProjects): Projects {
  let read = Number.NEGATIVE_INFINITY;
  let roots: string[] = [];
  const all = () => {
    if (performance.now() - read > FRESH_MS) {
      roots = [...new Set([...(here !== null && isProject(here) ? [here] : []), ...known()])].slice(0, MOST_PROJECTS);
      read = performance.now();
    }
    return roots;
  };
  const named = (root: string | null) => {
    if (root !== null && all().includes(root)) return root;
    throw new AskedError("there is no such project", 404);
  };
  return { all, named, chosen: (root) => (root === null || root === "" ? all() : [named(root)]) };
}

/** As people call them: the folder, with the one above it where two have the same name. */
export function projectNames(roots: string[]): (root: string) => { name: string; where: string } {
  const home = homeDir();
  const isShared = (name: string) => roots.filter((root) => basename(root) === name).length > 1;
  return (root) => {
    const own = basename(root);
    const where = root === home ? "~" : root.startsWith(`${home}/`) ? `~${root.slice(home.length)}` : root;
    return { name: isShared(own) ? `${basename(dirname(root))}/${own}` : own, where };
  };
}
