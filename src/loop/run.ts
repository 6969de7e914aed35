/** Drives a loop: prompt, agent, signals, verdict, again, until there is an outcome. */

import { setTimeout as sleep } from "node:timers/promises";
import { spawnGit } from "../checks/git.ts";
import { treeHash } from "../checks/tree/tree.ts";
import type { LoopSettings } from "../definitions/loop-config.ts";
import { MARK } from "../engine/core/guide.ts";
import type { Limits, LoopState } from "../kernel/types/loop.ts";
import type { Procedure } from "../kernel/types/procedure.ts";
import { type KeptLoop, saveLoop } from "../store/loops.ts";
import { identify } from "../store/processes/process.ts";
import type { Agent } from "./agents.ts";
import { type AgentReport, readOutput } from "./core/agent-output.ts";
import { type Context, composePrompt } from "./core/compose.ts";
import { classify } from "./core/failure-class.ts";
import { after, ended, type IterationResult, mayGo, type Next, saysTheSame, waited } from "./core/loop.ts";
import { type LoopSignals, signalsIn, signalsInOutput } from "./core/signal.ts";
import { resetIn } from "./core/usage-limit.ts";
import { openOutputLog } from "./output-log.ts";
import { type AgentEnd, runAgent } from "./process.ts";
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

export const pickLimits = ({ max_iterations, failure_threshold, time_limit, budget }: LoopSettings): Limits => ({
  max_iterations: max_iterations.value,
  failure_threshold: failure_threshold.value,
  time_limit: time_limit.value,
  budget: budget.value,
});

/** Every step is saved before it is shown, so `--resume` continues with the same count and budget. */
export async function runLoop(plan: LoopPlan, begun: KeptLoop): Promise<LoopState> {
  const { root, view, interrupted } = plan;
  const limits = pickLimits(plan.settings);
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
    else if (next.kind === "wait") next = await wait(plan, next.ms, next.why, kept.state, keep);
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
  const prompt = promptFor(plan, state, begun.instruction);
  const agent = plan.agentFor(session, state.cost_usd);
  const end = await callAgent(plan, state, agent, prompt, (pid) => {
    const began = new Date().toISOString();
    keep({ agent: { ...identify(pid), iteration, session, began } }, "unsynced");
  });
  const said = readOutput(agent.format, new TextDecoder().decode(end.tail));
  // If the client reports the final message, a printed file cannot be taken for a signal.
  const found = said.message === null ? signalsInOutput(end, prompt) : signalsIn(said.message, prompt);
  const result = buildResult(plan, state, end, said, sharing.signals?.(found) ?? found, session);
  const { state: now, next } = after(state, limits, result);
  keep({ state: now, agent: null });
  const line = now.lines.at(-1)!;
  sharing.note(line);
  view.iterated(line, now);
  return next;
}

/** The mark tells the session's hooks that Pawl wrote this prompt, not a person. */
function promptFor({ procedure, context, settings }: LoopPlan, { notes, iterations }: LoopState, own: string): string {
  const iteration = iterations + 1;
  const composed = composePrompt(procedure, { iteration, max: settings.max_iterations.value }, { context, notes });
  return [`${MARK} pawl loop ${procedure.name}, iteration ${iteration}`, composed, own].filter(Boolean).join("\n\n");
}

async function callAgent(
  { root, settings, view, interrupted }: LoopPlan,
  state: LoopState,
  agent: Agent,
  prompt: string,
  onStart: (pid: number) => void,
): Promise<AgentEnd> {
  const log = openOutputLog(root, state.id);
  const left_ms = settings.time_limit.value * 1000 - state.spent_ms;
  const end = await runAgent({
    argv: agent.argv,
    cwd: root,
    env: agent.env,
    stdin: prompt,
    timeout_ms: Math.max(1_000, Math.min(settings.timeout.value * 1000, left_ms)),
    buffer: settings.buffer.value,
    interrupted,
    onStart,
    onOutput: (bytes) => {
      log.add(bytes);
      view.output(bytes);
    },
  });
  log.close();
  return end;
}

function buildResult(
  { root, sharing }: LoopPlan,
  state: LoopState,
  end: AgentEnd,
  said: AgentReport,
  signals: LoopSignals,
  session: string,
): IterationResult {
  const { how, exit, why, elapsed_ms } = end;
  const { cost_usd, tokens } = said;
  const tail = new TextDecoder().decode(end.tail.subarray(-64 * 1024));
  const failed = classify({ how, exit, said, text: how === "not-started" ? why : tail });
  const at = new Date().toISOString();
  const believed = signals.success && !signals.failure && how !== "timeout" && how !== "interrupted";
  const message = said.message ?? tail.split("\n").slice(-20).join("\n");
  const tree = saysTheSame(state, message) ? treeHash(root, null) : null;
  return {
    ...{ at, how, exit, why, signals, message, failed, cost_usd, tokens, elapsed_ms, session },
    gist: said.message ?? message.trimEnd().split("\n").at(-1) ?? "",
    reset_in_ms: failed.class === "limit" ? resetIn(said.limit ?? tail, at) : null,
    refused: believed ? sharing.refuses(session) : null,
    tree: tree?.ok ? tree.value : "",
  };
}

// ── Waiting ─────────────────────────────────────────────────────────────────

const SHOW_MS = 1_000;

/** On the wall clock: a limit also ends while the machine sleeps. */
async function wait(plan: LoopPlan, most: number, why: string, state: LoopState, keep: Keep): Promise<Next> {
  const { view, interrupted, settings } = plan;
  const until = Date.now() + most;
  const began = Bun.nanoseconds();
  keep({ waiting: { until: new Date(until).toISOString(), why } });
  while (Date.now() < until && !interrupted.aborted) {
    view.waiting(until - Date.now(), why);
    const ms = Math.max(0, Math.min(SHOW_MS, until - Date.now()));
    await sleep(ms, undefined, { signal: interrupted }).catch(() => undefined);
  }
  const rested = waited(state, (Bun.nanoseconds() - began) / 1e6, new Date().toISOString());
  keep({ state: rested, waiting: null });
  return mayGo(rested, pickLimits(settings));
}

// ── Commits ─────────────────────────────────────────────────────────────────

/** "": no repository, or no commit yet. */
export function gitHead(root: string): string {
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
