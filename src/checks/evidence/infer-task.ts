/** What tool calls did with the task: opened it, closed it, opened it again. The tracker has the last word on it. */

import { attempt } from "../../kernel/attempt.ts";
import type { Json, ToolCall } from "../../kernel/types/run.ts";
import { listTasks, parseSessionFile } from "../../trackers/core/session-file.ts";
import { isEditor } from "./edits.ts";
import { BROKEN_OFF, field, readCommandLine, textAt } from "./evidence.ts";
import { isShell, parseShell, programName } from "./shell.ts";
import { literally, ownExit } from "./shell-status.ts";

/** `bd show x`, `gh issue view 3`, or reading the file it is in; what it printed must be in the transcript. */
export function shows(call: ToolCall, task: string, notes = NOTES): boolean {
  if (task === "" || !isOver(call)) return false;
  if (call.name === "Read" || call.name === "Grep")
    return !call.result!.error && isSession(readPath(call.input), notes) && taskIn(call.result!.text, task) !== null;
  return ranIn(call).some((ran) => showsTask(ran, task) || printsSession(ran, task, notes));
}

/** This says only that the tracker is worth asking. */
export const closes = (call: ToolCall, task: string) => stateSetBy(call, task, NOTES) === "closed";

/** The last thing that was done to its state among the calls. */
export function isClosedBy(calls: ToolCall[], task: string, notes = NOTES): boolean {
  return calls.map((call) => stateSetBy(call, task, notes)).findLast((state) => state !== null) === "closed";
}

function stateSetBy(call: ToolCall, task: string, notes: string): "closed" | "open" | null {
  if (task === "" || call.result === null) return null;
  if (isEditor(call.name)) return call.result.error ? null : stateEdited(call.input, task, notes);
  return (
    ranIn(call)
      .map((ran) => stateSet(ran, task))
      .findLast((state) => state !== null) ?? null
  );
}

/** The tasks that the calls claimed, the last one last. The tracker has to say whether they still are. */
export function claimedIn(calls: ToolCall[]): string[] {
  return calls.flatMap((call) => {
    if (call.result === null) return [];
    if (isEditor(call.name)) return call.result.error ? [] : startedByEdit(call.input);
    return ranIn(call).flatMap(startedBy);
  });
}

function startedBy({ words, output }: Ran): string[] {
  const command = parseTrackerCommand(words);
  if (command === null) return [];
  const { verb, ids, options } = command;
  const started = [...output.matchAll(/^Started (\S+): /gm)].map((line) => line[1]!);
  if (verb === "pawl task start") return started.length > 0 ? started : ids.filter((id) => !isRefused(output, id));
  const claims =
    (verb === "bd update" && options.some((one) => /^(?:--claim|(?:-s|--status)=in_progress)$/.test(one))) ||
    (verb === "gh issue edit" && options.some((one) => /^--add-assignee\b/.test(one)));
  return claims ? ids.filter((id) => !isRefused(output, id)) : [];
}

// ── Commands ────────────────────────────────────────────────────────────────

interface Ran {
  words: string[];
  /** its own exit status is known to be 0 */
  sure: boolean;
  redirected: boolean;
  output: string;
}

/** Not under way, not broken off. */
function isOver({ input, result }: ToolCall): boolean {
  if (result === null || field(input, "run_in_background") === true) return false;
  if (field(result.data, "interrupted") === true || typeof field(result.data, "backgroundTaskId") === "string")
    return false;
  return !BROKEN_OFF.test(result.text);
}

function ranIn(call: ToolCall): Ran[] {
  if (!isShell(call.name) || !isOver(call)) return [];
  const shell = parseShell(readCommandLine(call.input));
  const output = call.result!.text;
  return shell.commands.map(({ words, negated, targets }, place) => ({
    words,
    sure: !negated && ownExit(shell, place, call.result!.error ? 1 : 0) === 0,
    redirected: targets.length > 0,
    output,
  }));
}

interface TrackerCommand {
  verb: string;
  ids: string[];
  options: string[];
}

/** options whose value is the next word: that is no id */
const VALUED: Record<string, RegExp> = {
  bd: /^(?:-r|--reason|--reason-file|--actor|--db|-C|--directory|--session|--lock-timeout|-s|--status|-m|--notes|--title|--description|-d|-p|--priority|-a|--assignee|--as-of|--format|--append-notes|--design)$/,
  gh: /^(?:-r|--reason|-c|--comment|--add-assignee|--add-label|--remove-label|-R|--repo|--json|-q|--jq|-t|--template|--duplicate-of)$/,
  pawl: /^(?:--why|--reason|--text|--note|--title|--label|--unlabel|--priority|--command|--model|--state)$/,
};
/** nothing happens, or in another place */
const ELSEWHERE = /^(?:--help|-h|--dry-run|-R|--repo|--web|-w)(?:=|$)/;

function parseTrackerCommand(words: string[]): TrackerCommand | null {
  const tool = programName(words[0]);
  if (!Object.hasOwn(VALUED, tool)) return null;
  const plain: string[] = [];
  const options: string[] = [];
  for (let at = 1; at < words.length; at++) {
    if (!words[at]!.startsWith("-")) plain.push(words[at]!);
    else if (VALUED[tool]!.test(words[at]!)) options.push(`${words[at]}=${words[++at] ?? ""}`);
    else options.push(words[at]!);
  }
  if (options.some((option) => ELSEWHERE.test(option) && !(tool === "bd" && /^-[Rw]/.test(option)))) return null;
  const verbs = tool === "bd" ? 1 : 2;
  const ids = plain.slice(verbs);
  // All words together are one name for Pawl.
  const named = tool === "pawl" && ids.length > 1 ? [ids.join(" ")] : ids;
  return { verb: [tool, ...plain.slice(0, verbs)].join(" "), ids: named, options };
}

const sameId = (one: string, task: string) => one.replace(/^#/, "") === task.replace(/^#/, "");

function showsTask({ words, sure, redirected, output }: Ran, task: string): boolean {
  const command = parseTrackerCommand(words);
  if (command === null || redirected || !/^(?:bd show|gh issue view|pawl task show)$/.test(command.verb)) return false;
  if (!command.ids.some((id) => sameId(id, task)) || output.trim() === "" || isRefused(output, task)) return false;
  const fields = command.options.find((option) => option.startsWith("--json=")) ?? "body";
  return (sure && fields.includes("body")) || mentions(output, task);
}

function printsSession({ words, redirected, output }: Ran, task: string, notes: string): boolean {
  return !redirected && words.slice(1).some((word) => isSession(word, notes)) && taskIn(output, task) !== null;
}

function stateSet(ran: Ran, task: string): "closed" | "open" | null {
  const command = parseTrackerCommand(ran.words);
  if (command === null) return null;
  return stateFromCommand(command, ran, task) ?? (ran.redirected ? null : statePrinted(command, ran.output, task));
}

/** Pawl also takes a part of the title, and answers with the id. */
function statePrinted({ verb, ids }: TrackerCommand, output: string, task: string): "closed" | "open" | null {
  if (ids.length === 0 || !/^pawl task (?:done|open|start)$/.test(verb)) return null;
  const state = verb === "pawl task done" ? "closed" : "open";
  return tells(output, state === "closed" ? "Closed|Already done:" : "Opened|Started", task) ? state : null;
}

function stateFromCommand(command: TrackerCommand, ran: Ran, task: string): "closed" | "open" | null {
  if (!command.ids.some((id) => sameId(id, task))) return null;
  const status = command.options.map((option) => /^(?:-s|--status)=(\w+)$/.exec(option)?.[1]).find(Boolean);
  const updates = command.verb === "bd update" && status !== undefined;
  // Opening again needs no proof: it is doubt enough.
  if (/^(?:bd reopen|gh issue reopen|pawl task (?:start|open))$/.test(command.verb) || (updates && status !== "closed"))
    return "open";
  if (!updates && !/^(?:bd close|gh issue close|pawl task done)$/.test(command.verb)) return null;
  if (isRefused(ran.output, task)) return null;
  const alone = ran.sure && command.ids.length === 1;
  return alone || (!ran.redirected && saysClosed(ran.output, task)) ? "closed" : null;
}

// ── What they printed ───────────────────────────────────────────────────────

const named = (task: string) => `(?<![\\w-])${literally(task.replace(/^#/, ""))}(?!\\.?[\\w-])`;
const mentions = (text: string, task: string) => new RegExp(named(task)).test(text);

/** `bd` closes some of several with success, and shows others. */
function isRefused(output: string, task: string): boolean {
  const id = named(task);
  return new RegExp(
    `^.*(?:Error (?:\\w+ )?(?:\\w+ )?${id}|Issue ${id} not found|cannot close ${id}|failed to \\w+ ${id}|"error"\\s*:|no issues? found|no beads database|Could not resolve)`,
    "im",
  ).test(output);
}

/** As the line begins: a title may hold another task's id. */
function tells(output: string, words: string, task: string): boolean {
  if (new RegExp(`^(?:${words}) ${literally(task)}: `, "m").test(output)) return true;
  return field(field(jsonIn(output), "task") ?? null, "id") === task;
}

function saysClosed(output: string, task: string): boolean {
  if (new RegExp(`^\\W*Closed\\b.*${named(task)}`, "im").test(output)) return true;
  return toList(jsonIn(output)).some((item) => field(item, "id") === task && field(item, "status") === "closed");
}

function jsonIn(output: string): Json {
  const start = output.search(/[[{]/);
  return start < 0 ? null : attempt(() => JSON.parse(output.slice(start)), null);
}

function toList(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  const inner = field(value, "data") ?? field(value, "closed");
  return inner === undefined ? [value] : toList(inner);
}

// ── session.md ──────────────────────────────────────────────────────────────

const NOTES = "session.md";
/** At its usual name, or at the path that the project has for it. */
export const isSession = (path: string, notes = NOTES) =>
  /(?:^|\/)session\.md$/.test(path) || path === notes || path.endsWith(`/${notes}`);

/** Where trackers write: it says something about the work and is not the work. */
export const isAboutWork = (path: string, notes?: string) =>
  isSession(path, notes) || /(?:^|\/)\.(?:claude|beads|pawl)\//.test(path);

/** Its state in a text of session.md, or in a part of one as tools print it. */
function taskIn(text: string, task: string): string | null {
  const plain = text.replace(/^\s*(?:[\w./-]*session\.md:)?(?:\d+[→:\t-])?[ \t]?(?=\s*[-*+] \[)/gm, "");
  return listTasks(parseSessionFile(plain)).find((one) => one.id === task)?.state ?? null;
}

function stateEdited(input: Json, task: string, notes: string): "closed" | "open" | null {
  if (!isSession(readPath(input), notes)) return null;
  const states = listEdits(input).map((edit) => {
    const after = taskIn(textAt(edit, "new_string") || textAt(edit, "content"), task);
    const before = taskIn(textAt(edit, "old_string"), task);
    if (after === before || after === null) return null;
    return after === "closed" ? "closed" : "open";
  });
  return states.findLast((state) => state !== null) ?? null;
}

function startedByEdit(input: Json): string[] {
  if (!isSession(readPath(input))) return [];
  return listEdits(input)
    .flatMap((edit) => listTasks(parseSessionFile(textAt(edit, "new_string") || textAt(edit, "content"))))
    .filter((task) => task.state === "claimed")
    .map((task) => task.id);
}

function listEdits(input: Json): Json[] {
  const edits = field(input, "edits");
  return Array.isArray(edits) ? edits : [input];
}

const readPath = (input: Json) => textAt(input, "file_path") || textAt(input, "path");
