import type { Answer, Event, PendingInstruction, Step } from "../../kernel/types/run.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { header } from "./guide.ts";

/** Claude Code overrides the ninth continue in a row without a tool call; we never let it come to that. */
export const HOST_CAP = 8;

interface Continuing {
  /** the run moved: the idle count starts again at 0 */
  progress: boolean;
  reason?: string;
  person?: string;
}

/** Sends the agent on with a text, unless that would be one idle round too many. */
export function goOn(draft: Draft, text: string, how: Continuing): Step {
  const { run, event, workflow } = draft;
  const { ledger } = run;
  ledger.idle = how.progress ? 0 : ledger.idle + 1;
  if (ledger.idle > workflow.limits.idle) return stall(draft);
  if (ledger.turn !== event.turn) restartCount(draft);
  if (ledger.unbroken >= HOST_CAP) return leaveToPerson(draft, text);
  if (ledger.unbroken === 0) ledger.since = event.at;
  ledger.unbroken += 1;
  keepPending(draft, text, "stop");
  record(draft, "continued", { idle: ledger.idle, why: how.reason ?? (how.progress ? "moved" : "told") });
  const answer: Answer = { turn: "continue", agent: text };
  if (how.reason !== undefined) answer.reason = how.reason;
  if (how.person !== undefined) answer.person = how.person;
  return closeDraft(draft, answer);
}

export function restartCount(draft: Draft): void {
  draft.run.ledger.unbroken = 0;
  draft.run.ledger.turn = draft.event.turn;
}

function stall(draft: Draft): Step {
  const { run } = draft;
  run.status = "halted";
  run.why = `stalled: ${run.ledger.idle - 1} rounds without progress`;
  dropPending(draft);
  record(draft, "halted", { why: run.why, stalled: true });
  draft.log.push(`BLOCKING: stalled at ${run.stage}`);
  return closeDraft(draft, {
    turn: "end",
    person: `Pawl: ${run.why} at ${run.stage}. The run ${run.id} is kept; /${draft.workflow.name} goes on from there, \`pawl explain ${run.id}\` shows why.`,
  });
}

function leaveToPerson(draft: Draft, text: string): Step {
  keepPending(draft, text, "nothing");
  record(draft, "paused", {
    why: `${HOST_CAP} continues in a row without a tool call: the host would override the next`,
  });
  return closeDraft(draft, {
    turn: "end",
    person: `Pawl: ${HOST_CAP} rounds in a row without a tool call. Type /pawl:go to continue with ${draft.run.stage}.`,
  });
}

/** An instruction is pending until an event shows that it arrived. */
export function keepPending(draft: Draft, text: string, givenBy: PendingInstruction["given_by"]): void {
  dropPending(draft);
  record(draft, "owed", { given_by: givenBy });
  draft.run.owed = { text, given_by: givenBy, turn: draft.event.turn, at: draft.event.at, times: 1 };
}

/** A pending instruction is dropped without a sign that it arrived: the journal says so, and it never counts as success. */
export function dropPending(draft: Draft): void {
  const { owed } = draft.run;
  if (!owed) return;
  record(draft, "undelivered", { given_by: owed.given_by, turn: owed.turn, at_first: owed.at, times: owed.times });
  delete draft.run.owed;
}

export function noteArrival(draft: Draft): void {
  const { owed } = draft.run;
  if (!owed || !arrived(owed, draft.event)) return;
  record(draft, "delivered", { given_by: owed.given_by, times: owed.times });
  delete draft.run.owed;
}

function arrived(owed: PendingInstruction, event: Event): boolean {
  if (event.kind !== "stop") return false;
  if (owed.given_by === "start") return true;
  // A loop gives it before there is a turn.
  if (owed.given_by === "prompt") return owed.turn === "" || event.turn === owed.turn;
  return owed.given_by === "stop" && event.turn === owed.turn && event.continuing;
}

/** true once per stage and subject, whatever happens in between. */
export function toldOnce(draft: Draft, subject: string): boolean {
  const { ledger } = draft.run;
  if (ledger.told.includes(subject)) return false;
  ledger.told.push(subject);
  return true;
}

export const pausedLine = (draft: Draft) =>
  `Pawl: ${header(draft.run, draft.workflow).replace(/^\S+ /, "")} is paused. /pawl:go continues it; \`pawl runs abort\` ends it.`;
