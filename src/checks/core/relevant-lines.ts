import { plain } from "../../kernel/text/safe-text.ts";

/**
 * The lines of a long output that say why it failed: the first failure with what follows it, the names of others, and
 * the last lines. A line that only looks like a failure costs a line of text, no more: nothing is judged by this.
 */

const FAILURE =
  /^\s*(?:not ok \d|[✖✗✕×●] |FAIL(?:ED|URES?)?\b|--- FAIL|E {2,}\S|\d+\) \S|\[ERROR\]|error(?:\[\w+\])?: |\w*Error: |thread '.*' panicked|panic: )/;
const WIDEST = 200;
const BELOW = 12;
const OTHERS = 5;
const MOST_TEXT = 512 * 1024;

export function relevantLines(text: string, last: number): string {
  const lines = shortLines(text);
  const tail = Math.max(0, lines.length - last);
  const marks = lines.flatMap((line, at) => (at < tail && FAILURE.test(line) ? [at] : []));
  const [first] = marks;
  if (first === undefined) return lines.slice(tail).join("\n");
  const below = Math.min(tail, first + 1 + BELOW);
  const others = marks.filter((at) => at >= below).slice(0, OTHERS);
  const between = others.map((at) => lines[at]!);
  const gap = below + between.length < tail ? ["…"] : [];
  return [...lines.slice(first, below), ...between, ...gap, ...lines.slice(tail)].join("\n");
}

/** Without empty lines, and none too wide. */
function shortLines(text: string): string[] {
  const lines = plain(text.slice(-MOST_TEXT)).split("\n");
  const filled = lines.map((line) => line.trimEnd()).filter((line) => line !== "");
  return filled.map((line) => (line.length > WIDEST ? `${line.slice(0, WIDEST - 1)}…` : line));
}
