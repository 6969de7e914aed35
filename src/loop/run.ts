/** Drives a loop: prompt, agent, signals, verdict, again, until there is an outcome. */

import { spawnGit } from "../checks/git.ts";
import { treeHash } from "../checks/tree/tree.ts";
import type { LoopSettings } from "../definitions/loop-config.ts";
import { MARK } from "../engine/core/guide.ts";
import type { Limits, LoopState } from "../kernel/types/loop.ts";
import type { Procedure } from "../kernel/types/procedure.ts";
import { type KeptLoop, saveLoop } from "../store/loops.ts";
import { identify } from "../store/processes/process.ts";
import type { Agent } from "./agents.ts";
import { type AgentSaid, readOutput } from "./core/agent-output.ts";
import { type Context, composePrompt } from "./core/compose.ts";
import { classify } from "./core/failure-class.ts";
import { after, ended, type IterationResult, mayGo, type Next, saysTheSame, waited } from "./core/loop.ts";
import { type LoopSignals, signalsIn, signalsInOutput } from "./core/signal.ts";
import { resetIn } from "./core/usage-limit.ts";
import { openOutputLog } from "./output-log.ts";
import { type Ended, runAgent } from "./process.ts";
import type { Sharing } from "./sharing.ts";
import type { LoopView } from "./view.ts";

/** How the person hears of this loop and of silent runs while it works. */
export interface Notifier {
  /** returns what ends the watching */
  watch(): () => void;
  ended(root: string, state: LoopState): void;
}

export interface LoopPlan {
  root: string;
  procedure: Procedure;
  settings: LoopSettings;
  /** called for each iteration */
  agentFor: (session: string, spent_usd: number) => Agent;
  /** how hooks and loop share a run */
  sharing: Sharing;
  context: Context[];
  view: LoopView;
  notifier: Notifier;
  interrupted: AbortSignal;
}

export const limitsOf = ({ max_iterations, failure_threshold, time_limit, budget }: LoopSettings): Limits => ({
  max_iterations: max_iterations.value,
  failure_threshold: failure_threshold.value,
  time_limit: time_limit.value,
  budget: budget.value,
});

/** Every step is saved before it is shown, so `--resume` continues with the same count and budget. */
export async function runLoop(plan: LoopPlan, begun: KeptLoop): Promise<LoopState> {
  const { root, view, interrupted } = plan;
  const limits = limitsOf(plan.settings);
  let kept: KeptLoop = { ...begun, runner: identify(process.pid) };
  const keep: Keep = (change, how) => {
    kept = { ...kept, ...change };
    saveLoop(root, kept, how);
  };
  keep({ state: { ...kept.state, outcome: null, why: "" }, limits, agent: null, waiting: null });
  const stopWatching = plan.notifier.watch();
  let next: Next = mayGo(kept.state, limits);
  while (next.kind !== "end") {
    if (interrupted.aborted) next = { kind: "end", outcome: "interrupted", why: "interrupted" };
    else if (next.kind === "wait") next = await wait(plan, next, kept.state, keep);
    else next = await iterate(plan, kept.state, limits, keep);
  }
  const over = ended(kept.state, next, new Date().toISOString());
  const state = { ...over, commits: commitsSince(root, over.head ?? "") };
  keep({ state, runner: null, agent: null, waiting: null });
  plan.sharing.end(state);
  stopWatching();
  view.ended(state);
  plan.notifier.ended(root, state);
  return state;
}

type Keep = (change: Partial<KeptLoop>, how?: "unsynced") => void;

// ── One iteration ───────────────────────────────────────────────────────────

async function iterate(plan: LoopPlan, before: LoopState, limits: Limits, keep: Keep): Promise<Next> {
  const { view, sharing } = plan;
  const iteration = before.iterations + 1;
  const session = crypto.randomUUID();
  const begun = await sharing.begin(iteration, session);
  if ("over" in begun) return { kind: "end", ...begun.over };
  // `auto` has its run only now, and `--resume` must find it.
  const state = { ...before, run: sharing.run() };
  if (state.run !== before.run) keep({ state });
  view.began(iteration, limits.max_iterations, session);
  const prompt = promptFor(plan, state, iteration, begun.instruction);
  const { end, said, signals } = await callAgent(plan, state, prompt, iteration, session, keep);
  const result = await resultOf(plan, state, end, said, sharing.signals?.(signals) ?? signals, session);
  const { state: now, next } = after(state, limits, result);
  keep({ state: now, agent: null });
  const line = now.lines.at(-1)!;
  sharing.note(line);
  view.iterated(line, now);
  return next;
}

/** The mark tells the session's hooks that Pawl wrote this prompt, not a person. */
function promptFor(
  { procedure, context, settings }: LoopPlan,
  state: LoopState,
  iteration: number,
  own: string,
): string {
  const max = settings.max_iterations.value;
  const composed = composePrompt(procedure, { iteration, max }, { context, notes: state.notes });
  return [`${MARK} pawl loop ${procedure.name}, iteration ${iteration}`, composed, own].filter(Boolean).join("\n\n");
}

async function callAgent(
  { root, settings, agentFor, view, interrupted }: LoopPlan,
  state: LoopState,
  prompt: string,
  iteration: number,
  session: string,
  keep: Keep,
): Promise<{ end: Ended; said: AgentSaid; signals: LoopSignals }> {
  const agent = agentFor(session, state.cost_usd);
  const log = openOutputLog(root, state.id);
  const left_ms = settings.time_limit.value * 1000 - state.spent_ms;
  const end = await runAgent({
    argv: agent.stdin ? agent.argv : [...agent.argv, prompt],
    cwd: root,
    env: agent.env,
    stdin: agent.stdin ? prompt : "",
    timeout_ms: Math.max(1_000, Math.min(settings.timeout.value * 1000, left_ms)),
    buffer: settings.buffer.value,
    interrupted,
    onStart: (pid) => {
      const began = new Date().toISOString();
      keep({ agent: { ...identify(pid), iteration, session, began } }, "unsynced");
    },
    onOutput: (bytes) => {
      log.add(bytes);
      view.output(bytes);
    },
  });
  log.close();
  const said = readOutput(agent.format, new TextDecoder().decode(end.tail));
  // If the client reports the final message, an echoed prompt or a printed file cannot be taken for a signal.
  const signals = said.message === null ? signalsInOutput(end, prompt) : signalsIn(said.message);
  return { end, said, signals };
}

async function resultOf(
  { root, sharing }: LoopPlan,
  state: LoopState,
  end: Ended,
  said: AgentSaid,
  signals: LoopSignals,
  session: string,
): Promise<IterationResult> {
  const { how, exit, why, elapsed_ms } = end;
  const tail = new TextDecoder().decode(end.tail.subarray(-64 * 1024));
  const failed = classify({ how, exit, said, text: how === "not-started" ? why : tail });
  const at = new Date().toISOString();
  const believed = signals.success && !signals.failure && how !== "timeout" && how !== "interrupted";
  const message = said.message ?? lastLines(tail);
  const tree = saysTheSame(state, message) ? treeHash(root, null) : null;
  return {
    at,
    how,
    exit,
    why,
    signals,
    message,
    gist: said.message ?? message.trimEnd().split("\n").at(-1) ?? "",
    failed,
    reset_in_ms: failed.class === "limit" ? resetIn(said.limit ?? tail, at) : null,
    refused: believed ? sharing.refuses(session) : null,
    tree: tree?.ok ? tree.value : "",
    cost_usd: said.cost_usd,
    tokens: said.tokens,
    elapsed_ms,
    session,
  };
}

const lastLines = (text: string) => text.split("\n").slice(-20).join("\n");

// ── Waiting ─────────────────────────────────────────────────────────────────

const SHOW_MS = 1_000;

/** On the wall clock: a limit also ends while the machine sleeps. */
async function wait(
  plan: LoopPlan,
  next: Extract<Next, { kind: "wait" }>,
  state: LoopState,
  keep: Keep,
): Promise<Next> {
  const { view, interrupted, settings } = plan;
  const from = Date.now();
  const until = from + next.ms;
  const spent = Bun.nanoseconds();
  keep({ waiting: { until: new Date(until).toISOString(), why: next.why } });
  while (Date.now() < until && !interrupted.aborted) {
    view.waiting(until - Date.now(), next.why);
    await pause(Math.min(SHOW_MS, until - Date.now()), interrupted);
  }
  const rested = waited(state, (Bun.nanoseconds() - spent) / 1e6, new Date().toISOString());
  keep({ state: rested, waiting: null });
  return mayGo(rested, limitsOf(settings));
}

function pause(ms: number, interrupted: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(over, Math.max(0, ms));
    interrupted.addEventListener("abort", over, { once: true });
    function over() {
      clearTimeout(timer);
      interrupted.removeEventListener("abort", over);
      resolve();
    }
  });
}

// ── Commits ─────────────────────────────────────────────────────────────────

/** "": no repository, or no commit yet. */
export function headOf(root: string): string {
  const { exitCode, stdout } = spawnGit(root, ["rev-parse", "--verify", "-q", "HEAD"]);
  return exitCode === 0 ? stdout.toString().trim() : "";
}

/** null: unknown. */
function commitsSince(root: string, head: string): number | null {
  if (head === "") return null;
  const { exitCode, stdout } = spawnGit(root, ["rev-list", "--count", `${head}..HEAD`]);
  const count = Number(stdout.toString().trim());
  return exitCode === 0 && Number.isSafeInteger(count) ? count : null;
}
