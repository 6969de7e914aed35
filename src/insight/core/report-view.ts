/** What `pawl report` tells, as data. Everything in it comes from Pawl's own records; `said` alone is the agent's word. */

export interface About {
  /** root of the project */
  project: string;
  /** "" where it is not about one run */
  run: string;
  workflow: string;
  /** id and title of its task, or what was asked for; "" where there is none */
  task: string;
  title: string;
  at: string;
}

export interface NeedLine extends About {
  what: string;
  /** what resolves it */
  how: string;
}

export interface DoneLine extends About {
  /** one line a check: stage, gate, what it found, on which tree */
  proof: string[];
  commit: string | null;
}

export interface FailedLine extends About {
  outcome: string;
  why: string;
  /** "" where nothing is left to do */
  how: string;
}

export interface RunningLine extends About {
  /** where it is, in words */
  where: string;
  /** the end of what the agent last said: a claim; "" where nothing was heard */
  said: string;
}

/**
 * claimed: no one checked it · skipped: a stage that was left out · approved: a person's word instead of a pass · off: gates
 * that are switched off · tree: no command was run on what was made · flaky: passed only when tried again
 */
export interface UncheckedLine extends About {
  kind: "claimed" | "skipped" | "approved" | "off" | "tree" | "flaky";
  what: string;
}

interface Spent {
  count: number;
  usd: number;
  /** how many of them did not tell */
  unknown: number;
}

export interface CostView {
  /** whole runs, also what they cost before the time that was asked for */
  runs: Spent;
  /** `count` is iterations */
  loops: Spent;
}

export interface ReportView {
  at: string;
  since: string;
  projects: string[];
  needs: NeedLine[];
  done: DoneLine[];
  failed: FailedLine[];
  running: RunningLine[];
  unchecked: UncheckedLine[];
  cost: CostView;
  /** what could not be read: nothing above tells of it */
  unread: { project: string; why: string }[];
}

export const NO_COST: CostView = { runs: { count: 0, usd: 0, unknown: 0 }, loops: { count: 0, usd: 0, unknown: 0 } };

export const spend = ({ count, usd, unknown }: Spent, cost: number | null): Spent => ({
  count: count + 1,
  usd: usd + (cost ?? 0),
  unknown: unknown + (cost === null ? 1 : 0),
});
