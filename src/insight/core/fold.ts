/**
 * Journal lines → what a run did: stays in stages, claims, gates, questions, waiting, loops. One line after the other, in the
 * order of the journal; the state between two lines is all there is, so it does not matter where reading was interrupted.
 * Times are milliseconds since 1970. Anyone may write a journal, so each field is checked before it is used.
 */
import type { Json, RunStatus } from "../../kernel/types/run.ts";
import type { JournalLine } from "./journal-line.ts";

const MOST_VISITS = 2000;
const MOST_GATES = 200;
const LONGEST_TEXT = 400;

type Handler = (state: RunState, line: JournalLine) => void;
type How = "done" | "back" | "ended" | "open";

// ── State ───────────────────────────────────────────────────────────────────

/** All that is known of a run. Written out, like the others below: spreading another object is half of the work. */
export type RunState = ReturnType<typeof openRun>;

/** The first line of a run that counts. Where it is not the first commit, the beginning is missing. */
export function openRun({ run, workflow, stage, host, session, at, seq }: JournalLine) {
  return {
    id: run,
    workflow,
    plan: [] as string[],
    stage,
    status: "active" as RunStatus,
    outcome: null as string | null,
    why: "",
    host,
    session,
    task: null as string | null,
    title: null as string | null,
    tasks_done: 0,
    started: at,
    updated: at,
    ended: null as number | null,
    claims: 0,
    continues: 0,
    asks: 0,
    gate_fails: 0,
    approvals: 0,
    waited: 0,
    /** since when it waits for the person */
    waits_since: null as number | null,
    visits: [] as Visit[],
    gates: [] as GateTally[],
    loop: null as LoopTally | null,
    seen: { first: Math.max(0, seq - REMEMBERED), counts: [] as number[] },
    /** lines are missing or came in another order: figures are close, not exact */
    approximate: seq > 1,
    /** visits that ended since this was last empty; nothing changes them any more */
    closed: [] as Visit[],
  };
}

/** One stay in a stage; the first is number 1. */
export type Visit = ReturnType<typeof newVisit>;

const newVisit = (stage: string, visit: number, from: number) => ({
  stage,
  visit,
  from,
  to: null as number | null,
  waited: 0,
  claims: 0,
  continues: 0,
  asks: 0,
  gate_fails: 0,
  how: "open" as How,
});

export type GateTally = ReturnType<typeof newGate>;

const newGate = (stage: string, id: string) => ({
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
  command: null as string | null,
});

export type LoopTally = ReturnType<typeof newLoop>;

const newLoop = (procedure: string, at: number) => ({
  procedure,
  iterations: 0,
  failures: 0,
  cost: null as number | null,
  /** iterations that did not say what they cost */
  unpriced: 0,
  outcome: null as string | null,
  why: "",
  from: at,
  at,
});

// ── Lines ───────────────────────────────────────────────────────────────────

/** Changes the state. false: nothing changed, as with a double. */
export function foldLine(state: RunState, line: JournalLine): boolean {
  const count = COUNT.get(line.kind);
  const move = MOVE.get(line.kind);
  const isLater = line.at > state.updated;
  if ((count === undefined && move === undefined) || isInjected(line)) {
    if (isLater) state.updated = line.at;
    return isLater;
  }
  const newest = state.seen.first + state.seen.counts.length - 1;
  if (!noteSeen(state, line.seq, line.i)) return false;
  if (isLater) state.updated = line.at;
  const isLate = line.seq < newest;
  if (isLate) state.approximate = true;
  // What came late still counts, but moves nothing: the run is past it.
  const isPast = isLate || state.status === "ended";
  if (!isPast) place(state, line);
  count?.(state, line);
  if (!isPast) move?.(state, line);
  return true;
}

/** Nothing is counted for such a line and it moves nothing. */
export const tellsOnlyLife = (line: JournalLine): boolean =>
  (!COUNT.has(line.kind) && !MOVE.has(line.kind)) || isInjected(line);

/** What the host injects is not the person's word. */
const isInjected = ({ kind, fields }: JournalLine) => kind === "prompted" && fields.injected === true;

/** Farther back than a recovery ever reaches. */
const REMEMBERED = 512;

/**
 * A crash lets a commit's records be written again, up to some hundred commits back. Records of a commit are written in
 * order, so how many of each were seen is enough. false: it was seen before, or it is too old to tell.
 */
function noteSeen({ seen }: RunState, seq: number, i: number): boolean {
  if (seq < seen.first) return false;
  // Seldom and then by half, so that a long run does not pay with each commit.
  if (seq - seen.first >= 2 * REMEMBERED) {
    const first = seq - REMEMBERED + 1;
    seen.counts.splice(0, first - seen.first);
    seen.first = first;
  }
  while (seen.first + seen.counts.length <= seq) seen.counts.push(0);
  if (i < seen.counts[seq - seen.first]!) return false;
  seen.counts[seq - seen.first] = i + 1;
  return true;
}

// ── Counting ────────────────────────────────────────────────────────────────

const openVisit = ({ visits }: RunState): Visit | undefined => {
  const last = visits[visits.length - 1];
  return last !== undefined && last.to === null ? last : undefined;
};

const counter =
  (what: "claims" | "continues" | "asks" | "gate_fails") =>
  (state: RunState): void => {
    state[what]++;
    const visit = openVisit(state);
    if (visit !== undefined) visit[what]++;
  };
const countClaim = counter("claims");
const countAsk = counter("asks");
const countGateFail = counter("gate_fails");

const COUNTS: Record<string, Handler> = {
  armed: (state, line) => {
    state.started = Math.min(state.started, line.at);
    state.plan = texts(line.fields.plan);
    setTask(state, line);
  },
  signalled: countClaim,
  inferred: (state, line) => {
    if (text(line.fields.signal) !== "") countClaim(state);
  },
  continued: counter("continues"),
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
  iteration_begun: findLoop,
  looped: noteIteration,
  loop_ended: (state, line) => {
    const loop = findLoop(state, line);
    loop.outcome = text(line.fields.outcome);
    loop.why = text(line.fields.why);
  },
};

function noteGate(state: RunState, line: JournalLine): void {
  const { fields, stage, at } = line;
  const verdict = text(fields.verdict);
  const word = verdict === "pass" || verdict === "fail" ? verdict : "unproven";
  if (word === "fail") countGateFail(state);
  const tally = findGate(state, stage, text(fields.id) || text(fields.gate));
  if (tally === undefined) return;
  tally[word]++;
  tally.gate = text(fields.gate);
  tally.last = verdict;
  tally.why = text(fields.why);
  tally.at = at;
  tally.tree = text(fields.tree);
  tally.command = readCommand(fields.command);
}

const readCommand = (value: Json | undefined): string | null => {
  if (typeof value === "string") return text(value);
  return Array.isArray(value) ? text(value.map(text).join(" ")) : null;
};

/** undefined: more than anyone would look at. */
function findGate(state: RunState, stage: string, id: string): GateTally | undefined {
  for (const one of state.gates) if (one.id === id && one.stage === stage) return one;
  if (state.gates.length >= MOST_GATES) {
    state.approximate = true;
    return undefined;
  }
  const tally = newGate(stage, id);
  state.gates.push(tally);
  return tally;
}

function findLoop(state: RunState, { stage, at }: JournalLine): LoopTally {
  state.loop ??= newLoop(stage, at);
  state.loop.at = Math.max(state.loop.at, at);
  return state.loop;
}

function noteIteration(state: RunState, line: JournalLine): void {
  const loop = findLoop(state, line);
  const { verdict, cost, why } = line.fields;
  loop.iterations += verdict === "spoilt" ? 0 : 1;
  if (verdict === "failure") loop.failures++;
  if (typeof cost === "number" && Number.isFinite(cost)) loop.cost = (loop.cost ?? 0) + cost;
  else loop.unpriced++;
  loop.outcome = null;
  loop.why = text(why);
}

// ── Moving ──────────────────────────────────────────────────────────────────

const MOVES: Record<string, Handler> = {
  armed: goOn,
  advanced: goOn,
  replanned: (state, line) => {
    state.plan = texts(line.fields.plan);
    goOn(state, line);
  },
  task_begun: (state, line) => {
    leave(state, line.at, "done");
    setTask(state, line);
    goOn(state, line);
    enter(state, line.stage, line.at);
  },
  phased: (state, line) => {
    const { to } = line.fields;
    const stage = typeof to === "number" ? state.plan[Math.min(to, state.plan.length) - 1] : undefined;
    if (stage !== undefined && stage !== state.stage) moveTo(state, stage, line.at);
  },
  prompted: (state, line) => stopWaiting(state, line.at),
  decided: (state, line) => stopWaiting(state, line.at),
  approved: goOn,
  resumed: goOn,
  adopted: takeOver,
  released: (state) => {
    state.session = "";
  },
  iteration_begun: (state, line) => {
    takeOver(state, line);
    goOn(state, line);
  },
  asked: (state, line) => wait(state, line, "waiting", text(line.fields.ask)),
  halted: (state, line) => wait(state, line, "halted", text(line.fields.why)),
  loop_ended: (state, line) => {
    state.status = "halted";
    state.why = text(line.fields.why);
  },
  ended: end,
};

/** Whatever moved it: a line tells in which stage the run is. With a task all stages begin again, even the same one. */
function place(state: RunState, line: JournalLine): void {
  if (line.kind === "task_begun") return;
  if (openVisit(state) === undefined) enter(state, line.stage, line.at);
  else if (line.stage !== state.stage) moveTo(state, line.stage, line.at);
}

function moveTo(state: RunState, stage: string, at: number): void {
  const from = state.plan.indexOf(state.stage);
  const to = state.plan.indexOf(stage);
  leave(state, at, to !== -1 && to < from ? "back" : "done");
  enter(state, stage, at);
}

function enter(state: RunState, stage: string, at: number): void {
  const before = state.visits.findLast((visit) => visit.stage === stage)?.visit ?? 0;
  state.visits.push(newVisit(stage, before + 1, at));
  state.stage = stage;
  if (state.visits.length <= MOST_VISITS) return;
  state.visits.shift();
  state.approximate = true;
}

function leave(state: RunState, at: number, how: How): void {
  const visit = openVisit(state);
  if (visit === undefined) return;
  stopWaiting(state, at);
  visit.to = Math.max(at, visit.from);
  visit.how = how;
  state.closed.push(visit);
}

function goOn(state: RunState, line: JournalLine): void {
  stopWaiting(state, line.at);
  state.status = "active";
  state.why = "";
}

function wait(state: RunState, line: JournalLine, status: "waiting" | "halted", why: string): void {
  state.status = status;
  state.why = why;
  state.waits_since ??= line.at;
}

function stopWaiting(state: RunState, at: number): void {
  if (state.waits_since === null) return;
  const ms = Math.max(0, at - state.waits_since);
  state.waits_since = null;
  state.waited += ms;
  const visit = openVisit(state);
  if (visit !== undefined) visit.waited += ms;
}

function takeOver(state: RunState, { host, session }: JournalLine): void {
  if (session === "") return;
  state.host = host;
  state.session = session;
}

function end(state: RunState, line: JournalLine): void {
  const outcome = text(line.fields.outcome) || "ended";
  leave(state, line.at, outcome === "completed" ? "done" : "ended");
  stopWaiting(state, line.at);
  state.status = "ended";
  state.outcome = outcome;
  state.ended = line.at;
}

// ── Fields ──────────────────────────────────────────────────────────────────

function text(value: Json | undefined): string {
  if (typeof value !== "string") return "";
  return value.length > LONGEST_TEXT ? value.slice(0, LONGEST_TEXT) : value;
}

const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.slice(0, MOST_GATES).map((one) => text(one)) : [];

function setTask(state: RunState, { fields }: JournalLine): void {
  if (typeof fields.task === "string") state.task = text(fields.task);
  else if (typeof fields.title !== "string") return;
  state.title = text(fields.title) || null;
}

/** Maps, since a journal may name a kind "constructor". */
const COUNT = new Map(Object.entries(COUNTS));
const MOVE = new Map(Object.entries(MOVES));
