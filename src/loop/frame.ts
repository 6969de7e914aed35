/** What the moving lines of a loop say, and what each finished iteration leaves above them. */

import { plain } from "../kernel/text/safe-text.ts";
import type { IterationLine, Limits, LoopState, Verdict } from "../kernel/types/loop.ts";
import { lengthOf, money } from "./summary.ts";

/** One line on the screen, in one colour. */
export interface Row {
  text: string;
  colour: Colour;
}
export type Colour = "none" | "dim" | "green" | "red" | "yellow";

export interface Moment {
  procedure: string;
  iteration: number;
  max: number | null;
  /** of this iteration */
  elapsed_ms: number;
  doing: string;
  line: string;
  state: LoopState | null;
  limits: Limits | null;
  waiting: { until: Date; now: Date; why: string } | null;
}

const LIMIT = /^usage limit(: )?/;

export function frameOf(moment: Moment, columns: number): Row[] {
  const { procedure, iteration, max, waiting, line } = moment;
  const head = [procedure, `iteration ${iteration}${max === null ? "" : ` of ${max}`}`];
  if (waiting) {
    const first = [...head, waitText(waiting)].join(" · ");
    return rows(columns, [first, "yellow"], [`  ${waiting.why.replace(LIMIT, "")}`, "dim"]);
  }
  const about = [
    wholeLength(moment.elapsed_ms),
    costText(moment.state),
    failuresText(moment),
    moment.doing || "at work",
  ];
  return rows(columns, [[...head, ...about].filter(Boolean).join(" · "), "none"], [`  ${line || "…"}`, "dim"]);
}

const rows = (columns: number, ...lines: [string, Colour][]): Row[] =>
  lines.map(([text, colour]) => ({ text: cutTo(`  ${text}`, columns - 1), colour }));

/** usage limit, on again at 15:00, 1h12m left */
function waitText({ until, now, why }: NonNullable<Moment["waiting"]>): string {
  const left = wholeLength(Math.max(0, until.getTime() - now.getTime()));
  return `${LIMIT.test(why) ? "usage limit, on again" : "trying again"} at ${clockText(until, now)}, ${left} left`;
}

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const two = (n: number) => String(n).padStart(2, "0");

function clockText(until: Date, now: Date): string {
  const isToday = until.toDateString() === now.toDateString();
  const isSoon = until.getTime() - now.getTime() < 120_000;
  const seconds = isSoon ? `:${two(until.getSeconds())}` : "";
  return `${isToday ? "" : `${DAYS[until.getDay()]} `}${two(until.getHours())}:${two(until.getMinutes())}${seconds}`;
}

/** Tenths would move the line without telling anything. */
function wholeLength(ms: number): string {
  return ms < 60_000 ? `${Math.floor(ms / 1_000)}s` : lengthOf(ms);
}

/** A sum that some agent keeps back a part of is only a lower bound. */
function costText(state: LoopState | null): string {
  if (state === null || state.iterations + state.spoilt === 0) return "";
  return state.cost_known ? money(state.cost_usd) : state.cost_usd > 0 ? `at least ${money(state.cost_usd)}` : "";
}

function failuresText({ state, limits }: Moment): string {
  if (!state || state.failures === 0) return "";
  return `${state.failures}${limits ? ` of ${limits.failure_threshold}` : ""} failed in a row`;
}

// ── Above the moving lines ──────────────────────────────────────────────────

const MARKS: Record<Verdict, [mark: string, colour: Colour]> = {
  success: ["✔", "green"],
  continue: ["·", "none"],
  failure: ["✘", "red"],
  refused: ["✘", "red"],
  spoilt: ["⟳", "yellow"],
};

export function rowOf({ iteration, verdict, why, elapsed_ms, cost_usd }: IterationLine, columns: number): Row {
  const [mark, colour] = MARKS[verdict];
  const cost = cost_usd === null ? [] : [money(cost_usd)];
  const text = [`${mark} ${iteration} ${verdict}`, lengthOf(elapsed_ms), ...cost, why].join(" · ");
  return { text: cutTo(text, columns - 1), colour };
}

export function titleOf({ procedure, ai, limits }: { procedure: string; ai: string; limits: Limits | null }): string {
  const head = `pawl loop ${procedure} with ${ai}`;
  if (!limits) return head;
  const most = limits.max_iterations === null ? "any number of iterations" : `${limits.max_iterations} iterations`;
  return `${head} · at most ${most}, ${lengthOf(limits.time_limit * 1_000)}, ${money(limits.budget)}`;
}

/** Wide characters count as two, or the line would break and could not be drawn again in place. */
export function cutTo(text: string, most: number): string {
  const line = plain(text).replace(/\s/g, " ").trimEnd();
  if (Bun.stringWidth(line) <= most) return line;
  let kept = "";
  let width = 0;
  for (const sign of line) {
    width += Bun.stringWidth(sign);
    if (width >= most) break;
    kept += sign;
  }
  return most < 1 ? "" : `${kept}…`;
}
