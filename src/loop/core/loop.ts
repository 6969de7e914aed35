/** What follows from one iteration of a loop. Times come in as figures; nothing is started or stopped here. */

import { short } from "../../engine/core/run-view.ts";
import { MINUTE, SECOND } from "../../kernel/time/calendar.ts";
import type { Limits, LoopOutcome, LoopState, Timing, Verdict } from "../../kernel/types/loop.ts";
import type { AgentReport } from "./agent-output.ts";
import type { Ending, Failure } from "./failure-class.ts";
import type { LoopSignals } from "./signal.ts";

export const EXIT_CODES: Record<LoopOutcome, number> = {
  success: 0,
  aborted: 1,
  limit: 2,
  "not-started": 3,
  interrupted: 130,
};

export interface IterationResult extends Pick<Ending, "how" | "exit">, Pick<AgentReport, "cost_usd" | "tokens"> {
  at: string;
  why: string;
  signals: LoopSignals;
  /** the final message, or the last lines of the output */
  message: string;
  /** the part that is shown */
  gist: string;
  /** why it failed, if it did */
  failed: Failure;
  /** milliseconds until a usage limit ends; null: unknown */
  reset_in_ms: number | null;
  /** why SUCCESS is not believed; null: every check passed */
  refused: string | null;
  /** "" if it was not read */
  tree: string;
  elapsed_ms: number;
  session: string | null;
}

export type Next =
  | { kind: "go" }
  | { kind: "wait"; ms: number; why: string }
  | { kind: "end"; outcome: LoopOutcome; why: string };

const MOST_LINES = 200;
const MOST_SPOILT = 8;

export const newLoop = (about: Pick<LoopState, "id" | "procedure" | "ai" | "run">, at: string): LoopState => ({
  v: 1,
  ...about,
  iterations: 0,
  failures: 0,
  spoilt: 0,
  cost_usd: 0,
  cost_known: true,
  trial_usd: 0,
  commits: null,
  head: "",
  tokens: { in: 0, out: 0 },
  spent_ms: 0,
  timing: { count: 0, min: 0, max: 0, mean: 0, squares: 0 },
  last: null,
  notes: [],
  lines: [],
  created_at: at,
  updated_at: at,
  outcome: null,
  why: "",
});

// ── Before ──────────────────────────────────────────────────────────────────

/** The iteration limit is checked before the failures: a loop that reaches both has reached the limit. */
export function mayGo(state: LoopState, limits: Limits): Next {
  const { iterations, failures, spent_ms, cost_usd } = state;
  if (limits.max_iterations !== null && iterations >= limits.max_iterations)
    return over("limit", `${iterations} of ${limits.max_iterations} iterations are done`);
  if (failures >= limits.failure_threshold)
    return over("aborted", `${failures} failures in a row: ${state.lines.at(-1)?.why ?? ""}`);
  if (cost_usd >= limits.budget)
    return over("limit", `the budget of ${limits.budget} USD is spent (${cost_usd.toFixed(2)})`);
  if (spent_ms >= limits.time_limit * 1000)
    return over("limit", `the time limit of ${limits.time_limit} s was reached`);
  return { kind: "go" };
}

const over = (outcome: LoopOutcome, why: string): Next => ({ kind: "end", outcome, why });

// ── After ───────────────────────────────────────────────────────────────────

export function after(
  before: LoopState,
  limits: Limits,
  result: IterationResult,
): { state: LoopState; verdict: Verdict; next: Next } {
  const { verdict, why } = judge(before, result);
  const state = counted(before, result, verdict, why);
  if (result.how === "not-started") return { state, verdict, next: over("not-started", result.why) };
  if (result.how === "interrupted") return { state, verdict, next: over("interrupted", "interrupted") };
  if (verdict === "success") return { state, verdict, next: over("success", why) };
  if (verdict !== "spoilt") return { state, verdict, next: mayGo(state, limits) };
  const next = afterSpoilt(state, result);
  const isTooLong = next.kind === "wait" && state.spent_ms + next.ms > limits.time_limit * 1000;
  if (isTooLong) return { state, verdict, next: over("limit", `${next.why}; that is past the time limit`) };
  // A wait has its own bound; the other limits still apply.
  const allowed = mayGo(state, limits);
  return { state, verdict, next: allowed.kind === "end" ? allowed : next };
}

/** FAILURE wins over everything except the timeout; a signal wins over the exit code. */
function judge(state: LoopState, result: IterationResult): { verdict: Verdict; why: string } {
  const { how, exit, signals, failed, refused } = result;
  if (how === "not-started" || how === "interrupted")
    return { verdict: "spoilt", why: how === "interrupted" ? "interrupted; it will be retried" : result.why || how };
  if (how === "timeout") return { verdict: "failure", why: result.why || "it ran out of time" };
  if (signals.failure) return { verdict: "failure", why: `FAILURE: ${explanation(result)}` };
  if (signals.success && refused !== null) return { verdict: "refused", why: `SUCCESS was not believed: ${refused}` };
  if (signals.success) return { verdict: "success", why: `SUCCESS: ${explanation(result)}` };
  if (how === "exited" && exit === 0) return atWork(state, result);
  if (failed.class !== "agent") return { verdict: "spoilt", why: `${failed.class}: ${failed.why}` };
  return { verdict: "failure", why: how === "killed" ? result.why : `exit ${exit}: ${failed.why}` };
}

/** A client may report a limit and still exit 0. Otherwise an iteration without a signal is fine unless it changed nothing. */
function atWork(state: LoopState, { failed, tree, message, gist }: IterationResult): { verdict: Verdict; why: string } {
  if (failed.class === "limit" || failed.class === "config")
    return { verdict: "spoilt", why: `${failed.class}: ${failed.why}` };
  const said = digestible(message);
  const isSame = tree !== "" && state.last?.tree === tree && state.last.said === said;
  if (!isSame) return { verdict: "continue", why: short(gist, LONGEST) };
  const why = `no progress: no file changed, and it said the same again: “${short(said, LONGEST)}”`;
  return { verdict: "failure", why };
}

/** Only then are the files compared: reading them takes longer than everything else between two iterations. */
export const saysTheSame = ({ last }: LoopState, message: string) => last?.said === digestible(message);

/** Numbers and times differ even if nothing else does. */
const digestible = (message: string) => message.replace(/\d+/g, "0").replace(/\s+/g, " ").trim().slice(0, 2_000);

const LONGEST = 160;

/** A workflow that drives the loop may give a signal where the agent gave none. */
const explanation = ({ signals, message }: IterationResult) =>
  short(signals.reason ?? message, LONGEST) || "(no explanation)";

function counted(before: LoopState, result: IterationResult, verdict: Verdict, why: string): LoopState {
  const counts = verdict !== "spoilt";
  const { elapsed_ms, cost_usd, tokens } = result;
  const line = { iteration: before.iterations + 1, at: result.at, verdict, why, elapsed_ms, cost_usd };
  const isFailure = verdict === "failure" || verdict === "refused";
  return {
    ...before,
    iterations: before.iterations + (counts ? 1 : 0),
    failures: isFailure ? before.failures + 1 : counts ? 0 : before.failures,
    spoilt: counts ? 0 : before.spoilt + 1,
    cost_usd: before.cost_usd + (cost_usd ?? 0),
    cost_known: before.cost_known && (cost_usd !== null || result.how === "not-started"),
    tokens: { in: before.tokens.in + (tokens?.in ?? 0), out: before.tokens.out + (tokens?.out ?? 0) },
    spent_ms: before.spent_ms + elapsed_ms,
    timing: counts ? timed(before.timing, elapsed_ms) : before.timing,
    last: counts ? { tree: result.tree, said: digestible(result.message) } : before.last,
    notes: counts ? buildNotes(result, verdict, why) : before.notes,
    lines: [...before.lines, { ...line, session: result.session }].slice(-MOST_LINES),
    updated_at: result.at,
  };
}

/** What the next iteration must know about this one; it has no other memory. */
function buildNotes({ signals, how }: IterationResult, verdict: Verdict, why: string): string[] {
  const malformed = signals.malformed.map(
    (line) => `${WROTE} ${shown(line)}, which is not a signal: only the word may be inside the tag.`,
  );
  const misplaced = signals.misplaced.map(
    (tag) => `${WROTE} ${shown(tag)} inside a line, where it does not count: a signal is alone on its line.`,
  );
  const quoted = signals.quoted.map(
    (line) => `${WROTE} ${shown(line)} inside code or a quotation, where it does not count.`,
  );
  const failed = how === "timeout" ? "was stopped because it ran out of time" : `failed: ${why}`;
  const told = verdict === "failure" ? [`The last iteration ${failed}`] : [];
  const refused = verdict === "refused" ? [`${why}. Fix that before you claim it again.`] : [];
  return [...new Set([...refused, ...told, ...malformed, ...misplaced, ...quoted])].slice(0, 8);
}

const WROTE = "The last iteration wrote";

/** Readable, but not a signal when the agent repeats it. */
const shown = (line: string) => `\`${short(line, 100).replaceAll("<", "‹").replaceAll(">", "›")}\``;

// ── Not counted ─────────────────────────────────────────────────────────────

function afterSpoilt(state: LoopState, { failed, reset_in_ms }: IterationResult): Next {
  const { spoilt } = state;
  if (failed.class === "config")
    return over("aborted", [failed.why, failed.remedy ?? ""].filter((part) => part !== "").join(". "));
  if (failed.class === "limit") {
    const ms = reset_in_ms === null ? doubled(5 * MINUTE, spoilt, 60 * MINUTE) : Math.max(SECOND, reset_in_ms);
    return { kind: "wait", ms, why: `usage limit: ${failed.why}` };
  }
  if (spoilt >= MOST_SPOILT) return over("aborted", `${spoilt} attempts in a row did not count: ${failed.why}`);
  return { kind: "wait", ms: doubled(5 * SECOND, spoilt, 5 * MINUTE), why: failed.why };
}

const doubled = (first: number, times: number, most: number) => Math.min(most, first * 2 ** Math.max(0, times - 1));

/** Waiting counts as time. */
export const waited = (state: LoopState, ms: number, at: string): LoopState => ({
  ...state,
  spent_ms: state.spent_ms + ms,
  updated_at: at,
});

export const ended = (state: LoopState, next: Extract<Next, { kind: "end" }>, at: string): LoopState => ({
  ...state,
  outcome: next.outcome,
  why: next.why,
  updated_at: at,
});

// ── Timing ──────────────────────────────────────────────────────────────────

function timed({ count, min, max, mean, squares }: Timing, ms: number): Timing {
  const more = count + 1;
  const moved = mean + (ms - mean) / more;
  return {
    count: more,
    min: count === 0 ? ms : Math.min(min, ms),
    max: Math.max(max, ms),
    mean: moved,
    squares: squares + (ms - mean) * (ms - moved),
  };
}

/** Of all iterations, not of a sample. */
export const deviation = ({ count, squares }: Timing) => (count < 2 ? 0 : Math.sqrt(squares / count));
