import { closureOf } from "../checks/closure/closure.ts";
import { type Problem, renderProblem } from "../definitions/problem.ts";
import { projectGates } from "../definitions/registry.ts";
import { UserError } from "../kernel/user-error.ts";
import type { Closure } from "../store/closure.ts";
import { PlaceError } from "../store/home.ts";
import { agentCalling, isPerson } from "../store/processes/person.ts";
import { grantTrust, lastTrusted, revokeTrust, type TrustState, trustOf } from "../store/trust.ts";
import { type Io, parseArgs, rootOf } from "./shared/args.ts";
import { confirm } from "./shared/confirm.ts";
import { type Change, changesBetween, itemLines } from "./shared/trust-text.ts";
import { visible, visibleJson } from "./shared/visible.ts";

export const summary = "approve the commands that this project's gates run";
export const usage = `usage: pawl trust                show what would run and is not approved yet, and ask
       pawl trust --show         show everything that would run, and its hash
       pawl trust --hash SHA     approve exactly that content without a question (CI)
       pawl trust --revoke       revoke every approval of this project
       each with --json

Gates of pawl.yaml and of workflows (.pawl/workflows, ~/.config/pawl/workflows) name commands. None runs before you
have approved it: its arguments, folder and variables, and the project's scripts that it names. After any change you are
asked again, and see only the difference. What the scripts read or start beyond that is not covered.
Only a person at a terminal can approve; an agent cannot, even with --hash. Worktrees of one repository share approvals.
Exit codes: 0 approved (now or before), or shown; 1 not approved; 2 wrong usage. With --json alone: 0 approved, 1 not.`;

interface View {
  root: string;
  closure: Closure;
  problems: Problem[];
  state: TrustState;
}

export function run(args: string[], io: Io): number {
  const { flags, values, words } = parseArgs(args, ["--show", "--json", "--revoke", "--hash="]);
  const asked = [...["--show", "--revoke"].filter((flag) => flags.has(flag)), ...Object.keys(values)];
  if (words.length > 0) throw new UserError(`unknown argument ${words[0]}`, "see `pawl trust --help`");
  if (asked.length > 1) throw new UserError(`${asked.join(" and ")} cannot be used together`, "use one of them");
  const root = rootOf(io);
  if (flags.has("--revoke")) return revoke(root, flags.has("--json"), io);
  const view = viewOf(root, io);
  if (values["--hash"] !== undefined) return grantHash(view, values["--hash"], flags.has("--json"), io);
  if (flags.has("--json")) return sayJson(view, io, flags.has("--show"));
  if (flags.has("--show")) return show(view, io);
  return ask(view, io);
}

function viewOf(root: string, io: Io): View {
  const { gates, problems } = projectGates(root, io.home);
  const closure = closureOf(root, gates);
  return { root, closure, problems, state: trustOf(root, closure) };
}

// ── Showing ─────────────────────────────────────────────────────────────────

function sayJson({ root, closure, problems, state }: View, io: Io, shown: boolean): number {
  const { hash, items } = closure;
  io.out(`${visibleJson({ root, hash, ...state, items, problems })}\n`);
  const unknown = items.length === 0 && problems.length > 0;
  return shown || (state.trusted && !unknown) ? 0 : 1;
}

function show(view: View, io: Io): number {
  const { closure, state } = view;
  tellProblems(view, io);
  if (closure.items.length === 0) return nothing(view, io);
  io.out(`${closure.items.flatMap((item) => [...itemLines(item), ""]).join("\n")}\n`);
  const since = state.trusted ? `approved ${state.at}` : `not approved: ${visible(state.why)}`;
  io.out(`${since}\nhash ${closure.hash}\n`);
  return 0;
}

/** A file with mistakes names nothing until it is fixed: that is no reason to be silent about it. */
function tellProblems({ problems }: View, io: Io): void {
  for (const problem of problems) io.err(`${renderProblem(problem)}\n`);
  if (problems.length > 0) io.err("pawl: files with errors are skipped\n\n");
}

function nothing({ problems }: View, io: Io): number {
  io.out("No gate here runs a command; nothing to approve.\n");
  return problems.length > 0 ? 1 : 0;
}

function showChanges({ root, closure }: View, io: Io): void {
  const last = lastTrusted(root);
  if (!last) {
    io.out(`These commands would run:\n\n${closure.items.flatMap((item) => [...itemLines(item), ""]).join("\n")}\n`);
    return;
  }
  const colours = io.isTTY && !process.env.NO_COLOR;
  const lines = changesBetween(last.items, closure.items).map((change) => coloured(change, colours));
  io.out(`What changed since you approved it:\n\n${lines.join("\n")}\n\n`);
}

const COLOURS = { "+": "32", "-": "31", " ": "0" };

function coloured({ sign, line }: Change, colours: boolean): string {
  return colours && sign !== " " ? `\u001b[${COLOURS[sign]}m${sign} ${line}\u001b[0m` : `${sign} ${line}`;
}

// ── Approving ───────────────────────────────────────────────────────────────

const HOW =
  "run `pawl trust` in your own terminal; in CI use `pawl trust --hash` with the hash that `pawl trust --show` prints";

function ask(view: View, io: Io): number {
  const { closure, state } = view;
  tellProblems(view, io);
  if (closure.items.length === 0) return nothing(view, io);
  if (state.trusted) return alreadyTrusted(view, io);
  if (state.broken) throw new UserError(visible(state.why), "fix that first; `pawl doctor` checks it too", 1);
  const person = isPerson();
  if (!person.ok) throw new UserError(`not approved: ${person.why}`, HOW, 1);
  showChanges(view, io);
  io.out(`hash ${closure.hash}\n`);
  if (!confirm(io, "Allow these commands?")) {
    io.out("Not approved. Until then, these gates stay unproven.\n");
    return 1;
  }
  grant(view, person.who);
  io.out("Approved. You will be asked again after any change.\n");
  return 0;
}

function alreadyTrusted({ closure, state }: View, io: Io): number {
  const count = `${closure.items.length} ${closure.items.length === 1 ? "command" : "commands"}`;
  io.out(
    `${count}, approved ${state.trusted ? state.at : ""}. \`pawl trust --show\` shows them, \`--revoke\` revokes it.\n`,
  );
  return 0;
}

/** What is approved is what was shown, even if the files have changed since. */
function grant({ root, closure }: View, by: string): void {
  try {
    grantTrust(root, closure, by);
  } catch (error) {
    if (error instanceof PlaceError) throw new UserError(visible(error.message), "fix that first, then try again", 1);
    throw error;
  }
}

/** It names the content, so no one has to look at a screen; but an agent could name it as well. */
function grantHash(view: View, wanted: string, json: boolean, io: Io): number {
  if (!/^[0-9a-f]{64}$/.test(wanted))
    throw new UserError("--hash needs a full SHA-256 (64 digits)", "`pawl trust --show` prints it");
  const agent = agentCalling();
  if (agent !== null) throw new UserError(`not approved: ${agent}: only a person can approve`, HOW, 1);
  tellProblems(view, io);
  if (view.closure.hash !== wanted)
    throw new UserError(
      `not approved: what would run here has the hash ${view.closure.hash || "of nothing"}`,
      "check it with `pawl trust --show`, then use that hash",
      1,
    );
  grant(view, "--hash");
  const after = { ...view, state: trustOf(view.root, view.closure) };
  if (json) return sayJson(after, io, false);
  io.out(`Approved: ${wanted}\n`);
  return after.state.trusted ? 0 : 1;
}

function revoke(root: string, json: boolean, io: Io): number {
  const count = revokeTrust(root);
  if (json) io.out(`${JSON.stringify({ root, revoked: count })}\n`);
  else
    io.out(
      count === 0
        ? "There was no approval to revoke.\n"
        : `Revoked: ${count} ${count === 1 ? "approval" : "approvals"}.\n`,
    );
  return 0;
}
