/** Tasks in session.md: a file that people and agents edit too. */

import type { Scope, Task } from "../kernel/types/task.ts";
import { insideRoot, lookAt, messageOf, readText } from "../store/files.ts";
import { checkActor, checkTask, checkText } from "./arguments.ts";
import { clock, withLock } from "./ask.ts";
import {
  addNote,
  addTask,
  editTask,
  parseSessionFile,
  replaceText,
  tasksOf,
  whyUnwritable,
} from "./core/session-file.ts";
import { compareTasks, inScope, isElsewhere, isFinished } from "./core/tasks.ts";
import { machineName } from "./machine.ts";
import { bringOverLateLines, hasLateLines, type Replaceable, replaceFile } from "./replace.ts";
import {
  type Answer,
  absent,
  type Filter,
  failed,
  type NewTask,
  ok,
  type TaskChange,
  type Tracker,
  then,
} from "./types.ts";

interface Place {
  root: string;
  /** below the root */
  file: string;
  here: string;
  deadline_ms: number;
}

const MOST_BYTES = 8 << 20;
/** Below `.pawl/tracker`, one of the owned paths. */
const REPLACED = ".pawl/tracker/replaced";
const SETTLE_MS = 1_000;
const NOT_ATOMIC = "a file cannot be shared between machines safely, so Pawl works on its tasks from one machine only";

type Edit = (text: string, task: Task) => Answer<string>;

export function sessionMd(root: string, file: string, why: string, deadline_ms: number): Tracker {
  const place: Place = { root, file, here: machineName(), deadline_ms };
  return {
    name: "session-md",
    why,
    where: file,
    atomic: false,
    here: place.here,
    list: (filter) => then(readTasks(place), (tasks) => ok(tasks.filter((task) => matches(task, filter)))),
    ready: (scope) => then(readTasks(place), (tasks) => ready(tasks, scope, place.here)),
    show: (id) => then(readTasks(place), (tasks) => find(tasks, id)),
    claim: (id, actor) =>
      then(checkActor(actor), () => change(place, id, (text, task) => claim(text, task, actor, place.here))),
    close: (id, reason) => then(checkText(reason), () => change(place, id, (text, task) => close(text, task, reason))),
    reopen: (id) => change(place, id, (text) => ok(editTask(text, id, { state: "open", owner: null }))),
    create: (task) => create(place, task),
    update: (id, wanted) =>
      then(writable(withoutNone(wanted)), () => change(place, id, (text) => ok(update(text, id, wanted)))),
    label: (id, add, remove) =>
      then(writable({ labels: add }), () =>
        change(place, id, (text) => ok(editTask(text, id, { labels: { add, remove } }))),
      ),
    comment: (id, note) => then(checkText(note), () => change(place, id, (text) => ok(addNote(text, id, note)))),
  };
}

// ── Reading ─────────────────────────────────────────────────────────────────

const locate = ({ root, file }: Place): Replaceable => ({
  path: insideRoot(root, file),
  folder: insideRoot(root, REPLACED),
});

function readFile(file: Replaceable, name: string): Answer<string> {
  const read = readText(file.path, MOST_BYTES);
  if (read.ok) return ok(read.text);
  if (read.why === "missing") return absent(`there is no ${name}`);
  const why = read.why === "too large" ? `it is larger than ${MOST_BYTES >> 20} MB` : read.why;
  return failed("error", `${name} cannot be read: ${why}${read.detail ? ` (${read.detail})` : ""}`);
}

function readTasks(place: Place): Answer<Task[]> {
  try {
    const file = locate(place);
    if (hasLateLines(file))
      withLock(place.root, clock() + place.deadline_ms, () => ok(bringOverLateLines(file, Date.now())));
    return then(readFile(file, place.file), (text) => ok(tasksOf(parseSessionFile(text))));
  } catch (error) {
    return failed("error", messageOf(error));
  }
}

function find(tasks: Task[], id: string): Answer<Task> {
  const task = tasks.find((one) => one.id === id);
  return task ? ok(task) : unknown(id);
}

const unknown = (id: string) => failed("unknown-id", `no task ${JSON.stringify(id.slice(0, 80))}`);

export function matches(task: Task, { label, state }: Filter): boolean {
  if (label !== undefined && !inScope(task, { labels: [label] })) return false;
  return state === undefined ? !isFinished(task) : task.state === state;
}

function ready(tasks: Task[], scope: Scope, here: string): Answer<Task[]> {
  const wanted = tasks.filter((task) => inScope(task, scope));
  const away = wanted.find((task) => isElsewhere(task, here));
  if (away !== undefined) return failed("other-machine", `${heldBy(away)}; ${NOT_ATOMIC}`);
  const free = wanted.filter((task) => task.state === "open" && task.blocked_by.length === 0);
  return ok(free.sort(compareTasks));
}

export const heldBy = (task: Task) =>
  `${task.id} is claimed by ${task.owner}${task.claimed_on === undefined ? "" : ` on ${task.claimed_on}`}`;

// ── Edits ───────────────────────────────────────────────────────────────────

/** Pure, so that it can be asked again when the file has changed meanwhile. */
function claim(text: string, task: Task, actor: string, here: string): Answer<string> {
  if (task.state === "claimed") {
    if (isElsewhere(task, here)) return failed("other-machine", `${heldBy(task)}; ${NOT_ATOMIC}`);
    return task.owner === actor ? ok(text) : failed("taken", heldBy(task));
  }
  if (task.state !== "open") return failed("refused", `${task.id} is ${task.state}`);
  if (task.blocked_by.length > 0) return failed("refused", `${task.id} waits for ${task.blocked_by.join(", ")}`);
  const since = `${new Date().toISOString().slice(0, 19)}Z`;
  return ok(editTask(text, task.id, { state: "claimed", owner: { actor, on: here, since } }));
}

function close(text: string, task: Task, reason: string): Answer<string> {
  if (task.state === "closed") return ok(text);
  const noted = reason.trim() === "" ? text : addNote(text, task.id, `closed: ${reason}`);
  return ok(editTask(noted, task.id, { state: "closed" }));
}

function update(text: string, id: string, { text: body, state, ...line }: TaskChange): string {
  const freed = state === undefined ? {} : { state, owner: null };
  return editTask(body === undefined ? text : replaceText(text, id, body), id, { ...line, ...freed });
}

/** No command is written as none. */
const withoutNone = ({ command, ...rest }: TaskChange): TaskChange => (command ? { command, ...rest } : rest);

function writable<T extends Partial<NewTask>>(task: T): Answer<T> {
  const why = whyUnwritable(task);
  return why === null ? (checkTask(task as T & TaskChange) as Answer<T>) : failed("bad-argument", why);
}

// ── Writing ─────────────────────────────────────────────────────────────────

interface Edited {
  next: string;
  /** which of its tasks it is about */
  at: number;
}

/** The task as the file shows it afterwards. */
function change(place: Place, id: string, edit: Edit): Answer<Task> {
  return write(place, (text) => {
    const tasks = tasksOf(parseSessionFile(text));
    const at = tasks.findIndex((task) => task.id === id);
    const task = tasks[at];
    if (task === undefined) return unknown(id);
    return then(edit(text, task), (next) => ok({ next, at }));
  });
}

function create(place: Place, task: NewTask): Answer<Task> {
  return then(writable(task), () =>
    write(place, (text) => {
      const next = addTask(text, task);
      const [before, after] = [titlesIn(text), titlesIn(next)];
      const at = after.findIndex((title, index) => title !== before[index]);
      if (after.length === before.length + 1) return ok({ next, at });
      return failed("refused", `${place.file} ends inside a code fence or a comment, where a task would not be seen`);
    }),
  );
}

const titlesIn = (text: string) => parseSessionFile(text).found.map(({ line }) => line.title);

/** Tried again while others write, as long as there is time. */
function write(place: Place, edit: (text: string) => Answer<Edited>): Answer<Task> {
  const until = clock() + place.deadline_ms;
  return withLock(place.root, until, () => {
    while (clock() < until) {
      const done = tryOnce(place, edit);
      if (done !== null) return done;
    }
    return failed("busy", `${place.file} is being changed all the time; try again`);
  });
}

/** null: another program wrote meanwhile. */
function tryOnce(place: Place, edit: (text: string) => Answer<Edited>): Answer<Task> | null {
  try {
    const file = locate(place);
    bringOverLateLines(file, Date.now());
    const read = readFile(file, place.file);
    if (read.kind !== "ok") return read;
    const { value: text } = read;
    const edited = edit(text);
    if (edited.kind !== "ok") return isHalfWritten(file, text) ? null : edited;
    const { next, at } = edited.value;
    if (next !== text && isReadOnly(file.path)) return failed("refused", `${place.file} is read-only`);
    if (next !== text && !replaceFile(file, text, next)) return null;
    return ok(tasksOf(parseSessionFile(next))[at]!);
  } catch (error) {
    return failed("error", `${place.file} cannot be written: ${messageOf(error)}`);
  }
}

/** Some editors empty a file before they write it. Right after a change, such a file is read again. */
function isHalfWritten({ path }: Replaceable, text: string): boolean {
  const isHalf = !text.endsWith("\n") && Date.now() - (lookAt(path)?.mtimeMs ?? 0) < SETTLE_MS;
  if (isHalf) Bun.sleepSync(5);
  return isHalf;
}

/** Its place could be taken all the same; but a person said that it stays as it is. */
const isReadOnly = (path: string) => ((lookAt(path)?.mode ?? 0o200) & 0o222) === 0;
