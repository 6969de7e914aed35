/** The rows and questions of insight. Times are ISO, durations milliseconds. */
import type { RunFigures, StageFigures } from "./core/stats-view.ts";

export interface RunRow {
  project: string;
  id: string;
  workflow: string;
  stage: string;
  status: "active" | "waiting" | "halted" | "ended";
  outcome: string | null;
  why: string;
  host: string;
  session: string;
  task: string | null;
  title: string | null;
  tasks_done: number;
  started_at: string;
  updated_at: string;
  ended_at: string | null;
  claims: number;
  continues: number;
  asks: number;
  gate_fails: number;
  approvals: number;
  /** for the person; up to now where it still waits */
  waited_ms: number;
  cost_usd: number | null;
  /** lines of the journal are missing or came in another order, or an iteration did not say what it cost */
  approximate: boolean;
}

export interface StageRow {
  project: string;
  run: string;
  workflow: string;
  stage: string;
  visit: number;
  entered_at: string;
  left_at: string | null;
  ms: number | null;
  waited_ms: number;
  claims: number;
  continues: number;
  asks: number;
  gate_fails: number;
  how: "done" | "back" | "ended" | "open";
}

export interface GateRow {
  project: string;
  run: string;
  stage: string;
  gate: string;
  pass: number;
  fail: number;
  unproven: number;
  last: string;
  why: string;
  at: string;
  tree: string;
  command: string | null;
}

export interface LoopRow {
  project: string;
  run: string;
  procedure: string;
  iterations: number;
  failures: number;
  cost_usd: number | null;
  outcome: string | null;
  why: string;
  started_at: string;
  updated_at: string;
  /** an iteration did not say what it cost */
  approximate: boolean;
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

/** From day sums where `approximate`: quantiles within 1 %, borders rounded to days. */
export type StageStat = StageFigures;

export interface TrendPoint {
  at: string;
  runs: number;
  p50_ms: number | null;
  success_rate: number | null;
}

export interface Trend {
  workflow: string;
  stage: string;
  points: TrendPoint[];
  approximate: boolean;
}

export interface Synced {
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

export interface ProjectRow {
  root: string;
  name: string;
  runs: number;
  live: number;
  updated_at: string;
  /** nothing of Pawl's is in its folder (any more): this is history, and its open runs are gone */
  gone: boolean;
}

export type Counts = RunFigures;

export interface Insight {
  /** Everything. `told` hears now and then how far it has come, from 0 to 1. */
  sync(told?: (share: number) => void): Synced;
  /** As much of it as can be done in about so many milliseconds; the next call goes on. */
  syncSome(ms: number): Synced;
  projects(): ProjectRow[];
  runs(filter: Filter): { rows: RunRow[]; next: string | null };
  run(project: string, id: string): { run: RunRow; stages: StageRow[]; gates: GateRow[] } | null;
  stageStats(filter: Filter): StageStat[];
  trend(filter: Filter, buckets: number): Trend[];
  /** null: fewer than ENOUGH_ATTEMPTS stays in stages are over */
  bottleneck(filter: Filter): { sentence: string; evidence: string } | null;
  loops(filter: Filter): LoopRow[];
  /** of which a run is known, by name */
  workflows(filter: Filter): string[];
  counts(filter: Filter): Counts;
  close(): void;
}
