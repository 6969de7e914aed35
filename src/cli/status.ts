import { statusData, statusText, waitsForPerson } from "../controls/core/status.ts";
import { gatherStatus } from "../controls/status.ts";
import { knownProjects } from "../store/projects.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { projectPath } from "./shared/screen.ts";

export const usage = `usage: pawl status [--all] [--json]

Show the next task with its command, its model and whether it needs a restart, and the other pending ones. Then, if there
are any: tasks in progress, runs with their stages, what waits for you and how to resolve it, blocked tasks, and
uncommitted changes. Tasks come from the project's tracker: beads, session.md or GitHub.

  --all          all your projects that Pawl knows; those that wait for you come first
  --json         for programs: {root, tracker, failed, next, pending, in_progress, blocked, runs, unread, changed_files};
                 with --all {projects: […]} of these. A task is {id, title, command, model, restart, owner, after};
                 a run {id, workflow, session, stage, step, steps, minutes, task, paused, waits: {what, how} or null}

Exit codes: 0 shown, 1 the tracker failed (everything else is shown), 2 wrong usage.`;

export const options = ["--all", "--json"];
export const maxWords = 0;

export function run(parsed: Parsed, io: Io): number {
  const all = parsed.flags.has("--all");
  const here = projectRoot(io);
  const roots = all ? [...new Set([here, ...knownProjects()])] : [here];
  const at = new Date().toISOString();
  const found = roots.map((root) => ({ root, view: gatherStatus(root, at) }));
  const shown = found.toSorted((a, b) => Number(waitsForPerson(b.view)) - Number(waitsForPerson(a.view)));
  const projects = shown.map(({ root, view }) => ({ root, ...statusData(view) }));
  const text = () =>
    shown.map(({ root, view }) => `${all ? `── ${projectPath(root)}\n\n` : ""}${statusText(view)}`).join("\n");
  const failed = shown.some(({ view }) => view.why !== undefined);
  return print(io, parsed, all ? { projects } : projects[0], text, failed ? 1 : 0);
}
