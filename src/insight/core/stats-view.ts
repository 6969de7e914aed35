/** What `pawl stats` tells, as data. */

export interface StageFigures {
  workflow: string;
  stage: string;
  /** that were in it */
  runs: number;
  /** stays in it that are over */
  attempts: number;
  /** runs that are in it now */
  open: number;
  p50_ms: number | null;
  p95_ms: number | null;
  total_ms: number;
  /** stays that went forward, of all that are over */
  success_rate: number | null;
  claims: number;
  continues: number;
  asks: number;
  gate_fails: number;
  waited_ms: number;
  approximate: boolean;
}

export interface RunFigures {
  runs: number;
  completed: number;
  failed: number;
  aborted: number;
  /** ended in another way: stalled, out of budget … */
  other: number;
  live: number;
  cost_usd: number | null;
}

export interface LoopFigures {
  loops: number;
  /** there are more; these are the newest */
  capped: boolean;
  iterations: number;
  failures: number;
  cost_usd: number;
  /** loops whose cost is not known, or not all of it */
  unknown: number;
  outcomes: Record<string, number>;
}

/** The medians of equal parts of the time, for a small chart; null: nothing ended in that part. */
export interface Course {
  workflow: string;
  stage: string;
  medians: (number | null)[];
}

export interface StatsView {
  at: string;
  since: string;
  /** where the period before, of the same length, begins */
  before_since: string;
  /** null: all */
  project: string | null;
  workflow: string | null;
  runs: RunFigures;
  runs_before: RunFigures;
  stages: StageFigures[];
  stages_before: StageFigures[];
  courses: Course[];
  bottleneck: { sentence: string; evidence: string } | null;
  loops: LoopFigures;
  loops_before: LoopFigures;
  /** what could not be read, in words */
  problems: string[];
}
