/** Tasks in session.md: a file that people and agents edit too. */

import type { Scope, Task } from "../kernel/types/task.ts";
import { insideRoot, lookAt, messageOf } from "../store/files.ts";
import { checkActor, checkTask, checkText } from "./arguments.ts";
import { clock } from "./ask.ts";
import {
  addNote,
  addTask,
  editTask,
  parseSessionFile,
  replaceText,
  taskAfter,
  taskAt,
  tasksOf,
  whyUnwritable,
} from "./core/session-file.ts";
import { spliceBetween } from "./core/session-prose.ts";
import { compareTasks, inScope, isElsewhere, isFinished } from "./core/tasks.ts";
import { withLock } from "./lock.ts";
import { machineName } from "./machine.ts";
import { inFile, type Notes, readNotes } from "./notes.ts";
import { stateOf, swapFile } from "./swap.ts";
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
const NOT_ATOMIC = "a file is not shared between machines safely, so Pawl works on its tasks from one machine only";

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

interface Opened {
  path: string;
  notes: Notes;
}

/** `whole`: with its prose, of which an edit may need more than that it is there. */
function readFile({ root, file }: Place, whole = false): Answer<Opened> {
  try {
    const path = insideRoot(root, file);
    const read = readNotes(path, MOST_BYTES, whole);
    if (read.ok) return ok({ path, notes: read.notes });
    if (read.why === "missing") return absent(`there is no ${file}`);
    return failed("error", `${file} cannot be read: ${read.why}${read.detail ? ` (${read.detail})` : ""}`);
  } catch (error) {
    return failed("error", messageOf(error));
  }
}

const readTasks = (place: Place): Answer<Task[]> =>
  then(readFile(place), ({ notes }) => ok(tasksOf(parseSessionFile(notes.text))));

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
  /** the task, as the new text has it */
  task: () => Task;
}

/** The task as the file shows it afterwards. */
function change(place: Place, id: string, edit: Edit): Answer<Task> {
  return write(place, (text) => {
    const file = parseSessionFile(text);
    const at = file.found.findIndex((task) => task.id === id);
    const known = taskAt(file, at);
    return then(known ? ok(known) : unknown(id), (task) =>
      then(edit(text, task), (next) => ok({ next, task: () => taskAfter(file, at, next)! })),
    );
  });
}

function create(place: Place, task: NewTask): Answer<Task> {
  return then(writable(task), () =>
    write(place, (text) => {
      const next = addTask(text, task);
      const [before, after] = [titlesIn(text), titlesIn(next)];
      const at = after.findIndex((title, index) => title !== before[index]);
      if (after.length === before.length + 1) return ok({ next, task: () => taskAt(parseSessionFile(next), at)! });
      return failed("refused", `${place.file} ends inside a code fence or a comment, where a task would not be seen`);
    }),
  );
}

const titlesIn = (text: string) => parseSessionFile(text).found.map(({ said }) => said.title);

/** Again and again while somebody else writes, as long as there is time. */
function write(place: Place, edit: (text: string) => Answer<Edited>): Answer<Task> {
  const until = clock() + place.deadline_ms;
  return withLock(place.root, until, () => {
    while (clock() < until) {
      const done = tryOnce(place, edit);
      if (done !== null) return done;
    }
    return failed("busy", `${place.file} is being changed all the time`);
  });
}

/** null: somebody else wrote meanwhile. */
function tryOnce(place: Place, edit: (text: string) => Answer<Edited>, whole = false): Answer<Task> | null {
  const read = readFile(place, whole);
  if (read.kind !== "ok") return read;
  const { path, notes } = read.value;
  try {
    const state = stateOf(path, notes.print);
    if (state === "changed") return null;
    if (state === "held") return failed("busy", `another program keeps ${place.file} open for writing`);
    const edited = edit(notes.text);
    if (edited.kind !== "ok") return edited;
    const { next, task } = edited.value;
    if (next === notes.text) return ok(task());
    const splice = inFile(notes, spliceBetween(notes.text, next));
    if (splice === null) return tryOnce(place, edit, true);
    if (isReadOnly(path)) return failed("refused", `${place.file} is read-only`);
    return swapFile(path, notes, splice) ? ok(task()) : null;
  } catch (error) {
    return failed("error", `${place.file} cannot be written: ${messageOf(error)}`);
  }
}

/** Another file could take its place all the same; but somebody said that it stays as it is. */
const isReadOnly = (path: string) => ((lookAt(path)?.mode ?? 0o200) & 0o222) === 0;
