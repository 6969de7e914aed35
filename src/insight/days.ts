/** Sums by day and by month of stays in stages that are over: what statistics over many runs are made of. */
import type { Database } from "bun:sqlite";
import { addTo, type Histogram, merge, mergePacked, newHistogram, packHistogram } from "../kernel/time/histogram.ts";
import type { RunState, Visit } from "./core/fold.ts";

export interface StageSum {
  workflow: string;
  stage: string;
  /** where in the plan */
  place: number;
  visits: number;
  runs: number;
  done: number;
  ms: number;
  waited: number;
  claims: number;
  continues: number;
  asks: number;
  gate_fails: number;
}

interface SpanSum extends StageSum {
  span: string;
  histogram: Histogram;
}

/** span → workflow → stage */
type Spans = Map<string, Map<string, Map<string, SpanSum>>>;
/** project → what is to be added */
export type DaySums = Map<number, Spans>;

export const newDaySums = (): DaySums => new Map();
export const LAST_PLACE = 999;

export const newSum = (workflow: string, stage: string): StageSum => ({
  workflow,
  stage,
  place: LAST_PLACE,
  visits: 0,
  runs: 0,
  done: 0,
  ms: 0,
  waited: 0,
  claims: 0,
  continues: 0,
  asks: 0,
  gate_fails: 0,
});

export const daySpan = (ms: number) => `d${new Date(ms).toISOString().slice(0, 10)}`;
export const monthSpan = (ms: number) => `m${new Date(ms).toISOString().slice(0, 7)}`;

let lastDay = -1;
let lastSpan = "";

/** Most visits end on the same day as the one before. */
function spanOf(ms: number): string {
  const day = Math.floor(ms / 86_400_000);
  if (day !== lastDay) lastSpan = daySpan(ms);
  lastDay = day;
  return lastSpan;
}

export function noteVisits(sums: DaySums, project: number, { closed, workflow, plan }: RunState): void {
  if (closed.length === 0) return;
  const own = sums.get(project) ?? (new Map() as Spans);
  sums.set(project, own);
  for (const visit of closed) {
    const sum = sumOf(own, spanOf(visit.to!), workflow, visit.stage);
    addVisit(sum, visit, plan.indexOf(visit.stage));
    addTo(sum.histogram, visit.to! - visit.from);
  }
}

/** Maps in maps: a key made of all three would be a new text for each visit. */
function sumOf(own: Spans, span: string, workflow: string, stage: string): SpanSum {
  const known = own.get(span)?.get(workflow)?.get(stage);
  if (known !== undefined) return known;
  const workflows = own.get(span) ?? new Map<string, Map<string, SpanSum>>();
  const stages = workflows.get(workflow) ?? new Map<string, SpanSum>();
  const sum = { span, ...newSum(workflow, stage), histogram: newHistogram() };
  own.set(span, workflows.set(workflow, stages.set(stage, sum)));
  return sum;
}

function addSpan(own: Spans, span: string, more: SpanSum): void {
  const sum = sumOf(own, span, more.workflow, more.stage);
  addSums(sum, more);
  merge(sum.histogram, more.histogram);
}

function sumsOf(own: Spans): SpanSum[] {
  return [...own.values()].flatMap((workflows) => [...workflows.values()].flatMap((stages) => [...stages.values()]));
}

/** The same again by month. */
function monthsOf(days: SpanSum[]): SpanSum[] {
  const months: Spans = new Map();
  for (const day of days) addSpan(months, `m${day.span.slice(1, 8)}`, day);
  return sumsOf(months);
}

export function addVisit(sum: StageSum, visit: Visit, place: number): void {
  if (place !== -1 && place < sum.place) sum.place = place;
  sum.visits++;
  if (visit.visit === 1) sum.runs++;
  if (visit.how === "done") sum.done++;
  sum.ms += visit.to! - visit.from;
  sum.waited += visit.waited;
  sum.claims += visit.claims;
  sum.continues += visit.continues;
  sum.asks += visit.asks;
  sum.gate_fails += visit.gate_fails;
}

export function addSums(into: StageSum, more: StageSum): void {
  into.place = Math.min(into.place, more.place);
  into.visits += more.visits;
  into.runs += more.runs;
  into.done += more.done;
  into.ms += more.ms;
  into.waited += more.waited;
  into.claims += more.claims;
  into.continues += more.continues;
  into.asks += more.asks;
  into.gate_fails += more.gate_fails;
}

const ADD = `
INSERT INTO days VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (span, project, workflow, stage) DO UPDATE SET place = min(place, excluded.place),
  visits = visits + excluded.visits, runs = runs + excluded.runs, done = done + excluded.done, ms = ms + excluded.ms,
  waited = waited + excluded.waited, claims = claims + excluded.claims, continues = continues + excluded.continues,
  asks = asks + excluded.asks, gate_fails = gate_fails + excluded.gate_fails, histogram = excluded.histogram`;

export function saveDays(db: Database, sums: DaySums): void {
  const add = db.query(ADD);
  const load = db.query("SELECT histogram FROM days WHERE span = ? AND project = ? AND workflow = ? AND stage = ?");
  for (const [project, own] of sums) {
    const days = sumsOf(own);
    for (const sum of [...days, ...monthsOf(days)]) {
      const { span, workflow, stage, histogram } = sum;
      const before = load.get(span, project, workflow, stage) as { histogram: string } | null;
      if (before !== null) mergePacked(histogram, before.histogram);
      const { place, visits, runs, done, ms, waited, claims, continues, asks, gate_fails } = sum;
      const counts = [place, visits, runs, done, ms, waited, claims, continues, asks, gate_fails];
      add.run(span, project, workflow, stage, ...counts, packHistogram(histogram));
    }
  }
}
