/** What counts wherever it stands: claims, gates, iterations. Fields may be written by anyone, so each is looked at before it is used. */
import type { FoldLine, GateTally, LoopTally, RunState, Visit } from "./fold-types.ts";
import type { Json } from "./types.ts";

const MOST_GATES = 200;
const LONGEST_TEXT = 400;

export type Handler = (state: RunState, line: FoldLine) => void;

export const text = (value: Json | undefined): string =>
  typeof value === "string" ? value.slice(0, LONGEST_TEXT) : "";

export const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.slice(0, MOST_GATES).map((one) => text(one)) : [];

export function setTask(state: RunState, { fields }: FoldLine): void {
  if (typeof fields.task !== "string") return;
  state.task = text(fields.task);
  state.title = text(fields.title) || null;
}

// ── Counting ────────────────────────────────────────────────────────────────

export const openVisit = ({ visits }: RunState): Visit | undefined => {
  const last = visits[visits.length - 1];
  return last !== undefined && last.to === null ? last : undefined;
};

type Counter = "claims" | "continues" | "asks" | "gate_fails";

function count(state: RunState, what: Counter): void {
  state[what]++;
  const visit = openVisit(state);
  if (visit !== undefined) visit[what]++;
}

const counting =
  (what: Counter): Handler =>
  (state) =>
    count(state, what);

export const COUNTS: Record<string, Handler | undefined> = Object.assign(Object.create(null), {
  armed: (state: RunState, line: FoldLine) => {
    state.started = Math.min(state.started, line.at);
    state.plan = texts(line.fields.plan);
    setTask(state, line);
  },
  signalled: counting("claims"),
  inferred: (state: RunState, line: FoldLine) => {
    if (text(line.fields.signal) !== "") count(state, "claims");
  },
  continued: counting("continues"),
  asked: counting("asks"),
  asked_agent: counting("asks"),
  gated: noteGate,
  approved: (state: RunState) => {
    state.approvals++;
  },
  task_done: (state: RunState, line: FoldLine) => {
    state.tasks_done++;
    setTask(state, line);
  },
  iteration_begun: (state: RunState, line: FoldLine) => {
    loopOf(state, line);
  },
  looped: noteIteration,
  loop_ended: (state: RunState, line: FoldLine) => {
    const loop = loopOf(state, line);
    loop.outcome = text(line.fields.outcome);
    loop.why = text(line.fields.why);
  },
});

function noteGate(state: RunState, line: FoldLine): void {
  const { fields, stage, at } = line;
  const verdict = text(fields.verdict);
  const word = verdict === "pass" || verdict === "fail" ? verdict : "unproven";
  if (word === "fail") count(state, "gate_fails");
  const tally = gateOf(state, stage, text(fields.id) || text(fields.gate));
  if (tally === undefined) return;
  tally[word]++;
  tally.gate = text(fields.gate);
  tally.last = verdict;
  tally.why = text(fields.why);
  tally.at = at;
  tally.tree = text(fields.tree);
  tally.command = commandOf(fields.command);
}

const commandOf = (value: Json | undefined): string | null => {
  if (typeof value === "string") return text(value);
  return Array.isArray(value) ? text(value.map(text).join(" ")) : null;
};

/** undefined: more than anyone would look at. */
function gateOf(state: RunState, stage: string, id: string): GateTally | undefined {
  const known = state.gates.find((one) => one.id === id && one.stage === stage);
  if (known !== undefined) return known;
  if (state.gates.length >= MOST_GATES) {
    state.approximate = true;
    return undefined;
  }
  const empty = { pass: 0, fail: 0, unproven: 0, last: "", why: "", at: 0, tree: "", command: null };
  const tally: GateTally = { stage, id, gate: "", ...empty };
  state.gates.push(tally);
  return tally;
}

function loopOf(state: RunState, { stage, at }: FoldLine): LoopTally {
  const none = { iterations: 0, failures: 0, cost: null, unpriced: 0, outcome: null, why: "" };
  state.loop ??= { procedure: stage, ...none, from: at, at };
  state.loop.at = Math.max(state.loop.at, at);
  return state.loop;
}

function noteIteration(state: RunState, line: FoldLine): void {
  const loop = loopOf(state, line);
  const { verdict, cost, why } = line.fields;
  loop.iterations += verdict === "spoilt" ? 0 : 1;
  if (verdict === "failure") loop.failures++;
  if (typeof cost === "number" && Number.isFinite(cost)) loop.cost = (loop.cost ?? 0) + cost;
  else loop.unpriced++;
  loop.outcome = null;
  loop.why = text(why);
}
