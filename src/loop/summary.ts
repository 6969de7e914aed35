/** What happened and what it cost, on one screen. */
import type { IterationLine, LoopState, Verdict } from "../core/loop.ts";
import { plain } from "../core/plain.ts";

const MARKS: Record<Verdict, string> = { success: "✔", continue: "·", failure: "✘", refused: "✘", spoilt: "⟳" };
const MOST_SHOWN = 12;

export function summaryText(state: LoopState): string {
  const { procedure, outcome, why, iterations, spent_ms, lines } = state;
  const hidden = lines.length - MOST_SHOWN;
  return [
    `${outcome === "success" ? "✔" : "✘"} ${procedure}: ${wordFor(state)}`,
    `  ${plain(why)}`,
    "",
    ...(hidden > 0 ? [`  … ${hidden} before`] : []),
    ...lines.slice(-MOST_SHOWN).map(rowOf),
    "",
    `  ${iterations} iteration${iterations === 1 ? "" : "s"}, ${lengthOf(spent_ms)}, ${costOf(state)}`,
    ...(hintFor(state) === "" ? [] : [`  ${hintFor(state)}`]),
  ].join("\n");
}

const WORDS: Record<string, string> = {
  success: "SUCCESS",
  aborted: "aborted",
  limit: "a limit is reached",
  "not-started": "the agent could not be started",
  interrupted: "interrupted",
};
const wordFor = ({ outcome }: LoopState) => WORDS[outcome ?? ""] ?? "under way";

function hintFor({ id, outcome, run }: LoopState): string {
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
function costOf({ cost_usd, cost_known, tokens }: LoopState): string {
  const sum = cost_known ? money(cost_usd) : cost_usd > 0 ? `at least ${money(cost_usd)}` : "cost not known";
  const count = tokens.in + tokens.out;
  return count === 0 ? sum : `${sum}, ${tokens.in} tokens in, ${tokens.out} out`;
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
