/** What the journal tells of a run, folded: data only. Times are milliseconds since 1970. */
import type { RunStatus } from "../../kernel/types/run.ts";
import type { JournalLine } from "./journal-line.ts";

export type Handler = (state: RunState, line: JournalLine) => void;

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
