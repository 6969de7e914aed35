/** What a decision asks for, and what it is told. Data only. */

import type { Names, ObservedStage } from "./inference.ts";
import type { Json } from "./json.ts";
import type { Leftover } from "./task.ts";
import type { FileState, GateFact, GateNeed } from "./verdict.ts";
import type { Inference, TaskScope, Workflow } from "./workflow.ts";

export type Fact<T> = { ok: true; value: T } | { ok: false; why: string };

export interface ToolCall {
  id: string;
  name: string;
  input: Json;
  /** null: no result seen (running, interrupted, not flushed) */
  result: { text: string; error: boolean; data: Json } | null;
  at: string;
  /** "" for the main agent */
  agent: string;
}

export interface GitFact {
  /** "" before the first commit */
  head: string;
  /** "" on no branch */
  branch: string;
  /** committer time of head, ISO, "" without one */
  head_at: string;
  dirty: boolean;
  /** some of the changed paths, Pawl's own left out */
  changed: string[];
  /** paths that git was told not to look at (assume-unchanged, skip-worktree) and that are there; left out: not known */
  hidden?: string[];
}

export interface DocumentFact {
  state: "present" | "missing" | "broken";
  text: string;
  hash: string;
}

export interface NotesFact {
  text: string;
  /** ISO time */
  changed_at: string;
}

export type Need =
  | { kind: "message" }
  | { kind: "tools"; since: string }
  /** which of these agents were started, or given work, since then */
  | { kind: "agents"; since: string; ids: string[] }
  | { kind: "report"; file: string }
  | { kind: "files"; paths: string[] }
  | { kind: "notes"; path: string }
  | { kind: "git" }
  | { kind: "tree" }
  /** the next task in scope, claimed for this actor; `wanted`: this one, "" for any */
  | { kind: "next_task"; scope: TaskScope; actor: string; wanted: string /** only look, claim nothing */; peek?: true }
  | { kind: "task"; scope: TaskScope; id: string }
  /** what tool calls show instead of a signal */
  | {
      kind: "seen";
      rules: Record<string, Inference>;
      since: string;
      message: string;
      task: string;
      names: Names;
    }
  /** has the workflow been changed on disk since it was pinned? */
  | { kind: "definition"; workflow: Workflow }
  | GateNeed;

export interface Facts {
  /** the whole last message (all text blocks) */
  message?: Fact<string>;
  tools?: Fact<ToolCall[]>;
  agents?: Fact<string[]>;
  git?: Fact<GitFact>;
  /** which of the asked files are there */
  files?: Fact<Record<string, FileState>>;
  /** null: there is no such file */
  notes?: Fact<NotesFact | null>;
  /** the whole text of a kept report */
  report?: Fact<string>;
  document?: Fact<DocumentFact>;
  tree?: Fact<string>;
  /** in words what is different now; empty: nothing */
  definition?: Fact<string[]>;
  gates?: Record<string, GateFact>;
  next_task?: Fact<NextTask>;
  task?: Fact<TaskFact>;
  seen?: Fact<ObservedStage>;
}

/** The next task; or none is free, and these are what is left of the queue. */
export type NextTask = TaskFact | { left: Leftover[] };

/** A task as its tracker has it; its words are untrusted. */
export interface TaskFact {
  id: string;
  title: string;
  text: string;
  state: string;
  owner: string | null;
  labels: string[];
  tracker: string;
  /** of the file that holds it */
  path?: string;
  /** whose claim it was before, if that session is dead */
  freed?: string;
}
