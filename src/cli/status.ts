import { type StatusView, statusData, statusText, waitsForPerson } from "../controls/core/status.ts";
import { gatherStatus } from "../controls/status.ts";
import { UserError } from "../kernel/user-error.ts";
import { homeDir } from "../store/home.ts";
import { knownProjects } from "../store/projects.ts";
import { type Io, parseArgs, rootOf } from "./shared/args.ts";
import { visible, visibleJson } from "./shared/visible.ts";

export const summary = "what is next, what is in progress, and what waits for you";
export const usage = `usage: pawl status [--all] [--json]

Show the next task with its command, its model and whether it needs a restart, and the other pending ones. Then, if there
are any: tasks in progress, runs with their stages, what waits for you and how to resolve it, blocked tasks, and
uncommitted changes. Tasks come from the project's tracker: beads, session.md or GitHub.

  --all          all your projects that Pawl knows; those that wait for you come first
  --json         for programs: {root, tracker, failed, next, pending, in_progress, blocked, runs, unread, changed_files};
                 with --all {projects: […]} of these. A task is {id, title, command, model, restart, owner, after};
                 a run {id, workflow, session, stage, step, steps, minutes, task, paused, waits: {what, how} or null}

Exit codes: 0 shown, 1 the tracker failed (everything else is shown), 2 wrong usage.`;

interface Shown {
  root: string;
  view: StatusView;
}

export function run(args: string[], io: Io): number {
  const { flags, words } = parseArgs(args, ["--all", "--json"]);
  if (words.length > 0) throw new UserError(`unknown argument ${words[0]}`, "`pawl status --help` shows how");
  const all = flags.has("--all");
  const here = rootOf(io);
  const roots = all ? [...new Set([here, ...knownProjects()])] : [here];
  const at = new Date().toISOString();
  const shown = roots.map((root) => ({ root, view: gatherStatus(root, at) }));
  const sorted = [...shown.filter(isWaiting), ...shown.filter((one) => !isWaiting(one))];
  io.out(flags.has("--json") ? json(sorted, all) : text(sorted, all));
  return shown.some(({ view }) => view.why !== undefined) ? 1 : 0;
}

const isWaiting = ({ view }: Shown) => waitsForPerson(view);

function json(shown: Shown[], all: boolean): string {
  const projects = shown.map(({ root, view }) => ({ root, ...statusData(view) }));
  return `${visibleJson(all ? { projects } : projects[0])}\n`;
}

function text(shown: Shown[], all: boolean): string {
  if (!all) return statusText(shown[0]!.view);
  const home = homeDir();
  const name = (root: string) => visible(root.startsWith(`${home}/`) ? `~${root.slice(home.length)}` : root);
  return shown.map(({ root, view }) => `── ${name(root)}\n\n${statusText(view)}`).join("\n");
}
