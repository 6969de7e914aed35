/** What a loop shows without a terminal: log lines or JSON; and the summary at its end. */

import { short } from "../engine/core/run-view.ts";
import { counted } from "../kernel/text/counted.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { IterationLine, LoopState, Verdict } from "../kernel/types/loop.ts";
import { deviation, EXIT_CODES } from "./core/loop.ts";

export interface LoopView {
  /** `ago_ms`: it began that long ago */
  began(iteration: number, max: number | null, session: string, ago_ms?: number): void;
  /** the agent printed something */
  output(bytes: Uint8Array): void;
  iterated(line: IterationLine, state: LoopState): void;
  waiting(ms: number, why: string): void;
  ended(state: LoopState): void;
  /** shows nothing more, and leaves the terminal as it was */
  stop(): void;
}

export type Level = "debug" | "info" | "warn" | "error";
const LEVELS: Level[] = ["debug", "info", "warn", "error"];

export interface Screen {
  out(text: string): void;
  err(text: string): void;
}

// ── Lines ───────────────────────────────────────────────────────────────────

/** `[HH:MM:SS.mmm] LEVEL message key=value` on stderr; with `verbose`, the agent's output on stdout. */
export function lineView(screen: Screen, options: { level: Level; verbose: boolean }): LoopView {
  const log = (level: Level, message: string, fields: Record<string, string | number> = {}) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(options.level)) return;
    const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${quoted(value)}`);
    screen.err(`[${clock()}] ${level.toUpperCase()} ${message}${pairs.join("")}\n`);
  };
  let said = "";
  return {
    began: (iteration, max, session) => log("info", `Starting iteration ${of(iteration, max)}`, { session }),
    output: (bytes) => {
      if (options.verbose) screen.out(new TextDecoder().decode(bytes));
    },
    iterated: ({ iteration, verdict, why, elapsed_ms, cost_usd }) => {
      const level = verdict === "failure" || verdict === "refused" || verdict === "spoilt" ? "warn" : "info";
      const cost = cost_usd === null ? {} : { cost: money(cost_usd) };
      const about = { elapsed: formatLength(elapsed_ms), status: SHOWN[verdict].word };
      log(level, `Completed iteration ${iteration}`, { ...about, ...cost, why });
    },
    waiting: (ms, why) => {
      if (said !== why) log("warn", "Waiting", { for: formatLength(ms), why });
      said = why;
    },
    ended: (state) => {
      const { outcome, iterations, spent_ms, timing, cost_usd, why } = state;
      const about = { status: outcome ?? "", iterations, total_elapsed: formatLength(spent_ms) };
      const cost = cost_usd > 0 ? { cost: money(cost_usd) } : {};
      log(outcome === "success" ? "info" : "error", "Loop completed", { ...about, ...cost, why });
      const [min, max, mean] = [timing.min, timing.max, timing.mean].map(formatLength) as [string, string, string];
      const spread = timing.count < 2 ? {} : { stddev: formatLength(deviation(timing)) };
      log("info", "Iteration timing:", { count: timing.count, min, max, mean, ...spread });
    },
    stop: () => undefined,
  };
}

const of = (iteration: number, max: number | null) => (max === null ? `${iteration}` : `${iteration}/${max}`);
const quoted = (value: string | number) => {
  const text = safeText(String(value)).replace(/\s+/g, " ");
  return /^[\w.:/+-]*$/.test(text) ? text : JSON.stringify(text);
};

function clock(): string {
  const now = new Date();
  return `${now.toTimeString().slice(0, 8)}.${String(now.getMilliseconds()).padStart(3, "0")}`;
}

// ── Data ────────────────────────────────────────────────────────────────────

/** One object per line on stdout. */
export function jsonView(screen: Screen): LoopView {
  const tell = (event: string, fields: object) =>
    screen.out(`${JSON.stringify({ event, at: new Date().toISOString(), ...fields })}\n`);
  let said = "";
  return {
    began: (iteration, max, session) => tell("iteration_begun", { iteration, max, session }),
    output: () => undefined,
    iterated: (line) => tell("iteration", line),
    waiting: (ms, why) => {
      if (said !== why) tell("waiting", { ms, why });
      said = why;
    },
    ended: ({ notes: _notes, last: _last, lines: _lines, ...state }) =>
      tell("ended", { ...state, exit: EXIT_CODES[state.outcome ?? "interrupted"] }),
    stop: () => undefined,
  };
}

// ── Summary ─────────────────────────────────────────────────────────────────

/** How a verdict is shown; the word of the data stays `spoilt`. */
export const SHOWN: Record<Verdict, { mark: string; word: string; colour: Colour }> = {
  success: { mark: "✔", word: "success", colour: "green" },
  continue: { mark: "·", word: "continue", colour: "none" },
  failure: { mark: "✘", word: "failure", colour: "red" },
  refused: { mark: "✘", word: "refused", colour: "red" },
  spoilt: { mark: "⟳", word: "not counted", colour: "yellow" },
};
export type Colour = "none" | "dim" | "green" | "red" | "yellow";
const MOST_SHOWN = 12;

/** What happened and what it cost. `rows`: each iteration again, for those who have not seen them. */
export function summaryText(state: LoopState, rows = true): string {
  const { procedure, outcome, why, iterations, spent_ms, lines } = state;
  const hidden = lines.length - MOST_SHOWN;
  return [
    `${outcome === "success" ? "✔" : "✘"} ${procedure}: ${WORDS[state.outcome ?? ""] ?? "running"}`,
    `  ${safeText(why)}`,
    ...(rows
      ? ["", ...(hidden > 0 ? [`  … ${hidden} earlier`] : []), ...lines.slice(-MOST_SHOWN).map(renderIteration), ""]
      : []),
    `  ${counted(iterations, "iteration")}${formatCommits(state)}, ${formatLength(spent_ms)}, ${formatCost(state)}`,
    ...(hintFor(state) === "" ? [] : [`  ${hintFor(state)}`]),
  ].join("\n");
}

const formatCommits = ({ commits }: LoopState) => (commits === null ? "" : `, ${counted(commits, "commit")}`);

const WORDS: Record<string, string> = {
  success: "SUCCESS",
  aborted: "aborted",
  limit: "a limit was reached",
  "not-started": "the agent could not be started",
  interrupted: "interrupted",
};
function hintFor({ id, outcome, run, iterations, why }: LoopState): string {
  const name = run || id;
  if (outcome === "limit" && /iterations are done$/.test(why))
    return `\`pawl loop --resume ${name} -n ${iterations + 5}\` continues with the remaining budget and time.`;
  if (outcome === "limit" || outcome === "interrupted" || outcome === "not-started")
    return `\`pawl loop --resume ${name}\` continues with the same count and budget.`;
  return run === "" || outcome === null ? "" : `\`pawl explain ${run}\` shows every step.`;
}

function renderIteration({ iteration, verdict, why, elapsed_ms, cost_usd }: IterationLine): string {
  const cost = cost_usd === null ? "" : money(cost_usd);
  const { mark, word } = SHOWN[verdict];
  const head = `  ${mark} ${String(iteration).padStart(3)}  ${word.padEnd(11)} ${formatLength(elapsed_ms).padStart(7)} ${cost.padStart(8)}  `;
  return `${head}${short(why, Math.max(20, 100 - head.length))}`;
}

/** An agent that does not report its cost makes the sum a lower bound; "": nothing is known. */
export function costSum({ cost_known, cost_usd }: LoopState): string {
  return cost_known ? money(cost_usd) : cost_usd > 0 ? `at least ${money(cost_usd)}` : "";
}

function formatCost(state: LoopState): string {
  const { tokens, trial_usd } = state;
  const tried = trial_usd > 0 ? ` (${money(trial_usd)} of it for preflight)` : "";
  const read = tokens.in + tokens.out === 0 ? "" : `, ${tokens.in} tokens in, ${tokens.out} out`;
  return `${costSum(state) || "cost unknown"}${tried}${read}`;
}

export const money = (usd: number) => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

export function formatLength(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(Math.floor(seconds % 60)).padStart(2, "0")}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, "0")}m`;
}
