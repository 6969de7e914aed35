/** What was measured for a gate, and what follows from it. Data only. */

import type { Names } from "./inference.ts";
import type { Gate, TaskScope } from "./workflow.ts";

/** `outside`: not a path inside the project */
export type FileState = "there" | "missing" | "outside";

/** One start of a command. `exit` is null if it was ended by a signal, or never started. */
export interface Attempt {
  exit: number | null;
  signal: string | null;
  timed_out: boolean;
  ms: number;
}

/** A command that was run for a gate, outside the hook's own process. */
export interface Ran {
  /** in order; more than one only where the gate allows retries and the earlier ones failed */
  attempts: Attempt[];
  /** stdout and stderr of the last attempt as they came, bounded: beginning and end, a line says what was cut */
  output: string;
  /** sha256 of the whole output */
  digest: string;
  started_at: string;
  ended_at: string;
  /** it could not be started at all, and why */
  error?: string;
}

/** What a test runner's own summary says. `failed` counts errors, too. */
export interface Tally {
  runner: string;
  passed: number;
  failed: number;
  skipped: number;
}

/** `none`: the output proves nothing. */
export interface Suite {
  verdict: "pass" | "fail" | "none";
  why: string;
  tally: Tally | null;
}

/** A change of the tests that lets them prove less than before. */
export interface Weakening {
  kind: "removed" | "skipped" | "focused" | "assertions";
  path: string;
  /** the test's name, or the line */
  what: string;
}

export type VerdictWord = "pass" | "fail" | "unproven";

/** Bound to exactly what was checked: this gate, on this tree. */
export interface Verdict {
  /** the gate's name and the hash of its definition */
  gate: string;
  id: string;
  verdict: VerdictWord;
  why: string;
  /** "" where the tree is not known */
  tree: string;
  at: string;
  /** passed only after a retry */
  flaky?: true;
  command?: string;
  cwd?: string;
  exit?: number | null;
  ms?: number;
  digest?: string;
  /** the last lines of the output */
  tail?: string;
  tests?: Tally;
  /** a person's word, and whose */
  approved_by?: string;
}

/** One run of a test command, as the agent's tool calls show it. */
export interface TestRun extends Suite {
  command: string;
  at: string;
  agent: string;
}

export interface Tracked {
  id: string;
  state: string;
}

export interface GateNeed {
  kind: "gates";
  gates: Gate[];
  base_tree: string;
  since: string;
  known: Record<string, Verdict>;
  /** the run's task, and where it lives */
  task?: { id: string; scope: TaskScope };
  /** when each stage was last entered */
  entered: Record<string, string>;
  names: Names;
  /** a check that was left running is asked for again: its result counts whatever it is */
  resumed: boolean;
}

/** What was found out for one gate; judged in gate.ts. `tree` is what the finding is about. */
export type GateFact = { tree: string } & (
  | {
      kind: "ran";
      ran: Ran;
      /** tests: what the runner's own words say */
      suite: Suite | null;
      weakened: Weakening[];
      /** what the command itself changed in the tree */
      wrote: string[];
    }
  | { kind: "known"; verdict: Verdict }
  | { kind: "unchanged" }
  | { kind: "running"; since: string /** a process waits for it and will wake the agent */; wakes: boolean }
  | { kind: "unknown"; why: string }
  /** what the gate's kind found; only that kind reads it */
  | { kind: "measured"; value: unknown }
);
