import { UserError } from "../kernel/user-error.ts";
import { applyChanges } from "../setup/install/apply.ts";
import { binaryPath } from "../setup/install/binary.ts";
import type { Scope } from "../setup/install/hooks.ts";
import { findHomeState, findState, removeState, type State } from "../setup/install/purge.ts";
import { planRemoval, type Removal, recordedScopes, removeEmptyFolders } from "../setup/install/remove.ts";
import { contentsText, listed, listText, shown } from "../setup/install/show.ts";
import { type Target, targetOf } from "../setup/install/target.ts";
import { lookAt } from "../store/files.ts";
import { type Io, type Parsed, parseArgs, rootOf } from "./shared/args.ts";
import { confirm, isInteractive, orUserError } from "./shared/confirm.ts";

export const summary = "take Pawl out again";
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

export function run(args: string[], io: Io): number {
  const parsed = parseArgs(args, ["--team", "--user", "--purge", "--yes", "--print", "--json"]);
  const { flags, words } = parsed;
  if (words.length > 0)
    throw new UserError(`unknown argument ${words[0]}`, "`pawl uninstall --help` lists the options");
  if (flags.has("--team") && flags.has("--user"))
    throw new UserError("--team and --user cannot be used together", "choose one");
  return orUserError(() => uninstall(prepare(parsed, io), parsed, io));
}

function prepare({ flags }: Parsed, io: Io): Job {
  const user = flags.has("--user");
  const target = targetOf(user ? "user" : flags.has("--team") ? "project" : "local", user ? "" : rootOf(io));
  const home = flags.has("--purge") ? findHomeState() : NO_STATE;
  const state = user ? home : findState(target.base);
  // With nothing to keep there is no reason to leave an empty house behind.
  const purge = flags.has("--purge") || (state.paths.length === 0 && !user);
  return { target, state, purge, removal: planRemoval(target, scopesOf(target, flags), purge) };
}

/** By default what is recorded here goes; a team's file that a colleague installed is not ours to edit unasked. */
function scopesOf(target: Target, flags: Set<string>): Scope[] {
  if (flags.has("--user")) return ["user"];
  return flags.has("--team") ? ["project"] : recordedScopes(target);
}

function uninstall(job: Job, { flags }: Parsed, io: Io): number {
  const json = flags.has("--json");
  const { removal, state, purge } = job;
  const idle = removal.changes.length === 0 && !(purge && state.paths.length + state.pointers.length > 0);
  if (!json) io.out(planText(job, idle, flags.has("--print")));
  if (flags.has("--print") || idle) return report(job, false, [], io, json, 0);
  if (purge && state.live.length > 0 && !flags.has("--yes")) throw liveRuns(state.live);
  if (!flags.has("--yes") && (json || !isInteractive(io))) {
    if (!json)
      io.err("pawl: nothing was changed\n  hint: run `pawl uninstall --yes` to remove it without being asked\n");
    return report(job, false, [], io, json, 2);
  }
  if (!flags.has("--yes") && !confirm(io, "\nContinue?")) {
    io.out("Nothing was changed.\n");
    return 1;
  }
  const problems = carryOut(job);
  if (!json) io.out(problems.length === 0 ? "\nDone.\n" : "");
  for (const problem of json ? [] : problems) io.err(`pawl: could not remove ${problem}\n`);
  return report(job, true, problems, io, json, problems.length === 0 ? 0 : 1);
}

const liveRuns = (live: string[]) =>
  new UserError(
    `a run is active here: ${live.join(", ")}`,
    "end it with `pawl runs finish` or `pawl runs abort`, or add --yes to remove it as it is",
    1,
  );

function carryOut({ target, removal, state, purge }: Job): string[] {
  applyChanges(removal.changes);
  const problems = purge ? removeState(target.base, state) : [];
  removeEmptyFolders(target.base, removal.folders);
  return problems;
}

function planText({ target, removal, state, purge }: Job, idle: boolean, whole: boolean): string {
  const { base } = target;
  const going = purge ? [...state.paths, ...state.pointers.map((path) => shown(path, base))] : [];
  const lines = [
    idle ? "Pawl is not installed here.\n" : `Removing Pawl from ${target.scope === "user" ? "~/.claude" : base}:\n`,
    listText(removal.changes, base),
    ...going.map((path) => `  remove  ${path}  Pawl's state\n`),
    ...staysOf(target, removal, state, purge).map((what) => `  stays   ${what}\n`),
  ];
  return lines.join("") + (whole ? contentsText(removal.changes, base) : "");
}

function staysOf(target: Target, removal: Removal, state: State, purge: boolean): string[] {
  const kept = purge ? [] : state.paths;
  const note = kept.length > 0 ? [`${kept.join(", ")}: Pawl's state; --purge removes it`] : [];
  const path = binaryPath();
  const gone = purge && target.scope === "user";
  const why = "the program; other projects may use it. `pawl uninstall --user --purge` removes it";
  const binary = lookAt(path) && !gone ? [`${shown(path, target.base)}: ${why}`] : [];
  const projects =
    target.scope === "user" ? ["the state of each project: `pawl uninstall --purge` there removes it"] : [];
  return [...removal.stays, ...note, ...projects, ...binary];
}

function report(job: Job, applied: boolean, problems: string[], io: Io, json: boolean, code: number): number {
  if (!json) return code;
  const { target, removal, state, purge } = job;
  const { base, scope } = target;
  const removed = purge ? [...state.paths, ...state.pointers] : [];
  const data = {
    applied,
    scope,
    base,
    changes: listed(removal.changes, base),
    state: removed,
    stays: staysOf(target, removal, state, purge),
    problems,
  };
  io.out(`${JSON.stringify(data, null, 2)}\n`);
  return code;
}
