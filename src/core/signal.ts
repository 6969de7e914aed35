import type { SignalFamily } from "./types.ts";

/**
 * Signals are claims in the agent's own words. Everything that could be a quotation
 * (fence, quote, inline code, indented code, comment) is no claim; in doubt it is a quotation.
 */

const EXACT: Record<Exclude<SignalFamily, "none">, RegExp> = {
  promise: /^ {0,3}<promise>([A-Z][A-Z0-9_]*)<\/promise>[ \t]*$/,
  stage: /::: WORKFLOW_STAGE: ([A-Z][A-Z0-9_]*) :::[ \t]*$/,
};
const HINT: Record<Exclude<SignalFamily, "none">, RegExp> = { promise: /promise/i, stage: /workflow.stage/i };
const DECORATION = /^[\s*_#>+\-.]+|[\s*_.!]+$/g;
const ALMOST: Record<Exclude<SignalFamily, "none">, RegExp> = {
  promise: /^<\s*promise\s*>[^<]*<\s*\/\s*promise\s*>$/i,
  stage: /^:::?\s*workflow[_ ]stage\s*:.*:::?$/i,
};
const FENCE = /^([ \t]*)(?:[-*+>]\s+|\d+[.)]\s+)*[ \t]*(`{3,}|~{3,})(.*)$/;
const RAW_HTML = /^[ \t]*<(pre|code|script|style|textarea|blockquote|details)\b/i;
/** No fence, tag or marker needs more; keeps hostile lines from costing more than they are worth. */
const LOOK = 400;

export interface Signals {
  /** in the order of the text, repeats included */
  found: string[];
  /** lines that were plainly meant as a signal and are none */
  malformed: string[];
  /** something follows the last signal */
  trailing: boolean;
}

export function parseSignals(text: string, family: SignalFamily): Signals {
  const signals: Signals = { found: [], malformed: [], trailing: false };
  // Most messages hold nothing of the kind, and need not be read as Markdown.
  if (family === "none" || !HINT[family].test(text)) return signals;
  for (const line of proseLines(text)) {
    if (!HINT[family].test(line)) continue;
    const exact = EXACT[family].exec(line);
    if (exact) signals.found.push(exact[1]!);
    else if (line.length < LOOK && ALMOST[family].test(line.replace(DECORATION, "")))
      signals.malformed.push(line.trim().slice(0, 120));
  }
  signals.trailing =
    signals.found.length > 0 &&
    !EXACT[family].test(
      text
        .trimEnd()
        .split(/\r\n|\n|\r/)
        .at(-1) ?? "",
    );
  return signals;
}

/** The lines of a Markdown text that are the writer's own words. */
export function proseLines(text: string): string[] {
  const prose: string[] = [];
  let paragraph: string[] = [];
  let closes: ((line: string) => boolean) | null = null;
  const flush = () => {
    const { lines, opensComment } = ownWords(paragraph);
    prose.push(...lines);
    paragraph = [];
    if (opensComment) closes = endsComment;
  };
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (closes) {
      if (closes(line)) closes = null;
      continue;
    }
    const opened = opensBlock(line);
    if (opened || isBlank(line)) flush();
    // An unclosed comment in the paragraph swallows what follows, this line too.
    if (closes) {
      if ((closes as (line: string) => boolean)(line)) closes = null;
    } else if (opened) closes = opened === "one line" ? null : opened;
    else if (!isBlank(line)) paragraph.push(line);
  }
  if (!closes) flush();
  return prose;
}

const isBlank = (line: string) => /^[ \t]*$/.test(line);
const endsComment = (line: string) => line.includes("-->");

function opensBlock(line: string): ((line: string) => boolean) | "one line" | null {
  const fence = /```|~~~/.test(line) ? FENCE.exec(line.slice(0, LOOK)) : null;
  if (fence && !(fence[2]![0] === "`" && fence[3]!.includes("`"))) return fenceEnd(fence[1]!, fence[2]!);
  const html = line.includes("<") ? RAW_HTML.exec(line.slice(0, LOOK)) : null;
  if (!html) return null;
  const end = `</${html[1]!.toLowerCase()}>`;
  return line.toLowerCase().includes(end) ? "one line" : (later) => later.toLowerCase().includes(end);
}

/** A closing fence may stand at most three columns further in than its opening one. */
function fenceEnd(indent: string, marks: string): (line: string) => boolean {
  const closing = new RegExp(`^([ \\t>]*)${marks[0]}{${marks.length},}[ \\t]*$`);
  return (line) => {
    const match = closing.exec(line);
    return match !== null && width(match[1]!) <= width(indent) + 3;
  };
}

const width = (blank: string) => blank.replace(/\t/g, "    ").length;

/** One paragraph without its quoted, indented, inline-code and commented lines. */
function ownWords(paragraph: string[]): { lines: string[]; opensComment: boolean } {
  const text = paragraph.join("\n");
  const masked = maskComments(maskCodeSpans(text));
  const lines: string[] = [];
  let quoted = false;
  masked.text.split("\n").forEach((line, i) => {
    // A line after a quoted one belongs to the quote (lazy continuation).
    quoted = quoted || /^[ \t]*>/.test(line);
    if (!quoted && !/^(?: {4}|[ ]{0,3}\t)/.test(line) && line === paragraph[i]) lines.push(line);
  });
  return { lines, opensComment: masked.open };
}

/** Linear, whatever the text: spans are found by a queue of backtick runs per length. */
function maskCodeSpans(text: string): string {
  if (!text.includes("`")) return text;
  const runs = [...text.matchAll(/`+/g)].map((m) => ({ at: m.index, length: m[0].length }));
  const byLength = new Map<number, number[]>();
  for (const run of runs.toReversed()) {
    const queue = byLength.get(run.length);
    if (queue) queue.push(run.at);
    else byLength.set(run.length, [run.at]);
  }
  const spans: Span[] = [];
  let end = 0;
  for (const run of runs) {
    if (run.at < end) continue;
    const close = nextAfter(byLength.get(run.length)!, run.at);
    if (close < 0) continue;
    end = close + run.length;
    spans.push([run.at, end]);
  }
  return blank(text, spans);
}

function maskComments(text: string): { text: string; open: boolean } {
  const spans: Span[] = [];
  for (let from = text.indexOf("<!--"); from >= 0; ) {
    const end = text.indexOf("-->", from + 4);
    if (end < 0) return { text: blank(text, [...spans, [from, text.length]]), open: true };
    spans.push([from, end + 3]);
    from = text.indexOf("<!--", end + 3);
  }
  return { text: blank(text, spans), open: false };
}

/** The first position behind `at`; drops what was passed, so all calls together walk the queue once. */
function nextAfter(queue: number[], at: number): number {
  while (queue.length > 0 && queue[queue.length - 1]! <= at) queue.pop();
  return queue[queue.length - 1] ?? -1;
}

type Span = [from: number, to: number];

/** Same length, same lines: only the words go, so that lines keep their places. */
function blank(text: string, spans: Span[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const [from, to] of spans) {
    pieces.push(text.slice(at, from), text.slice(from, to).replace(/[^\n]/g, "\u0000"));
    at = to;
  }
  return pieces.join("") + text.slice(at);
}
