/**
 * Which part of a Markdown text is the writer's own words, line by line, so that a text of any length can be read.
 * Everything that could be a quotation (fence, quote, inline code, indented code, comment) is none; in doubt it is one.
 */

const FENCE = /^([ \t]*)(?:[-*+>]\s+|\d+[.)]\s+)*[ \t]*(`{3,}|~{3,})(.*)$/;
const RAW_HTML = /^[ \t]*<(pre|code|script|style|textarea|blockquote|details)\b/i;
/** No fence, tag or marker needs more; keeps hostile lines from costing more than they are worth. */
const LOOK = 400;

interface Prose {
  /** lines of the paragraph under way */
  paragraph: string[];
  /** what ends the quotation we are in; null: we are in none */
  closing: Closing | null;
}

interface Closing {
  isEnd(line: string): boolean;
}

/** `own` is as long as `text`, with quotations masked; "": all of it is quotation. */
export type ProseReader = (text: string, own: string) => void;

/** "open": the text ends inside a quotation. */
export function readProse(text: string, tell: ProseReader): "open" | "closed" {
  const prose: Prose = { paragraph: [], closing: null };
  for (const line of text.split(/\r\n|\n|\r/)) readLine(prose, line, tell);
  endParagraph(prose, tell);
  return prose.closing ? "open" : "closed";
}

/** What is told comes in the order of the text: paragraphs when they end, lines of a quotation at once. */
function readLine(prose: Prose, line: string, tell: ProseReader): void {
  const opened = prose.closing ? null : opensBlock(line);
  if (opened || isBlank(line)) endParagraph(prose, tell);
  // An unclosed comment in the paragraph swallows what follows, this line too.
  if (prose.closing) {
    if (prose.closing.isEnd(line)) prose.closing = null;
    tell(line, "");
  } else if (opened) {
    prose.closing = opened === "one line" ? null : opened;
    tell(line, "");
  } else if (!isBlank(line)) prose.paragraph.push(line);
}

function endParagraph(prose: Prose, tell: ProseReader): void {
  if (prose.paragraph.length === 0) return;
  const text = prose.paragraph.join("\n");
  const { own, opensComment } = ownWords(text);
  prose.paragraph = [];
  if (opensComment) prose.closing = COMMENT;
  tell(text, own);
}

const isBlank = (line: string) => /^[ \t]*$/.test(line);
const COMMENT: Closing = { isEnd: (line) => line.includes("-->") };

function opensBlock(line: string): Closing | "one line" | null {
  const fence = opensFence(line);
  if (fence) return fence;
  const html = line.includes("<") ? RAW_HTML.exec(line.slice(0, LOOK)) : null;
  if (!html) return null;
  const end = `</${html[1]!.toLowerCase()}>`;
  const isEnd = (later: string) => later.toLowerCase().includes(end);
  return isEnd(line) ? "one line" : { isEnd };
}

function opensFence(line: string): Closing | null {
  if (!line.includes("```") && !line.includes("~~~")) return null;
  const head = line.length > LOOK ? line.slice(0, LOOK) : line;
  // Nearly all of them begin their line.
  const first = head.charCodeAt(0);
  if (first === TICK || first === TILDE) {
    const end = endIndex(head, 0, first);
    if (end >= 3) return first === TICK && head.includes("`", end) ? null : fenceEnd("", first, end);
  }
  const [, indent, marks, rest] = FENCE.exec(head) ?? [];
  if (marks === undefined || (marks[0] === "`" && rest!.includes("`"))) return null;
  return fenceEnd(indent!, marks.charCodeAt(0), marks.length);
}

function endIndex(line: string, from: number, sign: number): number {
  let end = from;
  while (line.charCodeAt(end) === sign) end++;
  return end;
}

const [SPACE, TAB, QUOTE, TICK, TILDE] = [0x20, 0x09, 0x3e, 0x60, 0x7e];
const TAB_COLUMNS = 4;
const FURTHER_IN = 3;

/** A closing fence may stand at most three columns further in than its opening one. */
function fenceEnd(indent: string, mark: number, length: number): Closing {
  const most = beforeFence(indent).columns + FURTHER_IN;
  return { isEnd: (line) => isFence(line, mark, length, most) };
}

/** Letter by letter: there are as many fences as there are expressions to be made for them. */
function isFence(line: string, mark: number, least: number, mostColumns: number): boolean {
  const { at, columns } = beforeFence(line);
  const end = endIndex(line, at, mark);
  return end - at >= least && columns <= mostColumns && isBlank(line.slice(end));
}

function beforeFence(line: string): { at: number; columns: number } {
  let [at, columns] = [0, 0];
  for (; ; at++) {
    const letter = line.charCodeAt(at);
    if (letter !== SPACE && letter !== TAB && letter !== QUOTE) return { at, columns };
    columns += letter === TAB ? TAB_COLUMNS : 1;
  }
}

/** One paragraph without its quoted, indented, inline-code and commented words. */
function ownWords(text: string): { own: string; opensComment: boolean } {
  const masked = maskComments(maskCodeSpans(text));
  let quoted = false;
  const own = masked.text.split("\n").map((line) => {
    // A line after a quoted one belongs to the quote (lazy continuation).
    quoted = quoted || /^[ \t]*>/.test(line);
    return quoted || /^(?: {4}|[ ]{0,3}\t)/.test(line) ? "\u0000".repeat(line.length) : line;
  });
  return { own: own.join("\n"), opensComment: masked.open };
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
