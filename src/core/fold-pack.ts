/**
 * A run's state as text, for the database: lists instead of objects, and each name once. A third of the size, and there may be
 * a hundred thousand.
 */
import type { GateTally, How, LoopTally, RunState, SeenRecords, Visit } from "./fold-types.ts";
import type { RunStatus } from "./types.ts";

type PackedVisit = [number, number, number, number, number, number, number, number, number, How];
/** Names but for the three counts and the time; -1: no command. */
type PackedGate = [number, number, number, number, number, number, number, number, number, number, number];
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
  const { id, gate, pass, fail, unproven, last, why, at, tree } = one;
  const [stage, key, name, word] = [nameOf(one.stage), nameOf(id), nameOf(gate), nameOf(last)];
  const command = one.command === null ? -1 : nameOf(one.command);
  return [stage, key, name, pass, fail, unproven, word, nameOf(why), at, nameOf(tree), command];
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

export type RunTrack = Pick<RunState, "workflow" | "plan" | "visits" | "approximate">;

/** Only what statistics look at: the rest is most of the work. */
export function unpackTrack(text: string): RunTrack {
  const packed = JSON.parse(text) as Packed;
  const names = packed[0];
  const visits = packed[6].map((one) => unpackVisit(one, names));
  return { workflow: packed[1][1], plan: packed[2].map((at) => names[at]!), visits, approximate: packed[10] === 1 };
}

type Counts = [number, number, number, number, number, number, number, number];

function unpackVisit(packed: PackedVisit, names: string[]): Visit {
  const [stage, visit, from, ms, waited, claims, continues, asks, gate_fails, how] = packed;
  const to = ms === -1 ? null : from + ms;
  return { stage: names[stage]!, visit, from, to, waited, claims, continues, asks, gate_fails, how };
}

function unpackGate(packed: PackedGate, names: string[]): GateTally {
  const [stage, id, gate, pass, fail, unproven, last, why, at, tree, command] = packed;
  const name = (n: number) => names[n]!;
  const words = {
    stage: name(stage),
    id: name(id),
    gate: name(gate),
    last: name(last),
    why: name(why),
    tree: name(tree),
  };
  return { ...words, pass, fail, unproven, at, command: names[command] ?? null };
}

const unpackSeen = ([first, masks, far]: Packed[9]): SeenRecords => ({ first, masks, far });
