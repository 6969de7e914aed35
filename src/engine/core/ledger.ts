import type { Answer, Event, PendingInstruction, Step } from "../../kernel/types/run.ts";
import { stepNumber } from "../../kernel/types/workflow.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { header } from "./guide.ts";

/** Claude Code overrides the ninth continue in a row without a tool call; we never let it come to that. */
export const HOST_CAP = 8;

interface ContinueOptions {
  /** the run moved: the idle count starts again at 0 */
  progress: boolean;
  reason?: string;
  person?: string;
}

/** Sends the agent on with a text, unless that would be one idle round too many. */
export function goOn(draft: Draft, text: string, how: ContinueOptions): Step {
  const { run, event, workflow } = draft;
  const { ledger } = run;
  ledger.idle = how.progress ? 0 : Math.min(ledger.idle, workflow.limits.idle) + 1;
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
    person: `Pawl: ${run.why} at ${run.stage}. The run ${run.id} is kept; ${draft.workflow.arm[0] ?? "/pawl:go"} goes on from there, \`pawl explain ${run.id}\` shows why.`,
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
  draft.run.pending = { text, given_by: givenBy, turn: draft.event.turn, at: draft.event.at, times: 1 };
}

/** A prompt does not show whether it arrived: it is given again. */
export function givePending(draft: Draft, pending: PendingInstruction): void {
  const { given_by, turn, times } = pending;
  record(draft, "undelivered", { given_by, turn, times });
  record(draft, "owed", { given_by: "prompt" });
  draft.run.pending = { ...pending, given_by: "prompt", turn: draft.event.turn, times: times + 1 };
}

/** A pending instruction is dropped without a sign that it arrived: the journal says so, and it never counts as success. */
export function dropPending(draft: Draft): void {
  const { pending } = draft.run;
  if (!pending) return;
  const { given_by, turn, at, times } = pending;
  record(draft, "undelivered", { given_by, turn, at_first: at, times });
  delete draft.run.pending;
}

export function noteArrival(draft: Draft): void {
  const { pending } = draft.run;
  if (!pending || !arrived(pending, draft.event)) return;
  record(draft, "delivered", { given_by: pending.given_by, times: pending.times });
  delete draft.run.pending;
}

function arrived({ given_by, turn }: PendingInstruction, event: Event): boolean {
  if (event.kind !== "stop") return false;
  if (given_by === "start") return true;
  // A loop gives it before there is a turn.
  if (given_by === "prompt") return turn === "" || event.turn === turn;
  return given_by === "stop" && event.turn === turn && event.continuing;
}

/** More subjects than a stage has; the oldest may be told again. */
const TOLD = 40;

/** true once per stage and subject, whatever happens in between. */
export function isFirstTime(draft: Draft, subject: string): boolean {
  const { ledger } = draft.run;
  if (ledger.told.includes(subject)) return false;
  ledger.told = [...ledger.told, subject].slice(-TOLD);
  return true;
}

/**
 * The turn ends and the run does not go on by itself: the person hears why. While sub-agents run it is no end, and a loop
 * decides alone what follows.
 */
export function endTurn(draft: Draft, why: string): Step {
  const { run, workflow, event } = draft;
  const isEnd = event.kind === "stop" && event.background === 0 && workflow.procedure === undefined;
  if (!isEnd || run.status !== "active") return closeDraft(draft, { turn: "end" });
  const step = `step ${stepNumber(workflow, run.stage)} (${run.stage})`;
  const person = `Pawl: ${workflow.name} is at ${step} and ${why}. /pawl:go continues it.`;
  return closeDraft(draft, { turn: "end", person });
}

export const pausedLine = (draft: Draft) =>
  `Pawl: ${header(draft.run, draft.workflow).replace(/^\S+ /, "")} is paused. /pawl:go continues it; \`pawl runs abort\` ends it.`;

// ── Who may have typed it ───────────────────────────────────────────────────

/** Tools by which a session sends itself prompts; the client's own loops use them, too. */
const SCHEDULING = ["CronCreate", "ScheduleWakeup"];
const LOOK_BACK_MS = 24 * 3_600_000;

/** The last stop names the schedules that the client tells of; wake-ups are only seen where they were asked for. */
export function mayBeScheduled({ run, facts }: Draft, { at }: Pick<Event, "at">): boolean | Step {
  if (run.owner?.scheduled) return true;
  const since = new Date(Date.parse(at) - LOOK_BACK_MS).toISOString();
  if (facts.tools === undefined) return { need: [{ kind: "tools", since }] };
  return facts.tools.ok && facts.tools.value.some(({ name }) => SCHEDULING.includes(name));
}
