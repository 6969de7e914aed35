import { realpathSync } from "node:fs";
import { version } from "../../package.json";
import { suggest } from "../definitions/problem.ts";
import { visible } from "../kernel/text/safe-text.ts";
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
import { configText } from "../setup/install/checks.ts";
import type { Scope } from "../setup/install/hooks.ts";
import { planInit } from "../setup/install/plan.ts";
import { contentsText, listed, listText, shortPath } from "../setup/install/show.ts";
import {
  installTarget,
  PARTS,
  type Part,
  type Plan,
  readManifest,
  refuseFolder,
  type Target,
  type Wishes,
} from "../setup/install/target.ts";
import { lookAt } from "../store/files.ts";
import { dirname, join } from "../store/names.ts";
import { isPerson } from "../store/processes/person.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { chooseMany, confirmOrRefuse, confirmUnlessNo, isInteractive } from "./shared/confirm.ts";
import { adopt, type Definition, findDefinition } from "./shared/definition-of-done.ts";

export const usage = `usage: pawl init [--team | --user | --plugin] [--with PARTS] [--yes] [--print] [--json]
                 [--with-config] [--claude-md] [--fragment] [--shortcuts | --no-shortcuts] [--statusline | --no-statusline]
       pawl add PART…     add one later          pawl remove PART…     remove one again

Find this project's checks and ask once: run them now and make them the definition of done? Then install for Claude
Code, choose what else you want, and test the hook with one call.
  (default)       for you in this project: .claude/settings.local.json, kept out of git
  --team          for everyone in this project: .claude/settings.json, to be committed; does nothing where Pawl is missing
  --user          for you in every project: ~/.claude
  --plugin        change nothing; print the two commands that install Pawl as a plugin instead
  --with PARTS    also install these, separated by commas, or all:
${partLines("                    ")}
                  (--shortcuts, --statusline and their --no- forms do the same for one of them)
  --fragment      also explain the shortcuts to the agent: .claude/execute-rule.md, imported by an existing CLAUDE.md,
                  or written into an existing AGENTS.md
  --with-config   also write a pawl.yaml where no checks were found
  --claude-md     also add a short marked block to an existing CLAUDE.md
  --print         show the resulting contents and change nothing
  --yes           do not ask (for scripts). Runs nothing of the project and approves nothing: \`pawl trust\` is left to you
  --json          print JSON

No file of yours is overwritten; \`pawl uninstall\` restores everything.
Exit codes: 0 installed or nothing to do, 1 refused or failed (nothing was changed), 2 not confirmed or wrong usage.`;

function partLines(indent: string): string {
  const row = ([part, about]: [string, string]) => `${indent}${part.padEnd(14)} ${about}`;
  return Object.entries(PARTS).map(row).join("\n");
}

export const exclusive = [
  ["--team", "--user", "--plugin"],
  ["--shortcuts", "--no-shortcuts"],
  ["--statusline", "--no-statusline"],
];
const EXTRAS = ["--with-config", "--claude-md", "--fragment"];
export const options = [...exclusive.flat(), ...EXTRAS, "--yes", "--print", "--json", "--host=", "--with="];
export const maxWords = 0;

interface Job {
  target: Target;
  wishes: Wishes;
  plan: Plan;
  binary: BinaryPlan;
  /** this project's own, or what would become it; null: there are no checks */
  done: Definition | null;
}

export async function run(parsed: Parsed, io: Io): Promise<number> {
  const host = parsed.values["--host"] ?? "claude";
  if (host !== "claude") throw new UserError(`${host} is not supported yet`, "use --host claude");
  if (parsed.flags.has("--plugin")) return pluginWay(io);
  const job = prepare(parsed, chosenParts(parsed), io);
  if (["--yes", "--print", "--json"].some((flag) => parsed.flags.has(flag)) || !isInteractive(io))
    return install(job, parsed, io);
  return await ask(job, parsed, io);
}

/** Also for `pawl add` and `pawl remove`. */
export function prepare({ flags }: Parsed, parts: Wishes["parts"], io: Io): Job {
  const scope: Scope = flags.has("--user") ? "user" : flags.has("--team") ? "project" : "local";
  const root = scope === "user" ? "" : projectRoot(io);
  if (scope !== "user") refuseFolder(root);
  const target = installTarget(scope, root);
  const done = scope === "user" ? null : findDefinition(root, { team: scope === "project" });
  const config = done?.text ?? (flags.has("--with-config") ? configText([]) : null);
  const wishes = { claudeMd: flags.has("--claude-md"), fragment: flags.has("--fragment"), config, parts };
  return { target, wishes, done, plan: planInit(target, wishes, version), binary: planBinary() };
}

/** Only where the person has chosen. */
function chosenParts({ flags, values }: Parsed): Wishes["parts"] {
  const one = (part: "shortcuts" | "statusline") =>
    flags.has(`--${part}`) ? { [part]: true } : flags.has(`--no-${part}`) ? { [part]: false } : {};
  const words = values["--with"]?.split(",").map((word) => word.trim()) ?? [];
  // A status line is one person's matter.
  const named = words.includes("all") && flags.has("--team") ? ALL.filter((part) => part !== "statusline") : words;
  return {
    ...Object.fromEntries(namedParts(named).map((part) => [part, true])),
    ...one("shortcuts"),
    ...one("statusline"),
  };
}

const ALL = Object.keys(PARTS) as Part[];

export function namedParts(words: string[]): Part[] {
  if (words.includes("all")) return ALL;
  const unknown = words.find((word) => !Object.hasOwn(PARTS, word));
  if (unknown !== undefined)
    throw new UserError(`there is no part ${visible(unknown)}`, suggest(unknown, Object.keys(PARTS), "the parts"));
  return words as Part[];
}

const isIdle = ({ plan, binary }: Job) => plan.changes.length === 0 && isReady(binary);
const isReady = ({ state, script }: BinaryPlan) => state === "current" && script === "current";

// ── At a terminal ───────────────────────────────────────────────────────────

/** The one question, then a choice; nothing is installed before both are answered. */
async function ask(job: Job, parsed: Parsed, io: Io): Promise<number> {
  const isNew = readManifest(job.target).manifest === null;
  const offered = job.done && job.done.lines.length > 0 && !job.done.isTrusted ? job.done : null;
  if (!offered && isIdle(job)) return install(job, parsed, io);
  io.out(`Pawl ${version}, ${placeText(job.target)}\n`);
  const done = offered ? await askDone(offered, job.target.base, io) : job.done;
  const config = done?.text ?? (parsed.flags.has("--with-config") ? job.wishes.config : null);
  const answered = { ...job, done, ...replanned(job, { config }) };
  const chosen = isNew ? await chooseParts(answered, io) : answered;
  if (chosen !== null) return isIdle(chosen) ? finish(chosen, parsed, io) : carryThrough(chosen, parsed, io);
  done?.undo?.();
  io.out("Nothing was changed.\n");
  return 1;
}

const replanned = ({ target, wishes }: Job, change: Partial<Wishes>) => {
  const next = { ...wishes, ...change };
  return { wishes: next, plan: planInit(target, next, version) };
};

async function askDone(done: Definition, root: string, io: Io): Promise<Definition | null> {
  io.out(
    `\n${done.text === null ? "Its definition of done" : "Its checks"}:\n${done.lines.map((line) => `  ${line}\n`).join("")}\n`,
  );
  const person = isPerson();
  if (!person.ok) {
    io.out(`They are not run: ${person.why}.\n`);
    return done;
  }
  const question =
    done.text === null
      ? 'Run these now, and whenever "done" is claimed?'
      : "Run these now and make them the definition of done?";
  if (!confirmUnlessNo(io, question)) return null;
  return await adopt(done, root, person.who, io);
}

/** null: the person left. */
async function chooseParts(job: Job, io: Io): Promise<Job | null> {
  io.out(`\n${planText(job, false).replace(/^.*\n/, "This will be installed:\n")}\n`);
  const before = ALL.filter((part) => job.wishes.parts[part] ?? part === "complete-work");
  const options = ALL.map((part) => ({ value: part, label: `${part.padEnd(14)} ${PARTS[part]}` }));
  const chosen = await chooseMany("Install this, and what else? (space chooses, enter installs)", options, before);
  if (chosen === null) return null;
  // Nothing of a team's own status line is taken out unasked.
  const decided = ALL.filter((part) => part !== "statusline" || chosen.includes(part));
  return {
    ...job,
    ...replanned(job, { parts: Object.fromEntries(decided.map((part) => [part, chosen.includes(part)])) }),
  };
}

// ── Carrying it out ─────────────────────────────────────────────────────────

function install(job: Job, parsed: Parsed, io: Io): number {
  const report = (code: number) => print(io, parsed, buildReport(job, null), () => "", code);
  if (!parsed.flags.has("--json")) io.out(planText(job, parsed.flags.has("--print")));
  if (parsed.flags.has("--print")) return report(0);
  const refused = isIdle(job)
    ? null
    : confirmOrRefuse(parsed, io, "run `pawl init --yes` to install without being asked");
  return refused === null ? carryThrough(job, parsed, io) : report(refused);
}

export function carryThrough(job: Job, parsed: Parsed, io: Io): number {
  const { binary, plan } = job;
  const state = ensureBinary(binary);
  try {
    applyChanges(plan.changes);
  } catch (error) {
    if (state === "copied") forgetBinary(binary.path);
    throw error;
  }
  return finish(job, parsed, io);
}

function finish(job: Job, parsed: Parsed, io: Io): number {
  const proof = proveHook(job.target.scope, job.target.base);
  if (!parsed.flags.has("--json")) io.out(endText(job, proof));
  return print(io, parsed, buildReport(job, proof), () => "", proof.ok ? 0 : 1);
}

// ── Texts ────────────────────────────────────────────────────────────

export function planText({ target, plan, binary, done }: Job, whole: boolean): string {
  const { base } = target;
  const note = (text: string) => `  note    ${text}\n`;
  return [
    `Pawl ${version}, ${placeText(target)}:\n`,
    binary.state === "current" ? "" : binaryLine(binary, base),
    binary.script === "current" ? "" : scriptLine(binary, base),
    listText(plan.changes, base),
    plan.changes.length === 0 && isReady(binary) ? "  nothing to do: already installed\n" : "",
    ...plan.notes.map(note),
    process.env.PAWL === "0"
      ? note("WARNING: PAWL=0 is set in this shell, so Pawl is off for agents started from it")
      : "",
    done?.lines.length === 0 && done.checks.length === 0 ? note(NO_CHECKS) : "",
    whole ? contentsText(plan.changes, base) : "",
  ].join("");
}

const NO_CHECKS =
  "no checks: name the command that tests this project under `done:` in pawl.yaml, then run `pawl trust`";

function placeText({ base, scope }: Target): string {
  if (scope === "user") return "for you, in every project";
  return `in ${base}, ${scope === "project" ? "for the team" : "for you"}`;
}

function binaryLine({ state, path }: BinaryPlan, base: string): string {
  const was =
    state === "other" ? ` (there is ${readVersion(path) ?? "one that does not respond"}, this is ${version})` : "";
  return `  ${state === "missing" ? "create " : "renew  "} ${shortPath(path, base)}  the program that the hooks run${was}\n`;
}

const scriptLine = ({ script }: BinaryPlan, base: string) =>
  `  ${script === "missing" ? "create " : "renew  "} ${shortPath(scriptPath(), base)}  what the hooks start it with\n`;

function endText({ target: { scope }, plan, done }: Job, proof: Proof): string {
  const option = scope === "user" ? " --user" : "";
  if (!proof.ok)
    return `\nInstalled, but the hook does not work: ${proof.why}\n  hint: \`pawl doctor\` finds out why; \`pawl uninstall\` removes it again\n`;
  const isPlugin = plan.notes.some((note) => note.includes("as /pawl:complete-work"));
  const next = `  next    type /${isPlugin ? "pawl:" : ""}complete-work in Claude Code${option ? "" : " here"} when the work is finished\n`;
  return `\nTest call: the hook answered in ${proof.ms} ms.

${done ? doneText(done, next) : next}${scope === "project" ? TEAM : ""}  undo    pawl uninstall${option}   (to pause: pawl off; to add parts: pawl add)
`;
}

/** What happens from now on, in two lines. */
function doneText({ isTrusted, lines, checks }: Definition, next: string): string {
  const commands = lines.map((line) => line.split("   ")[0]).join(", ");
  if (lines.length === 0 && checks.length > 0)
    return "  now     nothing is checked: no check was green. pawl.yaml says why\n";
  if (lines.length === 0) return next;
  if (!isTrusted)
    return `  left    one command: \`pawl trust\`, in your own terminal, approves what "done" runs: ${commands}\n`;
  return `  now     when the agent ends a turn in which it changed code, Pawl runs ${commands}
          green is one line; red sends it back with the failing tests, unless it says itself what is open
`;
}

const TEAM = `  commit  git add .claude pawl.yaml; a colleague then types: npm install -g pawl && pawl trust
`;

function buildReport({ target: { scope, base }, plan, binary: { path, state }, done }: Job, proof: Proof | null) {
  const changes = listed(plan.changes, base);
  const checks = (done?.checks ?? []).map(({ name, command, from }) => ({ name, command, from }));
  const left = done && !done.isTrusted ? { left: "pawl trust" } : {};
  return {
    applied: proof !== null,
    scope,
    base,
    binary: { path, state },
    changes,
    notes: plan.notes,
    checks,
    proof,
    ...left,
  };
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
