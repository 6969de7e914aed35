/** What a loop shows: lines for logs and pipes, one line that moves on a terminal, or data. */

import { plain } from "../kernel/text/safe-text.ts";
import type { IterationLine, LoopState } from "../kernel/types/loop.ts";
import { deviation, EXIT_CODES } from "./core/loop.ts";
import { lengthOf, money } from "./summary.ts";

export interface LoopView {
  began(iteration: number, max: number | null, session: string): void;
  /** the agent printed something */
  output(bytes: Uint8Array): void;
  iterated(line: IterationLine, state: LoopState): void;
  waiting(ms: number, why: string): void;
  ended(state: LoopState): void;
}

export type Level = "debug" | "info" | "warn" | "error";
const LEVELS: Level[] = ["debug", "info", "warn", "error"];

export interface Screen {
  out(text: string): void;
  err(text: string): void;
}

// ── Lines ───────────────────────────────────────────────────────────────────

/** `[HH:MM:SS.mmm] LEVEL message key=value`, on stderr; what the agent prints, if wanted, on stdout. */
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
      log(level, `Completed iteration ${iteration}`, { elapsed: lengthOf(elapsed_ms), status: verdict, ...cost, why });
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

/** One object a line on stdout. */
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
  };
}
