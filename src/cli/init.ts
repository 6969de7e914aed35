import { realpathSync } from "node:fs";
import { version } from "../../package.json";
import { UserError } from "../kernel/user-error.ts";
import { applyChanges } from "../setup/install/apply.ts";
import { type BinaryPlan, ensureBinary, forgetBinary, planBinary, versionOf } from "../setup/install/binary.ts";
import { type Check, detectChecks } from "../setup/install/checks.ts";
import type { Plan, Wishes } from "../setup/install/draft.ts";
import type { Scope } from "../setup/install/hooks.ts";
import { planInit } from "../setup/install/plan.ts";
import { proseName } from "../setup/install/plan-asked.ts";
import { type Proof, proveHook } from "../setup/install/prove.ts";
import { contentsText, listed, listText, shown } from "../setup/install/show.ts";
import { readManifest, type Target, targetOf } from "../setup/install/target.ts";
import { lookAt } from "../store/files.ts";
import { dirname, join } from "../store/names.ts";
import { isOff } from "../store/place.ts";
import { type Io, type Parsed, parseArgs, rootOf } from "./shared/args.ts";
import { confirm, confirmUnlessNo, isInteractive, orUserError } from "./shared/confirm.ts";

export const summary = "install Pawl's hooks, commands and agents";
export const usage = `usage: pawl init [--team | --user | --plugin] [--yes] [--print] [--json] [--with-config] [--claude-md] [--fragment]
                 [--shortcuts | --no-shortcuts] [--statusline | --no-statusline]

Ask what you want, show every change, ask again, then install for Claude Code and test the hook with one call.
  (default)       for you in this project: .claude/settings.local.json, kept out of git
  --team          for everyone in this project: .claude/settings.json, to be committed; does nothing where Pawl is missing
  --user          for you in every project: ~/.claude
  --plugin        change nothing; print the two commands that install Pawl as a plugin instead
  --no-shortcuts  no one-key shortcuts (s, x, r, …); --shortcuts turns them on again
  --no-statusline no status line. If you already have one, it stays above Pawl's and \`uninstall\` restores it.
                  With --team there is none unless you add --statusline
  --fragment      also explain the shortcuts to the agent: .claude/execute-rule.md, imported by an existing CLAUDE.md,
                  or written into an existing AGENTS.md
  --with-config   also write a pawl.yaml that suggests this project's own checks, as comments
  --claude-md     also add a short marked block to an existing CLAUDE.md
  --print         show the resulting contents and change nothing
  --yes           do not ask (for scripts): shortcuts and status line are on      --json   print JSON

No file of yours is overwritten; \`pawl uninstall\` restores everything.
Exit codes: 0 installed or nothing to do, 1 refused or failed (nothing was changed), 2 not confirmed or wrong usage.`;

const OPTIONS = [
  "--team",
  "--user",
  "--plugin",
  "--yes",
  "--print",
  "--json",
  "--with-config",
  "--claude-md",
  "--fragment",
  "--shortcuts",
  "--no-shortcuts",
  "--statusline",
  "--no-statusline",
  "--host=",
];

/** At most one of each. */
const CHOICES = [
  ["--team", "--user", "--plugin"],
  ["--shortcuts", "--no-shortcuts"],
  ["--statusline", "--no-statusline"],
];

interface Job {
  target: Target;
  wishes: Wishes;
  plan: Plan;
  binary: BinaryPlan;
  checks: Check[];
}

export function run(args: string[], io: Io): number {
  const parsed = parseArgs(args, OPTIONS);
  const { flags, values, words } = parsed;
  if (words.length > 0) throw new UserError(`unknown argument ${words[0]}`, "`pawl init --help` lists the options");
  if ((values["--host"] ?? "claude") !== "claude")
    throw new UserError(`${values["--host"]} is not supported yet`, "use --host claude");
  for (const choice of CHOICES) {
    const chosen = choice.filter((flag) => flags.has(flag));
    if (chosen.length > 1) throw new UserError(`${chosen.join(" and ")} cannot be used together`, "choose one");
  }
  return flags.has("--plugin") ? pluginWay(io) : orUserError(() => install(prepare(parsed, io), parsed, io));
}

function prepare({ flags }: Parsed, io: Io): Job {
  const scope: Scope = flags.has("--user") ? "user" : flags.has("--team") ? "project" : "local";
  const target = targetOf(scope, scope === "user" ? "" : rootOf(io));
  const wishes = wishesOf(flags);
  const checks = scope === "user" || lookAt(join(target.base, "pawl.yaml")) ? [] : detectChecks(target.base);
  const job = { target, wishes, checks, plan: planInit(target, wishes, version), binary: planBinary() };
  const asks = !["--yes", "--print", "--json"].some((flag) => flags.has(flag)) && isInteractive(io);
  return asks && !isIdle(job) ? asked(job, io) : job;
}

function wishesOf(flags: Set<string>): Wishes {
  const choice = (name: string) => (flags.has(`--${name}`) ? true : flags.has(`--no-${name}`) ? false : undefined);
  const [shortcuts, statusline] = [choice("shortcuts"), choice("statusline")];
  return {
    claudeMd: flags.has("--claude-md"),
    config: flags.has("--with-config"),
    fragment: flags.has("--fragment"),
    ...(shortcuts !== undefined && { shortcuts }),
    ...(statusline !== undefined && { statusline }),
  };
}

const isIdle = ({ plan, binary }: Job) => plan.changes.length === 0 && binary.state === "current";

/** Once, when it is installed; the list then shows what follows from the answers. */
function asked(job: Job, io: Io): Job {
  const { target, wishes, checks } = job;
  if (readManifest(target).manifest !== null) return job;
  const answers = { ...wishes };
  const prose = proseName(target);
  if (wishes.shortcuts === undefined)
    answers.shortcuts = confirmUnlessNo(io, "Turn on one-key shortcuts (s, x, r, …; /pawl:keys lists them)?");
  if (answers.shortcuts && !wishes.fragment && prose)
    answers.fragment = confirm(io, `Explain the shortcuts to the agent too (adds ${addedTo(prose)})?`);
  if (!wishes.config && checks.length > 0)
    answers.config = confirm(
      io,
      `Write this project's own checks (${commandsOf(checks)}) into a new pawl.yaml, as suggestions?`,
    );
  io.out("\n");
  // Who has just said no needs no hint how to say yes.
  return { ...job, checks: [], wishes: answers, plan: planInit(target, answers, version) };
}

const addedTo = (prose: string) => (prose === "AGENTS.md" ? "a marked block to AGENTS.md" : "one import to CLAUDE.md");
const commandsOf = (checks: Check[]) => checks.map(({ command }) => `\`${command}\``).join(", ");

function install(job: Job, { flags }: Parsed, io: Io): number {
  const json = flags.has("--json");
  const idle = isIdle(job);
  if (!json) io.out(planText(job, flags.has("--print")));
  if (flags.has("--print")) return report(job, null, json, io, 0);
  if (!idle && !flags.has("--yes") && (json || !isInteractive(io))) {
    if (!json) io.err("pawl: nothing was changed\n  hint: run `pawl init --yes` to install without being asked\n");
    return report(job, null, json, io, 2);
  }
  if (!idle && !flags.has("--yes") && !confirm(io, "\nContinue?")) {
    io.out("Nothing was changed.\n");
    return 1;
  }
  if (!idle) carryOut(job);
  const proof = proveHook(job.target.scope, job.target.base);
  if (!json) io.out(endText(job, proof, idle));
  return report(job, proof, json, io, proof.ok ? 0 : 1);
}

function carryOut({ binary, plan }: Job): void {
  const state = ensureBinary(binary);
  try {
    applyChanges(plan.changes);
  } catch (error) {
    if (state === "copied") forgetBinary(binary.path);
    throw error;
  }
}

// ── What is said ────────────────────────────────────────────────────────────

function planText({ target, plan, binary, checks, wishes }: Job, whole: boolean): string {
  const { base } = target;
  const where =
    target.scope === "user"
      ? "for you, in every project"
      : `in ${base}${target.scope === "project" ? ", for the team" : ", for you"}`;
  const copy = { action: binary.state === "missing" ? "create" : "renew", path: shown(binary.path, base) };
  const lines = [
    `Pawl ${version}, ${where}:\n`,
    binary.state === "current"
      ? ""
      : `  ${copy.action.padEnd(7)} ${copy.path}  the program that the hooks run${replaced(binary)}\n`,
    listText(plan.changes, base),
    plan.changes.length === 0 && binary.state === "current" ? "  nothing to do: already installed\n" : "",
    ...plan.notes.map((note) => `  note    ${note}\n`),
  ];
  if (process.env.PAWL === "0")
    lines.push("  note    WARNING: PAWL=0 is set in this shell, so Pawl is off for agents started from it\n");
  if (checks.length > 0 && !wishes.config)
    lines.push(
      `  note    found checks in this project: ${commandsOf(checks)}; --with-config writes them into a pawl.yaml as suggestions\n`,
    );
  if (whole) lines.push(contentsText(plan.changes, base));
  return lines.join("");
}

const replaced = ({ state, path }: BinaryPlan) =>
  state === "other" ? ` (there is ${versionOf(path) ?? "one that does not respond"}, this is ${version})` : "";

function endText(job: Job, proof: Proof, idle: boolean): string {
  const user = job.target.scope === "user";
  const done = idle ? "" : "\nDone. ";
  if (!proof.ok)
    return `${done}But the hook does not work: ${proof.why}\n  hint: \`pawl doctor\` finds out why; \`pawl uninstall\` removes it again\n`;
  return `${done}Test call: the hook answered in ${proof.ms} ms.

  next    type ${commandOf(job.plan)} in Claude Code${user ? "" : " here"} when the work is finished
${hasShortcuts(job) ? "  keys    type /pawl:keys there for the one-key shortcuts\n" : ""}  undo    pawl uninstall${user ? " --user" : ""}   (to pause: pawl off)
`;
}

const hasShortcuts = ({ target, wishes }: Job) =>
  wishes.shortcuts !== false && (target.scope === "user" || !isOff(target.base, "shortcuts-off"));

const commandOf = ({ notes }: Plan) =>
  notes.some((note) => note.includes("as /pawl:complete-work")) ? "/pawl:complete-work" : "/complete-work";

function report(job: Job, proof: Proof | null, json: boolean, io: Io, code: number): number {
  if (!json) return code;
  const { target, plan, binary, checks } = job;
  const { base, scope } = target;
  const data = {
    applied: proof !== null,
    scope,
    base,
    binary: { path: binary.path, state: binary.state },
    changes: listed(plan.changes, base),
    notes: plan.notes,
    checks,
    proof,
  };
  io.out(`${JSON.stringify(data, null, 2)}\n`);
  return code;
}

// ── As a plugin ─────────────────────────────────────────────────────────────

function pluginWay(io: Io): number {
  const folder = marketplace();
  io.out(`As a plugin, Pawl needs no settings and no copied files. Run these two commands:

  claude plugin marketplace add ${folder ?? "<the folder of Pawl's checkout>"}
  claude plugin install pawl@pawl

Its commands are then /pawl:complete-work and /pawl:go. \`claude plugin uninstall pawl@pawl\` removes it.
`);
  return 0;
}

/** The binary lies in dist/ of a checkout, or in its home, far from any. */
function marketplace(): string | null {
  const folder = dirname(dirname(realpathSync(process.execPath)));
  return lookAt(join(folder, ".claude-plugin/marketplace.json")) ? folder : null;
}
