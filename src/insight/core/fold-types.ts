/** What the journal tells of a run, folded: data only. Times are milliseconds since 1970. */
import type { Json, RunStatus } from "../../kernel/types/run.ts";

export type Handler = (state: RunState, line: FoldLine) => void;

/** What lines of a kind are looked at for. "bare": only the fact counts, nobody has to look at their own fields. */
export type Look = "nothing" | "bare" | "prompt" | "gate" | "end" | "all";

export interface Rule {
  look: Look;
  /** wherever it stands */
  count: Handler | null;
  /** only while the run is not past it */
  move: Handler | null;
}

/** One record of the journal. `fields` is empty for kinds of which only the fact counts. */
export interface FoldLine {
  at: number;
  run: string;
  seq: number;
  i: number;
  kind: string;
  rule: Rule;
  host: string;
  session: string;
  workflow: string;
  stage: string;
  fields: Record<string, Json | undefined>;
}

export type How = "done" | "back" | "ended" | "open";

/** One stay in a stage; the first is number 1. */
export interface Visit {
  stage: string;
  visit: number;
  from: number;
  to: number | null;
  waited: number;
  claims: number;
  continues: number;
  asks: number;
  gate_fails: number;
  how: How;
}

export interface GateTally {
  stage: string;
  id: string;
  gate: string;
  pass: number;
  fail: number;
  unproven: number;
  last: string;
  why: string;
  at: number;
  tree: string;
  command: string | null;
}

export interface LoopTally {
  procedure: string;
  iterations: number;
  failures: number;
  cost: number | null;
  /** iterations that did not say what they cost */
  unpriced: number;
  outcome: string | null;
  why: string;
  from: number;
  at: number;
}

/** Which records were folded: for each commit from `first` on, one bit a record. */
export interface SeenRecords {
  first: number;
  masks: number[];
  /** records behind the 30th of a commit: `[commit, record]` */
  far: [number, number][];
}

export interface RunState {
  v: 1;
  id: string;
  workflow: string;
  plan: string[];
  stage: string;
  status: RunStatus;
  outcome: string | null;
  why: string;
  host: string;
  session: string;
  task: string | null;
  title: string | null;
  tasks_done: number;
  started: number;
  updated: number;
  ended: number | null;
  claims: number;
  continues: number;
  asks: number;
  gate_fails: number;
  approvals: number;
  waited: number;
  /** since when it waits for the person */
  waits_since: number | null;
  visits: Visit[];
  /** visits that were too many to keep */
  dropped: number;
  gates: GateTally[];
  loop: LoopTally | null;
  seen: SeenRecords;
  /** lines are missing or came in another order: figures are close, not exact */
  approximate: boolean;
  /** visits that ended since this was last empty; nothing changes them any more */
  closed: Visit[];
}
