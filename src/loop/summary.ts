/** What happened and what it cost, on one screen. */

import { plain } from "../kernel/text/safe-text.ts";
import type { IterationLine, LoopState, Verdict } from "../kernel/types/loop.ts";

const MARKS: Record<Verdict, string> = { success: "✔", continue: "·", failure: "✘", refused: "✘", spoilt: "⟳" };
const MOST_SHOWN = 12;

/** `rows`: each iteration once more, for those who have not seen them. */
export function summaryText(state: LoopState, rows = true): string {
  const { procedure, outcome, why, iterations, spent_ms, lines } = state;
  const hidden = lines.length - MOST_SHOWN;
  return [
    `${outcome === "success" ? "✔" : "✘"} ${procedure}: ${wordFor(state)}`,
    `  ${plain(why)}`,
    ...(rows ? ["", ...(hidden > 0 ? [`  … ${hidden} before`] : []), ...lines.slice(-MOST_SHOWN).map(rowOf), ""] : []),
    `  ${counted(iterations, "iteration")}${madeOf(state)}, ${lengthOf(spent_ms)}, ${costOf(state)}`,
    ...(hintFor(state) === "" ? [] : [`  ${hintFor(state)}`]),
  ].join("\n");
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
const madeOf = ({ commits }: LoopState) => (commits === null ? "" : `, ${counted(commits, "commit")}`);

const WORDS: Record<string, string> = {
  success: "SUCCESS",
  aborted: "aborted",
  limit: "a limit is reached",
  "not-started": "the agent could not be started",
  interrupted: "interrupted",
};
const wordFor = ({ outcome }: LoopState) => WORDS[outcome ?? ""] ?? "under way";

function hintFor({ id, outcome, run, iterations, why }: LoopState): string {
  if (outcome === "limit" && /iterations are made$/.test(why))
    return `\`pawl loop --resume ${id} -n ${iterations + 5}\` goes on, with what is left of budget and time.`;
  if (outcome === "limit" || outcome === "interrupted" || outcome === "not-started")
    return `\`pawl loop --resume ${id}\` goes on with the same count and budget.`;
  return run === "" || outcome === null ? "" : `\`pawl explain ${run}\` tells it step by step.`;
}

function rowOf({ iteration, verdict, why, elapsed_ms, cost_usd }: IterationLine): string {
  const cost = cost_usd === null ? "" : money(cost_usd);
  const head = `  ${MARKS[verdict]} ${String(iteration).padStart(3)}  ${verdict.padEnd(8)} ${lengthOf(elapsed_ms).padStart(7)} ${cost.padStart(8)}  `;
  return `${head}${cut(plain(why), Math.max(20, 100 - head.length))}`;
}

const cut = (text: string, most: number) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};

/** Where some agent does not tell, the sum is only what is known. */
function costOf(state: LoopState): string {
  const { cost_usd, cost_known, tokens } = state;
  const sum = cost_known ? money(cost_usd) : cost_usd > 0 ? `at least ${money(cost_usd)}` : "cost not known";
  const tried = state.trial_usd > 0 ? ` (${money(state.trial_usd)} of it for the first try)` : "";
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
