/** What was measured for a gate, and what follows from it. */

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

/** How a test ended: flaky and unexpected passes are `passed`, errors `failed`; todo, expected failures, deselected `skipped`. */
export type TestStatus = "passed" | "failed" | "skipped";

/** What runners reported test by test, through Pawl's own reporters. */
export interface NamedReport {
  /** every runner that started, in order: "vitest 3.2.4" */
  runners: string[];
  /** how many of them reported their own end: fewer means that something exited before it was done */
  ended: number;
  /** by key: file and name path as seen from the project, `#2` for the second of the same name */
  tests: Record<string, TestStatus>;
  /** the test files that runners named, relative to the project */
  files: string[];
  /** why the report cannot be complete although every runner ended: more collected than reported … */
  incomplete?: string;
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
  /** of the last attempt; missing where no reporter of ours was heard */
  named?: NamedReport;
  /** names of what moved in the tree meanwhile, although its content is the same again */
  moved?: string[];
  /** hash of what it depends on outside of the tree, as it was at the end; missing where that could not be read */
  around?: string;
  /** it ran in a copy of the project, at another path */
  copied?: true;
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

/** How far a pass reaches: exit 0 only, counted by the runner's summary, or known test by test. */
export type ProofWord = "green" | "counted" | "named";

/** fail < unproven < green < counted < named; a gate that runs no tests just passes. */
export const verdictStrength = ({ verdict, proof }: Pick<Verdict, "verdict" | "proof">) =>
  verdict === "pass" ? (proof ?? "pass") : verdict;

/** A test of the beginning that does not pass any more. */
export interface OldTest {
  name: string;
  /** as it was, on the code of now: it fails, or cannot be run, or is left out; `settings`: only the command as a whole fails */
  what: "fails" | "cannot run" | "not run" | "settings";
  /** the changed test file that it is in, where that is known */
  file?: string;
  /** names this test with its file at the beginning and now: an approval is kept for it */
  sign: string;
  /** how its file was changed, bounded */
  diff?: string;
}

/** One run of a command, as far as a comparison needs it. */
export interface TestOutcome {
  exit: number | null;
  report: NamedReport | null;
  /** relevant lines of its output */
  tail?: string;
  /** the first thing that a compiler or an interpreter says */
  reason?: string;
  /** why it could not be run */
  error?: string;
}

/** What is known of the tests at the beginning, to compare the tests of now with. */
export interface BaselineFact {
  /** the tests of the beginning on the code of the beginning; null: their names are not known */
  base: NamedReport | null;
  /** why they are not known */
  no_base?: string;
  /** the tests of the beginning on the code of now; null: no test file was changed */
  old: TestOutcome | null;
  /** files that decide what tests prove, and were changed since */
  changed: string[];
  /** for each of them: names it before and now, and shows how it was changed */
  files: Record<string, { sign: string; diff: string }>;
  /** names that pass and fail on the same tree */
  unstable: string[];
  /** names that may fail until they have passed once */
  known: string[];
  /** why nothing can be compared */
  why?: string;
}

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
  /** the hash of the environment that its command ran in */
  environment?: string;
  /** the last lines of the output */
  tail?: string;
  tests?: Tally;
  /** hash of what a command's answer depends on outside of the tree */
  around?: string;
  /** how far it reaches; only for tests */
  proof?: ProofWord;
  /** how many tests ran at the beginning; only where they were compared by name */
  before?: number;
  old_tests?: OldTest[];
  /** a person's word, and whose */
  approved_by?: string;
  /** its command did not run: the person has not approved it */
  untrusted?: true;
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
  /** the base was kept when the run began: then it must still be there */
  kept?: true;
  since: string;
  known: Record<string, Verdict>;
  /** the run's task, and where it lives */
  task?: { id: string; scope: TaskScope };
  /** when each stage was last entered */
  entered: Record<string, string>;
  names: Names;
  /** a check that was left running is asked for again: its result counts whatever it is */
  resumed: boolean;
  /** seconds that a stop waits for gates that do not say it themselves */
  wait?: number;
  /** only what got worse since the beginning counts */
  worse?: true;
}

/** What was found out for one gate; judged in gate.ts. `tree` is what the finding is about. */
export type GateFact = { tree: string } & (
  | {
      kind: "ran";
      ran: Ran;
      /** tests: what the runner's own words say */
      suite: Suite | null;
      weakened: Weakening[];
      /** tests: what there is to compare with; missing where there was no beginning */
      baseline?: BaselineFact;
      /** what the command itself changed in the tree */
      wrote: string[];
      /** tests: product code that has to do with its own tests since the run began, for the person to know */
      mentions?: string[];
      /** the hash of the environment it ran in */
      environment?: string;
    }
  | { kind: "known"; verdict: Verdict }
  | { kind: "unchanged" }
  | {
      kind: "running";
      since: string /** a process waits for it and will wake the agent */;
      wakes: boolean /** what is waited for */;
      job?: string;
    }
  | { kind: "unknown" | "untrusted"; why: string }
  /** what the gate's kind found; only that kind reads it */
  | { kind: "measured"; value: unknown }
);
