/**
 * What tool calls show when no signal was given. Results of tools count, never prose where a tool exists; prose counts
 * only for what has no tool, and its negations are refused. In doubt nothing is inferred.
 */
import { commandsOf, testRuns } from "./evidence.ts";
import { excerpt } from "./guide.ts";
import { proseLines } from "./signal.ts";
import type { Json, ToolCall } from "./types.ts";
import type { Inference } from "./workflow.ts";

export interface Inferred {
  signal: string;
  /** in words what shows it */
  evidence: string;
}

export type Progress = "IN_PROGRESS" | "IN_TESTING" | "IN_ORACLE_REVIEW" | "UNKNOWN";

export interface Seen {
  inferred: Inferred | null;
  progress: Progress;
  /** how many tools were used */
  tools: number;
}

export function lookForSignal(
  rules: Record<string, Inference>,
  calls: ToolCall[],
  message: string,
  task: string,
): Seen {
  const found = Object.entries(rules).map(([signal, rule]) => ({
    signal,
    evidence: shownBy(rule, calls, message, task),
  }));
  const hits = found.filter((one): one is Inferred => one.evidence !== null);
  // Two at once is no answer.
  return { inferred: hits.length === 1 ? hits[0]! : null, progress: progressOf(calls), tools: calls.length };
}

function shownBy(rule: Inference, calls: ToolCall[], message: string, task: string): string | null {
  const wanted: (string | null)[] = [];
  if (rule.tests) wanted.push(greenRun(calls));
  if (rule.review) wanted.push(reviewOf(calls)?.verdict === "approved" ? "a reviewer approved" : null);
  if (rule.closed) wanted.push(lastOf(calls, (call) => closes(call, task)) ? `a tool call closed ${task}` : null);
  if (rule.read) wanted.push(lastOf(calls, (call) => shows(call, task)) ? `${task} was opened again` : null);
  if (rule.edited) wanted.push(lastOf(calls, isEdit) ? "files were edited" : null);
  if (rule.says) wanted.push(saysOne(message, rule.says));
  return wanted.length === 0 || wanted.includes(null) ? null : wanted.join("; ");
}

const lastOf = (calls: ToolCall[], test: (call: ToolCall) => boolean) => calls.findLast(test);
const succeeded = (call: ToolCall) => call.result !== null && !call.result.error;

// ── Tests ───────────────────────────────────────────────────────────────────

function greenRun(calls: ToolCall[]): string | null {
  const last = testRuns(calls).at(-1);
  if (last?.verdict !== "pass") return null;
  const edited = calls.some((call) => isEdit(call) && call.at > last.at);
  return edited ? null : `\`${last.command}\`: ${last.why}`;
}

const EDITORS = ["Edit", "Write", "MultiEdit", "NotebookEdit"];
export const isEdit = (call: ToolCall) => EDITORS.includes(call.name) && call.result?.error !== true;

// ── Reviews ─────────────────────────────────────────────────────────────────

const REVIEWERS = /review|oracle/i;
const REFUSED =
  /\b(?:changes (?:are )?(?:requested|required|needed)|request(?:s|ed|ing)? changes|reject(?:s|ed)?|needs? (?:work|changes|fixes)|do not (?:merge|approve)|blocking)\b/i;
const APPROVED = /\b(?:approved|lgtm|looks good(?: to me)?|ship it)\b/i;
const DOUBT =
  /\b(?:not|never|no|cannot|can't|won't|isn't|aren't|don't|didn't|hasn't|without|before|until|once|unless|if|when|after|would|should|could|pending|awaiting|almost|nearly|partially|except|but|however)\b|n't\b|\?/i;

/** The last review among the calls, by a sub-agent or a command that is one; null: there was none. */
export function reviewOf(calls: ToolCall[]): { verdict: "approved" | "refused" | "unclear"; at: string } | null {
  const last = calls.findLast((call) => isReview(call) && call.result !== null);
  return last ? { verdict: reviewVerdict(last.result!.text), at: last.at } : null;
}

function isReview(call: ToolCall): boolean {
  if (call.name === "Task" || call.name === "Agent") return REVIEWERS.test(textAt(call.input, "subagent_type"));
  if (call.name === "Skill" || call.name === "SlashCommand")
    return REVIEWERS.test(textAt(call.input, "skill") || textAt(call.input, "command"));
  return false;
}

/** The last line that says something about it. Whoever asks for changes in it has not approved. */
export function reviewVerdict(text: string): "approved" | "refused" | "unclear" {
  for (const line of proseLines(text).toReversed()) {
    if (REFUSED.test(line) || (APPROVED.test(line) && DOUBT.test(line))) return "refused";
    if (APPROVED.test(line)) return "approved";
  }
  return "unclear";
}

// ── The task ────────────────────────────────────────────────────────────────

/** `bd show x`, `gh issue view 3`, or reading the file it stands in. */
export function shows(call: ToolCall, task: string): boolean {
  if (!succeeded(call)) return false;
  if (call.name === "Read") return /(?:^|\/)session\.md$/.test(textAt(call.input, "file_path"));
  return shellWords(call).some((words) => isAbout(words, task, SHOWING) || readsSession(words));
}

/** The tracker has the last word on it: this only says that it is worth asking. */
export function closes(call: ToolCall, task: string): boolean {
  if (!succeeded(call)) return false;
  if (isEdit(call))
    return /session\.md$/.test(textAt(call.input, "file_path")) && /\[x\]/i.test(JSON.stringify(call.input));
  return shellWords(call).some((words) => isAbout(words, task, CLOSING));
}

const SHOWING = [
  ["bd", "show"],
  ["gh", "issue", "view"],
  ["pawl", "task", "show"],
];
const CLOSING = [
  ["bd", "close"],
  ["gh", "issue", "close"],
  ["pawl", "task", "done"],
];

const isAbout = (words: string[], task: string, commands: string[][]) =>
  commands.some((command) => command.every((word, i) => nameOf(words[i]) === word)) && words.slice(2).includes(task);
const readsSession = (words: string[]) =>
  ["cat", "less", "head", "sed", "grep", "rg"].includes(nameOf(words[0])) &&
  words.some((word) => /(?:^|\/)session\.md$/.test(word));
const nameOf = (word = "") => word.slice(word.lastIndexOf("/") + 1);

const shellWords = (call: ToolCall) => (call.name === "Bash" ? commandsOf(textAt(call.input, "command")) : []);

// ── Prose ───────────────────────────────────────────────────────────────────

function saysOne(message: string, phrases: string[]): string | null {
  for (const sentence of sentencesOf(message)) {
    const said = phrases.find((phrase) => sentence.toLowerCase().includes(phrase.toLowerCase()));
    if (said !== undefined && !DOUBT.test(sentence) && !PLAN.test(sentence))
      return `it says “${excerpt(sentence, 80)}”`;
  }
  return null;
}

const PLAN = /\b(?:will|going to|next|todo|to do|plan|soon|let me|i'll|remaining|left to)\b/i;
const sentencesOf = (message: string) => proseLines(message).flatMap((line) => line.split(/(?<=[.!?])\s+/));

// ── Where it stands ─────────────────────────────────────────────────────────

export function progressOf(calls: ToolCall[]): Progress {
  const review = reviewOf(calls);
  const run = testRuns(calls).at(-1);
  if (review && review.verdict !== "approved" && (!run || run.at <= review.at)) return "IN_ORACLE_REVIEW";
  if (run && run.verdict !== "pass") return "IN_TESTING";
  return calls.some((call) => isEdit(call) || call.name === "Bash") ? "IN_PROGRESS" : "UNKNOWN";
}

/** What would speak for going back: a red run, or a review that asks for changes. */
export function failureIn(calls: ToolCall[]): string | null {
  const run = testRuns(calls).at(-1);
  if (run?.verdict === "fail") return `\`${run.command}\`: ${run.why}`;
  return reviewOf(calls)?.verdict === "refused" ? "the review asks for changes" : null;
}

function textAt(value: Json, key: string): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "";
  const found = value[key];
  return typeof found === "string" ? found : "";
}
