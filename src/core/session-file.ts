/**
 * session.md as people write it. The file is kept line by line with its own line ends; writing what was parsed gives the
 * same bytes. Tasks are the box lines below a heading with the word "Tasks" (anywhere, in a file without headings),
 * outside of code fences and comments. What is indented below a task is its text.
 */
import {
  changeLine,
  factsOf,
  type LineChange,
  lineText,
  type NewTask,
  newLine,
  parseTaskLine,
  stateOf,
  type TaskLine,
} from "./session-line.ts";
import type { Task } from "./tasks.ts";

export { type NewTask, whyUnwritable } from "./session-line.ts";

interface Line {
  text: string;
  /** "\n", "\r\n", or "" at the end of a file that does not end its last line */
  end: string;
}

interface Found {
  id: string;
  at: number;
  /** the first line after the task and its text */
  until: number;
  line: TaskLine;
  /** its section is about other worktrees */
  elsewhere: boolean;
}

export interface SessionFile {
  lines: Line[];
  found: Found[];
}

const BOM = "\uFEFF";
const HEADING = /^ {0,3}#{1,6}[ \t]/;

export function parseSessionFile(text: string): SessionFile {
  const lines = text
    .split(/(?<=\n)/)
    .map((whole) => ({ text: whole.replace(/\r?\n$/, ""), end: /\r?\n$/.exec(whole)?.[0] ?? "" }));
  return { lines, found: findTasks(lines) };
}

export function writeSessionFile(file: SessionFile): string {
  return file.lines.map((line) => line.text + line.end).join("");
}

// ── Finding ─────────────────────────────────────────────────────────────────

type Kind = "heading" | "box" | "body" | "hidden" | "other";

function findTasks(lines: Line[]): Found[] {
  const kinds = kindsOf(lines);
  const found: Found[] = [];
  const ids = new Map<string, number>();
  let [inside, elsewhere] = [!kinds.includes("heading"), false];
  for (const [at, kind] of kinds.entries()) {
    const text = plainText(lines, at);
    if (kind === "heading") [inside, elsewhere] = [/\btasks\b/i.test(text), /\bworktree\b/i.test(text)];
    const line = inside && kind === "box" ? parseTaskLine(text) : null;
    if (line === null) continue;
    found.push({ id: freshId(line.title, ids), at, until: endOfBlock(lines, at), line, elsewhere });
  }
  return found;
}

const plainText = (lines: Line[], at: number) =>
  at === 0 ? lines[0]!.text.replace(new RegExp(`^${BOM}`), "") : lines[at]!.text;

/** A fence or a comment in a task's text ends with it: what somebody wrote into one task cannot hide the next. */
function kindsOf(lines: Line[]): Kind[] {
  const kinds: Kind[] = [];
  const isHidden = fencesAndComments();
  while (kinds.length < lines.length) {
    const at = kinds.length;
    const text = plainText(lines, at);
    if (isHidden(text)) kinds.push("hidden");
    else if (parseTaskLine(text) === null) kinds.push(HEADING.test(text) ? "heading" : "other");
    else {
      kinds.push("box");
      for (const until = endOfBlock(lines, at); kinds.length < until; ) kinds.push("body");
    }
  }
  return kinds;
}

function fencesAndComments(): (text: string) => boolean {
  let fence = "";
  let comment = false;
  return (text) => {
    const mark = comment ? "" : (/^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1] ?? "");
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

const indentOf = (text: string) => /^[ \t]*/.exec(text.replace(BOM, ""))![0].replaceAll("\t", "    ").length;

function endOfBlock(lines: Line[], at: number): number {
  const own = indentOf(lines[at]!.text);
  let until = at + 1;
  for (let next = until; next < lines.length; next++) {
    const { text } = lines[next]!;
    if (text.trim() === "") continue;
    if (indentOf(text) < own + 2) break;
    until = next + 1;
  }
  return until;
}

/** From the name; of equal names each further one gets a number. */
function freshId(title: string, taken: Map<string, number>): string {
  const base = slugOf(title);
  let count = taken.get(base) ?? 0;
  let id = base;
  for (; count > 0 && taken.has(id); count++) id = `${base}-${count + 1}`;
  taken.set(base, Math.max(1, count)).set(id, taken.get(id) ?? 1);
  return id;
}

function slugOf(title: string): string {
  const slug = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 50)
    .replace(/^-+|-+$/g, "");
  if (/[a-z0-9]/.test(slug)) return slug;
  let hash = 0x811c9dc5;
  for (const sign of title) hash = Math.imul(hash ^ sign.codePointAt(0)!, 0x01000193) >>> 0;
  return `task-${hash.toString(16).padStart(8, "0")}`;
}

// ── Reading ─────────────────────────────────────────────────────────────────

export function tasksOf(file: SessionFile): Task[] {
  const tasks = file.found.map((found, position) => asTask(file, found, position));
  const finished = new Set(tasks.filter(({ state }) => state === "closed" || state === "dropped").map(({ id }) => id));
  return tasks.map((task) => ({ ...task, blocked_by: task.blocked_by.filter((id) => !finished.has(id)) }));
}

function asTask(file: SessionFile, { id, at, until, line, elsewhere }: Found, position: number): Task {
  const { owner, after, ...facts } = factsOf(line);
  const state = stateOf(line);
  const away = elsewhere && (state === "open" || state === "claimed");
  return {
    id,
    title: line.title,
    text: textOf(file.lines.slice(at + 1, until)),
    state: away ? "claimed" : state,
    owner: owner?.actor ?? (away ? "worktree" : null),
    created_at: "",
    blocked_by: after,
    position,
    ...facts,
    ...(owner?.since !== undefined && { claimed_at: owner.since }),
    ...(owner?.on !== undefined && { claimed_on: owner.on }),
  };
}

function textOf(lines: Line[]): string {
  const indents = lines.filter(({ text }) => text.trim() !== "").map(({ text }) => /^\s*/.exec(text)![0].length);
  const shift = indents.reduce((least, indent) => Math.min(least, indent), indents[0] ?? 0);
  return lines.map(({ text }) => text.slice(shift)).join("\n");
}

// ── Writing ─────────────────────────────────────────────────────────────────

/** A text without this task comes back as it is. */
export function editTask(text: string, id: string, change: LineChange): string {
  return onTask(text, id, (file, { at, line }) => {
    const bom = at === 0 && file.lines[0]!.text.startsWith(BOM) ? BOM : "";
    return file.lines.with(at, { ...file.lines[at]!, text: bom + lineText(changeLine(line, change)) });
  });
}

/** One line below the task: what comes from elsewhere cannot become a task of its own. */
export function addNote(text: string, id: string, note: string): string {
  return onTask(text, id, (file, { at, until }) => {
    const indent = " ".repeat(indentOf(file.lines[at]!.text) + 2);
    return insert(file.lines, until, [`${indent}- ${oneLine(note).replace(/^\[/, "\\[")}`]);
  });
}

export function replaceText(text: string, id: string, body: string): string {
  return onTask(text, id, (file, { at, until }) => {
    const gone = [...file.lines.slice(0, at + 1), ...file.lines.slice(until)];
    const last = until === file.lines.length ? { ...gone.at(-1)!, end: file.lines.at(-1)!.end } : gone.at(-1)!;
    return insert(gone.with(-1, last), at + 1, bodyLines(body, indentOf(file.lines[at]!.text) + 2));
  });
}

/** Below the last task of the first section for tasks; without one, in a new section at the end. */
export function addTask(text: string, task: NewTask): string {
  const file = parseSessionFile(text);
  const known = placeForNew(file);
  const place = known ?? { at: file.lines.length, indent: "" };
  const heading = known !== null ? [] : text.trim() === "" ? ["## Pending Tasks"] : ["", "## Pending Tasks"];
  const lines = [newLine(task), ...bodyLines(task.text ?? "", 2)].map((line) =>
    line === "" ? "" : place.indent + line,
  );
  return writeSessionFile({ ...file, lines: insert(file.lines, place.at, [...heading, ...lines]) });
}

/** Sections in which nobody looks for what is to be done. */
const NOT_FOR_NEW = /\b(worktree|completed|done|finished|closed|blocked|dropped|archived?)\b/i;

/** As deep as the task above it, or what follows would become its text. */
function placeForNew(file: SessionFile): { at: number; indent: string } | null {
  const headings = kindsOf(file.lines).flatMap((kind, at) => (kind === "heading" ? [at] : []));
  const has = (at: number, words: RegExp) => words.test(file.lines[at]!.text);
  const isOurs = (at: number) => has(at, /\btasks\b/i) && !has(at, NOT_FOR_NEW);
  const pending = headings.find((at) => isOurs(at) && has(at, /\bpending\b/i));
  const section = headings.length === 0 ? -1 : (pending ?? headings.find(isOurs));
  if (section === undefined) return null;
  const end = headings.find((at) => at > section) ?? file.lines.length;
  const last = file.found.findLast(({ at }) => at > section && at < end);
  if (last !== undefined) return { at: last.until, indent: /^[ \t]*/.exec(last.line.before)![0] };
  return section < 0 ? null : { at: endOfSection(file.lines, section, end), indent: "" };
}

/** Behind what the section says, before the blank lines at its end. */
function endOfSection(lines: Line[], section: number, end: number): number {
  let at = end;
  while (at > section + 1 && lines[at - 1]!.text.trim() === "") at--;
  return at;
}

const oneLine = (text: string) => text.replace(/\s+/g, " ").trim();

function bodyLines(body: string, indent: number): string[] {
  const lines = body.trimEnd().split(/\r?\n/);
  if (lines.length === 1 && lines[0] === "") return [];
  return lines.map((line) => (line.trim() === "" ? "" : " ".repeat(indent) + line));
}

/** In the file's own line ends; a last line without one leaves the file without one. */
function insert(lines: Line[], at: number, texts: string[]): Line[] {
  if (texts.length === 0) return lines;
  const end = lines.find((line) => line.end !== "")?.end ?? "\n";
  const before = lines.slice(0, at);
  const [last, open] = [before.at(-1), at > 0 && before.at(-1)!.end === ""];
  if (open && last!.text === "") before.pop();
  else if (open) before[before.length - 1] = { ...last!, end };
  const added = texts.map((text, index) => ({
    text,
    end: open && last!.text !== "" && index === texts.length - 1 ? "" : end,
  }));
  return [...before, ...added, ...lines.slice(at)];
}

function onTask(text: string, id: string, change: (file: SessionFile, found: Found) => Line[]): string {
  const file = parseSessionFile(text);
  const found = file.found.find((one) => one.id === id);
  return found === undefined ? text : writeSessionFile({ ...file, lines: change(file, found) });
}
