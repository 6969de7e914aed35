/**
 * What tool calls show when no signal was given. Results of tools count, never prose where a tool exists; prose counts
 * only for what has no tool, and its negations are refused. In doubt nothing is inferred.
 */

import type { Inferred, Names, ObservedStage, Progress } from "../../kernel/types/inference.ts";
import type { ToolCall } from "../../kernel/types/run.ts";
import type { Inference } from "../../kernel/types/workflow.ts";
import { isEditor, listChanges } from "./edits.ts";
import { saysOne } from "./infer-prose.ts";
import { judgeReview, type Review } from "./infer-review.ts";
import { isClosedBy, shows } from "./infer-task.ts";
import { isInside, type TestState, testState } from "./infer-tests.ts";
import { isShell } from "./shell.ts";

export { judgeReview, reviewVerdict } from "./infer-review.ts";
export { closes } from "./infer-task.ts";

export function lookForSignal(
  rules: Record<string, Inference>,
  calls: ToolCall[],
  message: string,
  task: string,
  names: Names = {},
): ObservedStage {
  const standing = gatherEvidence(calls, names);
  const found = Object.entries(rules).map(([signal, rule]) => ({
    signal,
    evidence: shownBy(rule, calls, standing, message, task),
  }));
  const hits = found.filter((one): one is Inferred => one.evidence !== null);
  // Two at once is no answer.
  return {
    inferred: hits.length === 1 ? hits[0]! : null,
    // Needed only where nothing is inferred.
    get progress() {
      return progressFrom(calls, standing);
    },
    tools: calls.length,
  };
}

/** What is costly to find out: read when a rule needs it, once for all rules. */
interface EvidenceSoFar {
  tests: () => TestState;
  review: () => Review | null;
  notes?: string;
}

const gatherEvidence = (calls: ToolCall[], { notes, reviewers }: Names = {}): EvidenceSoFar => ({
  tests: once(() => testState(calls)),
  review: once(() => judgeReview(calls, reviewers)),
  ...(notes !== undefined && { notes }),
});

function once<T>(look: () => T): () => T {
  let seen: { found: T } | null = null;
  return () => {
    seen ??= { found: look() };
    return seen.found;
  };
}

function shownBy(
  rule: Inference,
  calls: ToolCall[],
  { tests, review, notes }: EvidenceSoFar,
  message: string,
  task: string,
): string | null {
  const said = rule.says ? saysOne(message, rule.says) : "";
  // Words are cheaper to read than tool calls.
  if (said === null) return null;
  const wanted: (string | null)[] = [];
  if (rule.tests) wanted.push(greenRun(tests()));
  if (rule.review) wanted.push(review()?.verdict === "approved" ? "a reviewer approved" : null);
  if (rule.closed) wanted.push(isClosedBy(calls, task, notes) ? `a tool call closed ${task}` : null);
  if (rule.read) wanted.push(calls.some((call) => shows(call, task, notes)) ? `${task} was opened again` : null);
  if (rule.edited) wanted.push(someEdit(calls) ? "files were edited" : null);
  if (rule.says) wanted.push(said);
  return wanted.length === 0 || wanted.includes(null) ? null : wanted.join("; ");
}

function greenRun({ last, red, changed }: TestState): string | null {
  if (last?.verdict !== "pass" || red !== null || changed !== null) return null;
  return `\`${last.command}\`: ${last.why}`;
}

/** Editors first: what they did is plain, a shell's line has to be taken apart. */
const someEdit = (calls: ToolCall[]) =>
  calls.some((call) => isEditor(call.name) && isEdit(call)) || calls.some((call) => isShell(call.name) && isEdit(call));

/** The work was changed for certain: notes about it, and files next to it, are not the work. */
export const isEdit = (call: ToolCall) =>
  listChanges(call).some((change) => change.edited.some(isInside)) && call.result?.error === false;

// ── The stage so far ───────────────────────────────────────────────────────

export const readProgress = (calls: ToolCall[]): Progress => progressFrom(calls, gatherEvidence(calls));

function progressFrom(calls: ToolCall[], standing: EvidenceSoFar): Progress {
  const { last, red } = standing.tests();
  const review = standing.review();
  const isRed = last !== null && (red !== null || last.verdict !== "pass");
  if (review && review.verdict !== "approved" && !(isRed && last.at > review.at)) return "IN_ORACLE_REVIEW";
  if (isRed) return "IN_TESTING";
  return calls.some((call) => isEditor(call.name) || isShell(call.name)) ? "IN_PROGRESS" : "UNKNOWN";
}

/** What would speak for going back: a red run, or a review that asks for changes. */
export function failureIn(calls: ToolCall[], reviewers?: string[]): string | null {
  const { red } = testState(calls);
  if (red) return `\`${red.command}\`: ${red.why}`;
  return judgeReview(calls, reviewers)?.verdict === "refused" ? "the review asks for changes" : null;
}
