/** Folded runs as rows that people and programs read. */
import { attempt } from "../kernel/attempt.ts";
import { readCost } from "../store/cost.ts";
import type { RunState } from "./core/fold.ts";
import type { GateRow, LoopRow, RunRow, StageRow } from "./types.ts";

export const iso = (ms: number) => new Date(ms).toISOString();
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));

export interface KnownRun {
  run: RunRow;
  stages: StageRow[];
  gates: GateRow[];
}

/** `cost`: as it was at the last sync. */
export function knownRun(project: string, state: RunState, cost: number | null, gone: boolean): KnownRun {
  const { plan, started, updated, ended, waited, waits_since, visits, gates, loop, seen, closed, ...own } = state;
  // No one waits for what is gone.
  const now = gone ? updated : Date.now();
  const waiting = waits_since === null ? 0 : Math.max(0, now - waits_since);
  // Of a live run the figures change without a line in the journal.
  const costNow = own.status === "ended" ? cost : (attempt(() => readCost(project, own.id)?.usd, null) ?? cost);
  const about = { project, run: own.id };
  const known = {
    run: {
      project,
      ...own,
      started_at: iso(started),
      updated_at: iso(updated),
      ended_at: isoOrNull(ended),
      waited_ms: waited + waiting,
      cost_usd: loop?.cost ?? costNow,
      approximate: own.approximate || (loop?.unpriced ?? 0) > 0,
    },
    stages: visits.map(({ from, to, waited, ...visit }) => ({
      ...about,
      workflow: own.workflow,
      ...visit,
      entered_at: iso(from),
      left_at: isoOrNull(to),
      ms: to === null ? null : to - from,
      waited_ms: waited + (to === null ? waiting : 0),
    })),
    gates: gates.map(({ id, at, ...gate }) => ({ ...about, ...gate, at: iso(at) })),
  };
  return gone ? asGone(known) : known;
}

/** What cannot be found on disk any more is over where it was last heard of. Only shown so, never kept: it may come back. */
export function asGone(known: KnownRun): KnownRun {
  const { run, stages } = known;
  if (run.status === "ended") return known;
  const end = run.updated_at;
  const left = (one: StageRow): StageRow =>
    one.how === "open" ? { ...one, how: "ended", left_at: end, ms: Date.parse(end) - Date.parse(one.entered_at) } : one;
  return { ...known, run: { ...run, status: "ended", outcome: "gone", ended_at: end }, stages: stages.map(left) };
}

export function loopRow(project: string, { id: run, loop }: RunState, gone: boolean): LoopRow[] {
  if (loop === null) return [];
  const { cost, unpriced, from, at, ...own } = loop;
  const times = { started_at: iso(from), updated_at: iso(at) };
  const outcome = own.outcome ?? (gone ? "gone" : null);
  return [{ project, run, ...own, outcome, cost_usd: cost, ...times, approximate: unpriced > 0 }];
}
