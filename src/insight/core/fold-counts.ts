/** What counts wherever it stands: claims, gates, iterations. Fields may be written by anyone, so each is looked at before it is used. */

import type { Json } from "../../kernel/types/run.ts";
import type { GateTally, Handler, LoopTally, RunState, Visit } from "./fold-types.ts";
import type { JournalLine } from "./journal-line.ts";

const MOST_GATES = 200;
const LONGEST_TEXT = 400;

export function text(value: Json | undefined): string {
  if (typeof value !== "string") return "";
  return value.length > LONGEST_TEXT ? value.slice(0, LONGEST_TEXT) : value;
}

export const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.slice(0, MOST_GATES).map((one) => text(one)) : [];

export function setTask(state: RunState, { fields }: JournalLine): void {
  if (typeof fields.task === "string") state.task = text(fields.task);
  else if (typeof fields.title !== "string") return;
  state.title = text(fields.title) || null;
}

// ── Counting ────────────────────────────────────────────────────────────────

export const openVisit = ({ visits }: RunState): Visit | undefined => {
  const last = visits[visits.length - 1];
  return last !== undefined && last.to === null ? last : undefined;
};

/** Written out: one function for all four would be three times as slow. */
const countClaim: Handler = (state) => {
  state.claims++;
  const visit = openVisit(state);
  if (visit !== undefined) visit.claims++;
};
const countContinue: Handler = (state) => {
  state.continues++;
  const visit = openVisit(state);
  if (visit !== undefined) visit.continues++;
};
const countAsk: Handler = (state) => {
  state.asks++;
  const visit = openVisit(state);
  if (visit !== undefined) visit.asks++;
};
function countGateFail(state: RunState): void {
  state.gate_fails++;
  const visit = openVisit(state);
  if (visit !== undefined) visit.gate_fails++;
}

export const COUNTS: Record<string, Handler> = {
  armed: (state, line) => {
    state.started = Math.min(state.started, line.at);
    state.plan = texts(line.fields.plan);
    setTask(state, line);
  },
  signalled: countClaim,
  inferred: (state, line) => {
    if (text(line.fields.signal) !== "") countClaim(state, line);
  },
  continued: countContinue,
  asked: countAsk,
  asked_agent: countAsk,
  gated: noteGate,
  approved: (state) => {
    state.approvals++;
  },
  task_done: (state, line) => {
    state.tasks_done++;
    setTask(state, line);
  },
  iteration_begun: (state, line) => {
    loopOf(state, line);
  },
  looped: noteIteration,
  loop_ended: (state, line) => {
    const loop = loopOf(state, line);
    loop.outcome = text(line.fields.outcome);
    loop.why = text(line.fields.why);
  },
};

function noteGate(state: RunState, line: JournalLine): void {
  const { fields, stage, at } = line;
  const verdict = text(fields.verdict);
  const word = verdict === "pass" || verdict === "fail" ? verdict : "unproven";
  if (word === "fail") countGateFail(state);
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
  for (const one of state.gates) if (one.id === id && one.stage === stage) return one;
  if (state.gates.length >= MOST_GATES) {
    state.approximate = true;
    return undefined;
  }
  // Written out: spreading another object is half of the work.
  const tally: GateTally = {
    stage,
    id,
    gate: "",
    pass: 0,
    fail: 0,
    unproven: 0,
    last: "",
    why: "",
    at: 0,
    tree: "",
    command: null,
  };
  state.gates.push(tally);
  return tally;
}

function loopOf(state: RunState, { stage, at }: JournalLine): LoopTally {
  const none = { iterations: 0, failures: 0, cost: null, unpriced: 0, outcome: null, why: "" };
  state.loop ??= { procedure: stage, ...none, from: at, at };
  state.loop.at = Math.max(state.loop.at, at);
  return state.loop;
}

function noteIteration(state: RunState, line: JournalLine): void {
  const loop = loopOf(state, line);
  const { verdict, cost, why } = line.fields;
  loop.iterations += verdict === "spoilt" ? 0 : 1;
  if (verdict === "failure") loop.failures++;
  if (typeof cost === "number" && Number.isFinite(cost)) loop.cost = (loop.cost ?? 0) + cost;
  else loop.unpriced++;
  loop.outcome = null;
  loop.why = text(why);
}
