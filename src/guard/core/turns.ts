/** Was what a turn changed also tested, after the last change, and with what result? */

import { listChanges } from "../../checks/evidence/edits.ts";
import { type TestRun, testRuns } from "../../checks/evidence/evidence.ts";
import type { ToolCall } from "../../kernel/types/run.ts";

export type TurnVerdict = "verified" | "stale" | "failed" | "never";

export interface TurnJudgement {
  /** in order, each once */
  edited: string[];
  /** the last of them behind the last run that counts; "" if none */
  later: string;
  verdict: TurnVerdict;
  /** what the verdict is about; null: nothing ran that proves anything */
  run: TestRun | null;
  why: string;
}

/** All that counts of one call: what it changed, what it ran, and whether it changed something after that. */
export interface Weight {
  at: string;
  edited: string[];
  runs: TestRun[];
  /** edits of the same line that came behind the tests */
  after: string[];
}

const MOST_NAMED = 200;

export function weigh(call: ToolCall): Weight | null {
  const changes = listChanges(call);
  if (changes.length === 0) return null;
  const last = changes.findLastIndex((change) => change.tests);
  const edited = (list: typeof changes) => list.flatMap((change) => change.edited);
  return {
    at: call.at,
    edited: edited(changes.slice(0, last + 1)),
    runs: last < 0 ? [] : testRuns([call]),
    after: edited(changes.slice(last + 1)),
  };
}

/** `calls` in order. `counts`: which files matter; all, unless told. */
export function judgeTurn(calls: ToolCall[], counts?: (path: string) => boolean): TurnJudgement {
  return judgeWeights(
    calls.flatMap((call) => weigh(call) ?? []),
    counts,
  );
}

export function judgeWeights(weights: Weight[], counts: (path: string) => boolean = () => true): TurnJudgement {
  const edited = new Set<string>();
  let later = "";
  let last: TestRun | null = null;
  let unproven: TestRun | null = null;
  for (const weight of weights) {
    const note = (paths: string[]) => {
      for (const path of paths.filter(counts)) {
        if (edited.size < MOST_NAMED) edited.add(path);
        later = path;
      }
    };
    note(weight.edited);
    for (const run of weight.runs) {
      if (run.verdict === "none") unproven = run;
      else {
        last = run;
        later = "";
        unproven = null;
      }
    }
    note(weight.after);
  }
  return { edited: [...edited], later, ...judgeRun(last, later, unproven) };
}

/** `unproven`: a run behind the last one that counts, which itself proves nothing. */
function judgeRun(
  last: TestRun | null,
  later: string,
  unproven: TestRun | null,
): Omit<TurnJudgement, "edited" | "later"> {
  const doubt = unproven ? `; the run after that (${named(unproven)}) proves nothing: ${unproven.why}` : "";
  if (last === null) {
    const why = unproven ? `the run (${named(unproven)}) proves nothing: ${unproven.why}` : "no test run followed";
    return { verdict: "never", run: unproven, why };
  }
  const run = last;
  if (run.verdict === "fail")
    return { verdict: "failed", run, why: `the last run (${named(run)}) failed: ${run.why}${doubt}` };
  if (later === "") return { verdict: "verified", run, why: `${named(run)}: ${run.why}` };
  return { verdict: "stale", run, why: `${later} was edited after the last green run (${named(run)})${doubt}` };
}

const named = (run: TestRun) => (run.command.length > 60 ? `${run.command.slice(0, 59)}…` : run.command);
