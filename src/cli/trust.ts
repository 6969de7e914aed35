import { computeClosure } from "../checks/closure/closure.ts";
import { type Problem, renderProblem } from "../definitions/problem.ts";
import { projectGates } from "../definitions/registry.ts";
import { counted } from "../kernel/text/counted.ts";
import { visible } from "../kernel/text/safe-text.ts";
import { UserError } from "../kernel/user-error.ts";
import type { Closure } from "../store/closure.ts";
import {
  allowedPart,
  asEnvironment,
  type EnvironmentRecord,
  environmentFault,
  recordEnvironment,
  recordedEnvironment,
} from "../store/environment.ts";
import { PlaceError } from "../store/home.ts";
import { cannotAdd } from "../store/processes/allowed-variables.ts";
import { agentCalling, isPerson } from "../store/processes/person.ts";
import { grantTrust, lastTrusted, readTrust, revokeTrust, type TrustState } from "../store/trust.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { confirm } from "./shared/confirm.ts";
import { environmentChanges, environmentLines, shortHash } from "./shared/environment-text.ts";
import { coloured, hasColours } from "./shared/screen.ts";
import { type Change, changesBetween, itemLines } from "./shared/trust-text.ts";

export const usage = `usage: pawl trust                show what would run and is not approved yet, and ask
       pawl trust --show         show everything that would run, and its hash
       pawl trust --hash SHA     approve exactly that content without a question (CI)
       pawl trust --refresh      show what changed in your environment, and record it again
       pawl trust --env NAME     record the value of one more variable (repeat it for several; also with --hash)
       pawl trust --revoke       revoke every approval of this project
       --show, --hash and --revoke with --json

Gates of pawl.yaml and of workflows (.pawl/workflows, ~/.config/pawl/workflows) name commands. None runs before you
have approved it: its arguments, folder and variables, and the project's scripts that it names. After any change you are
asked again, and see only the difference. What the scripts read or start beyond that is not covered.
They run in the environment you have when you first approve (--hash: each time): PATH, HOME, language, proxies, toolchain
homes and what you add with --env, no matter who starts the check. It is kept outside the project; values are not shown.
Only a person at a terminal can approve; an agent cannot, even with --hash. Worktrees of one repository share approvals.
Exit codes: 0 approved (now or before), or shown; 1 not approved; 2 wrong usage. With --json alone: 0 approved, 1 not.`;

interface View {
  environment: EnvironmentRecord | null;
  root: string;
  closure: Closure;
  problems: Problem[];
  state: TrustState;
}

export const options = ["--show", "--json", "--revoke", "--hash=", "--refresh", "--env="];
export const exclusive = [
  ["--show", "--revoke", "--hash", "--refresh"],
  ["--show", "--revoke", "--refresh", "--env"],
  ["--json", "--refresh"],
  ["--json", "--env"],
];
export const maxWords = 0;

export function run(parsed: Parsed, io: Io): number {
  const { flags, values } = parsed;
  const root = projectRoot(io);
  if (flags.has("--revoke")) return revoke(root, flags.has("--json"), io);
  const added = namesToAdd(parsed.lists["--env"] ?? []);
  if (values["--hash"] === undefined && (flags.has("--refresh") || added.length > 0)) return refresh(root, added, io);
  const view = buildView(root, io);
  if (values["--hash"] !== undefined) return grantHash(view, values["--hash"], added, parsed, io);
  if (flags.has("--json")) return sayJson(view, parsed, io);
  tellProblems(view, io);
  if (view.closure.items.length > 0) return flags.has("--show") ? show(view, io) : ask(view, io);
  if (view.problems.length > 0) throw notKnown(view.problems);
  io.out("No gate here runs a command; nothing to approve.\n");
  return 0;
}

function notKnown(problems: Problem[]): UserError {
  const files = [...new Set(problems.map(({ file }) => file))];
  const what = `${files.join(", ")} ${files.length === 1 ? "has" : "have"} errors, so what it would run is not known`;
  return new UserError(what, "fix them, then run `pawl trust` again", 1);
}

function buildView(root: string, io: Io): View {
  const { gates, problems } = projectGates(root, io.home);
  const closure = computeClosure(root, gates);
  return { root, closure, problems, state: readTrust(root, closure), environment: recordedEnvironment(root) };
}

function sayJson({ root, closure, problems, state, environment: recorded }: View, parsed: Parsed, io: Io): number {
  const { hash, items } = closure;
  const environment = recorded && {
    ...recorded,
    env: undefined,
    path: recorded.env.PATH,
    names: Object.keys(recorded.env),
  };
  const unknown = items.length === 0 && problems.length > 0;
  const isFine = parsed.flags.has("--show") || (state.trusted && !unknown);
  return print(io, parsed, { root, hash, ...state, items, problems, environment }, () => "", isFine ? 0 : 1);
}

const commandsText = (items: Closure["items"]) => `${items.flatMap((item) => [...itemLines(item), ""]).join("\n")}\n`;

function show({ closure, state, environment }: View, io: Io): number {
  const since = state.trusted ? `approved ${state.at}` : `not approved: ${visible(state.why)}`;
  const recorded = environment ? `${environmentLines(environment).join("\n")}\n\n` : "";
  io.out(`${commandsText(closure.items)}${recorded}${since}\nhash ${closure.hash}\n`);
  return 0;
}

/** A file with mistakes names nothing until it is fixed: that is no reason to be silent about it. */
function tellProblems({ problems, closure }: View, io: Io): void {
  for (const problem of problems) io.err(`${renderProblem(problem)}\n`);
  if (problems.length > 0 && closure.items.length > 0) io.err("pawl: files with errors are skipped\n\n");
}

const COLOURS = { "+": "32", "-": "31", " ": "" };

function changesText({ root, closure }: View, io: Io): string {
  const changes = changesBetween(lastTrusted(root)?.items ?? [], closure.items);
  if (!lastTrusted(root) || changes.length === 0) return `These commands would run:\n\n${commandsText(closure.items)}`;
  return `What changed since you approved it:\n\n${changeLines(changes, io)}\n\n`;
}

const changeLines = (changes: Change[], io: Io) =>
  changes
    .map(({ sign, line }) => coloured(`${sign} ${line}`, COLOURS[sign], sign !== " " && hasColours(io)))
    .join("\n");

/** With the first approval: from then on it is the one that counts. */
function environmentText({ environment }: View): string {
  if (environment) return "";
  return `They always run in the environment you have now:\n${environmentLines(asEnvironment(allowedPart(process.env))).join("\n")}\n\n`;
}

const HOW =
  "run `pawl trust` in your own terminal; in CI use `pawl trust --hash` with the hash that `pawl trust --show` prints";

function ask(view: View, io: Io): number {
  const { closure, state } = view;
  if (state.trusted) {
    const count = counted(closure.items.length, "command");
    io.out(`${count}, approved ${state.at}. \`pawl trust --show\` shows them, \`--revoke\` revokes it.\n`);
    io.out(recordedLine(view.environment!));
    return 0;
  }
  if (state.broken) throw new UserError(visible(state.why), "fix that first; `pawl doctor` checks it too", 1);
  const person = isPerson();
  if (!person.ok) throw new UserError(`not approved: ${person.why}`, HOW, 1);
  io.out(`${changesText(view, io)}${environmentText(view)}hash ${closure.hash}\n`);
  if (!confirm(io, "Allow these commands?")) {
    io.out("Not approved. Until then, these gates stay unproven.\n");
    return 1;
  }
  grant(view, person.who);
  io.out("Approved. You will be asked again after any change.\n");
  return 0;
}

function recordedLine(environment: EnvironmentRecord): string {
  const others = counted(Object.keys(environment.env).length - 1, "other variable");
  const fault = environmentFault(environment);
  const state = fault === null ? "" : ` But ${visible(fault)}: \`pawl trust --refresh\` records it again.`;
  return `Environment ${shortHash(environment)}: PATH and ${others}, recorded ${environment.at}.${state}\n`;
}

// ── The environment ─────────────────────────────────────────────────────────

function namesToAdd(names: string[]): string[] {
  for (const name of names) {
    const why = cannotAdd(name) ?? (process.env[name] === undefined ? "is not set here" : null);
    if (why !== null) throw new UserError(`${visible(name)} ${why}`, "set it in this shell, then try again");
  }
  return names;
}

/** With names: those as they are here, all else as it was recorded. */
function refresh(root: string, added: string[], io: Io): number {
  const person = isPerson();
  if (!person.ok) throw new UserError(`not recorded: ${person.why}`, HOW, 1);
  const before = recordedEnvironment(root);
  const fresh = Object.fromEntries(added.map((name) => [name, process.env[name]]));
  const from = added.length > 0 && before ? { ...before.env, ...fresh } : process.env;
  const names = [...(before?.added ?? []), ...added];
  const changes = environmentChanges(before?.env ?? {}, allowedPart(from, names));
  if (before && changes.length === 0) {
    io.out("Your environment is as it was recorded.\n");
    return 0;
  }
  io.out(`${changeLines(changes, io)}\n`);
  if (!confirm(io, "Run checks in this environment from now on?")) return 1;
  believed(() => recordEnvironment(root, from, names));
  io.out("Recorded. Gates that passed before are checked again.\n");
  return 0;
}

/** What is approved is what was shown, even if the files have changed since. */
const grant = ({ root, closure }: View, by: string) => believed(() => grantTrust(root, closure, by));

function believed(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (error instanceof PlaceError) throw new UserError(visible(error.message), "fix that first, then try again", 1);
    throw error;
  }
}

/** It names the content, so no one has to look at a screen; but an agent could name it as well. */
function grantHash(view: View, wanted: string, added: string[], parsed: Parsed, io: Io): number {
  if (!/^[0-9a-f]{64}$/.test(wanted))
    throw new UserError("--hash needs a full SHA-256 (64 digits)", "`pawl trust --show` prints it");
  const agent = agentCalling();
  if (agent !== null) throw new UserError(`not approved: ${agent}: only a person can approve`, HOW, 1);
  tellProblems(view, io);
  const found = `what would run here has the hash ${view.closure.hash || "of nothing"}`;
  if (view.closure.hash !== wanted)
    throw new UserError(`not approved: ${found}`, "check it with `pawl trust --show`, then use that hash", 1);
  const names = [...(view.environment?.added ?? []), ...added];
  believed(() => recordEnvironment(view.root, process.env, names));
  grant(view, "--hash");
  const after = buildView(view.root, io);
  if (parsed.flags.has("--json")) return sayJson(after, parsed, io);
  io.out(`Approved: ${wanted}\n`);
  return after.state.trusted ? 0 : 1;
}

function revoke(root: string, json: boolean, io: Io): number {
  const revoked = revokeTrust(root);
  const text = revoked === 0 ? "There was no approval to revoke." : `Revoked: ${counted(revoked, "approval")}.`;
  io.out(`${json ? JSON.stringify({ root, revoked }) : text}\n`);
  return 0;
}
