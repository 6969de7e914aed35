/** What every tracker can be asked, and the three answers that must never be taken for one another. */

import type { Scope, Task, TaskState } from "../kernel/types/task.ts";
import type { NewTask } from "./core/session-file.ts";

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

export interface Failed {
  kind: "failed";
  code: Failure;
  why: string;
}

/** absent: not installed, no such file, not a tracker here. "Nothing to do" is ok with an empty list. */
export type Answer<T> = { kind: "ok"; value: T } | { kind: "absent"; why: string } | Failed;

export type { NewTask };

export interface TaskChange {
  title?: string;
  text?: string;
  priority?: number;
  state?: "open" | "blocked" | "dropped";
  /** these three only where a task is a line of session.md; a command of "" is none */
  command?: string;
  model?: string;
  restart?: boolean;
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

export const ok = <T>(value: T): Answer<T> => ({ kind: "ok", value });
export const absent = (why: string): { kind: "absent"; why: string } => ({ kind: "absent", why });
export const failed = (code: Failure, why: string): Failed => ({ kind: "failed", code, why });

export function then<A, B>(answer: Answer<A>, next: (value: A) => Answer<B>): Answer<B> {
  return answer.kind === "ok" ? next(answer.value) : answer;
}
