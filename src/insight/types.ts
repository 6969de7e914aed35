/** The rows and figures of insight: folded runs as people and programs read them. Times are ISO, durations milliseconds. */
import type { GateTally, LoopTally, RunState, Visit } from "./core/fold.ts";

type Inner = "plan" | "started" | "updated" | "ended" | "waited" | "waits_since" | "visits" | "gates" | "loop" | "seen";

export interface RunRow extends Omit<RunState, Inner | "closed"> {
  project: string;
  started_at: string;
  updated_at: string;
  ended_at: string | null;
  /** for the person; up to now where it still waits */
  waited_ms: number;
  cost_usd: number | null;
}

export interface StageRow extends Omit<Visit, "from" | "to" | "waited"> {
  project: string;
  run: string;
  workflow: string;
  entered_at: string;
  left_at: string | null;
  ms: number | null;
  waited_ms: number;
}

export interface GateRow extends Omit<GateTally, "id" | "at"> {
  project: string;
  run: string;
  at: string;
}

export interface LoopRow extends Omit<LoopTally, "cost" | "unpriced" | "from" | "at"> {
  project: string;
  run: string;
  cost_usd: number | null;
  started_at: string;
  updated_at: string;
  /** an iteration did not say what it cost */
  approximate: boolean;
}

export interface ProjectRow {
  root: string;
  name: string;
  runs: number;
  live: number;
  updated_at: string;
  /** nothing of Pawl's is in its folder (any more): this is history, and its open runs are gone */
  gone: boolean;
}

export interface Filter {
  project?: string;
  workflow?: string;
  /** ISO, both inclusive; a run counts if it was heard of between them, a stay in a stage if its end lies there */
  since?: string;
  until?: string;
  /** active, waiting, halted, ended, live (not ended), or an outcome: completed, failed, aborted, gone … */
  status?: string;
  limit?: number;
  /** `next` of the page before */
  after?: string;
}

export interface SyncResult {
  /** lines that were read and are records */
  events: number;
  /** lines that are none */
  skipped: number;
  projects: number;
  ms: number;
  /** of the journals, from 0 to 1: how much has been read. 1: all there was */
  share: number;
  /** why everything was read again; null: it was not */
  rebuilt: string | null;
  /** what could not be read, in words */
  problems: string[];
}

// ── Figures ─────────────────────────────────────────────────────────────────

/** From day sums where `approximate`: quantiles within 1 %, borders rounded to days. */
export interface StageStat extends Pick<Visit, "claims" | "continues" | "asks" | "gate_fails"> {
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
  waited_ms: number;
  approximate: boolean;
}

export interface TrendPoint extends Pick<StageStat, "runs" | "p50_ms" | "success_rate"> {
  at: string;
}

export interface Trend extends Pick<StageStat, "workflow" | "stage" | "approximate"> {
  points: TrendPoint[];
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

/** What `pawl stats` shows, as data. */
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
  stages: StageStat[];
  stages_before: StageStat[];
  /** the medians of equal parts of the time, for a small chart; null: nothing ended in that part */
  courses: { workflow: string; stage: string; medians: (number | null)[] }[];
  bottleneck: { sentence: string; evidence: string } | null;
  loops: LoopFigures;
  loops_before: LoopFigures;
  /** what could not be read, in words */
  problems: string[];
}
