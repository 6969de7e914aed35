import { realpathSync } from "node:fs";
import { version } from "../../package.json";
import { UserError } from "../kernel/user-error.ts";
import { applyChanges } from "../setup/install/apply.ts";
import {
  type BinaryPlan,
  ensureBinary,
  forgetBinary,
  type Proof,
  planBinary,
  proveHook,
  readVersion,
  scriptPath,
} from "../setup/install/binary.ts";
import { type Check, detectChecks } from "../setup/install/checks.ts";
import type { Scope } from "../setup/install/hooks.ts";
import { planInit } from "../setup/install/plan.ts";
import { proseName } from "../setup/install/plan-asked.ts";
import { contentsText, listed, listText, shortPath } from "../setup/install/show.ts";
import {
  installTarget,
  type Plan,
  readManifest,
  refuseFolder,
  type Target,
  type Wishes,
} from "../setup/install/target.ts";
import { lookAt } from "../store/files.ts";
import { dirname, join } from "../store/names.ts";
import { isOff } from "../store/place.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { confirm, confirmOrRefuse, confirmUnlessNo, isInteractive } from "./shared/confirm.ts";

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

export const exclusive = [
  ["--team", "--user", "--plugin"],
  ["--shortcuts", "--no-shortcuts"],
  ["--statusline", "--no-statusline"],
];
const EXTRAS = ["--with-config", "--claude-md", "--fragment"];
export const options = [...exclusive.flat(), ...EXTRAS, "--yes", "--print", "--json", "--host="];
export const maxWords = 0;

interface Job {
  target: Target;
  wishes: Wishes;
  plan: Plan;
  binary: BinaryPlan;
  checks: Check[];
}

export function run(parsed: Parsed, io: Io): number {
  const host = parsed.values["--host"] ?? "claude";
  if (host !== "claude") throw new UserError(`${host} is not supported yet`, "use --host claude");
  if (parsed.flags.has("--plugin")) return pluginWay(io);
  return install(prepare(parsed, io), parsed, io);
}

function prepare({ flags }: Parsed, io: Io): Job {
  const scope: Scope = flags.has("--user") ? "user" : flags.has("--team") ? "project" : "local";
  const root = scope === "user" ? "" : projectRoot(io);
  if (scope !== "user") refuseFolder(root);
  const target = installTarget(scope, root);
  const wishes = parseWishes(flags);
  const checks = scope === "user" || lookAt(join(target.base, "pawl.yaml")) ? [] : detectChecks(target.base);
  const job = { target, wishes, checks, plan: planInit(target, wishes, version), binary: planBinary() };
  const asks = !["--yes", "--print", "--json"].some((flag) => flags.has(flag)) && isInteractive(io);
  return asks && !isIdle(job) ? askWishes(job, io) : job;
}

/** `shortcuts` and `statusline` only where the person has chosen. */
function parseWishes(flags: Set<string>): Wishes {
  const choice = (name: "shortcuts" | "statusline") =>
    flags.has(`--${name}`) ? { [name]: true } : flags.has(`--no-${name}`) ? { [name]: false } : {};
  return {
    claudeMd: flags.has("--claude-md"),
    config: flags.has("--with-config"),
    fragment: flags.has("--fragment"),
    ...choice("shortcuts"),
    ...choice("statusline"),
  };
}

const isIdle = ({ plan, binary }: Job) => plan.changes.length === 0 && isReady(binary);
const isReady = ({ state, script }: BinaryPlan) => state === "current" && script === "current";

/** Once, when it is installed; the list then shows what follows from the answers. */
function askWishes(job: Job, io: Io): Job {
  const { target, wishes, checks } = job;
  if (readManifest(target).manifest !== null) return job;
  const answers = { ...wishes };
  const prose = proseName(target);
  const added = prose === "AGENTS.md" ? "a marked block to AGENTS.md" : "one import to CLAUDE.md";
  if (wishes.shortcuts === undefined)
    answers.shortcuts = confirmUnlessNo(io, "Turn on one-key shortcuts (s, x, r, …; /pawl:keys lists them)?");
  if (answers.shortcuts && !wishes.fragment && prose)
    answers.fragment = confirm(io, `Explain the shortcuts to the agent too (adds ${added})?`);
  const own = `this project's own checks (${listCommands(checks)})`;
  if (!wishes.config && checks.length > 0)
    answers.config = confirm(io, `Write ${own} into a new pawl.yaml, as suggestions?`);
  io.out("\n");
  // Who has just said no needs no hint how to say yes.
  return { ...job, checks: [], wishes: answers, plan: planInit(target, answers, version) };
}

const listCommands = (checks: Check[]) => checks.map(({ command }) => `\`${command}\``).join(", ");

function install(job: Job, parsed: Parsed, io: Io): number {
  const json = parsed.flags.has("--json");
  const idle = isIdle(job);
  const report = (proof: Proof | null, code: number) => print(io, parsed, buildReport(job, proof), () => "", code);
  if (!json) io.out(planText(job, parsed.flags.has("--print")));
  if (parsed.flags.has("--print")) return report(null, 0);
  const refused = idle ? null : confirmOrRefuse(parsed, io, "run `pawl init --yes` to install without being asked");
  if (refused !== null) return report(null, refused);
  if (!idle) carryOut(job);
  const proof = proveHook(job.target.scope, job.target.base);
  if (!json) io.out(endText(job, proof, idle));
  return report(proof, proof.ok ? 0 : 1);
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

// ── Texts ────────────────────────────────────────────────────────────

function planText({ target, plan, binary, checks, wishes }: Job, whole: boolean): string {
  const { base, scope } = target;
  const where =
    scope === "user" ? "for you, in every project" : `in ${base}, ${scope === "project" ? "for the team" : "for you"}`;
  const note = (text: string) => `  note    ${text}\n`;
  return [
    `Pawl ${version}, ${where}:\n`,
    binary.state === "current" ? "" : binaryLine(binary, base),
    binary.script === "current" ? "" : scriptLine(binary, base),
    listText(plan.changes, base),
    plan.changes.length === 0 && isReady(binary) ? "  nothing to do: already installed\n" : "",
    ...plan.notes.map(note),
    process.env.PAWL === "0"
      ? note("WARNING: PAWL=0 is set in this shell, so Pawl is off for agents started from it")
      : "",
    checks.length > 0 && !wishes.config
      ? note(
          `found checks in this project: ${listCommands(checks)}; --with-config writes them into a pawl.yaml as suggestions`,
        )
      : "",
    whole ? contentsText(plan.changes, base) : "",
  ].join("");
}

function binaryLine({ state, path }: BinaryPlan, base: string): string {
  const was =
    state === "other" ? ` (there is ${readVersion(path) ?? "one that does not respond"}, this is ${version})` : "";
  return `  ${state === "missing" ? "create " : "renew  "} ${shortPath(path, base)}  the program that the hooks run${was}\n`;
}

const scriptLine = ({ script }: BinaryPlan, base: string) =>
  `  ${script === "missing" ? "create " : "renew  "} ${shortPath(scriptPath(), base)}  what the hooks start it with\n`;

function endText({ target: { scope, base }, plan, wishes }: Job, proof: Proof, idle: boolean): string {
  const user = scope === "user";
  const done = idle ? "" : "\nDone. ";
  if (!proof.ok)
    return `${done}But the hook does not work: ${proof.why}\n  hint: \`pawl doctor\` finds out why; \`pawl uninstall\` removes it again\n`;
  const isPlugin = plan.notes.some((note) => note.includes("as /pawl:complete-work"));
  const hasShortcuts = wishes.shortcuts !== false && (user || !isOff(base, "shortcuts-off"));
  return `${done}Test call: the hook answered in ${proof.ms} ms.

  next    type /${isPlugin ? "pawl:" : ""}complete-work in Claude Code${user ? "" : " here"} when the work is finished
${hasShortcuts ? "  keys    type /pawl:keys there for the one-key shortcuts\n" : ""}  undo    pawl uninstall${user ? " --user" : ""}   (to pause: pawl off)
`;
}

function buildReport({ target: { scope, base }, plan, binary: { path, state }, checks }: Job, proof: Proof | null) {
  const changes = listed(plan.changes, base);
  return { applied: proof !== null, scope, base, binary: { path, state }, changes, notes: plan.notes, checks, proof };
}

// ── As a plugin ─────────────────────────────────────────────────────────────

function pluginWay(io: Io): number {
  // The binary lies in dist/ of a checkout, or in its home, far from any.
  const folder = dirname(dirname(realpathSync(process.execPath)));
  const isCheckout = lookAt(join(folder, ".claude-plugin/marketplace.json"));
  io.out(`As a plugin, Pawl needs no settings and no copied files. Run these two commands:

  claude plugin marketplace add ${isCheckout ? folder : "<the folder of Pawl's checkout>"}
  claude plugin install pawl@pawl

Its commands are then /pawl:complete-work and /pawl:go. \`claude plugin uninstall pawl@pawl\` removes it.
`);
  return 0;
}
