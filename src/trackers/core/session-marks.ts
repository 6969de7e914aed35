/** Where the headings and the tasks of a session.md are. */
import { parseTaskLine, type TaskLine } from "./session-line.ts";

/** A task's line, or a heading. Positions in the text; `until` is the start of a line, or the end of the text. */
export interface Mark {
  from: number;
  /** before its line end */
  end: number;
  /** after what belongs to it: a task's text */
  until: number;
  /** null: a heading */
  line: TaskLine | null;
}

const BOM = "\uFEFF";
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}#{1,6}[ \t]/;

/** A fence or a comment in a task's text ends with it: what was written into one task cannot hide the next. */
export function marksIn(text: string): Mark[] {
  const marks: Mark[] = [];
  const isHidden = fencesAndComments();
  for (let from = text.startsWith(BOM) ? 1 : 0; from < text.length; ) {
    const mark = markAt(text, from, isHidden);
    if (mark !== null) marks.push(mark);
    from = nextRelevantLine(text, mark?.until ?? nextLine(text, from));
  }
  return marks;
}

/** A line that can begin a task, a heading or a fence, or holds an end of a comment. Most lines of a long file are prose. */
const RELEVANT = /\n[ \t]*[-*+#`~]|--/g;

/** `from`: where a line begins that is not the first. */
function nextRelevantLine(text: string, from: number): number {
  RELEVANT.lastIndex = from - 1;
  const hit = RELEVANT.exec(text);
  return hit === null ? text.length : text.lastIndexOf("\n", hit.index) + 1;
}

const [BLANK, TAB, DELETE] = [32, 9, 127];

function markAt(text: string, from: number, isHidden: (line: string) => boolean): Mark | null {
  const next = nextLine(text, from);
  const end = beforeLineEnd(text, from, next);
  const whole = text.slice(from, end);
  if (isHidden(whole)) return null;
  const line = parseTaskLine(whole);
  if (line !== null) return { from, end, until: endOfBlock(text, next, indentOf(whole)), line };
  return HEADING.test(whole) ? { from, end, until: next, line } : null;
}

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
