/** A loop's count, limits and outcome: what is kept on disk and shown. */

/** Count, bounds, mean and deviation of times, kept without the times themselves (Welford's method). */
export interface Timing {
  count: number;
  min: number;
  max: number;
  mean: number;
  /** sum of squared distances from the mean */
  squares: number;
}

export type LoopOutcome = "success" | "aborted" | "limit" | "not-started" | "interrupted";

export interface Limits {
  /** null: no bound */
  max_iterations: number | null;
  /** failures in a row */
  failure_threshold: number;
  /** seconds, of all iterations and waits */
  time_limit: number;
  /** USD, of all iterations */
  budget: number;
}

/** How an iteration counts. `spoilt`: interrupted from outside, so it does not count and is retried. */
export type Verdict = "success" | "refused" | "continue" | "failure" | "spoilt";

export interface IterationLine {
  iteration: number;
  at: string;
  verdict: Verdict;
  why: string;
  elapsed_ms: number;
  cost_usd: number | null;
  session: string | null;
}

export interface LoopState {
  v: 1;
  id: string;
  procedure: string;
  /** the agent, as the person named it */
  ai: string;
  /** the run that hooks and loop share; "": none */
  run: string;
  /** iterations that count */
  iterations: number;
  /** in a row */
  failures: number;
  /** in a row */
  spoilt: number;
  cost_usd: number;
  /** false: an agent did not report its cost, so the sum is a lower bound */
  cost_known: boolean;
  /** the part of it that preflight cost */
  trial_usd: number;
  tokens: { in: number; out: number };
  /** since the loop began; null: unknown */
  commits: number | null;
  /** the commit at the beginning; "": no repository */
  head: string;
  /** iterations and waits, on a clock that stops while the machine sleeps */
  spent_ms: number;
  timing: Timing;
  /** how the last iteration ended: the same again is no progress */
  last: { tree: string; said: string } | null;
  /** for the next prompt */
  notes: string[];
  lines: IterationLine[];
  created_at: string;
  updated_at: string;
  outcome: LoopOutcome | null;
  why: string;
}
