import { UserError } from "../kernel/user-error.ts";
import { applyChanges } from "../setup/install/apply.ts";
import { binaryPath } from "../setup/install/binary.ts";
import type { Scope } from "../setup/install/hooks.ts";
import {
  findHomeState,
  findState,
  planRemoval,
  type Removal,
  recordedScopes,
  removeEmptyFolders,
  removeState,
  type State,
} from "../setup/install/remove.ts";
import { contentsText, listed, listText, shortPath } from "../setup/install/show.ts";
import { installTarget, type Target } from "../setup/install/target.ts";
import { lookAt } from "../store/files.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { confirmOrRefuse } from "./shared/confirm.ts";

export const usage = `usage: pawl uninstall [--team | --user] [--purge] [--yes] [--print] [--json]

Show every change, ask, then restore every file as it was before \`pawl init\`. A file that you edited since keeps your
edits; only what is Pawl's is removed.
  (default)   everything that was installed in this project from this machine
  --team      only the team's part: .claude/settings.json, even if someone else installed it
  --user      what was installed for you in every project: ~/.claude
  --purge     also Pawl's state here: runs, journal, documents, logs, session pointers;
              with --user also the program itself and everything it keeps in ~/.local
  --print     show the resulting contents and change nothing
  --yes       do not ask, even if runs are active      --json   print JSON

Exit codes: 0 done or nothing to do, 1 refused or failed, 2 not confirmed or wrong usage.`;

const NO_STATE: State = { paths: [], pointers: [], live: [] };

interface Job {
  target: Target;
  removal: Removal;
  state: State;
  purge: boolean;
}

export const options = ["--team", "--user", "--purge", "--yes", "--print", "--json"];
export const exclusive = [["--team", "--user"]];
export const maxWords = 0;

export const run = (parsed: Parsed, io: Io) => uninstall(prepare(parsed, io), parsed, io);

function prepare({ flags }: Parsed, io: Io): Job {
  const user = flags.has("--user");
  const team = flags.has("--team");
  const target = installTarget(user ? "user" : team ? "project" : "local", user ? "" : projectRoot(io));
  // By default what is recorded here goes. The team's file, which a colleague may have installed, goes only with --team.
  const scopes: Scope[] = user ? ["user"] : team ? ["project"] : recordedScopes(target);
  const home = flags.has("--purge") ? findHomeState() : NO_STATE;
  const state = user ? home : findState(target.base);
  // Without state to keep, there is no reason to leave an empty folder.
  const purge = flags.has("--purge") || (state.paths.length === 0 && !user);
  return { target, state, purge, removal: planRemoval(target, scopes, purge) };
}

function uninstall(job: Job, parsed: Parsed, io: Io): number {
  const { flags } = parsed;
  const json = flags.has("--json");
  const { removal, state, purge } = job;
  const idle = removal.changes.length === 0 && !(purge && state.paths.length + state.pointers.length > 0);
  if (!json) io.out(planText(job, idle, flags.has("--print")));
  const report = (applied: boolean, problems: string[], code: number) =>
    print(io, parsed, buildReport(job, applied, problems), () => "", code);
  if (flags.has("--print") || idle) return report(false, [], 0);
  if (purge && state.live.length > 0 && !flags.has("--yes")) {
    const hint = "end it with `pawl runs finish` or `pawl runs abort`, or add --yes to remove it as it is";
    throw new UserError(`a run is active here: ${state.live.join(", ")}`, hint, 1);
  }
  const refused = confirmOrRefuse(parsed, io, "run `pawl uninstall --yes` to remove it without being asked");
  if (refused !== null) return report(false, [], refused);
  applyChanges(removal.changes);
  const problems = purge ? removeState(job.target.base, state) : [];
  removeEmptyFolders(job.target.base, removal.folders);
  if (!json) io.out(problems.length === 0 ? "\nDone.\n" : "");
  for (const problem of json ? [] : problems) io.err(`pawl: could not remove ${problem}\n`);
  return report(true, problems, problems.length === 0 ? 0 : 1);
}

function planText(job: Job, idle: boolean, whole: boolean): string {
  const { target, removal, state, purge } = job;
  const { base } = target;
  const going = purge ? [...state.paths, ...state.pointers.map((path) => shortPath(path, base))] : [];
  const lines = [
    idle ? "Pawl is not installed here.\n" : `Removing Pawl from ${target.scope === "user" ? "~/.claude" : base}:\n`,
    listText(removal.changes, base),
    ...going.map((path) => `  remove  ${path}  Pawl's state\n`),
    ...listRemaining(job).map((what) => `  stays   ${what}\n`),
  ];
  return lines.join("") + (whole ? contentsText(removal.changes, base) : "");
}

function listRemaining({ target, removal, state, purge }: Job): string[] {
  const kept = purge ? [] : state.paths;
  const note = kept.length > 0 ? [`${kept.join(", ")}: Pawl's state; --purge removes it`] : [];
  const path = binaryPath();
  const user = target.scope === "user";
  const why = "the program; other projects may use it. `pawl uninstall --user --purge` removes it";
  const binary = lookAt(path) && !(purge && user) ? [`${shortPath(path, target.base)}: ${why}`] : [];
  const projects = user ? ["the state of each project: `pawl uninstall --purge` there removes it"] : [];
  return [...removal.stays, ...note, ...projects, ...binary];
}

function buildReport(job: Job, applied: boolean, problems: string[]) {
  const { scope, base } = job.target;
  const changes = listed(job.removal.changes, base);
  const state = job.purge ? [...job.state.paths, ...job.state.pointers] : [];
  return { applied, scope, base, changes, state, stays: listRemaining(job), problems };
}
