/** Where the headings and the tasks of a session.md stand, which may be long: only lines that may be one are looked at. */
import { parseTaskLine } from "./session-line.ts";
import { readTaskLine, type Said } from "./session-said.ts";

/** A task's line, or a heading. All places are counted in the text; `until` is a line's begin, or the text's end. */
export interface Mark {
  from: number;
  /** before its line end */
  end: number;
  /** behind what belongs to it: a task's text */
  until: number;
  /** null: a heading */
  said: Said | null;
}

const BOM = "\uFEFF";
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]/;

/**
 * Most lines are prose and are passed over after a look at their first sign. A fence or a comment in a task's text ends
 * with it: what somebody wrote into one task cannot hide the next.
 */
export function marksIn(text: string): Mark[] {
  const marks: Mark[] = [];
  const isHidden = fencesAndComments();
  const nextComment = comments(text);
  for (let from = text.startsWith(BOM) ? 1 : 0; ; ) {
    from = tellingLine(text, from, nextComment(from));
    if (from >= text.length) return marks;
    const mark = markAt(text, from, isHidden);
    if (mark !== null) marks.push(mark);
    from = mark?.until ?? nextLine(text, from);
  }
}

/** Where the next line begins with which a task, a heading or a fence may begin, or in which `place` lies. */
function tellingLine(text: string, begin: number, place: number): number {
  for (let from = begin; from < text.length; ) {
    let at = from;
    let code = text.charCodeAt(at);
    while (code === BLANK || code === TAB) code = text.charCodeAt(++at);
    if (code < 127 && TELLING.has(code)) return from;
    const end = text.indexOf("\n", at);
    if (end < 0) return place < text.length ? from : text.length;
    if (place < end) return from;
    from = end + 1;
  }
  return text.length;
}

const [BLANK, TAB, DELETE] = [32, 9, 127];
const TELLING = new Set([..."-*+#`~"].map((sign) => sign.charCodeAt(0)));

/** Where the next comment begins or ends from a place on; to be asked from the text's begin to its end. */
function comments(text: string): (from: number) => number {
  const find = (sign: string, from: number) => (text.indexOf(sign, from) + 1 || text.length + 1) - 1;
  let [begins, ends] = [find("<!--", 0), find("-->", 0)];
  return (from) => {
    if (begins < from) begins = find("<!--", from);
    if (ends < from) ends = find("-->", from);
    return Math.min(begins, ends);
  };
}

function markAt(text: string, from: number, isHidden: (line: string) => boolean): Mark | null {
  const next = nextLine(text, from);
  const end = beforeLineEnd(text, from, next);
  const whole = text.slice(from, end);
  if (isHidden(whole)) return null;
  const said = readTaskLine(whole);
  if (said !== null) return { from, end, until: endOfBlock(text, next, indentOf(whole)), said };
  return HEADING.test(whole) ? { from, end, until: next, said } : null;
}

/** Of a line that is not hidden; null: neither a task nor a heading. */
export const visibleMarkAt = (text: string, from: number) => markAt(text, from, () => false);

export function nextLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}

function beforeLineEnd(text: string, from: number, next: number): number {
  const end = next > from && text[next - 1] === "\n" ? next - 1 : next;
  return end > from && text[end - 1] === "\r" ? end - 1 : end;
}

function fencesAndComments(): (text: string) => boolean {
  let fence = "";
  let comment = false;
  return (text) => {
    if (fence === "" && !comment && !text.includes("--") && !FENCE.test(text)) return false;
    const mark = comment ? "" : (FENCE.exec(text)?.[1] ?? "");
    const hidden = fence !== "" || mark !== "" || comment;
    if (fence === "" && mark !== "") fence = mark;
    else if (fence !== "" && mark.startsWith(fence) && text.trim() === mark) fence = "";
    else if (fence === "" && /<!--|-->/.test(text) && (hidden || parseTaskLine(text) === null))
      comment = isCommentOpen(text, comment);
    return hidden;
  };
}

function isCommentOpen(text: string, open: boolean): boolean {
  const [begins, ends] = [text.lastIndexOf("<!--"), text.lastIndexOf("-->")];
  if (begins < 0 && ends < 0) return open;
  return begins > ends;
}

/** A tab is as wide as four blanks. */
export function indentOf(line: string): number {
  let width = 0;
  let at = 0;
  for (let code = line.charCodeAt(0); code === BLANK || code === TAB; code = line.charCodeAt(++at))
    width += code === TAB ? 4 : 1;
  return width;
}

function endOfBlock(text: string, begin: number, own: number): number {
  let until = begin;
  for (let from = begin; from < text.length; ) {
    const code = text.charCodeAt(from);
    if (code > BLANK && code < DELETE) break; // nothing before it: most blocks end so
    const next = nextLine(text, from);
    const line = text.slice(from, next);
    const isBlank = line.trim() === "";
    if (!isBlank && indentOf(line) < own + 2) break;
    if (!isBlank) until = next;
    from = next;
  }
  return until;
}
