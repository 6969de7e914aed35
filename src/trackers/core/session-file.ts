/**
 * session.md as people write it. The text is never taken apart: tasks know their place in it, and an edit leaves
 * every other byte as it was. Tasks are the box lines below a heading with the word "Tasks" (anywhere, in a file without
 * headings), outside of code fences and comments. What is indented below a task is its text.
 */

import type { Task } from "../../kernel/types/task.ts";
import {
  changeLine,
  type LineChange,
  lineText,
  type NewTask,
  newLine,
  parseTaskLine,
  readFacts,
  type TaskLine,
  taskState,
} from "./session-line.ts";

export { type NewTask, whyUnwritable } from "./session-line.ts";

interface FoundTask extends Mark {
  id: string;
  line: TaskLine;
  /** its section is about other worktrees */
  elsewhere: boolean;
}

export interface SessionFile {
  text: string;
  headings: Mark[];
  found: FoundTask[];
}

/** An edit asks several times for the same text, which may be large. */
let last: SessionFile = { text: "", headings: [], found: [] };

export function parseSessionFile(text: string): SessionFile {
  if (text === last.text) return last;
  const marks = marksIn(text);
  last = { text, headings: marks.filter(({ line }) => line === null), found: findTasks(text, marks) };
  return last;
}

// ── Finding ─────────────────────────────────────────────────────────────────

function findTasks(text: string, marks: Mark[]): FoundTask[] {
  const found: FoundTask[] = [];
  const ids = new Map<string, number>();
  let [inside, elsewhere] = [marks.every(({ line }) => line !== null), false];
  for (const mark of marks) {
    const { from, end, until, line } = mark;
    if (line !== null && inside) found.push({ from, end, until, line, id: freshId(line.title, ids), elsewhere });
    if (line !== null) continue;
    const title = text.slice(from, end);
    [inside, elsewhere] = [/\btasks\b/i.test(title), /\bworktree\b/i.test(title)];
  }
  return found;
}

/** From the name; of equal names each further one gets a number. */
function freshId(title: string, taken: Map<string, number>): string {
  const base = makeSlug(title);
  let count = taken.get(base) ?? 0;
  let id = base;
  for (; count > 0 && taken.has(id); count++) id = `${base}-${count + 1}`;
  taken.set(base, Math.max(1, count));
  if (id !== base) taken.set(id, 1);
  return id;
}

function makeSlug(title: string): string {
  const dashed = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 50);
  const slug = dashed.slice(dashed.startsWith("-") ? 1 : 0, dashed.endsWith("-") ? -1 : dashed.length);
  if (slug !== "") return slug;
  let hash = 0x811c9dc5;
  for (const sign of title) hash = Math.imul(hash ^ sign.codePointAt(0)!, 0x01000193) >>> 0;
  return `task-${hash.toString(16).padStart(8, "0")}`;
}

// ── Reading ─────────────────────────────────────────────────────────────────

export function listTasks(file: SessionFile): Task[] {
  const tasks = file.found.map((found, position) => asTask(file, found, position));
  const finished = new Set(tasks.filter(({ state }) => state === "closed" || state === "dropped").map(({ id }) => id));
  return tasks.map((task) =>
    task.blocked_by.length === 0 ? task : { ...task, blocked_by: task.blocked_by.filter((id) => !finished.has(id)) },
  );
}

function asTask({ text }: SessionFile, { id, from, until, line, elsewhere }: FoundTask, position: number): Task {
  const { owner, after, labels, priority, epic, command, model, restart } = readFacts(line);
  const state = taskState(line);
  const away = elsewhere && (state === "open" || state === "claimed");
  return {
    id,
    title: line.title,
    text: unindented(text.slice(nextLine(text, from), until)),
    state: away ? "claimed" : state,
    owner: owner?.actor ?? (away ? "worktree" : null),
    created_at: "",
    labels,
    priority,
    epic,
    blocked_by: after,
    position,
    ...(command !== undefined && { command }),
    ...(model !== undefined && { model }),
    ...(restart !== undefined && { restart }),
    ...(owner?.since !== undefined && { claimed_at: owner.since }),
    ...(owner?.on !== undefined && { claimed_on: owner.on }),
  };
}

const withoutEnd = (line: string) => (line.endsWith("\n") ? line.slice(0, line.endsWith("\r\n") ? -2 : -1) : line);

function unindented(body: string): string {
  const end = body.indexOf("\n");
  if (end < 0 || end === body.length - 1) return withoutEnd(body.trimStart());
  const lines = body.replace(/\r?\n$/, "").split(/\r?\n/);
  const indents = lines.filter((line) => line.trim() !== "").map((line) => /^\s*/.exec(line)![0].length);
  const shift = indents.reduce((least, indent) => Math.min(least, indent), indents[0] ?? 0);
  return lines.map((line) => line.slice(shift)).join("\n");
}

// ── Writing ─────────────────────────────────────────────────────────────────

/** A text without this task comes back as it is. */
export function editTask(text: string, id: string, change: LineChange): string {
  const edit = ({ from, end }: Mark) =>
    text.slice(0, from) + changedLine(text.slice(from, end), change) + text.slice(end);
  return onTask(text, id, edit);
}

/** One line below the task: what comes from elsewhere cannot become a task of its own. */
export function addNote(text: string, id: string, note: string): string {
  return onTask(text, id, ({ from, until }) => {
    const indent = " ".repeat(countIndent(lineAt(text, from)) + 2);
    return insert(text, until, [`${indent}- ${note.replace(/\s+/g, " ").trim().replace(/^\[/, "\\[")}`]);
  });
}

export function replaceText(text: string, id: string, body: string): string {
  return onTask(text, id, ({ from, end, until }) => {
    const begin = nextLine(text, from);
    const isOpen = until === text.length && !text.endsWith("\n");
    const before = isOpen ? text.slice(0, end) : text.slice(0, begin);
    const lines = bodyLines(body, countIndent(lineAt(text, from)) + 2);
    return insert(before + text.slice(until), before.length, lines, findLineEnd(text));
  });
}

/** Below the last task of the first section for tasks; without one, in a new section at the end. */
export function addTask(text: string, task: NewTask): string {
  const known = placeForNew(parseSessionFile(text));
  const place = known ?? { at: text.length, indent: "" };
  const heading = known !== null ? [] : text.trim() === "" ? ["## Pending Tasks"] : ["", "## Pending Tasks"];
  const lines = [newLine(task), ...bodyLines(task.text ?? "", 2)].map((line) =>
    line === "" ? "" : place.indent + line,
  );
  return insert(text, place.at, [...heading, ...lines]);
}

/** Sections in which no one looks for what is to be done. */
const NOT_FOR_NEW = /\b(worktree|completed|done|finished|closed|blocked|dropped|archived?)\b/i;

/** As deep as the task above it, or what follows would become its text. */
function placeForNew({ text, headings, found }: SessionFile): { at: number; indent: string } | null {
  const has = ({ from, end }: Mark, words: RegExp) => words.test(text.slice(from, end));
  const isOurs = (heading: Mark) => has(heading, /\btasks\b/i) && !has(heading, NOT_FOR_NEW);
  const pending = headings.find((heading) => isOurs(heading) && has(heading, /\bpending\b/i));
  const section = pending ?? headings.find(isOurs);
  if (section === undefined && headings.length > 0) return null;
  const begin = section?.until ?? 0;
  const end = headings.find(({ from }) => from >= begin)?.from ?? text.length;
  const lowest = found.findLast(({ from }) => from >= begin && from < end);
  if (lowest !== undefined) return { at: lowest.until, indent: /^[ \t]*/.exec(lineAt(text, lowest.from))![0] };
  return section === undefined ? null : { at: endOfSection(text, begin, end), indent: "" };
}

/** After what the section says, before the blank lines at its end. */
function endOfSection(text: string, begin: number, end: number): number {
  const said = text.slice(begin, end).trimEnd();
  return said === "" ? begin : nextLine(text, begin + said.length);
}

const changedLine = (line: string, change: LineChange) => lineText(changeLine(parseTaskLine(line)!, change));
const lineAt = (text: string, from: number) => text.slice(from, nextLine(text, from));

function bodyLines(body: string, indent: number): string[] {
  const lines = body.trimEnd().split(/\r?\n/);
  if (lines.length === 1 && lines[0] === "") return [];
  return lines.map((line) => (line.trim() === "" ? "" : " ".repeat(indent) + line));
}

const findLineEnd = (text: string) => (text.charAt(text.indexOf("\n") - 1) === "\r" ? "\r\n" : "\n");

/** In the file's own line ends; a last line without one leaves the file without one. */
function insert(text: string, at: number, lines: string[], end = findLineEnd(text)): string {
  if (lines.length === 0) return text;
  const added = lines.join(end);
  const isOpen = at === text.length && text !== "" && !text.endsWith("\n");
  return isOpen ? text + end + added : text.slice(0, at) + added + end + text.slice(at);
}

function onTask(text: string, id: string, change: (found: FoundTask) => string): string {
  const found = parseSessionFile(text).found.find((one) => one.id === id);
  return found === undefined ? text : change(found);
}

// ── Headings and task lines ─────────────────────────────────────────────────

/** A task's line, or a heading. Positions in the text; `until` is the start of a line, or the end of the text. */
interface Mark {
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
function marksIn(text: string): Mark[] {
  const marks: Mark[] = [];
  const isHidden = fencesAndComments();
  for (let from = text.startsWith(BOM) ? 1 : 0; from < text.length; ) {
    const mark = markAt(text, from, isHidden);
    if (mark !== null) marks.push(mark);
    from = mark?.until ?? nextLine(text, from);
  }
  return marks;
}

function markAt(text: string, from: number, isHidden: (line: string) => boolean): Mark | null {
  const next = nextLine(text, from);
  const end = beforeLineEnd(text, from, next);
  const whole = text.slice(from, end);
  if (isHidden(whole)) return null;
  const line = parseTaskLine(whole);
  if (line !== null) return { from, end, until: endOfBlock(text, next, countIndent(whole)), line };
  return HEADING.test(whole) ? { from, end, until: next, line } : null;
}

function nextLine(text: string, from: number): number {
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
const countIndent = (line: string): number => /^[ \t]*/.exec(line)![0].replaceAll("\t", "    ").length;

function endOfBlock(text: string, begin: number, own: number): number {
  let until = begin;
  for (let from = begin; from < text.length; ) {
    const next = nextLine(text, from);
    const line = text.slice(from, next);
    const isBlank = line.trim() === "";
    if (!isBlank && countIndent(line) < own + 2) break;
    if (!isBlank) until = next;
    from = next;
  }
  return until;
}
