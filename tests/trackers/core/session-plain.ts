/** The tasks of a session.md read in the plainest way: line by line, with no look at what it costs. */

import type { Task, TaskState } from "../../../src/kernel/types/task.ts";
import { parseTaskLine, type TaskLine } from "../../../src/trackers/core/session-line.ts";

const STATES: Record<string, TaskState> = {
  " ": "open",
  ">": "claimed",
  x: "closed",
  X: "closed",
  "!": "blocked",
  "†": "blocked",
  "-": "dropped",
};
const indentOf = (line: string) =>
  [.../^[ \t]*/.exec(line)![0]].reduce((sum, sign) => sum + (sign === "\t" ? 4 : 1), 0);

interface Entry {
  heading: string;
  line: TaskLine;
  body: string[];
}

export function plainTasks(text: string): Task[] {
  const { entries, hasHeading } = entriesOf(text.replace(/^\uFEFF/, "").split("\n"));
  const seen = entries.filter(({ heading }) => !hasHeading || /\btasks\b/i.test(heading));
  const ids: string[] = [];
  for (const { line } of seen) ids.push(freeId(slugOf(line.title), ids));
  const tasks = seen.map((entry, at) => taskOf(entry, ids[at]!, at));
  const over = tasks.filter(({ state }) => state === "closed" || state === "dropped").map(({ id }) => id);
  return tasks.map((task) => ({ ...task, blocked_by: task.blocked_by.filter((id) => !over.includes(id)) }));
}

function entriesOf(lines: string[]): { entries: Entry[]; hasHeading: boolean } {
  const entries: Entry[] = [];
  let [heading, hasHeading, fence, comment] = ["", false, "", false];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.replace(/\r$/, "");
    const mark = comment ? "" : (/^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "");
    const isHidden = fence !== "" || mark !== "" || comment;
    const task = parseTaskLine(line);
    if (fence === "" && mark !== "") fence = mark;
    else if (fence !== "" && mark.startsWith(fence) && line.trim() === mark) fence = "";
    else if (fence === "" && /<!--|-->/.test(line) && (isHidden || task === null))
      comment = line.lastIndexOf("<!--") > line.lastIndexOf("-->");
    if (isHidden) continue;
    if (task !== null) {
      const body = bodyBelow(lines.slice(at + 1), indentOf(line));
      entries.push({ heading, line: task, body });
      at += body.length;
    } else if (/^ {0,3}#{1,6}[ \t]/.test(line)) [heading, hasHeading] = [line, true];
  }
  return { entries, hasHeading };
}

function bodyBelow(lines: string[], own: number): string[] {
  const end = lines.findIndex((line) => line.trim() !== "" && indentOf(line) < own + 2);
  const below = end < 0 ? lines : lines.slice(0, end);
  return below.slice(0, below.findLastIndex((line) => line.trim() !== "") + 1);
}

function slugOf(title: string): string {
  const slug = title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 50)
    .replace(/^-+|-+$/g, "");
  if (slug !== "") return slug;
  let hash = 0x811c9dc5;
  for (const sign of title) hash = Math.imul(hash ^ sign.codePointAt(0)!, 0x01000193) >>> 0;
  return `task-${hash.toString(16).padStart(8, "0")}`;
}

function freeId(base: string, taken: string[]): string {
  if (!taken.includes(base)) return base;
  for (let count = 2; ; count++) if (!taken.includes(`${base}-${count}`)) return `${base}-${count}`;
}

function taskOf({ heading, line, body }: Entry, id: string, position: number): Task {
  const state = STATES[line.box]!;
  const away = /\bworktree\b/i.test(heading) && (state === "open" || state === "claimed");
  const { owner, ...facts } = factsOf(line.pieces);
  const [, actor = null, on, since] = owner ?? [];
  return {
    id,
    title: line.title,
    text: unindented(body),
    state: away ? "claimed" : state,
    owner: actor ?? (away ? "worktree" : null),
    created_at: "",
    position,
    ...facts,
    ...(since !== undefined && { claimed_at: since }),
    ...(on !== undefined && { claimed_on: on }),
  } as Task;
}

function factsOf(pieces: string[]) {
  const facts: Record<string, unknown> = { labels: [], priority: 2, epic: null, blocked_by: [] };
  let owner: string[] | undefined;
  const command = commandIn(pieces[0]!);
  if (command !== undefined) facts.command = command;
  for (const [index, piece] of pieces.entries()) {
    const words = /(^|[ \t])(#[\p{L}\p{N}_][\p{L}\p{N}_.:/+-]*|p[0-4])(?=[ \t]|$)/gu;
    const field = piece
      .replace(/`[^`]*`/g, "")
      .replace(words, (_all, gap, word: string) => {
        if (word[0] === "#") (facts.labels as string[]).push(word.slice(1));
        else facts.priority = Number(word[1]);
        return gap;
      })
      .trim();
    const pair = /^(after|epic):\s*(.+)$/i.exec(field);
    const said = /^@(\S+?)(?: on (\S+))?(?: since (\S+))?$/.exec(field);
    if (index === 0) continue;
    if (said !== null) owner = said;
    else if (/^after/i.test(pair?.[1] ?? ""))
      (facts.blocked_by as string[]).push(...pair![2]!.split(/[\s,]+/).filter(Boolean));
    else if (pair !== null) facts.epic = pair[2]!.trim();
    else if (/^(no )?restart$/i.test(field)) facts.restart = !/^no /i.test(field);
    else if (/^(haiku|sonnet|opus|fable)$/i.test(field) || (index === 1 && /^[\p{L}][\w.:/[\]-]*$/u.test(field)))
      facts.model = field;
  }
  return { ...facts, owner };
}

function commandIn(piece: string): string | undefined {
  const bare = piece.replace(/`[^`]*`/g, (code) => "`".repeat(code.length));
  const dash = /^\s*[—–]/.test(piece) ? 0 : bare.search(/[—–]|(?<!\S)--?(?=\s)/);
  return dash < 0 ? undefined : /`([^`]+)`/.exec(piece.slice(dash))?.[1];
}

function unindented(body: string[]): string {
  const lines = body.map((line) => line.replace(/\r$/, ""));
  if (lines.length === 1) return lines[0]!.trimStart();
  const indents = lines.filter((line) => line.trim() !== "").map((line) => /^\s*/.exec(line)![0].length);
  return lines.map((line) => line.slice(Math.min(...indents))).join("\n");
}
