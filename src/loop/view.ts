/** What a loop shows without a terminal: log lines or JSON; and the summary at its end. */

import { plain } from "../kernel/text/safe-text.ts";
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
      log(level, `Completed iteration ${iteration}`, {
        elapsed: lengthOf(elapsed_ms),
        status: SHOWN[verdict].word,
        ...cost,
        why,
      });
    },
    waiting: (ms, why) => {
      if (said !== why) log("warn", "Waiting", { for: lengthOf(ms), why });
      said = why;
    },
    ended: (state) => {
      const { outcome, iterations, spent_ms, timing } = state;
      log(outcome === "success" ? "info" : "error", "Loop completed", {
        status: outcome ?? "",
        iterations,
        total_elapsed: lengthOf(spent_ms),
        ...(state.cost_usd > 0 && { cost: money(state.cost_usd) }),
        why: state.why,
      });
      const spread = timing.count < 2 ? {} : { stddev: lengthOf(deviation(timing)) };
      const { min, max, mean, count } = timing;
      log("info", "Iteration timing:", {
        count,
        min: lengthOf(min),
        max: lengthOf(max),
        mean: lengthOf(mean),
        ...spread,
      });
    },
    stop: () => undefined,
  };
}

const of = (iteration: number, max: number | null) => (max === null ? `${iteration}` : `${iteration}/${max}`);
const quoted = (value: string | number) => {
  const text = plain(String(value)).replace(/\s+/g, " ");
  return /^[\w.:/+-]*$/.test(text) ? text : JSON.stringify(text);
};

function clock(): string {
  const now = new Date();
  const two = (n: number) => String(n).padStart(2, "0");
  return `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}.${String(now.getMilliseconds()).padStart(3, "0")}`;
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
export const SHOWN: Record<Verdict, { mark: string; word: string }> = {
  success: { mark: "✔", word: "success" },
  continue: { mark: "·", word: "continue" },
  failure: { mark: "✘", word: "failure" },
  refused: { mark: "✘", word: "refused" },
  spoilt: { mark: "⟳", word: "not counted" },
};
const MOST_SHOWN = 12;

/** What happened and what it cost. `rows`: each iteration again, for those who have not seen them. */
export function summaryText(state: LoopState, rows = true): string {
  const { procedure, outcome, why, iterations, spent_ms, lines } = state;
  const hidden = lines.length - MOST_SHOWN;
  return [
    `${outcome === "success" ? "✔" : "✘"} ${procedure}: ${wordFor(state)}`,
    `  ${plain(why)}`,
    ...(rows ? ["", ...(hidden > 0 ? [`  … ${hidden} earlier`] : []), ...lines.slice(-MOST_SHOWN).map(rowOf), ""] : []),
    `  ${counted(iterations, "iteration")}${madeOf(state)}, ${lengthOf(spent_ms)}, ${costOf(state)}`,
    ...(hintFor(state) === "" ? [] : [`  ${hintFor(state)}`]),
  ].join("\n");
}

export const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
const madeOf = ({ commits }: LoopState) => (commits === null ? "" : `, ${counted(commits, "commit")}`);

const WORDS: Record<string, string> = {
  success: "SUCCESS",
  aborted: "aborted",
  limit: "a limit was reached",
  "not-started": "the agent could not be started",
  interrupted: "interrupted",
};
const wordFor = ({ outcome }: LoopState) => WORDS[outcome ?? ""] ?? "running";

function hintFor({ id, outcome, run, iterations, why }: LoopState): string {
  if (outcome === "limit" && /iterations are done$/.test(why))
    return `\`pawl loop --resume ${id} -n ${iterations + 5}\` continues with the remaining budget and time.`;
  if (outcome === "limit" || outcome === "interrupted" || outcome === "not-started")
    return `\`pawl loop --resume ${id}\` continues with the same count and budget.`;
  return run === "" || outcome === null ? "" : `\`pawl explain ${run}\` shows every step.`;
}

function rowOf({ iteration, verdict, why, elapsed_ms, cost_usd }: IterationLine): string {
  const cost = cost_usd === null ? "" : money(cost_usd);
  const { mark, word } = SHOWN[verdict];
  const head = `  ${mark} ${String(iteration).padStart(3)}  ${word.padEnd(11)} ${lengthOf(elapsed_ms).padStart(7)} ${cost.padStart(8)}  `;
  return `${head}${cut(plain(why), Math.max(20, 100 - head.length))}`;
}

const cut = (text: string, most: number) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};

/** An agent that does not report its cost makes the sum a lower bound. */
function costOf(state: LoopState): string {
  const { cost_usd, cost_known, tokens } = state;
  const sum = cost_known ? money(cost_usd) : cost_usd > 0 ? `at least ${money(cost_usd)}` : "cost unknown";
  const tried = state.trial_usd > 0 ? ` (${money(state.trial_usd)} of it for preflight)` : "";
  const count = tokens.in + tokens.out;
  return count === 0 ? `${sum}${tried}` : `${sum}${tried}, ${tokens.in} tokens in, ${tokens.out} out`;
}

export const money = (usd: number) => `$${usd.toFixed(usd < 1 ? 4 : 2)}`;

export function lengthOf(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const seconds = ms / 1_000;
  if (seconds < 60) return `${seconds.toFixed(1)}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(Math.floor(seconds % 60)).padStart(2, "0")}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, "0")}m`;
}
