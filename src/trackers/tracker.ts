/** What every tracker can be asked, and the three answers that must never be taken for one another. */

import type { Scope, Task, TaskState } from "../kernel/types/task.ts";
import { messageOf } from "../store/files.ts";
import type { Fields, NewTask } from "./core/session-line.ts";
import { machineName } from "./machine.ts";

export type Failure =
  | "unknown-id"
  | "ambiguous-id"
  /** an id, label or text that is not handed on */
  | "bad-argument"
  /** another session or person holds it */
  | "taken"
  /** held by a Pawl of another machine, in a tracker that cannot claim atomically */
  | "other-machine"
  /** the tracker, or the task's own state, does not allow it */
  | "refused"
  /** locked, or its daemon does not answer: worth another try */
  | "busy"
  | "deadline"
  | "too-large"
  | "malformed"
  /** this version of the program cannot do it */
  | "unsupported"
  /** it reported success, but what it shows afterwards has not changed */
  | "not-done"
  | "error";

/** absent: not installed, no such file, not a tracker here. "Nothing to do" is ok with an empty list. */
export type Answer<T> =
  | { kind: "ok"; value: T }
  | { kind: "absent"; why: string }
  | { kind: "failed"; code: Failure; why: string };

export type { NewTask };

/** `Fields` only where a task is a line of session.md. */
export interface TaskChange extends Fields {
  title?: string;
  text?: string;
  priority?: number;
  state?: "open" | "blocked" | "dropped";
}

export interface Filter {
  label?: string;
  /** none: everything that is not closed or dropped */
  state?: TaskState;
}

export interface Tracker {
  name: "beads" | "github" | "session-md";
  /** why it is this one */
  why: string;
  /** the file, the folder, the repository */
  where: string;
  /** false: a claim is safe between the sessions of one machine only */
  atomic: boolean;
  /** this machine, as claims name it */
  here: string;
  list(filter: Filter): Answer<Task[]>;
  /** what could be claimed now, the next one first */
  ready(scope: Scope): Answer<Task[]>;
  show(id: string): Answer<Task>;
  /** ok: it is the actor's, also if it was before */
  claim(id: string, actor: string): Answer<Task>;
  close(id: string, reason: string): Answer<Task>;
  /** open and without an owner, whether it was closed or claimed */
  reopen(id: string): Answer<Task>;
  create(task: NewTask): Answer<Task>;
  update(id: string, change: TaskChange): Answer<Task>;
  label(id: string, add: string[], remove: string[]): Answer<Task>;
  comment(id: string, text: string): Answer<Task>;
}

// ── Answers ─────────────────────────────────────────────────────────────────

/** Inside a tracker an answer that is not ok is thrown, so that each step can rely on the one before it. */
export class NoAnswer extends Error {
  constructor(readonly answer: Exclude<Answer<never>, { kind: "ok" }>) {
    super(answer.why);
  }
}

export const ok = <T>(value: T): Answer<T> => ({ kind: "ok", value });

export function absent(why: string): never {
  throw new NoAnswer({ kind: "absent", why });
}

export function fail(code: Failure, why: string): never {
  throw new NoAnswer({ kind: "failed", code, why });
}

export function unwrap<T>(answer: Answer<T>): T {
  if (answer.kind === "ok") return answer.value;
  throw new NoAnswer(answer);
}

/** `doing`: how the message about an error begins that is not ours. */
export function answering<T>(work: () => T, doing = ""): Answer<T> {
  try {
    return ok(work());
  } catch (error) {
    return error instanceof NoAnswer ? error.answer : { kind: "failed", code: "error", why: doing + messageOf(error) };
  }
}

export const hasFailed = (answer: Answer<unknown>, code: Failure) => answer.kind === "failed" && answer.code === code;

// ── Arguments ───────────────────────────────────────────────────────────────
// What may become an argument of another program: nothing that could be read as an option, nothing endless.

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const ACTOR = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NO_ACTOR = "cannot claim a task: not a plain name";
const LABEL = /^[\p{L}\p{N}_][\p{L}\p{N}_.:/+-]*(?: [\p{L}\p{N}_.:/+-]+)*$/u;
/** Below what the kernel takes as one argument (128 KiB) and what GitHub takes as one text (65,536 characters). */
const LONGEST_TEXT = 32_000;

export function refuse(argument: string, why: string): never {
  return fail("bad-argument", `${JSON.stringify(argument.slice(0, 80))} ${why}`);
}

export function checkId(id: string): void {
  if (!ID.test(id)) refuse(id, "is not a task id");
}

export function checkLabels(labels: (string | undefined)[]): void {
  const bad = labels.find((label) => label !== undefined && (label.length > 100 || !LABEL.test(label)));
  if (bad !== undefined) refuse(bad, "is not a label");
}

function checkText(text: string): void {
  if (text.includes("\0")) fail("bad-argument", "the text has a NUL byte in it");
  if (text.length > LONGEST_TEXT) fail("bad-argument", `the text is longer than ${LONGEST_TEXT} characters`);
}

/** What a new task or a change brings along. */
function checkTask({ priority, labels = [], blocked_by = [], title, text, epic }: Partial<NewTask>): void {
  if (title !== undefined && title.trim() === "") fail("bad-argument", "a task needs a title");
  if (priority !== undefined && !(Number.isInteger(priority) && priority >= 0 && priority <= 4))
    fail("bad-argument", "a priority is a number from 0 to 4");
  for (const one of [title, text, epic]) checkText(one ?? "");
  checkLabels(labels);
  blocked_by.forEach(checkId);
}

/** `--name=value` for each that has one. */
export const flags = (values: Record<string, string | number | undefined>): string[] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));

/** "" for what is no text: a field of another program's answer may hold anything. */
export const textIn = (value: unknown) => (typeof value === "string" ? value : "");

// ── The frame of every tracker ──────────────────────────────────────────────

/** What is different in each tracker: its operations, which throw where they have no answer. */
export type Operations = {
  [K in keyof Tracker as Tracker[K] extends string | boolean ? never : K]: Tracker[K] extends (
    ...args: infer A
  ) => Answer<infer T>
    ? (...args: A) => T
    : never;
};

/** Adds the checks of arguments, and turns what is thrown into answers. */
export function makeTracker(
  about: Pick<Tracker, "name" | "why" | "where" | "atomic">,
  operations: (here: string) => Operations,
): Tracker {
  const here = machineName();
  const work = operations(here);
  return {
    ...about,
    here,
    list: answered(work.list),
    ready: answered(work.ready),
    show: answered(work.show),
    claim: answered(work.claim, (_id, actor) => ACTOR.test(actor) || refuse(actor, NO_ACTOR)),
    close: answered(work.close, (_id, reason) => checkText(reason)),
    reopen: answered(work.reopen),
    create: answered(work.create, checkTask),
    update: answered(work.update, (_id, change) => checkTask(change)),
    label: answered(work.label, (_id, add, remove) => checkLabels([...add, ...remove])),
    comment: answered(work.comment, (_id, text) => checkText(text)),
  };
}

const answered =
  <A extends unknown[], T>(work: (...args: A) => T, check?: (...args: A) => unknown) =>
  (...args: A): Answer<T> =>
    answering(() => {
      check?.(...args);
      return work(...args);
    });
