import { excerpt, safeText } from "../../kernel/text/safe-text.ts";

/**
 * The lines of a long output that say why it failed: the first failure with what follows it, the names of others, and
 * the closing lines. A line that only looks like a failure costs a line of text, no more: nothing is judged by this.
 */

const FAILURE =
  /^\s*(?:not ok \d|[✖✗✕×●] |FAIL(?:ED|URES?)?\b|--- FAIL|E {2,}\S|\d+\) \S|\[ERROR\]|error(?:\[\w+\])?: (?!\|)|\w*Error: |thread '.*' panicked|panic: )/;
/** Tests that passed, the frame of a TAP report, and what npm has to say about itself. */
const NOISE =
  /^\s*(?:ok \d.*|# Subtest: .*|TAP version \d+|1\.\.\d+|---|\.\.\.|npm (?:notice|warn)\b.*|duration_ms: .*|(?:type|failureType|operator): '\w+'|code: 'ERR_ASSERTION'|name: 'AssertionError'|.*\(node:(?:internal|async_hooks)\b.*\)|# (?:suites|cancelled|skipped|todo|duration_ms) .*)$/;
const WIDEST = 200;
const BELOW = 8;
const OTHERS = 5;
const CLOSING = 4;
const MOST_TEXT = 512 * 1024;

/** `last`: how many lines of an output in which nothing names a failure. */
export function relevantLines(text: string, last: number): string {
  const lines = shortLines(text);
  const marks = lines.flatMap((line, at) => (FAILURE.test(line) ? [at] : []));
  const [first] = marks;
  if (first === undefined) return lines.slice(-last).join("\n");
  const below = first + 1 + BELOW;
  const end = Math.max(below, lines.length - CLOSING);
  const others = marks.filter((at) => at >= below && at < end).slice(0, OTHERS);
  const gap = below + others.length < end ? ["…"] : [];
  return [...lines.slice(first, below), ...others.map((at) => lines[at]!), ...gap, ...lines.slice(end)].join("\n");
}

/** Without empty lines and noise, and none too wide. */
function shortLines(text: string): string[] {
  const lines = safeText(text.slice(-MOST_TEXT)).split("\n");
  const filled = lines.map((line) => line.trimEnd()).filter((line) => line !== "" && !NOISE.test(line));
  return filled.map((line) => (line.length > WIDEST ? `${line.slice(0, WIDEST - 1)}…` : line));
}

const REASON =
  /^.*(?:undefined: \S|(?:\w*Error|error(?:\[\w+\])?): \S|cannot find \S|undefined (?:method|reference|function)\b).*$/m;

/** What a compiler or an interpreter says first: "./s_test.go:6:5: undefined: Sub"; null: nothing like that. */
export function firstReason(output: string): string | null {
  const line = REASON.exec(safeText(output))?.[0];
  return line ? excerpt(line, 120) : null;
}
