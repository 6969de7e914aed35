/** Which stage a text or a transcript is at: the same three tiers as at a stop, for `pawl detect`. */

import { lookForSignal } from "../checks/evidence/infer.ts";
import { saysOne } from "../checks/evidence/infer-prose.ts";
import { readLastMessage, readToolsSince } from "../hosts/claude/transcript.ts";
import { inProject } from "../kernel/project-paths.ts";
import { isDoubtful, ownLines } from "../kernel/text/doubt.ts";
import { excerpt, safeText } from "../kernel/text/safe-text.ts";
import { parseSignals } from "../kernel/text/signal.ts";
import type { ToolCall, Workflow } from "../kernel/types/run.ts";
import { type Inference, isRegistered } from "../kernel/types/workflow.ts";
import { UserError } from "../kernel/user-error.ts";

export interface DetectedStage {
  stage: string;
  tier: "marker" | "inferred" | "asked";
  evidence: string;
  /** only words say so */
  unverified: boolean;
}

function markerIn(workflow: Workflow, text: string): string | undefined {
  return parseSignals(text, workflow.signals).found.findLast((signal) => isRegistered(workflow, signal));
}

function detected(stage: string, tier: DetectedStage["tier"], evidence: string, unverified = false): DetectedStage {
  return { stage, tier, evidence, unverified };
}

const UNKNOWN = detected("UNKNOWN", "asked", "nothing shows a stage: the agent would be asked");

// ── A transcript ────────────────────────────────────────────────────────────

export function detectInTranscript(workflow: Workflow, root: string, path: string, task: string): DetectedStage {
  const read = readToolsSince(path, "1970-01-01T00:00:00Z", 0);
  if (!read.ok) throw new UserError(`cannot read ${safeText(path)}: ${read.why}`, "give a session's .jsonl file");
  const calls = read.value.map(inProject(root));
  const last = readLastMessage(path, "", 0);
  const message = last.ok ? last.value : "";
  const marker = markerIn(workflow, message);
  if (marker !== undefined) return claimed(workflow, marker, calls, message, task);
  const rules = workflow.stages.map((stage) => stage.infer ?? {});
  const seen = rules.map((each) => lookForSignal(each, calls, message, task));
  const shown = seen.findLast((one) => one.inferred !== null)?.inferred;
  if (shown) return detected(shown.signal, "inferred", shown.evidence);
  const { progress, tools } = lookForSignal({}, calls, message, task);
  return progress === "UNKNOWN" ? UNKNOWN : detected(progress, "inferred", WORK[progress](tools));
}

const WORK = {
  IN_PROGRESS: (tools: number) => `${tools === 1 ? "one tool call" : `${tools} tool calls`}, and none shows an end`,
  IN_TESTING: () => "tests were run, and the last word is not that all pass",
  IN_ORACLE_REVIEW: () => "a review was asked for, and none approves the code as it is",
};

/** A marker is what the agent says; the evidence adds whether its tool calls show the same. */
function claimed(workflow: Workflow, signal: string, calls: ToolCall[], message: string, task: string): DetectedStage {
  const rule = workflow.stages.map((stage) => stage.infer?.[signal]).find((one) => one !== undefined);
  const has = "the last message has its marker";
  if (!rule) return detected(signal, "marker", has);
  // The marker says it: no other words are needed.
  const { says: _says, ...needed } = rule;
  const shown = lookForSignal({ [signal]: needed }, calls, message, task).inferred;
  const support = shown ? `tool calls show it: ${shown.evidence}` : "no tool call shows it";
  return detected(signal, "marker", `${has}; ${support}`, !shown);
}

// ── A text ──────────────────────────────────────────────────────────────────

export function detectInText(workflow: Workflow, text: string): DetectedStage {
  const marker = markerIn(workflow, text);
  if (marker !== undefined) return detected(marker, "marker", "the text has its marker");
  for (const { infer, on } of workflow.stages.toReversed()) {
    const rules = Object.entries({ ...("SESSION_CLEARED" in on && { SESSION_CLEARED: "/clear" as const }), ...infer });
    for (const [signal, rule] of rules) {
      const words = rule === "/clear" ? lineWith(text, [/(?<!\S)\/clear\b/i]) : wordsFor(rule, text);
      if (words !== null) return guessed(signal, words);
    }
  }
  return UNKNOWN;
}

const guessed = (signal: string, words: string) =>
  detected(signal, "inferred", `only these words: “${excerpt(words.trim(), 80)}”; a text alone proves nothing`, true);

const RED = /\b[1-9]\d* (?:tests? )?(?:fail|error)|\bfail(?:ed|s|ing|ures?)?\b|\berrors?\b/i;

/** Only here do words count instead of a tool call: nothing follows from the answer. */
function wordsFor(rule: Inference, text: string): string | null {
  const wanted: RegExp[] = [];
  if (rule.closed) wanted.push(/\b(?:bd close|gh issue close|issue (?:is |was |has been )?(?:now )?closed)\b/i);
  if (rule.review) wanted.push(/\boracle-?\s?review|\breview/i, /\b(?:approved|lgtm)\b/i);
  if (rule.tests)
    wanted.push(/\b(?:pytest|vitest|jest|playwright|tests?)\b/i, /\b(?:pass(?:ed|es|ing)?|success\w*)\b/i);
  if (rule.read) wanted.push(/\b(?:bd show|gh issue view)\b/i);
  if (wanted.length > 0 && !rule.says) return lineWith(text, wanted);
  if (!rule.says || (wanted.length > 0 && lineWith(text, wanted) === null)) return null;
  return saysOne(text, rule.says) === null ? null : text;
}

function lineWith(text: string, wanted: RegExp[]): string | null {
  const lines = ownLines(text).filter((line) => !isDoubtful(line) && !RED.test(line));
  return lines.find((line) => wanted.every((pattern) => pattern.test(line))) ?? null;
}
