/**
 * Statistics per stage. Of few runs every stay is looked at, and the figures are exact; of many the sums of days have to do,
 * and the figures say so.
 */
import type { Database } from "bun:sqlite";
import { computeQuantile, exactQuantile, type Histogram, mergePacked, newHistogram } from "../kernel/time/histogram.ts";
import type { RunState } from "./core/fold.ts";
import { addSums, addVisit, dayKey, newSum, type StageSum } from "./days.ts";
import { aboutParts, END, IS_LIVE, parseTime, START, type Where, whereAll, whereRuns } from "./filter.ts";
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

/** By workflow and stage, then by slot: which part of the time, for trends; else always 0. */
type GroupsByStage = Map<string, Group[]>;
type SlotOf = (ms: number) => number;

function findGroup(grouped: GroupsByStage, workflow: string, stage: string, slot: number): Group {
  const key = `${workflow}\0${stage}`;
  const slots = grouped.get(key) ?? [];
  grouped.set(key, slots);
  const sum = newSum(workflow, stage);
  slots[slot] ??= { sum, values: [], runs: new Set(), histogram: null, approximate: false };
  return slots[slot];
}

/** Statistics are about stays in stages, whatever became of their runs. */
function groupStays(db: Database, { status: _, ...filter }: Filter, slotOf: SlotOf): GroupsByStage {
  const runs = whereRuns(filter);
  const days = whereDays(filter);
  const sql = `SELECT (SELECT count(*) FROM (SELECT 1 FROM runs INDEXED BY runs_by_time WHERE ${runs.sql} LIMIT ?)) AS runs,
    (SELECT total(visits) FROM days WHERE ${days.sql}) AS visits`;
  const count = db.query(sql).get(...runs.values, MOST_EXACT_RUNS + 1, ...days.values) as Record<string, number>;
  const isExact = count.runs! <= MOST_EXACT_RUNS && count.visits! <= MOST_EXACT_VISITS;
  return isExact ? groupExactly(db, filter, runs, slotOf) : groupFromSums(db, days, slotOf);
}

function groupExactly(db: Database, filter: Filter, where: Where, slotOf: SlotOf): GroupsByStage {
  const grouped: GroupsByStage = new Map();
  const [since, until] = [parseTime(filter.since, START), parseTime(filter.until, END)];
  const rows = db.query(`SELECT key, state FROM runs INDEXED BY runs_by_time WHERE ${where.sql}`).all(...where.values);
  for (const { key, state } of rows as { key: number; state: string }[]) {
    const { visits, workflow, plan, approximate } = JSON.parse(state) as RunState;
    for (const visit of visits) {
      if (visit.to === null || visit.to < since || visit.to > until) continue;
      const group = findGroup(grouped, workflow, visit.stage, slotOf(visit.to));
      addVisit(group.sum, visit, plan.indexOf(visit.stage));
      group.values.push(visit.to - visit.from);
      group.runs.add(key);
      group.approximate ||= approximate;
    }
  }
  return grouped;
}

function groupFromSums(db: Database, where: Where, slotOf: SlotOf): GroupsByStage {
  const grouped: GroupsByStage = new Map();
  const rows = db.query(`SELECT * FROM days WHERE ${where.sql}`).all(...where.values);
  for (const row of rows as (StageSum & { day: string; histogram: string })[]) {
    // A day counts where its middle lies.
    const group = findGroup(grouped, row.workflow, row.stage, slotOf(Date.parse(row.day) + DAY_MS / 2));
    addSums(group.sum, row);
    group.histogram ??= newHistogram();
    mergePacked(group.histogram, row.histogram);
    group.approximate = true;
  }
  return grouped;
}

/** From here on a year has five digits, and days do not sort as texts. */
const LAST_DAY = Date.UTC(9999, 11, 31);

function whereDays(filter: Filter): Where {
  const times = [parseTime(filter.since, START), parseTime(filter.until, END)];
  const days = times.map((ms) => dayKey(Math.max(START, Math.min(LAST_DAY, ms))));
  return whereAll([["day BETWEEN ? AND ?", ...days], ...aboutParts(filter)]);
}

// ── Answers ─────────────────────────────────────────────────────────────────

export function stageStats(db: Database, filter: Filter): StageStat[] {
  const grouped = groupStays(db, filter, () => 0);
  const open = openStages(db, filter);
  for (const { workflow, stage } of open) findGroup(grouped, workflow, stage, 0);
  const groups = [...grouped.values()].map(([group]) => group!).sort((a, b) => inOrder(a.sum, b.sum));
  return groups.map((group) => buildStat(group, open));
}

interface OpenStage {
  workflow: string;
  stage: string;
  runs: number;
}

/** What is open now is open, however long nothing was heard of it. */
function openStages(db: Database, { since: _, status: __, ...filter }: Filter): OpenStage[] {
  const where = whereRuns(filter);
  const sql = `SELECT workflow, stage, count(*) AS runs FROM runs INDEXED BY runs_live
    WHERE ${IS_LIVE} AND ${where.sql} GROUP BY workflow, stage`;
  return db.query(sql).all(...where.values) as OpenStage[];
}

type StagePlace = Pick<StageSum, "workflow" | "stage" | "place">;
const byName = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
const inOrder = (a: StagePlace, b: StagePlace) =>
  byName(a.workflow, b.workflow) || a.place - b.place || byName(a.stage, b.stage);

function buildStat({ sum, values, runs, histogram, approximate }: Group, open: OpenStage[]): StageStat {
  const { workflow, stage, visits, claims, continues, asks, gate_fails } = sum;
  const sorted = Float64Array.from(values).sort();
  const quantile = (share: number) => (histogram ? computeQuantile(histogram, share) : exactQuantile(sorted, share));
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

// ── Trends ──────────────────────────────────────────────────────────────────

const MOST_BUCKETS = 400;

/** Equal parts of the time between `since` (or the first stay that ended) and `until` (or the last). */
export function computeTrend(db: Database, filter: Filter, buckets: number): Trend[] {
  const bounds = findBounds(db, filter);
  if (bounds === null) return [];
  const [since, until] = bounds;
  const parts = Math.max(1, Math.min(MOST_BUCKETS, Math.floor(buckets) || 1));
  const width = Math.max(1, (until - since) / parts);
  const findSlot = (ms: number) => Math.max(0, Math.min(parts - 1, Math.floor((ms - since) / width)));
  const grouped = groupStays(db, { ...filter, since: iso(since), until: iso(until) }, findSlot);
  const starts = Array.from({ length: parts }, (_, n) => iso(Math.round(since + n * width)));
  const lines = [...grouped.values()].map((slots) => trendLine(slots, starts)).sort(inOrder);
  return lines.map(({ place: _, ...trend }) => trend);
}

function trendLine(slots: Group[], starts: string[]): Trend & { place: number } {
  const groups = slots.filter((one) => one !== undefined);
  const { workflow, stage } = groups[0]!.sum;
  const points = starts.map((at, n) => {
    const stat = slots[n] && buildStat(slots[n], []);
    return { at, runs: stat?.runs ?? 0, p50_ms: stat?.p50_ms ?? null, success_rate: stat?.success_rate ?? null };
  });
  const place = Math.min(...groups.map(({ sum }) => sum.place));
  return { workflow, stage, place, points, approximate: groups.some(({ approximate }) => approximate) };
}

/** null: nothing ever ended. */
function findBounds(db: Database, { since, until }: Filter): [number, number] | null {
  const sql = "SELECT min(day) AS first, max(day) AS last FROM days";
  const { first, last } = db.query(sql).get() as Record<"first" | "last", string | null>;
  if (first === null || last === null) return null;
  const from = parseTime(since, Date.parse(first));
  const to = parseTime(until, Date.parse(last) + DAY_MS - 1);
  return from <= to ? [from, to] : null;
}
