/**
 * Statistics per stage. Of few runs every stay is looked at, and the figures are exact; of many the sums of days and months
 * have to do, and the figures say so.
 */
import type { Database } from "bun:sqlite";
import { exactQuantile, type Histogram, mergePacked, newHistogram, quantileOf } from "../kernel/time/histogram.ts";
import type { RunState } from "./core/fold.ts";
import { addSums, addVisit, daySpan, monthSpan, newSum, type StageSum } from "./days.ts";
import { type Bound, END, IS_LIVE, START, timeOf, type Where, whereRuns } from "./filter.ts";
import { iso } from "./rows.ts";
import type { Filter, StageStat, Trend } from "./types.ts";

const MOST_EXACT_RUNS = 1000;
/** one run may have gone through thousands of stages */
const MOST_EXACT_VISITS = 20_000;
const DAY_MS = 86_400_000;

interface Group {
  sum: StageSum;
  /** of the exact way */
  values: number[];
  runs: Set<number>;
  /** of the other */
  histogram: Histogram | null;
  approximate: boolean;
}

/** `slot`: which part of the time, for trends; else always 0. */
type Grouped = Map<string, Group[]>;

const newGroup = (workflow: string, stage: string): Group => ({
  sum: newSum(workflow, stage),
  values: [],
  runs: new Set(),
  histogram: null,
  approximate: false,
});

function groupOf(grouped: Grouped, workflow: string, stage: string, slot: number): Group {
  const key = `${workflow}\0${stage}`;
  const slots = grouped.get(key) ?? [];
  grouped.set(key, slots);
  slots[slot] ??= newGroup(workflow, stage);
  return slots[slot];
}

// ── Exact ───────────────────────────────────────────────────────────────────

type SlotOf = (ms: number) => number;

/** null: too many. */
function groupExactly(db: Database, filter: Filter, slotOf: SlotOf): Grouped | null {
  const where = whereRuns(withoutPages(filter));
  const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM runs INDEXED BY runs_by_time WHERE ${where.sql} LIMIT ?)`;
  const { n } = db.query(sql).get(...where.values, MOST_EXACT_RUNS + 1) as { n: number };
  const [since, until] = [timeOf(filter.since, START), timeOf(filter.until, END)];
  if (n > MOST_EXACT_RUNS || visitsBetween(db, filter, since, until) > MOST_EXACT_VISITS) return null;
  const grouped: Grouped = new Map();
  const rows = db.query(`SELECT key, state FROM runs INDEXED BY runs_by_time WHERE ${where.sql}`).all(...where.values);
  for (const { key, state } of rows as { key: number; state: string }[])
    addRun(grouped, JSON.parse(state) as RunState, key, { since, until, slotOf });
  return grouped;
}

interface Times {
  since: number;
  until: number;
  slotOf: SlotOf;
}

function addRun(grouped: Grouped, state: RunState, key: number, { since, until, slotOf }: Times): void {
  for (const visit of state.visits) {
    if (visit.to === null || visit.to < since || visit.to > until) continue;
    const group = groupOf(grouped, state.workflow, visit.stage, slotOf(visit.to));
    addVisit(group.sum, visit, state.plan.indexOf(visit.stage));
    group.values.push(visit.to - visit.from);
    group.runs.add(key);
    group.approximate ||= state.approximate;
  }
}

const withoutPages = ({ project, workflow, since, until }: Filter): Filter => ({
  ...(project && { project }),
  ...(workflow && { workflow }),
  ...(since && { since }),
  ...(until && { until }),
});

// ── From sums ───────────────────────────────────────────────────────────────

interface DayRow extends StageSum {
  span: string;
  histogram: string;
}

function whereDays(filter: Filter, spans: Where): Where {
  const values: Bound[] = [...spans.values];
  const parts = [`(${spans.sql})`];
  if (filter.project) parts.push("project = (SELECT id FROM projects WHERE root = ?)");
  if (filter.workflow) parts.push("workflow = ?");
  values.push(...[filter.project, filter.workflow].filter((one): one is string => Boolean(one)));
  return { sql: parts.join(" AND "), values };
}

function visitsBetween(db: Database, filter: Filter, since: number, until: number): number {
  const where = whereDays(filter, spansBetween(since, until));
  const sql = `SELECT coalesce(sum(visits), 0) AS n FROM days WHERE ${where.sql}`;
  return (db.query(sql).get(...where.values) as { n: number }).n;
}

function groupFromSums(db: Database, filter: Filter, spans: Where, slotOf: (span: string) => number): Grouped {
  const grouped: Grouped = new Map();
  const where = whereDays(filter, spans);
  const rows = db.query(`SELECT * FROM days WHERE ${where.sql}`).all(...where.values) as DayRow[];
  for (const row of rows) {
    const group = groupOf(grouped, row.workflow, row.stage, slotOf(row.span));
    addSums(group.sum, row);
    group.histogram ??= newHistogram();
    mergePacked(group.histogram, row.histogram);
    group.approximate = true;
  }
  return grouped;
}

const monthOf = (ms: number) => iso(ms).slice(0, 7);
const firstOf = (month: string) => Date.parse(`${month}-01T00:00:00.000Z`);

/** Whole months as months, the days before and behind them as days. */
function spansBetween(since: number, until: number): Where {
  const from = Math.max(since, START);
  const to = Math.min(until, 4e12);
  const first = firstOf(monthOf(from)) === from ? from : firstOf(monthOf(firstOf(monthOf(from)) + 32 * DAY_MS));
  const last = firstOf(monthOf(to));
  if (first >= last) return { sql: "span BETWEEN ? AND ?", values: [daySpan(from), daySpan(to)] };
  const months = [monthSpan(first), monthSpan(last - 1)];
  const days = [daySpan(from), daySpan(first - 1), daySpan(last), daySpan(to)];
  const isWhole = first === from;
  const sql = `span BETWEEN ? AND ? OR ${isWhole ? "" : "span BETWEEN ? AND ? OR "}span BETWEEN ? AND ?`;
  return { sql, values: [...months, ...days.slice(isWhole ? 2 : 0)] };
}

// ── Answers ─────────────────────────────────────────────────────────────────

export function stageStats(db: Database, filter: Filter): StageStat[] {
  const spans = () => spansBetween(timeOf(filter.since, START), timeOf(filter.until, END));
  const grouped = groupExactly(db, filter, () => 0) ?? groupFromSums(db, filter, spans(), () => 0);
  const open = openStages(db, filter);
  for (const { workflow, stage } of open) groupOf(grouped, workflow, stage, 0);
  const groups = [...grouped.values()].map(([group]) => group!).sort(inOrder);
  return groups.map((group) => statOf(group, open));
}

interface OpenStage {
  workflow: string;
  stage: string;
  runs: number;
}

/** What is open now is open, however long nothing was heard of it. */
function openStages(db: Database, filter: Filter): OpenStage[] {
  const { since: _, ...rest } = withoutPages(filter);
  const where = whereRuns(rest);
  const sql = `SELECT workflow, stage, count(*) AS runs FROM runs INDEXED BY runs_live
    WHERE ${IS_LIVE} AND ${where.sql} GROUP BY workflow, stage`;
  return db.query(sql).all(...where.values) as OpenStage[];
}

const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const inOrder = ({ sum: a }: Group, { sum: b }: Group) =>
  byName(a.workflow, b.workflow) || a.place - b.place || byName(a.stage, b.stage);

function statOf({ sum, values, runs, histogram, approximate }: Group, open: OpenStage[]): StageStat {
  const { workflow, stage, visits, claims, continues, asks, gate_fails } = sum;
  const quantile = quantilesOf(values, histogram);
  return {
    workflow,
    stage,
    runs: runs.size || sum.runs,
    attempts: visits,
    open: open.find((one) => one.workflow === workflow && one.stage === stage)?.runs ?? 0,
    p50_ms: quantile(0.5),
    p95_ms: quantile(0.95),
    total_ms: sum.ms,
    success_rate: visits === 0 ? null : sum.done / visits,
    claims,
    continues,
    asks,
    gate_fails,
    waited_ms: sum.waited,
    approximate,
  };
}

function quantilesOf(values: number[], histogram: Histogram | null): (share: number) => number | null {
  if (histogram !== null) return (share) => quantileOf(histogram, share);
  const sorted = Float64Array.from(values).sort();
  return (share) => exactQuantile(sorted, share);
}

// ── Trends ──────────────────────────────────────────────────────────────────

const MOST_BUCKETS = 400;

/** Equal parts of the time between `since` (or the first stay that ended) and `until` (or the last). */
export function trendOf(db: Database, filter: Filter, buckets: number): Trend[] {
  const bounds = boundsOf(db, filter);
  if (bounds === null) return [];
  const [since, until] = bounds;
  const parts = Math.max(1, Math.min(MOST_BUCKETS, Math.floor(buckets) || 1));
  const width = Math.max(1, (until - since) / parts);
  const slotOf = (ms: number) => Math.max(0, Math.min(parts - 1, Math.floor((ms - since) / width)));
  const limited = { ...filter, since: iso(since), until: iso(until) };
  const days: Where = { sql: "span BETWEEN ? AND ?", values: [daySpan(since), daySpan(until)] };
  // A day counts where its middle lies.
  const slotOfSpan = (span: string) => slotOf(Date.parse(span.slice(1)) + DAY_MS / 2);
  const grouped = groupExactly(db, limited, slotOf) ?? groupFromSums(db, limited, days, slotOfSpan);
  const starts = Array.from({ length: parts }, (_, n) => iso(Math.round(since + n * width)));
  const lines = [...grouped.values()].map((slots) => trendLine(slots, starts)).sort(byWorkflow);
  return lines.map(({ place: _, ...trend }) => trend);
}

const byWorkflow = (a: Trend & { place: number }, b: Trend & { place: number }) =>
  byName(a.workflow, b.workflow) || a.place - b.place || byName(a.stage, b.stage);

function trendLine(slots: Group[], starts: string[]): Trend & { place: number } {
  const groups = starts.map((_, n) => slots[n]);
  const there = groups.filter((one) => one !== undefined);
  const { workflow, stage } = there[0]!.sum;
  const points = groups.map((group, n) => {
    if (group === undefined) return { at: starts[n]!, runs: 0, p50_ms: null, success_rate: null };
    const { p50_ms, success_rate, runs } = statOf(group, []);
    return { at: starts[n]!, runs, p50_ms, success_rate };
  });
  const place = Math.min(...there.map(({ sum }) => sum.place));
  return { workflow, stage, place, points, approximate: there.some(({ approximate }) => approximate) };
}

/** null: nothing ever ended. */
function boundsOf(db: Database, { since, until }: Filter): [number, number] | null {
  const found = db.query("SELECT min(span) AS first, max(span) AS last FROM days WHERE span < 'm'").get() as {
    first: string | null;
    last: string | null;
  };
  if (found.first === null || found.last === null) return null;
  const from = timeOf(since, Date.parse(found.first.slice(1)));
  const to = timeOf(until, Date.parse(found.last.slice(1)) + DAY_MS - 1);
  return from <= to ? [from, to] : null;
}
