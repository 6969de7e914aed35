import { resolve } from "node:path";
import { lookForSignal } from "../checks/evidence/infer.ts";
import { isDoubtful, ownLines, saysOne } from "../checks/evidence/infer-prose.ts";
import { readLastMessage, readToolsSince } from "../hosts/claude/transcript.ts";
import { excerpt } from "../kernel/text/safe-text.ts";
import { parseSignals } from "../kernel/text/signal.ts";
import type { Inferred } from "../kernel/types/inference.ts";
import type { ToolCall, Workflow } from "../kernel/types/run.ts";
import { type Inference, isRegistered } from "../kernel/types/workflow.ts";
import { UserError } from "../kernel/user-error.ts";
import { type Io, parseArgs } from "./shared/args.ts";
import { visible, visibleJson } from "./shared/visible.ts";
import { findTarget } from "./shared/workflow-args.ts";

export const summary = "which stage a text or a transcript shows";
export const usage = `usage: pawl detect [--workflow NAME] [--json] [text…]           (or the text on stdin)
       pawl detect --transcript FILE [--task ID] [--workflow NAME] [--json]

Says which stage's signal a text or a session shows, and by what: a marker in the agent's own words, or inferred from
tool calls and their results; else the agent would be asked. Of a transcript the last message and all tool calls count,
sub-agents' included; the latest stage that is shown wins. A text alone is no evidence: what it names is only a guess
and marked as unverified. A run never goes on because of one.

  --transcript  a session's .jsonl file of Claude Code
  --task        the task the session works on: only with it can opening and closing it be seen
  --workflow    auto-workflow if left out
  --json        stage, tier (marker, inferred, asked), evidence, unverified

Exit codes: 0 a stage was found, or work on one (IN_PROGRESS, IN_TESTING, IN_ORACLE_REVIEW), 1 UNKNOWN, 2 wrong usage.`;

interface Detected {
  stage: string;
  tier: "marker" | "inferred" | "asked";
  evidence: string;
  /** nothing but words stands behind it */
  unverified: boolean;
}

const OPTIONS = ["--transcript=", "--task=", "--workflow=", "--json"];

export async function run(args: string[], io: Io): Promise<number> {
  const { words, flags, values } = parseArgs(args, OPTIONS);
  const workflow = workflowOf(values["--workflow"] ?? "auto-workflow", io);
  const file = values["--transcript"];
  if (file !== undefined && words.length > 0)
    throw new UserError("a text or a transcript, not both", "use one of them");
  if (file === undefined && values["--task"] !== undefined)
    throw new UserError("--task goes with --transcript", "a text alone shows nothing about a task");
  const detected =
    file === undefined
      ? detectInText(workflow, words.length > 0 ? words.join(" ") : await readInput())
      : detectInTranscript(workflow, resolve(io.cwd, file), values["--task"] ?? "");
  io.out(`${flags.has("--json") ? visibleJson(detected) : inLines(detected)}\n`);
  return detected.stage === "UNKNOWN" ? 1 : 0;
}

/** The stage alone on the first line, for scripts that want no more. */
const inLines = ({ stage, tier, evidence, unverified }: Detected) =>
  [stage, `  tier      ${tier}${unverified ? ", unverified" : ""}`, `  evidence  ${visible(evidence)}`].join("\n");

function workflowOf(name: string, io: Io): Workflow {
  const target = findTarget(name, io);
  if ("what" in target) throw new UserError(target.what, target.next);
  if ("workflow" in target.found) return target.found.workflow;
  throw new UserError(`the workflow ${visible(name)} has problems`, "`pawl check` shows them");
}

async function readInput(): Promise<string> {
  if (process.stdin.isTTY) throw new UserError("there is no text", "give it as arguments, on stdin, or --transcript");
  return await Bun.stdin.text();
}

function markerIn(workflow: Workflow, text: string): string | undefined {
  return parseSignals(text, workflow.signals).found.findLast((signal) => isRegistered(workflow, signal));
}

const UNKNOWN: Detected = {
  stage: "UNKNOWN",
  tier: "asked",
  evidence: "nothing shows a stage: the agent would be asked",
  unverified: false,
};

// ── A transcript ────────────────────────────────────────────────────────────

function detectInTranscript(workflow: Workflow, path: string, task: string): Detected {
  const calls = readToolsSince(path, "1970-01-01T00:00:00Z", 0);
  if (!calls.ok) throw new UserError(`cannot read ${visible(path)}: ${calls.why}`, "give a session's .jsonl file");
  const last = readLastMessage(path, "", 0);
  const message = last.ok ? last.value : "";
  const marker = markerIn(workflow, message);
  if (marker !== undefined) return claimed(workflow, marker, calls.value, message, task);
  const rules = workflow.stages.map((stage) => stage.infer ?? {});
  const seen = rules.map((each) => lookForSignal(each, calls.value, message, task));
  const shown = seen.findLast((one) => one.inferred !== null)?.inferred;
  if (shown) return inferred(shown);
  const { progress, tools } = lookForSignal({}, calls.value, message, task);
  if (progress === "UNKNOWN") return UNKNOWN;
  return { stage: progress, tier: "inferred", evidence: WORK[progress](tools), unverified: false };
}

const WORK = {
  IN_PROGRESS: (tools: number) => `${tools === 1 ? "one tool call" : `${tools} tool calls`}, and none shows an end`,
  IN_TESTING: () => "tests were run, and the last word is not that all pass",
  IN_ORACLE_REVIEW: () => "a review was asked for, and none approves the code as it is",
};

const inferred = ({ signal, evidence }: Inferred): Detected => ({
  stage: signal,
  tier: "inferred",
  evidence,
  unverified: false,
});

/** A marker is what the agent says; whether its tool calls say the same stands beside it. */
function claimed(workflow: Workflow, signal: string, calls: ToolCall[], message: string, task: string): Detected {
  const rule = workflow.stages.map((stage) => stage.infer?.[signal]).find((one) => one !== undefined);
  if (!rule) return { stage: signal, tier: "marker", evidence: "the last message has its marker", unverified: false };
  // The marker says it: no other words are needed.
  const { says: _says, ...needed } = rule;
  const shown = lookForSignal({ [signal]: needed }, calls, message, task).inferred;
  const beside = shown ? `tool calls show it: ${shown.evidence}` : "no tool call shows it";
  return { stage: signal, tier: "marker", evidence: `the last message has its marker; ${beside}`, unverified: !shown };
}

// ── A text ──────────────────────────────────────────────────────────────────

function detectInText(workflow: Workflow, text: string): Detected {
  const marker = markerIn(workflow, text);
  if (marker !== undefined)
    return { stage: marker, tier: "marker", evidence: "the text has its marker", unverified: false };
  for (const { infer, on } of workflow.stages.toReversed()) {
    const rules = Object.entries({ ...("SESSION_CLEARED" in on && { SESSION_CLEARED: "/clear" as const }), ...infer });
    for (const [signal, rule] of rules) {
      const words = rule === "/clear" ? lineWith(text, [/(?<!\S)\/clear\b/i]) : wordsFor(rule, text);
      if (words !== null) return guessed(signal, words);
    }
  }
  return UNKNOWN;
}

const guessed = (signal: string, words: string): Detected => ({
  stage: signal,
  tier: "inferred",
  evidence: `only these words: “${excerpt(words.trim(), 80)}”; a text alone proves nothing`,
  unverified: true,
});

const RED = /\b[1-9]\d* (?:tests? )?(?:fail|error)|\bfail(?:ed|s|ing|ures?)?\b|\berrors?\b/i;

/** Here, and nowhere else, words may stand for a tool call: nothing follows from the answer. */
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
