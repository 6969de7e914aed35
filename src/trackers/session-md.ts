/** Tasks in session.md: a file that people and agents edit too. */

import type { Scope, Task } from "../kernel/types/task.ts";
import { insideRoot, lookAt, readText } from "../store/files.ts";
import { clock, locked } from "./ask.ts";
import {
  addNote,
  addTask,
  editTask,
  listTasks,
  parseSessionFile,
  replaceText,
  whyUnwritable,
} from "./core/session-file.ts";
import { compareTasks, heldBy, inScope, isElsewhere, matches } from "./core/tasks.ts";
import { bringOverLateLines, hasLateLines, type Replaceable, replaceFile } from "./replace.ts";
import {
  absent,
  answering,
  fail,
  makeTracker,
  type NewTask,
  type TaskChange,
  type Tracker,
  unwrap,
} from "./tracker.ts";

interface SessionFile {
  root: string;
  /** below the root */
  file: string;
  /** the file as the person knows it: they may be in another worktree */
  where: string;
  deadline_ms: number;
}

interface SessionFilePlace extends SessionFile {
  here: string;
}

const MOST_BYTES = 8 << 20;
/** Below `.pawl/tracker`, one of the owned paths. */
const REPLACED = ".pawl/tracker/replaced";
const SETTLE_MS = 1_000;
const NOT_ATOMIC = "a file cannot be shared between machines safely, so Pawl works on its tasks from one machine only";

export function sessionMd(given: SessionFile): Tracker {
  const { where } = given;
  return makeTracker({ name: "session-md", why: `its tasks are in ${where}`, where, atomic: false }, (here) => {
    const place: SessionFilePlace = { ...given, here };
    return {
      list: (filter) => readTasks(place).filter((task) => matches(task, filter)),
      ready: (scope) => ready(readTasks(place), scope, here),
      show: (id) => readTasks(place).find((task) => task.id === id) ?? unknown(id),
      claim: (id, actor) => change(place, id, (text, task) => claim(text, task, actor, here)),
      close: (id, reason) => change(place, id, (text, task) => close(text, task, reason)),
      reopen: (id) => change(place, id, (text) => editTask(text, id, { state: "open", owner: null })),
      create: (task) => create(place, task),
      update: (id, wanted) => {
        const { command, ...rest } = wanted;
        // No command is written as none.
        checkWritable(command ? wanted : rest);
        return change(place, id, (text) => update(text, id, wanted));
      },
      label: (id, add, remove) => {
        checkWritable({ labels: add });
        return change(place, id, (text) => editTask(text, id, { labels: { add, remove } }));
      },
      comment: (id, note) => change(place, id, (text) => addNote(text, id, note)),
    };
  });
}

// ── Reading ─────────────────────────────────────────────────────────────────

const locate = ({ root, file }: SessionFilePlace): Replaceable => ({
  path: insideRoot(root, file),
  folder: insideRoot(root, REPLACED),
});

function readFile(file: Replaceable, name: string): string {
  const read = readText(file.path, MOST_BYTES);
  if (read.ok) return read.text;
  if (read.why === "missing") absent(`there is no ${name}`);
  const why = read.why === "too large" ? `it is larger than ${MOST_BYTES >> 20} MB` : read.why;
  return fail("error", `${name} cannot be read: ${why}${read.detail ? ` (${read.detail})` : ""}`);
}

function readTasks(place: SessionFilePlace): Task[] {
  const file = locate(place);
  // A process that holds the lock brings them over as well.
  if (hasLateLines(file))
    answering(() => locked(place.root, clock() + place.deadline_ms, () => bringOverLateLines(file, Date.now())));
  return listTasks(parseSessionFile(readFile(file, place.where)));
}

const unknown = (id: string) => fail("unknown-id", `no task ${JSON.stringify(id.slice(0, 80))}`);

function ready(tasks: Task[], scope: Scope, here: string): Task[] {
  const wanted = tasks.filter((task) => inScope(task, scope));
  const away = wanted.find((task) => isElsewhere(task, here));
  if (away !== undefined) fail("other-machine", `${heldBy(away)}; ${NOT_ATOMIC}`);
  return wanted.filter((task) => task.state === "open" && task.blocked_by.length === 0).sort(compareTasks);
}

// ── Edits ───────────────────────────────────────────────────────────────────

/** Pure, so that it can be asked again when the file has changed meanwhile. */
function claim(text: string, task: Task, actor: string, here: string): string {
  if (isElsewhere(task, here)) fail("other-machine", `${heldBy(task)}; ${NOT_ATOMIC}`);
  if (task.state === "claimed") return task.owner === actor ? text : fail("taken", heldBy(task));
  if (task.state !== "open") fail("refused", `${task.id} is ${task.state}`);
  if (task.blocked_by.length > 0) fail("refused", `${task.id} waits for ${task.blocked_by.join(", ")}`);
  const since = `${new Date().toISOString().slice(0, 19)}Z`;
  return editTask(text, task.id, { state: "claimed", owner: { actor, on: here, since } });
}

function close(text: string, task: Task, reason: string): string {
  if (task.state === "closed") return text;
  const noted = reason.trim() === "" ? text : addNote(text, task.id, `closed: ${reason}`);
  return editTask(noted, task.id, { state: "closed" });
}

function update(text: string, id: string, { text: body, state, ...line }: TaskChange): string {
  const freed = state === undefined ? {} : { state, owner: null };
  return editTask(body === undefined ? text : replaceText(text, id, body), id, { ...line, ...freed });
}

function checkWritable(task: Partial<NewTask>): void {
  const why = whyUnwritable(task);
  if (why !== null) fail("bad-argument", why);
}

// ── Writing ─────────────────────────────────────────────────────────────────

interface TextEdit {
  next: string;
  /** which of its tasks it is about */
  at: number;
}

/** The task as the file shows it afterwards. */
function change(place: SessionFilePlace, id: string, edit: (text: string, task: Task) => string): Task {
  return write(place, (text) => {
    const tasks = listTasks(parseSessionFile(text));
    const at = tasks.findIndex((task) => task.id === id);
    return { next: edit(text, tasks[at] ?? unknown(id)), at };
  });
}

function create(place: SessionFilePlace, task: NewTask): Task {
  checkWritable(task);
  return write(place, (text) => {
    const next = addTask(text, task);
    const [before, after] = [titlesIn(text), titlesIn(next)];
    const at = after.findIndex((title, index) => title !== before[index]);
    if (after.length === before.length + 1) return { next, at };
    return fail("refused", `${place.where} ends inside a code fence or a comment, where a task would not be seen`);
  });
}

const titlesIn = (text: string) => parseSessionFile(text).found.map(({ line }) => line.title);

/** Tried again while others write, as long as there is time. */
function write(place: SessionFilePlace, edit: (text: string) => TextEdit): Task {
  const until = clock() + place.deadline_ms;
  return locked(place.root, until, () => {
    while (clock() < until) {
      const done = unwrap(answering(() => tryOnce(place, edit), `${place.where} cannot be written: `));
      if (done !== null) return done;
    }
    return fail("busy", `${place.where} is being changed all the time; try again`);
  });
}

/** null: another program wrote meanwhile. */
function tryOnce(place: SessionFilePlace, edit: (text: string) => TextEdit): Task | null {
  const file = locate(place);
  bringOverLateLines(file, Date.now());
  const text = readFile(file, place.where);
  const edited = answering(() => edit(text));
  if (edited.kind !== "ok" && isHalfWritten(file, text)) return null;
  const { next, at } = unwrap(edited);
  if (next !== text && isReadOnly(file.path)) fail("refused", `${place.where} is read-only`);
  if (next !== text && !replaceFile(file, text, next)) return null;
  return listTasks(parseSessionFile(next))[at]!;
}

/** Some editors empty a file before they write it. Right after a change, such a file is read again. */
function isHalfWritten({ path }: Replaceable, text: string): boolean {
  const isHalf = !text.endsWith("\n") && Date.now() - (lookAt(path)?.mtimeMs ?? 0) < SETTLE_MS;
  if (isHalf) Bun.sleepSync(5);
  return isHalf;
}

/** Its place could be taken all the same; but a person said that it stays as it is. */
const isReadOnly = (path: string) => ((lookAt(path)?.mode ?? 0o200) & 0o222) === 0;
