/** Folded runs as rows that people and programs read. */

import { readCost } from "../store/cost.ts";
import type { RunState } from "./core/fold.ts";
import type { GateRow, LoopRow, RunRow, StageRow } from "./types.ts";

export const iso = (ms: number) => new Date(ms).toISOString();
const isoOrNull = (ms: number | null) => (ms === null ? null : iso(ms));

/** `cost`: as it was at the last sync. */
export function runRow(project: string, state: RunState, cost: number | null, now: number): RunRow {
  const { id, workflow, stage, status, outcome, why, host, session, task, title, tasks_done, loop } = state;
  const { claims, continues, asks, gate_fails, approvals } = state;
  return {
    project,
    id,
    workflow,
    stage,
    status,
    outcome,
    why,
    host,
    session,
    task,
    title,
    tasks_done,
    started_at: iso(state.started),
    updated_at: iso(state.updated),
    ended_at: isoOrNull(state.ended),
    claims,
    continues,
    asks,
    gate_fails,
    approvals,
    waited_ms: state.waited + stillWaiting(state, now),
    cost_usd: loop?.cost ?? (status === "ended" ? cost : (costNow(project, id) ?? cost)),
    approximate: state.approximate || (loop?.unpriced ?? 0) > 0,
  };
}

const stillWaiting = ({ waits_since }: RunState, now: number) =>
  waits_since === null ? 0 : Math.max(0, now - waits_since);

/** Of a live run the figures change without a line in the journal. */
function costNow(root: string, id: string): number | null {
  try {
    return readCost(root, id)?.usd ?? null;
  } catch {
    return null;
  }
}

export function stageRows(project: string, state: RunState, now: number): StageRow[] {
  return state.visits.map((one) => ({
    project,
    run: state.id,
    workflow: state.workflow,
    stage: one.stage,
    visit: one.visit,
    entered_at: iso(one.from),
    left_at: isoOrNull(one.to),
    ms: one.to === null ? null : one.to - one.from,
    waited_ms: one.waited + (one.to === null ? stillWaiting(state, now) : 0),
    claims: one.claims,
    continues: one.continues,
    asks: one.asks,
    gate_fails: one.gate_fails,
    how: one.how,
  }));
}

interface Known {
  run: RunRow;
  stages: StageRow[];
}

/** What cannot be found on disk any more is over where it was last heard of. Only told so, never kept: it may come back. */
export function asGone<T extends Known>(known: T): T {
  const { run, stages } = known;
  if (run.status === "ended") return known;
  const end = run.updated_at;
  const left = (one: StageRow): StageRow =>
    one.how === "open" ? { ...one, how: "ended", left_at: end, ms: Date.parse(end) - Date.parse(one.entered_at) } : one;
  return { ...known, run: { ...run, status: "ended", outcome: "gone", ended_at: end }, stages: stages.map(left) };
}

export function gateRows(project: string, { id: run, gates }: RunState): GateRow[] {
  return gates.map(({ stage, gate, pass, fail, unproven, last, why, at, tree, command }) => {
    return { project, run, stage, gate, pass, fail, unproven, last, why, at: iso(at), tree, command };
  });
}

export function loopRow(project: string, { id: run, loop }: RunState, gone: boolean): LoopRow[] {
  if (loop === null) return [];
  const { procedure, iterations, failures, cost, unpriced, outcome, why, from, at } = loop;
  const times = { started_at: iso(from), updated_at: iso(at) };
  return [
    {
      project,
      run,
      procedure,
      iterations,
      failures,
      cost_usd: cost,
      outcome: outcome ?? (gone ? "gone" : null),
      why,
      ...times,
      approximate: unpriced > 0,
    },
  ];
}
