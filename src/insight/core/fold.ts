/**
 * Journal lines → what a run did: stays in stages, claims, gates, questions, waiting, loops. One line after the other, in the
 * order of the journal; the state between two lines is all there is, so it does not matter where reading was interrupted.
 */

import { COUNTS, openVisit, setTask, text, texts } from "./fold-counts.ts";
import { newestSeen, newSeen, noteSeen } from "./fold-seen.ts";
import type { Handler, How, RunState } from "./fold-types.ts";
import type { JournalLine } from "./journal-line.ts";

export type { RunState, Visit } from "./fold-types.ts";

const MOST_VISITS = 2000;

// ── Lines ───────────────────────────────────────────────────────────────────

/** The first line of a run that counts. Where it is not the first commit, the beginning is missing. */
export function openRun(line: JournalLine): RunState {
  const { run, workflow, stage, at, seq } = line;
  return {
    id: run,
    workflow,
    plan: [],
    stage,
    status: "active",
    outcome: null,
    why: "",
    host: line.host,
    session: line.session,
    task: null,
    title: null,
    tasks_done: 0,
    started: at,
    updated: at,
    ended: null,
    claims: 0,
    continues: 0,
    asks: 0,
    gate_fails: 0,
    approvals: 0,
    waited: 0,
    waits_since: null,
    visits: [],
    dropped: 0,
    gates: [],
    loop: null,
    seen: newSeen(seq),
    approximate: seq > 1,
    closed: [],
  };
}

/** Changes the state. false: a double, which changed nothing. A prompt is one of the person's: others do not get here. */
export function foldLine(state: RunState, line: JournalLine): boolean {
  const newest = newestSeen(state.seen);
  if (!noteSeen(state.seen, line.seq, line.i)) return false;
  if (line.at > state.updated) state.updated = line.at;
  const isLate = line.seq < newest;
  if (isLate) state.approximate = true;
  // What came late still counts, but moves nothing: the run is past it.
  const isPast = isLate || state.status === "ended";
  if (!isPast) place(state, line);
  COUNT.get(line.kind)?.(state, line);
  if (!isPast) MOVE.get(line.kind)?.(state, line);
  return true;
}

/** Nothing is counted for such a line and it moves nothing. What the host injects is not the person's word. */
export const tellsOnlyLife = ({ kind, fields }: JournalLine): boolean =>
  kind === "prompted" ? fields.injected === true : !COUNT.has(kind) && !MOVE.has(kind);

/** false: nothing changed. */
export function touchRun(state: RunState, at: number): boolean {
  if (at <= state.updated) return false;
  state.updated = at;
  return true;
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
  const visit = visitsOf(state, stage) + 1;
  // Written out: this is done for every stage of every run that ever was.
  state.visits.push({
    stage,
    visit,
    from: at,
    to: null,
    waited: 0,
    claims: 0,
    continues: 0,
    asks: 0,
    gate_fails: 0,
    how: "open",
  });
  state.stage = stage;
  if (state.visits.length <= MOST_VISITS) return;
  state.visits.shift();
  state.dropped++;
  state.approximate = true;
}

function visitsOf({ visits }: RunState, stage: string): number {
  for (let n = visits.length - 1; n >= 0; n--) if (visits[n]!.stage === stage) return visits[n]!.visit;
  return 0;
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

/** Maps, since a journal may name a kind "constructor". */
const COUNT = new Map(Object.entries(COUNTS));
const MOVE = new Map(Object.entries(MOVES));
