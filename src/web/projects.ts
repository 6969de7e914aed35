/** Which projects the dashboard shows. What a request names is looked up here, never taken as a path. */
import { attempt } from "../kernel/attempt.ts";
import { lookAt } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { basename, dirname, join } from "../store/names.ts";
import { knownProjects } from "../store/projects.ts";
import { RequestError } from "./security.ts";

const MOST_PROJECTS = 500;
const FRESH_MS = 2_000;

export type Projects = ReturnType<typeof openProjects>;

/** Git's, Pawl's own, or tasks: without any of them a folder is no project. */
const SIGNS = [".git", ".pawl", "pawl.yaml", "session.md", ".beads"];

const isProject = (root: string) => attempt(() => SIGNS.some((name) => lookAt(join(root, name)) !== undefined), false);

/** `here`: where the dashboard was started, known or not, if it is a project. */
export function openProjects(here: string | null) {
  let read = Number.NEGATIVE_INFINITY;
  let roots: string[] = [];
  const all = () => {
    if (performance.now() - read > FRESH_MS) {
      const own = here !== null && isProject(here) ? [here] : [];
      roots = [...new Set([...own, ...knownProjects()])].slice(0, MOST_PROJECTS);
      read = performance.now();
    }
    return roots;
  };
  const named = (root: string) => {
    if (all().includes(root)) return root;
    throw new RequestError("there is no such project", 404);
  };
  /** the one that is named; all if none is */
  const chosen = (root: string | null) => (root ? [named(root)] : all());
  return { all, named, chosen };
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
