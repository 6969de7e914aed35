/**
 * One task line of session.md:
 *   - [ ] **Name** — `command` | model | restart | p1 | #label | epic: name | after: id, id
 *   - [>] **Name** — `command` | @pawl-1a2b3c4d on laptop-3f2a since 2026-11-15T10:00:00Z
 * The line is cut at its bars and kept piece by piece, so that an edit leaves every other byte as it was.
 * A star that would end the name too early is written `\*`, as in Markdown; a backslash means something only there.
 */

import type { TaskState } from "../../kernel/types/task.ts";

export interface TaskLine {
  /** everything before the box's sign, and the sign itself */
  before: string;
  box: string;
  /** from the box's end to the name's */
  named: string;
  title: string;
  /** what follows the name, cut at the bars that are not code */
  pieces: string[];
}

export interface Claim {
  actor: string;
  on?: string | undefined;
  since?: string | undefined;
}

export interface Fields {
  /** "": none */
  command?: string;
  model?: string;
  restart?: boolean;
}

export interface LineChange extends Fields {
  state?: TaskState;
  /** null: no one's */
  owner?: Claim | null;
  labels?: { add?: string[]; remove?: string[] };
  priority?: number;
  title?: string;
}

/** What the pieces say. */
export interface LineFacts extends Fields {
  labels: string[];
  priority: number;
  owner: Claim | null;
  epic: string | null;
  after: string[];
}

const BOXES: Record<string, TaskState> = {
  " ": "open",
  ">": "claimed",
  x: "closed",
  X: "closed",
  "!": "blocked",
  "†": "blocked",
  "-": "dropped",
};
const SIGNS: Record<TaskState, string> = { open: " ", claimed: ">", closed: "x", blocked: "!", dropped: "-" };

/** What is longer was not written as a task. */
const LONGEST_LINE = 4_000;
const LINE = /^([ \t]*[-*+][ \t]+\[)(.)(\][ \t]+)(.*)$/su;
const BOLD = /^\*\*((?:\\.|[^\\])+?)\*\*(?!\*)/s;
const MODELS = /^(haiku|sonnet|opus|fable)$/i;
const CODE = /`[^`]*`/g;
const WORD = /(^|[ \t])(#[\p{L}\p{N}_][\p{L}\p{N}_.:/+-]*|p[0-4])(?=[ \t]|$)/gu;
const OWNER = /^@(\S+?)(?: on (\S+))?(?: since (\S+))?$/;

/** null: no task. */
export function parseTaskLine(text: string): TaskLine | null {
  const match = text.length > LONGEST_LINE ? null : LINE.exec(text);
  if (match === null || BOXES[match[2]!] === undefined) return null;
  const rest = match[4]!;
  const bold = parseBold(rest);
  const name = bold?.all ?? plainName(rest);
  const title = bold?.title ?? name.trim();
  if (title === "") return null;
  return { before: match[1]!, box: match[2]!, named: match[3]! + name, title, pieces: cut(rest.slice(name.length)) };
}

export const taskState = (line: TaskLine): TaskState => BOXES[line.box]!;

/** A name between stars, at the text's beginning. */
export function parseBold(text: string): { all: string; title: string } | null {
  const bold = text.startsWith("**") ? BOLD.exec(text) : null;
  const halve = (slashes: string) => slashes.slice(0, slashes.length >> 1);
  return bold && { all: bold[0], title: bold[1]!.replace(/\\+(?=\*|$)/g, halve).trim() };
}

function boldText(title: string): string {
  const name = title.replace(/(?<!\\)(\\*)(\*+|$)/g, (all, slashes: string, stars: string, at: number) =>
    all === "*" && at > 0 && at < title.length - 1 ? all : slashes.repeat(2) + "\\*".repeat(stars.length),
  );
  return `**${name}**`;
}

/** Up to the dash, the first bar or the first label. */
function plainName(rest: string): string {
  const end = /(?<!\s)(?:\s+(?:[—–]|\||#[\p{L}\p{N}_]|p[0-4](?=\s|$))|\s*$)/u.exec(rest);
  return rest.slice(0, end?.index ?? rest.length);
}

/** At the bars outside of code. */
function cut(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  let at = 0;
  for (let bar = text.indexOf("|"); bar >= 0; bar = text.indexOf("|", at)) {
    const code = text.indexOf("`", at);
    const end = code < 0 || code > bar ? -1 : text.indexOf("`", code + 1);
    at = end < 0 ? bar + 1 : end + 1;
    if (end >= 0) continue;
    pieces.push(text.slice(from, bar));
    from = at;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** As long as before, so that places stay. */
const withoutCode = (text: string) => text.replace(CODE, (code) => "`".repeat(code.length));

export function readFacts(line: TaskLine): LineFacts {
  const facts: LineFacts = { labels: [], priority: 2, owner: null, epic: null, after: [] };
  // The first code after the dash.
  const piece = line.pieces[0]!;
  const dash = /^\s*[—–]/.test(piece) ? 0 : withoutCode(piece).search(/[—–]|(?<!\S)--?(?=\s)/);
  const command = dash < 0 ? undefined : /`([^`]+)`/.exec(piece.slice(dash))?.[1];
  if (command !== undefined) facts.command = command;
  for (let index = 0; index < line.pieces.length; index++) readPiece(line.pieces[index]!, index, facts);
  return facts;
}

function readPiece(piece: string, index: number, facts: LineFacts): void {
  const rest = piece.replace(CODE, "").replace(WORD, (_all, gap: string, word: string) => {
    if (word.startsWith("#")) facts.labels.push(word.slice(1));
    else facts.priority = Number(word[1]);
    return gap;
  });
  if (index > 0) readField(rest.trim(), index, facts);
}

function readField(field: string, index: number, facts: LineFacts): void {
  if (field === "") return;
  const owner = field.startsWith("@") ? OWNER.exec(field) : null;
  const pair = field.includes(":") ? /^(after|epic):\s*(.+)$/i.exec(field) : null;
  if (owner !== null) facts.owner = { actor: owner[1]!, on: owner[2], since: owner[3] };
  else if (pair?.[1]?.toLowerCase() === "after") facts.after.push(...pair[2]!.split(/[\s,]+/).filter(Boolean));
  else if (pair !== null) facts.epic = pair[2]!.trim();
  else if (/^(no )?restart$/i.test(field)) facts.restart = !/^no /i.test(field);
  else if (MODELS.test(field) || (index === 1 && /^[\p{L}][\w.:/[\]-]*$/u.test(field))) facts.model = field;
}

// ── Writing ─────────────────────────────────────────────────────────────────

export const lineText = (line: TaskLine): string => `${line.before}${line.box}${line.named}${line.pieces.join("|")}`;

export function changeLine(line: TaskLine, change: LineChange): TaskLine {
  let next = line;
  if (change.state !== undefined && change.state !== taskState(line)) next = { ...next, box: SIGNS[change.state] };
  if (change.title !== undefined) next = { ...next, named: rename(next, change.title), title: change.title };
  if (change.owner !== undefined) next = setOwner(next, change.owner);
  if (change.priority !== undefined) next = setPriority(next, change.priority);
  next = { ...next, pieces: changeFields(next.pieces, readFacts(next), change) };
  return keepName(changeLabels(next, change.labels?.add ?? [], change.labels?.remove ?? []));
}

/** A name without stars ends at its first label: without that label it needs another end. */
function keepName(line: TaskLine): TaskLine {
  const forms = [line, { ...line, named: rename(line, line.title) }];
  const dashed = { ...line, pieces: line.pieces.with(0, ` —${line.pieces[0]}`) };
  return forms.find((form) => parseTaskLine(lineText(form))?.title === line.title) ?? dashed;
}

const rename = (line: TaskLine, title: string) => `${/^\][ \t]+/.exec(line.named)![0]}${boldText(title)}`;

function setOwner(line: TaskLine, owner: Claim | null): TaskLine {
  const pieces = line.pieces.flatMap((piece, index) => (index === 0 ? [piece] : withoutOwner(piece)));
  const freed = keepEnd(line, { ...line, pieces });
  return owner === null ? freed : append(freed, claimText(owner));
}

/** Labels may be next to it. */
function withoutOwner(piece: string): string[] {
  const field = piece.replace(CODE, "").replace(WORD, "$1").trim();
  if (!OWNER.test(field)) return [piece];
  const kept = piece.replace(/^\s+/, "").match(new RegExp(`${CODE.source}|${WORD.source}`, "gu")) ?? [];
  return kept.length === 0 ? [] : [` ${kept.map((word) => word.trim()).join(" ")} `];
}

export function claimText({ actor, on, since }: Claim): string {
  return `@${actor}${on === undefined ? "" : ` on ${on}`}${since === undefined ? "" : ` since ${since}`}`;
}

/** Without its last piece the line must not keep the blank that stood before the bar. */
function keepEnd(line: TaskLine, next: TaskLine): TaskLine {
  if (next.pieces.at(-1) === line.pieces.at(-1)) return next;
  const end = /[ \t]*$/.exec(line.pieces.at(-1)!)![0];
  return { ...next, pieces: next.pieces.with(-1, next.pieces.at(-1)!.replace(/[ \t]+$/, "") + end) };
}

function setPriority(line: TaskLine, priority: number): TaskLine {
  if (readFacts(line).priority === priority) return line;
  const bare = withoutWords(line, (word) => /^p[0-4]$/.test(word));
  return append(bare, `p${priority}`);
}

function changeLabels(line: TaskLine, add: string[], remove: string[]): TaskLine {
  const gone = remove.filter((label) => !add.includes(label));
  const next = gone.length === 0 ? line : withoutWords(line, (word) => gone.includes(word.slice(1)) && word[0] === "#");
  const missing = add.filter((label, at) => !readFacts(next).labels.includes(label) && add.indexOf(label) === at);
  return missing.length === 0 ? next : append(next, missing.map((label) => `#${label}`).join(" "));
}

function withoutWords(line: TaskLine, isGone: (word: string) => boolean): TaskLine {
  const pieces = line.pieces.map((piece) => outsideCode(piece, isGone));
  const kept = pieces.filter((piece, index) => index === 0 || piece.trim() !== "" || line.pieces[index]!.trim() === "");
  return keepEnd(line, { ...line, pieces: kept });
}

function outsideCode(piece: string, isGone: (word: string) => boolean): string {
  const parts = piece.split(/(`[^`]*`)/);
  const drop = (text: string) => text.replace(WORD, (all, _gap, word: string) => (isGone(word) ? "" : all));
  return parts.map((part, index) => (index % 2 === 1 ? part : drop(part))).join("");
}

function append(line: TaskLine, field: string): TaskLine {
  const last = line.pieces.at(-1)!;
  const end = /[ \t]*$/.exec(last)![0];
  const body = last.slice(0, last.length - end.length);
  const dash = line.pieces.length === 1 && !/[—–]/.test(body.replace(CODE, "")) ? " —" : "";
  return { ...line, pieces: [...line.pieces.slice(0, -1), `${body}${dash} `, ` ${field}${end}`] };
}

// ── New lines ───────────────────────────────────────────────────────────────

export interface NewTask extends Fields {
  title: string;
  text?: string;
  labels?: string[];
  priority?: number;
  epic?: string | null;
  blocked_by?: string[];
}

export function newLine({ priority = 2, labels = [], blocked_by = [], ...task }: NewTask): string {
  const fields = [
    task.model ?? "sonnet",
    task.restart ? "restart" : "",
    priority === 2 ? "" : `p${priority}`,
    labels.map((label) => `#${label}`).join(" "),
    task.epic ? `epic: ${task.epic}` : "",
    blocked_by.length === 0 ? "" : `after: ${blocked_by.join(", ")}`,
  ].filter(Boolean);
  return `- [ ] ${boldText(task.title)} — ${task.command === undefined ? "" : `\`${task.command}\` `}| ${fields.join(" | ")}`;
}

/** Why the notation cannot hold it; null: it can. */
export function whyUnwritable(task: Partial<NewTask>): string | null {
  const bad = (text: string | undefined, signs: RegExp) =>
    text !== undefined && (signs.test(text) || text.trim() !== text || text === "");
  if (bad(task.title, /[\r\n]/)) return "a title is one line, without surrounding spaces";
  if (bad(task.command, /[\r\n`]/)) return "a command is one line without backticks";
  if (bad(task.model, /[^\w.:/[\]-]|^[^A-Za-z]|^(restart|p[0-4])$/i)) return "a model is one word, as in sonnet";
  if (bad(task.epic ?? undefined, /[\r\n|`]/)) return "an epic is one or a few words, without |";
  if (task.labels?.some((label) => !/^[\p{L}\p{N}_][\p{L}\p{N}_.:/+-]*$/u.test(label))) return "a label is one word";
  return null;
}

// ── Command, model and restart: changed in their place ──────────────────────

/** `pieces`: what follows the name, cut at its bars. `known`: what they say now. */
function changeFields(pieces: string[], known: Fields, wanted: Fields): string[] {
  let next = pieces;
  if (wanted.command !== undefined && wanted.command !== (known.command ?? "")) next = setCommand(next, wanted.command);
  if (wanted.model !== undefined && wanted.model !== known.model) next = setModel(next, known.model, wanted.model);
  if (wanted.restart !== undefined && wanted.restart !== (known.restart ?? false))
    next = setRestart(next, wanted.model ?? known.model, wanted.restart);
  return next;
}

function setCommand(pieces: string[], command: string): string[] {
  const first = pieces[0]!;
  const dash = /[—–]|(?<!\S)--?(?=\s)/.exec(withoutCode(first));
  const code = command === "" ? "" : `\`${command}\``;
  if (dash === null) return pieces.with(0, ` — ${code}${first === "" && pieces.length > 1 ? " " : first}`);
  const from = dash.index + dash[0].length;
  const [head, tail] = [first.slice(0, from), first.slice(from)];
  if (/`[^`]+`/.test(tail))
    return pieces.with(0, head + tail.replace(/`[^`]+`([ \t]?)/, (_all, gap) => (code === "" ? "" : code + gap)));
  return pieces.with(0, `${head} ${code}${tail === "" && pieces.length > 1 ? " " : tail}`);
}

function setModel(pieces: string[], known: string | undefined, model: string): string[] {
  const at = placeIn(pieces, known);
  return at < 0 ? insertField(pieces, 1, model) : pieces.with(at, replaceWord(pieces[at]!, known!, model));
}

function setRestart(pieces: string[], model: string | undefined, restart: boolean): string[] {
  const at = pieces.findLastIndex((piece, index) => index > 0 && /(^|\s)restart(?=\s|$)/i.test(withoutCode(piece)));
  if (at < 0) return insertField(pieces, Math.max(0, placeIn(pieces, model)) + 1, "restart");
  const said = /(?:no[ \t]+)?restart/i;
  if (restart) return pieces.with(at, pieces[at]!.replace(said, "restart"));
  const left = pieces[at]!.replace(said, "");
  return left.trim() !== "" ? pieces.with(at, left) : withoutPiece(pieces, at);
}

const placeIn = (pieces: string[], word: string | undefined): number =>
  word === undefined ? -1 : pieces.findLastIndex((piece, index) => index > 0 && hasWord(piece, word));

/** Without its last piece the line must not keep the blank that stood before the bar. */
function withoutPiece(pieces: string[], at: number): string[] {
  const left = pieces.toSpliced(at, 1);
  return at === pieces.length - 1 ? left.with(-1, left.at(-1)!.trimEnd()) : left;
}

function insertField(pieces: string[], at: number, field: string): string[] {
  if (at < pieces.length) return pieces.toSpliced(at, 0, ` ${field} `);
  const last = pieces.at(-1)!;
  const dash = pieces.length === 1 && !/[—–]/.test(withoutCode(last)) ? " —" : "";
  return [...pieces.slice(0, -1), `${last.trimEnd()}${dash} `, ` ${field}`];
}

const wordPattern = (word: string) => new RegExp(`(^|[ \\t])${word.replace(/[^\w]/g, "\\$&")}(?=[ \\t]|$)`);
const hasWord = (piece: string, word: string) => wordPattern(word).test(withoutCode(piece));

function replaceWord(piece: string, word: string, by: string): string {
  const found = wordPattern(word).exec(withoutCode(piece))!;
  const from = found.index + found[1]!.length;
  return piece.slice(0, from) + by + piece.slice(from + word.length);
}
