/**
 * A run's state as text, for the database: lists instead of objects, and each name once. A third of the size, and there may be
 * a hundred thousand.
 */
import type { GateTally, How, LoopTally, RunState, SeenRecords, Visit } from "./fold-types.ts";
import type { RunStatus } from "./types.ts";

type PackedVisit = [number, number, number, number, number, number, number, number, number, How];
type PackedGate = [number, string, string, number, number, number, string, string, number, string, string | null];
type Packed = [
  names: string[],
  words: [string, string, RunStatus, string | null, string, string, string, string | null, string | null],
  plan: number[],
  stage: number,
  counts: number[],
  times: [number, number, number | null, number | null],
  visits: PackedVisit[],
  gates: PackedGate[],
  loop: LoopTally | null,
  seen: [number, number[], [number, number][]],
  approximate: 0 | 1,
];

export function packRun(state: RunState): string {
  const names: string[] = [];
  const nameOf = (name: string) => {
    const at = names.indexOf(name);
    return at === -1 ? names.push(name) - 1 : at;
  };
  const { id, workflow, status, outcome, why, host, session, task, title, seen } = state;
  const { tasks_done, claims, continues, asks, gate_fails, approvals, waited, dropped } = state;
  const packed: Packed = [
    names,
    [id, workflow, status, outcome, why, host, session, task, title],
    state.plan.map(nameOf),
    nameOf(state.stage),
    [tasks_done, claims, continues, asks, gate_fails, approvals, waited, dropped],
    [state.started, state.updated, state.ended, state.waits_since],
    state.visits.map((one) => packVisit(one, nameOf)),
    state.gates.map((one) => packGate(one, nameOf)),
    state.loop,
    [seen.first, seen.masks, seen.far],
    state.approximate ? 1 : 0,
  ];
  return JSON.stringify(packed);
}

/** `to` as time spent, which has fewer digits; -1: it is not over. */
function packVisit(one: Visit, nameOf: (name: string) => number): PackedVisit {
  const { visit, from, to, waited, claims, continues, asks, gate_fails, how } = one;
  const ms = to === null ? -1 : to - from;
  return [nameOf(one.stage), visit, from, ms, waited, claims, continues, asks, gate_fails, how];
}

function packGate(one: GateTally, nameOf: (name: string) => number): PackedGate {
  const { id, gate, pass, fail, unproven, last, why, at, tree, command } = one;
  return [nameOf(one.stage), id, gate, pass, fail, unproven, last, why, at, tree, command];
}

export function unpackRun(text: string): RunState {
  const [names, words, plan, stage, counts, times, visits, gates, loop, seen, approximate] = JSON.parse(text) as Packed;
  const [id, workflow, status, outcome, why, host, session, task, title] = words;
  const [tasks_done, claims, continues, asks, gate_fails, approvals, waited, dropped] = counts as Counts;
  const [started, updated, ended, waits_since] = times;
  return {
    v: 1,
    ...{ id, workflow, plan: plan.map((at) => names[at]!), stage: names[stage]!, status, outcome, why },
    ...{ host, session, task, title, tasks_done, started, updated, ended },
    ...{ claims, continues, asks, gate_fails, approvals, waited, waits_since, dropped },
    visits: visits.map((one) => unpackVisit(one, names)),
    gates: gates.map((one) => unpackGate(one, names)),
    loop,
    seen: unpackSeen(seen),
    approximate: approximate === 1,
    closed: [],
  };
}

type Counts = [number, number, number, number, number, number, number, number];

function unpackVisit(packed: PackedVisit, names: string[]): Visit {
  const [stage, visit, from, ms, waited, claims, continues, asks, gate_fails, how] = packed;
  const to = ms === -1 ? null : from + ms;
  return { stage: names[stage]!, visit, from, to, waited, claims, continues, asks, gate_fails, how };
}

function unpackGate(packed: PackedGate, names: string[]): GateTally {
  const [stage, id, gate, pass, fail, unproven, last, why, at, tree, command] = packed;
  return { stage: names[stage]!, id, gate, pass, fail, unproven, last, why, at, tree, command };
}

const unpackSeen = ([first, masks, far]: Packed[9]): SeenRecords => ({ first, masks, far });
