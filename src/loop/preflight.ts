/** Before an unattended loop: is everything there that it needs, and can the agent do what it will be asked to do? */
import { readProject } from "../definitions/project.ts";
import { MARK } from "../engine/core/guide.ts";
import { attempt } from "../kernel/attempt.ts";
import { quoteWord } from "../kernel/text/command-line.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import { DAY, HOUR, MINUTE } from "../kernel/time/calendar.ts";
import type { Gate } from "../kernel/types/workflow.ts";
import { removeAll, rmdir, stat } from "../native/disk.ts";
import {
  ensureDir,
  hashOf,
  insideRoot,
  isObject,
  lookAt,
  makeDirs,
  namesOrNone,
  parseJson,
  readJson,
  readTail,
  readText,
  removeQuietly,
  writeAtomic,
} from "../store/files.ts";
import { homeDir, statePath } from "../store/home.ts";
import { join } from "../store/names.ts";
import { type Agent, allowFor } from "./agents.ts";
import { readOutput, type ToolUse, toolsIn } from "./core/agent-output.ts";
import { classify } from "./core/failure-class.ts";
import { ask, bad, type Check, checkSurroundings, findTests, good, type Trip, unknown } from "./preflight-checks.ts";
import { type AgentEnd, runAgent } from "./process.ts";

export type { Check } from "./preflight-checks.ts";

export interface PreflightOptions extends Trip {
  interrupted?: AbortSignal;
  /** tries the agent even if it passed today */
  fresh?: boolean;
  /** for the agent's turn; default: ten minutes, or the timeout of an iteration if that is less */
  timeout_ms?: number;
}

export interface Preflight {
  /** no problem is known */
  ok: boolean;
  checks: Check[];
  /** of the agent's turn; null: it took none, or the cost is unknown */
  cost_usd: number | null;
}

const LONGEST_MS = 10 * MINUTE;

export async function preflight(options: PreflightOptions): Promise<Preflight> {
  const around = await checkSurroundings(options);
  if (around.some(isBad)) return done([...around, unknown("agent", "not tried: fix the problems above first")]);
  const { root, agent, fresh = false, interrupted } = options;
  const tests = testCommand(root);
  const passed = fresh ? null : recall(root, agent, tests);
  if (passed !== null) return done([...around, good("agent", `${agent.name} could edit, test and commit ${passed}`)]);
  const timeout_ms = options.timeout_ms ?? Math.min(LONGEST_MS, options.settings.timeout.value * 1000);
  const trial = await tryAgent({ root, agent, tests, timeout_ms, ...(interrupted && { interrupted }) });
  // If it cannot be written, the next loop just tries the agent again.
  if (!trial.checks.some(isBad)) attempt(() => remember(root, agent, tests), undefined);
  return done([...around, ...trial.checks], trial.cost_usd);
}

const isBad = ({ ok }: Check) => ok === false;

const done = (checks: Check[], cost_usd: number | null = null): Preflight => ({
  ok: !checks.some(isBad),
  checks,
  cost_usd,
});

/** As typed in the project's folder; null: pawl.yaml has no such gate. */
function testCommand(root: string): string | null {
  const read = readProject(root);
  const gate: Partial<Gate> = ("project" in read && findTests(read.project.gates)) || {};
  const line = (gate.tests ?? gate.run)?.map(quoteWord).join(" ") ?? gate.shell;
  if (line === undefined) return null;
  return gate.cwd === undefined ? line : `cd ${quoteWord(gate.cwd)} && ${line}`;
}

// ── A passed trial counts for a day, unless something changes ───────────────

const LARGEST = 1024 * 1024;

/** Where agents are told what they may do, below the project and below the person's home. */
const SETTINGS = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".codex/config.toml",
  ".copilot/config.json",
  ".gemini/settings.json",
  ".qwen/settings.json",
  "opencode.json",
  ".opencode/opencode.json",
  ".config/opencode/opencode.json",
];
const MANAGED = "/etc/claude-code/managed-settings.json";

/** "3 h ago"; null: not tried within a day, or something has changed since. */
function recall(root: string, agent: Agent, tests: string | null): string | null {
  const kept = readJson(memoryPath(root, agent, tests), LARGEST);
  const age = Date.now() - Date.parse(String(kept?.at));
  if (!(age >= 0 && age < DAY)) return null;
  return age < HOUR ? `${Math.floor(age / MINUTE)} min ago` : `${Math.floor(age / HOUR)} h ago`;
}

function remember(root: string, agent: Agent, tests: string | null): void {
  const folder = statePath("preflight");
  makeDirs(folder, 0o700);
  for (const path of namesOrNone(folder).map((name) => join(folder, name)))
    if (Date.now() - (lookAt(path)?.mtimeMs ?? Date.now()) > DAY) removeQuietly(path);
  const kept = { at: new Date().toISOString(), root, agent: agent.name };
  writeAtomic(memoryPath(root, agent, tests), `${JSON.stringify(kept)}\n`);
}

/** Named by everything that could change the result. */
function memoryPath(root: string, agent: Agent, tests: string | null): string {
  const argv = agent.argv.filter((word) => word !== agent.session);
  const own = agent.env.CLAUDE_CONFIG_DIR;
  const files = [
    ...[root, homeDir()].flatMap((folder) => SETTINGS.map((path) => join(folder, path))),
    ...(own ? [join(own, "settings.json")] : []),
    MANAGED,
  ].map((path) => {
    const file = readText(path, LARGEST);
    return file.ok ? file.hash : file.why;
  });
  const key = JSON.stringify([root, argv, readVersion(agent), tests, process.getuid?.() ?? 0, files]);
  return statePath("preflight", `${hashOf(key).slice(0, 32)}.json`);
}

/** A changed program counts as another agent. */
function readVersion({ argv }: Agent): string {
  const program = attempt(() => stat(argv[0]!), null);
  return program ? `${program.size} ${program.mtimeMs}` : "";
}

// ── One real turn ───────────────────────────────────────────────────────────

/**
 * Can the agent edit, run the tests and commit with the permissions it has? The disk, git's own trace and the client's
 * record of tool calls show what it did; what it says about it is not read.
 */
interface Trial {
  root: string;
  agent: Agent;
  /** null: pawl.yaml names none */
  tests: string | null;
  timeout_ms: number;
  interrupted?: AbortSignal;
}

type TrialResult = Pick<Preflight, "checks" | "cost_usd">;

const COMMIT = "git commit --dry-run";
const FOLDER = ".pawl/preflight";
const BUFFER = 4 << 20;
const TRACE_TAIL = 4 << 20;

async function tryAgent(trial: Trial): Promise<TrialResult> {
  const { root } = trial;
  const id = crypto.randomUUID();
  const nonce = crypto.randomUUID();
  const isNew = lookAt(insideRoot(root, ".pawl")) === undefined;
  sweep(root);
  const folder = ensureDir(root, `${FOLDER}/${id}`, "unsynced");
  const before = readState(root);
  try {
    const ended = await startAgent(trial, promptFor(trial, `${FOLDER}/${id}/proof.txt`, nonce), join(folder, "git"));
    return judge(trial, ended, { proof: join(folder, "proof.txt"), nonce, trace: join(folder, "git"), before });
  } finally {
    // Removes only our own empty folders, and only if they were not there before.
    removeAll(folder);
    for (const path of [FOLDER, ...(isNew ? [".pawl"] : [])]) attempt(() => rmdir(insideRoot(root, path)), undefined);
  }
}

/** Removes what a killed trial left; a running one is younger. */
function sweep(root: string): void {
  const folder = insideRoot(root, FOLDER);
  for (const name of namesOrNone(folder)) {
    const found = lookAt(join(folder, name));
    if (found?.isDirectory() && Date.now() - found.mtimeMs > HOUR) removeAll(join(folder, name));
  }
}

function promptFor({ tests }: Trial, proof: string, nonce: string): string {
  const steps = [
    `Write the file ${proof} with this single line: ${nonce}`,
    ...(tests === null ? [] : [`Run this command exactly as written, and wait until it ends: ${tests}`]),
    `Run this command exactly as written: ${COMMIT}`,
  ];
  return [
    `${MARK} This is a trial before unattended work. Do these steps with your tools, in order, once each.`,
    ...steps.map((step, at) => `${at + 1}. ${step}`),
    "Change nothing else, fix nothing, and commit nothing. If a step is refused or fails, skip it and continue with the next one. Then answer with one short line.",
  ].join("\n");
}

/** Claude Code keeps no conversation of the trial and stops after a few turns. */
const claudeOnly = (agent: Agent) =>
  agent.name === "claude" && agent.session !== null ? ["--no-session-persistence", "--max-turns", "20"] : [];

function startAgent({ root, agent, timeout_ms, interrupted }: Trial, prompt: string, trace: string): Promise<AgentEnd> {
  const argv = [...agent.argv, ...claudeOnly(agent)];
  // git itself records which of its commands ran.
  const env = { ...agent.env, GIT_TRACE2_EVENT: trace, GIT_TRACE2_EVENT_NESTING: "0" };
  return runAgent({
    argv,
    cwd: root,
    env,
    stdin: prompt,
    timeout_ms,
    buffer: BUFFER,
    ...(interrupted && { interrupted }),
  });
}

// ── What it did ─────────────────────────────────────────────────────────────

interface Evidence {
  proof: string;
  nonce: string;
  trace: string;
  before: ReturnType<typeof readState>;
}

function judge(trial: Trial, ended: AgentEnd, evidence: Evidence): TrialResult {
  const { agent } = trial;
  const text = new TextDecoder().decode(ended.tail);
  const said = readOutput(agent.format, text);
  const tools = toolsIn(agent.format, text);
  const start = checkStart(agent, ended, said, text);
  if (!start.ok) return { checks: [start], cost_usd: said.cost_usd };
  const checks = [
    start,
    checkEdit(agent, evidence, tools),
    ...(trial.tests === null ? [NO_TESTS] : [checkTests(agent, trial.tests, tools)]),
    checkCommit(agent, evidence.trace, tools),
    ...checkUntouched(trial.root, evidence.before),
  ];
  return { checks, cost_usd: said.cost_usd };
}

const NO_TESTS = unknown(
  "tests",
  "no gate in pawl.yaml runs tests, so none were run",
  "add one to pawl.yaml: `gates: { tests: { tests: [npm, test] } }`",
);

function checkStart(agent: Agent, ended: AgentEnd, said: ReturnType<typeof readOutput>, text: string): Check {
  const { how, exit, elapsed_ms } = ended;
  const seconds = (elapsed_ms / 1000).toFixed(1);
  if (how === "interrupted") return bad("agent", "the trial was interrupted", "start again");
  if (how === "timeout")
    return bad("agent", `${agent.name} did not end within ${seconds} s`, "give it a longer --timeout");
  if (how === "exited" && exit === 0 && said.error === null) {
    const cost = said.cost_usd === null ? "" : `, ${said.cost_usd.toFixed(2)} USD`;
    return good("agent", `${agent.name} finished a turn in ${seconds} s${cost}`);
  }
  const failed = classify({ how, exit, said, text: how === "not-started" ? ended.why : text });
  const later =
    failed.class === "limit" ? "wait until the limit ends" : "try again; if it persists, start the agent by hand";
  return bad("agent", `${agent.name} failed: ${safeText(failed.why)}`, failed.remedy ?? later);
}

function checkEdit(agent: Agent, { proof, nonce }: Evidence, tools: ToolUse[] | null): Check {
  const file = readText(proof, 4096);
  if (file.ok && file.text.trim() === nonce) return good("edit", "it can write files");
  const refused = tools?.some(({ denied, command }) => denied && command === "") ?? false;
  const what = refused ? "it was not allowed to write a file" : "it did not write the file";
  return bad("edit", what, allowFor(agent.name).edit);
}

const flat = (command: string) => command.replace(/\s+/g, " ").trim();

function checkTests(agent: Agent, tests: string, tools: ToolUse[] | null): Check {
  if (tools === null) return unknown("tests", `${agent.name} does not show which commands it ran`);
  const uses = tools.filter(({ command }) => flat(command).includes(flat(tests)));
  const remedy = allowFor(agent.name).command(tests);
  const ran = uses.findLast(({ denied, failed }) => !denied && failed !== null);
  const failed = uses.length > 0 ? "it was not allowed to run" : "it did not run";
  if (!ran) return bad("tests", `${failed} the tests: ${safeText(tests)}`, remedy);
  if (!ran.failed) return good("tests", `it can run the tests: ${safeText(tests)}`);
  if (/\b(?:exit code 12[67]|command not found|permission denied)\b/i.test(ran.result))
    return bad("tests", `the tests cannot be run: ${safeText(tests)}`, "fix the command of that gate in pawl.yaml");
  return good("tests", `it can run the tests, which fail now: ${safeText(tests)}`);
}

/** Exit 0: something would be committed; 1: nothing is staged; anything else: git could not try. */
function checkCommit(agent: Agent, trace: string, tools: ToolUse[] | null): Check {
  const exits = commitsIn(readTail(trace, TRACE_TAIL)?.text ?? "");
  if (exits.some((code) => code === 0 || code === 1)) return good("commit", "it can commit");
  const { git = "let it write to .git" } = allowFor(agent.name);
  if (exits.length > 0) return bad("commit", `git refused to commit for it (exit ${exits.at(-1)})`, git);
  const refused = tools?.some(({ command, denied }) => denied && command.includes("git commit")) ?? false;
  const what = refused ? "it was not allowed to run git commit" : "it did not run git commit";
  return bad("commit", what, allowFor(agent.name).command("git commit"));
}

/** Exit codes of the trial commits, as git recorded them. */
function commitsIn(trace: string): number[] {
  const events = trace.split("\n").map(parseJson).filter(isObject);
  const trials = new Set(
    events.filter(({ event, argv }) => event === "start" && Array.isArray(argv) && isTrial(argv)).map(({ sid }) => sid),
  );
  return events.flatMap(({ event, sid, code }) =>
    event === "exit" && trials.has(sid) && typeof code === "number" ? [code] : [],
  );
}

const isTrial = (argv: unknown[]) => argv.includes("commit") && argv.includes("--dry-run");

// ── What it should have left alone ──────────────────────────────────────────

function readState(root: string) {
  const head = ask(root, ["rev-parse", "HEAD"]).out.trim();
  return { head, changed: ask(root, ["status", "--porcelain=v1", "-z", "--", ":(top)", ":(exclude).pawl"]).out };
}

function checkUntouched(root: string, before: Evidence["before"]): Check[] {
  const after = readState(root);
  if (after.head !== before.head)
    return [
      bad("untouched", "it made a commit during the trial", "look at it with `git show`, and undo it if you like"),
    ];
  if (after.changed === before.changed) return [];
  return [unknown("untouched", "files changed during the trial", "`git status` shows them; tests may have made them")];
}
