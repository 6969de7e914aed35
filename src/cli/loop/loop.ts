import { listProcedures } from "../../definitions/procedures.ts";
import { findByName } from "../../definitions/registry.ts";
import { hash } from "../../hosts/identity.ts";
import { safeText } from "../../kernel/text/safe-text.ts";
import type { LoopState } from "../../kernel/types/loop.ts";
import { UserError } from "../../kernel/user-error.ts";
import { type Agent, agentFor } from "../../loop/agents.ts";
import { composePrompt, requestIn } from "../../loop/core/compose.ts";
import { EXIT_CODES, newLoop } from "../../loop/core/loop.ts";
import type { Check } from "../../loop/preflight.ts";
import { gitHead, pickLimits, runLoop } from "../../loop/run.ts";
import { type Sharing, shareNothing, shareProcedure, shareWorkflow } from "../../loop/sharing.ts";
import { jsonView, type Level, type LoopView, lineView } from "../../loop/view.ts";
import { callAfterLoop, watchBesides } from "../../notify/call.ts";
import { notifyAbout } from "../../notify/commits.ts";
import { isHeld, takeLock } from "../../store/lock.ts";
import { canResume, findLoop, isRunning, type KeptLoop, listLoops } from "../../store/loops.ts";
import { excludeOurs } from "../../store/place.ts";
import { agentCalling } from "../../store/processes/person.ts";
import { endOldGroup } from "../../store/processes/process.ts";
import { type Io, type Parsed, parseArgs, print, projectRoot } from "../shared/args.ts";
import { findHooks } from "../shared/doctor-context.ts";
import { projectProblems, troubleText } from "../workflows/targets.ts";
import { type LoopRequest, OPTIONS, readRequest, wrongUse } from "./request.ts";

export const usage = `usage: pawl loop <procedure> [options]      run it repeatedly, each time in a fresh agent process
       pawl loop                              list the procedures
       pawl loop --resume [loop]              continue after a crash, a reboot, Ctrl+C or a limit: same count, same budget
       pawl loop --attach [loop]              watch it from another terminal

  -n, --max-iterations N   at most N iterations        -u, --unlimited   no limit on iterations
  --failure-threshold N    stop after N failures in a row
  --timeout S              limit for one iteration (90s, 30m, 2h)
  --time-limit S, --budget USD   limits for all iterations together
  --permissions P          what Claude may do without asking: edits (default), settings, skip (everything; not as root)
  --ai NAME                claude, codex, copilot, gemini, qwen, opencode      --ai-cmd "LINE"   any command line
  -c, --context TEXT|FILE  add to the prompt; can be repeated
  --observe, --orient, --decide, --act FILE|builtin:…   use other fragments for a phase; can be repeated
  -d, --dry-run            show the settings and where each comes from, the prompt, and any problem; start nothing
  --no-preflight           skip the check that the agent can edit, test and commit here
  -v, --verbose  show what the agent prints      -q, --quiet  errors only      --log-level L   --json   --config FILE

A procedure is done when the agent says <promise>SUCCESS</promise> and its checks pass. FAILURE, a timeout or a non-zero exit
is a failure; no signal and exit 0 means: continue. Ctrl+C ends the agent and stops.
Exit codes: 0 success, 1 aborted, wrong use or configuration, 2 a limit was reached (iterations, budget, time),
3 the agent could not be started, 130 interrupted.`;

const FLAGS = ["--dry-run", "--no-preflight", "--verbose", "--quiet", "--json", "--resume", "--attach", "--log-level="];
const SHORT = new Map([
  ["-n", "--max-iterations"],
  ["-u", "--unlimited"],
  ["-d", "--dry-run"],
  ["-c", "--context"],
  ["-v", "--verbose"],
  ["-q", "--quiet"],
]);

export async function run({ words }: Parsed, io: Io): Promise<number> {
  const args = words.map((arg) => SHORT.get(arg) ?? arg);
  const parsed = parse(args);
  const root = projectRoot(io);
  const [word] = parsed.words;
  if (parsed.words.length > 1) throw wrongUse(`unknown argument ${parsed.words[1]}`, "name one procedure at a time");
  if (parsed.flags.has("--attach")) {
    const { attach } = await import("../../loop/attach.ts");
    return await attach(root, word, { ...io, verbose: parsed.flags.has("--verbose") }, interruption());
  }
  if (parsed.flags.has("--resume")) return await resume(root, word, parsed, io);
  if (word === undefined) return list(root, io);
  return await begin(root, word, args, parsed, io);
}

function parse(args: string[]): Parsed {
  try {
    return parseArgs(args, [...OPTIONS, ...FLAGS]);
  } catch (error) {
    throw error instanceof UserError ? wrongUse(error.message, error.hint) : error;
  }
}

function list(root: string, io: Io): number {
  const all = listProcedures(root);
  const rows = all.map((found) => {
    const about = "procedure" in found ? found.procedure.about : troubleText(found);
    return `  ${found.name.padEnd(26)}${about}`;
  });
  const parts = [rows.join("\n"), "  pawl loop <procedure> --dry-run shows what it would do.", ...projectProblems(all)];
  io.out(`${parts.join("\n\n")}\n`);
  return 0;
}

// ── Starting and resuming ─────────────────────────────────────────────────

async function begin(root: string, name: string, args: string[], parsed: Parsed, io: Io): Promise<number> {
  const request = await readRequest(root, name, parsed, io);
  if (parsed.flags.has("--dry-run")) return dryRun(request, parsed, io);
  refuseStart(root);
  const at = new Date().toISOString();
  const id = `lo-${hash("loop", root, at, String(process.pid)).slice(0, 8)}`;
  const fresh = newLoop({ id, procedure: name, ai: request.settings.ai.value, run: "" }, at);
  const state = { ...fresh, head: gitHead(root) };
  return await drive(root, request, { state, asked: args, runner: null, agent: null, waiting: null }, parsed, io);
}

async function resume(root: string, id: string | undefined, parsed: Parsed, io: Io): Promise<number> {
  refuseStart(root);
  const kept = id === undefined ? listLoops(root).find(canResume) : findLoop(root, id);
  if (!kept)
    throw wrongUse(id ? `there is no loop ${id}` : "no loop here can be resumed", "`pawl loop <procedure>` starts one");
  if (!canResume(kept))
    throw wrongUse(`${kept.state.id} has ended: ${kept.state.why}`, "`pawl loop <procedure>` starts a new one");
  // A loop that was killed could neither end its agent nor learn what it cost.
  if (kept.agent) endOldGroup(kept.agent);
  const state = kept.agent ? { ...kept.state, cost_known: false } : kept.state;
  const before = parse(kept.asked);
  const both = {
    ...before,
    values: { ...before.values, ...parsed.values },
    flags: new Set([...before.flags, ...parsed.flags]),
  };
  const { procedure } = state;
  return await drive(root, await readRequest(root, procedure, both, io), { ...kept, state }, both, io);
}

async function drive(root: string, request: LoopRequest, kept: KeptLoop, parsed: Parsed, io: Io): Promise<number> {
  const interrupted = interruption();
  const first = agentWith(request, crypto.randomUUID());
  if ("error" in first) return notStarted(first, parsed, io);
  excludeOurs(root);
  if (!parsed.flags.has("--no-preflight")) {
    const { ok, cost_usd } = await tryFirst(root, request, first.agent, parsed, io);
    if (!ok) return interrupted.aborted ? 130 : 1;
    kept.state.cost_usd += cost_usd ?? 0;
    kept.state.trial_usd += cost_usd ?? 0;
  }
  const sharing = sharingFor(root, request, first.agent, kept.state);
  const view = viewFor(request, kept.state, parsed, io);
  const notifier = { watch: watchBesides, ended: callAfterLoop };
  const again = (session: string, spent: number) => {
    const found = agentWith(request, session, spent);
    if ("error" in found) throw new Error(found.error);
    return found.agent;
  };
  const state = await runLoop(
    { root, ...request, agentFor: again, sharing, view, notifier, interrupted },
    { ...kept, state: { ...kept.state, run: sharing.run() } },
  );
  return EXIT_CODES[state.outcome ?? "interrupted"];
}

/** The remaining budget is also the agent's own limit, if it has one. */
const agentWith = ({ settings, hooks }: LoopRequest, session: string, spent = 0) =>
  agentFor(settings.ai.value, {
    session,
    root: process.getuid?.() === 0,
    permissions: settings.permissions.value,
    budget_usd: Math.max(0.01, settings.budget.value - spent),
    hooks,
  });

function notStarted({ error, hint }: { error: string; hint: string }, { flags }: Parsed, io: Io): number {
  if (flags.has("--json")) io.out(`${JSON.stringify({ event: "ended", outcome: "not-started", why: error, hint })}\n`);
  else io.err(`pawl: ${error}\n  hint: ${hint}\n`);
  return EXIT_CODES["not-started"];
}

/** Only Claude Code has hooks to share a run with; other agents are judged by the loop alone. */
function sharingFor(root: string, { procedure, context }: LoopRequest, agent: Agent, { run }: LoopState): Sharing {
  if (procedure.drives === undefined)
    return agent.name === "claude" || procedure.gates.length > 0
      ? shareProcedure(root, procedure, run, requestIn(context), notifyAbout)
      : shareNothing();
  if (agent.name !== "claude") throw wrongUse(`${procedure.name} needs Claude Code's hooks`, "use --ai claude");
  const found = findByName(procedure.drives, root);
  if (!found || "errors" in found) throw wrongUse(`${procedure.drives} has errors`, "`pawl check` shows them");
  return shareWorkflow(root, found.workflow, run);
}

async function tryFirst(root: string, request: LoopRequest, agent: Agent, { flags }: Parsed, io: Io) {
  const { procedure, settings } = request;
  const { preflight } = await import("../../loop/preflight.ts");
  const json = flags.has("--json");
  const isQuiet = flags.has("--quiet");
  if (!isQuiet && !json) io.err("Preflight: can the agent edit, test and commit here? (--no-preflight skips this)\n");
  const hooks = () => findHooks(root, agent.env, request.hooks !== null && agent.argv.includes(request.hooks));
  const found = await preflight({ root, procedure, agent, settings, interrupted: interruption(), hooks });
  if (json) io.out(`${JSON.stringify({ event: "preflight", ...found })}\n`);
  else if (!found.ok || !isQuiet) io.err(preflightText(found.checks));
  return found;
}

const MARKS = { true: "✔", false: "✘", null: "·" } as const;

function preflightText(checks: Check[]): string {
  const rows = checks.map(({ name, ok, detail, remedy }) => {
    const line = `  ${MARKS[`${ok}`]} ${name.padEnd(12)} ${safeText(detail)}`;
    return ok !== true && remedy ? `${line}\n      → ${safeText(remedy)}` : line;
  });
  return `${rows.join("\n")}\n\n`;
}

/** What a loop would do: settings and where each comes from, the prompt, and any problem. Starts nothing. */
function dryRun(request: LoopRequest, parsed: Parsed, io: Io): number {
  const { procedure, settings, context } = request;
  const found = agentWith(request, crypto.randomUUID());
  const [argv, problem] = "agent" in found ? [found.agent.argv, null] : [null, found];
  const words = argv?.map((word) => (word === request.hooks ? "<Pawl's hooks>" : word));
  const at = { iteration: 1, max: settings.max_iterations.value };
  const prompt = composePrompt(procedure, at, { context, notes: [] });
  const rows = Object.entries(settings).map(
    ([name, { value, from }]) => `  ${name.padEnd(18)} ${String(value ?? "unlimited").padEnd(12)} ${from}`,
  );
  const gates = procedure.gates.map(({ name }) => `  ${name}`);
  const lines = [
    `Procedure ${procedure.name} (${procedure.source})`,
    `  SUCCESS   ${procedure.success}`,
    `  continue  ${procedure.again}`,
    `  FAILURE   ${procedure.failure}`,
    ...["", "Settings", ...rows, ""],
    ...(words ? ["Agent", `  ${words.join(" ")}`, ""] : []),
    ...(gates.length > 0 ? ["SUCCESS counts only if", ...gates, ""] : []),
    ...["Prompt of the first iteration", "", prompt],
  ];
  const data = { procedure: procedure.name, source: procedure.source, settings, argv, prompt, problem };
  print(io, parsed, data, () => lines.join("\n"));
  if (problem && !parsed.flags.has("--json")) io.err(`pawl: ${problem.error}\n  hint: ${problem.hint}\n`);
  return problem ? 1 : 0;
}

// ── Around it ───────────────────────────────────────────────────────────────

/** Never released: held as long as this process lives, from before preflight on. false: another loop has the tree. */
function lockTree(root: string): boolean {
  try {
    takeLock(root, ".pawl/tracker/loop", 0);
    return true;
  } catch (error) {
    // A disk without locks is no reason to refuse.
    return !isHeld(error);
  }
}

/** An agent that starts agents would escape every limit; two loops in one tree would work against each other. */
function refuseStart(root: string): void {
  const agent = agentCalling();
  if (agent !== null)
    throw wrongUse(`an agent cannot start a loop (${agent})`, "ask the person to start it in a terminal");
  // From here on a signal must end what was begun.
  interruption();
  const other = listLoops(root).find(isRunning);
  if (!other && lockTree(root)) return;
  if (!other) throw wrongUse("a loop is already running here: it has just started", "wait until it ends");
  const { id, procedure, iterations } = other.state;
  throw wrongUse(
    `a loop is already running here: ${id}, ${procedure}, iteration ${iterations + 1}`,
    `\`pawl loop --attach ${id}\` shows it; another worktree can have its own loop`,
  );
}

let interrupting: AbortSignal | undefined;

/** The agent is ended and the loop stops; a second signal changes nothing, because nothing is faster. */
function interruption(): AbortSignal {
  if (interrupting) return interrupting;
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => controller.abort());
  interrupting = controller.signal;
  return interrupting;
}

function viewFor({ procedure, settings }: LoopRequest, state: LoopState, { flags, values }: Parsed, io: Io): LoopView {
  if (flags.has("--json")) return jsonView(io);
  const level = parseLevel(flags, values["--log-level"]);
  if (!io.isTTY || level !== "info" || process.env.TERM === "dumb")
    return lineView(io, { level, verbose: flags.has("--verbose") });
  const { terminalView } = require("../../loop/terminal.ts") as typeof import("../../loop/terminal.ts");
  return terminalView(io, {
    procedure: procedure.name,
    state,
    ai: settings.ai.value,
    limits: pickLimits(settings),
    columns: () => process.stdout.columns ?? 80,
    verbose: flags.has("--verbose"),
  });
}

function parseLevel(flags: Set<string>, named = "info"): Level {
  if (flags.has("--quiet")) return "error";
  const known = ["debug", "info", "warn", "error"] as const;
  const level = known.find((one) => one === named);
  if (!level) throw wrongUse(`--log-level ${named} does not exist`, `use one of ${known.join(", ")}`);
  return level;
}
