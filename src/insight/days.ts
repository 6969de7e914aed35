/** Sums by day of stays in stages that are over: what statistics over many runs are made of. */
import type { Database } from "bun:sqlite";
import { addTo, type Histogram, mergePacked, newHistogram, packHistogram } from "../kernel/time/histogram.ts";
import type { RunState, Visit } from "./core/fold.ts";

/** Columns that add up. */
const SUMS = ["visits", "runs", "done", "ms", "waited", "claims", "continues", "asks", "gate_fails"] as const;

export interface StageSum extends Record<(typeof SUMS)[number], number> {
  workflow: string;
  stage: string;
  /** where in the plan */
  place: number;
}

interface DaySum extends StageSum {
  day: string;
  histogram: Histogram;
}

/** project → day, workflow and stage → what is to be added */
export type DaySums = Map<number, Map<string, DaySum>>;

const LAST_PLACE = 999;

export const newSum = (workflow: string, stage: string): StageSum => ({
  workflow,
  stage,
  place: LAST_PLACE,
  ...{ visits: 0, runs: 0, done: 0, ms: 0, waited: 0, claims: 0, continues: 0, asks: 0, gate_fails: 0 },
});

export const dayKey = (ms: number) => new Date(ms).toISOString().slice(0, 10);

export function noteVisits(sums: DaySums, project: number, { closed, workflow, plan }: RunState): void {
  if (closed.length === 0) return;
  const own: Map<string, DaySum> = sums.get(project) ?? new Map();
  sums.set(project, own);
  for (const visit of closed) {
    const { stage, from } = visit;
    const to = visit.to!;
    const key = `${Math.floor(to / 86_400_000)}\0${workflow}\0${stage}`;
    let sum = own.get(key);
    if (sum === undefined) {
      sum = { day: dayKey(to), ...newSum(workflow, stage), histogram: newHistogram() };
      own.set(key, sum);
    }
    addVisit(sum, visit, plan.indexOf(stage));
    addTo(sum.histogram, to - from);
  }
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
  for (const name of SUMS) into[name] += more[name];
}

const COLUMNS = ["day", "project", "workflow", "stage", "histogram", "place", ...SUMS];
const ADD = `
INSERT INTO days (${COLUMNS}) VALUES (${COLUMNS.map(() => "?")})
ON CONFLICT (day, project, workflow, stage) DO UPDATE SET histogram = excluded.histogram,
  place = min(place, excluded.place), ${SUMS.map((name) => `${name} = ${name} + excluded.${name}`)}`;

export function saveDays(db: Database, sums: DaySums): void {
  const add = db.query(ADD);
  const load = db.query("SELECT histogram FROM days WHERE day = ? AND project = ? AND workflow = ? AND stage = ?");
  for (const [project, own] of sums) {
    for (const sum of own.values()) {
      const key = [sum.day, project, sum.workflow, sum.stage];
      const before = load.get(...key) as { histogram: string } | null;
      if (before !== null) mergePacked(sum.histogram, before.histogram);
      add.run(...key, packHistogram(sum.histogram), sum.place, ...SUMS.map((name) => sum[name]));
    }
  }
}
