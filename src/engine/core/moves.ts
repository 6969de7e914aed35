import { queueLine } from "../../auto/core/text.ts";
import { counted } from "../../kernel/text/counted.ts";
import { excerpt, safeText } from "../../kernel/text/safe-text.ts";
import type { Choice, Event, Facts, Move, Outcome, Run, Step, TaskFact, Workflow } from "../../kernel/types/run.ts";
import { actorOf, type Leftover } from "../../kernel/types/task.ts";
import { stageOf } from "../../kernel/types/workflow.ts";
import { guard, sendOn } from "./claim.ts";
import { closeDraft, type Draft, openDraft, record } from "./draft.ts";
import {
  askText,
  choiceLines,
  fill,
  findCause,
  instruction,
  MARK,
  partialList,
  reportPath,
  shortAskText,
  stepList,
  templateValues,
} from "./guide.ts";
import { dropPending, endTurn, goOn, isFirstTime } from "./ledger.ts";
import { keepReport, reportsSince } from "./report.ts";
import { asRunTask, checkClaim, nextNeed, planFor, stopFor, waitsForClear } from "./tasks.ts";

/** Where a move comes from: the agent's claim at a stop, or the person's word at a prompt. */
export interface Cause {
  signal: string;
  message: string;
  by: "agent" | "person";
}

export function takeMove(draft: Draft, move: Move, cause: Cause): Step {
  return guard(draft, move.gates ?? [], cause) ?? follow(draft, move, cause);
}

/** The claim is good: what the move says. */
export function follow(draft: Draft, move: Move, cause: Cause): Step {
  const lost = move.to !== undefined || move.next !== undefined ? checkClaim(draft) : null;
  if (lost) return lost;
  if (move.next !== undefined && draft.facts.next_task === undefined) return { need: [nextNeed(draft)] };
  if (move.stay) return endTurn(draft, `${cause.signal || "a stop"} moves nothing`);
  if (move.halt !== undefined) return halt(draft, move, cause);
  if (move.ask !== undefined) return ask(draft, move, cause);
  if (move.show !== undefined) return show(draft);
  logMove(draft, move, cause);
  if (move.end !== undefined) return endRun(draft, move.end, cause, move.person);
  if (move.next !== undefined) return nextTask(draft, move.next, cause);
  return advance(draft, move.to!, cause, move.person);
}

const instructionLines = (signal: string) => [
  `Getting instruction for stage: ${signal}`,
  `Injecting instruction for stage: ${signal}`,
];

function logMove(draft: Draft, move: Move, cause: Cause): void {
  draft.run.moved_at = draft.event.at;
  if (cause.by === "agent") draft.run.last_signal = cause.signal;
  const given = draft.workflow.signals === "stage" ? instructionLines(cause.signal) : [cause.signal];
  draft.log.push(...(move.log ?? given).map((line) => fill(line, templateValues(draft))));
}

function halt(draft: Draft, move: Move, cause: Cause): Step {
  const { run, event } = draft;
  run.status = "halted";
  run.why = move.halt!;
  const first = isFirstTime(draft, `halt:${cause.signal}:${event.turn}`);
  logMove(draft, move, cause);
  record(draft, "halted", { signal: cause.signal, why: run.why });
  if (!first) return closeDraft(draft, { turn: "end" });
  const reason = findCause(cause.message);
  const person = fill(move.person ?? move.halt!, { ...templateValues(draft), steps: stepList(draft, reason) });
  const text = [
    `${MARK} Step ${run.stage} has failed and the workflow is stopped; nothing is lost.`,
    "Tell the person in a few sentences what went wrong and what they can do, then end your turn. Do not retry by yourself and do not repeat the signal.",
    `Once it is fixed, ${draft.workflow.arm[0] ?? "/pawl:go"} continues from this step.`,
  ].join("\n");
  return goOn(draft, text, { progress: true, reason: move.halt!, person: withCause(person, reason) });
}

const withCause = (person: string, cause: string) =>
  cause && !person.includes(cause) ? `${person}\n\nCause: ${cause}` : person;

function ask(draft: Draft, move: Move, cause: Cause): Step {
  const { run, event, workflow } = draft;
  const question = workflow.asks[move.ask!]!;
  if (cause.by === "agent" && reportsSince(draft, run.question?.seq ?? 0).length === 0) {
    keepReport(draft, "", cause.message, cause.signal);
  }
  const report = run.reports.at(-1)!;
  if (report.critical.length === 0) report.critical = listIssues(cause.message);
  logMove(draft, move, cause);
  run.status = "waiting";
  run.why = question.reason;
  run.question = { ask: move.ask!, at: event.at, seq: run.seq + 1, turn: event.turn };
  delete run.decision;
  record(draft, "asked", { ask: move.ask!, report: report.file, issues: report.critical });
  const person = fill(question.person, { ...templateValues(draft), choices: choiceLines(question) });
  const text = person.includes(choiceLines(question)) ? shortAskText(draft, question) : askText(draft, question);
  return goOn(draft, text, { progress: true, reason: question.reason, person });
}

const listIssues = (message: string) =>
  message
    .split("\n")
    .filter((line) => /^\s*(?:[-*+•]|\d+[.)])\s+/.test(line))
    .map((line) => excerpt(line.replace(/^\s*(?:[-*+•]|\d+[.)])\s+/, ""), 200));

/** The person wants to read the report: path and text, and the question stays open. */
function show(draft: Draft): Step {
  const { run, workflow, facts } = draft;
  const report = run.reports.at(-1);
  const question = workflow.asks[run.question?.ask ?? ""];
  if (!report || !question) return closeDraft(draft, { turn: "none" });
  if (facts.report === undefined) return { need: [{ kind: "report", file: report.file }] };
  const path = reportPath(run.id, report.file);
  const whole = facts.report.ok ? facts.report.value : `(it could not be read: ${facts.report.why})`;
  const shown = whole.length > REPORT_SHOWN ? `${whole.slice(0, REPORT_SHOWN)}\n… (the rest is in ${path})` : whole;
  const text = [
    `${MARK} The person wants to read the whole report, ${path}. Print it to them as it is:`,
    shown,
    askText(draft, question),
  ].join("\n\n");
  record(draft, "shown", { report: report.file });
  const person = `Pawl: the report, ${path}\n\n${shown}\n\n${choiceLines(question)}`;
  // Who asks from outside reads it there: the agent need not print it.
  if (draft.event.kind === "command") return closeDraft(draft, { turn: "none", person });
  return sendOn(draft, text, { progress: true, person });
}

/** Leaves room for the question in the host's 10,000 characters. */
const REPORT_SHOWN = 7_000;

export function advance(draft: Draft, target: string, cause: Cause, person?: string): Step {
  const { run, workflow } = draft;
  const from = run.stage;
  run.done[from] = doneBy(draft, cause);
  const next = nextInPlan(workflow, run.plan, target);
  delete run.question;
  if (!next) return endRun(draft, "completed", cause, person);
  if (cause.by === "person") delete run.ledger.laps;
  enter(draft, next);
  record(draft, "advanced", { from, to: next, signal: cause.signal });
  const { laps } = workflow.limits;
  if (run.ledger.laps![next]! > laps)
    return stopFor(draft, `it was at ${next} ${counted(laps, "time")} already, as often as limits.laps allows`);
  const decided =
    cause.by === "person" ? `Pawl: your decision is recorded. Next: ${stageOf(workflow, next).title}.` : undefined;
  const said = person ? fill(person, templateValues(draft)) : decided;
  const done = stageOf(workflow, from).done ?? "";
  return sendOn(draft, instruction(draft, done), { progress: true, ...(said ? { person: said } : {}) });
}

/** The task is over: the next one begins in this conversation, or the work is done. */
function nextTask(draft: Draft, target: string, cause: Cause): Step {
  const { run, facts, event } = draft;
  const found = facts.next_task!;
  if (!found.ok) return stopFor(draft, `the tracker does not say what is next: ${found.why}`);
  run.done[run.stage] = doneBy(draft, cause);
  if (run.work.task) {
    const { id, title } = run.work.task;
    const over = { task: id, title, at: event.at, plan: run.plan, done: run.done };
    run.work.finished = [...(run.work.finished ?? []), over];
    record(draft, "task_done", { task: id, title });
  }
  if ("left" in found.value) return endOfQueue(draft, found.value.left, cause);
  if (waitsForClear(draft)) return askForClear(draft, found.value.id);
  return beginTask(draft, found.value, target);
}

function endOfQueue(draft: Draft, left: Leftover[], cause: Cause): Step {
  const line = queueLine(draft.workflow.name, left);
  return endRun(draft, "completed", cause, left.length === 0 ? `✅ ${line}` : `Pawl: ${line}`);
}

/** An agent cannot clear its own conversation: the person does, and the next one goes on by itself. */
function askForClear(draft: Draft, next: string): Step {
  const { run, workflow } = draft;
  enter(draft, workflow.stages.at(-1)!.id);
  delete run.work.task;
  run.status = "waiting";
  run.why = "it waits for /clear";
  record(draft, "asked", { ask: "clear", next });
  const person = `Pawl: the task is closed. Type /clear: the next one, ${next}, begins by itself in a fresh conversation.`;
  return closeDraft(draft, { turn: "end", person });
}

/** A fresh conversation takes the run up where the person cleared the last one. */
export function takeUpCleared(input: { workflow: Workflow; run: Run; event: Event; facts: Facts }): Step {
  const draft = openDraft(input);
  const { run, event, facts, workflow } = draft;
  const from = run.owner?.session ?? "nobody";
  run.owner = { host: event.host, session: event.session };
  if (facts.next_task === undefined) return { need: [nextNeed(draft)] };
  record(draft, "adopted", { from, to: event.session });
  delete run.work.cleared;
  const cause: Cause = { signal: "SESSION_CLEARED", message: "", by: "person" };
  if (!facts.next_task.ok) return stopFor(draft, `the tracker does not say what is next: ${facts.next_task.why}`);
  if ("left" in facts.next_task.value) return endOfQueue(draft, facts.next_task.value.left, cause);
  return beginTask(draft, facts.next_task.value, workflow.stages[0]!.id);
}

/** What was proved before belongs to the task before. */
function beginTask(draft: Draft, found: TaskFact, target: string): Step {
  const { run, workflow, facts, event } = draft;
  const { id, title, freed } = found;
  const closed = stageOf(workflow, run.stage).done ?? "";
  run.work.task = asRunTask(found, actorOf(run.owner?.session ?? event.session), event.at);
  run.plan = planFor(workflow, found.labels);
  run.done = {};
  delete run.entered;
  delete run.ledger.laps;
  delete run.checks.verdicts;
  delete run.checks.most_tests;
  if (facts.git?.ok) run.checks.base = facts.git.value;
  if (facts.tree?.ok) run.checks.base_tree = facts.tree.value;
  enter(draft, run.plan.includes(target) ? target : run.plan[0]!);
  record(draft, "task_begun", { task: id, title });
  const before = freed ? ` (it was ${safeText(freed)}'s, whose session is gone)` : "";
  const person = `Pawl: next task ${id}: ${safeText(title)}${before}`;
  return sendOn(draft, instruction(draft, closed), { progress: true, person });
}

function doneBy({ event, proof }: Draft, { signal, by }: Cause) {
  const found = proof.length === 0 && by === "person" ? ["the person decided so"] : proof;
  return { at: event.at, signal, ...(found.length > 0 && { proof: found }) };
}

export function enter(draft: Draft, stage: string): void {
  const { run, event } = draft;
  stageOf(draft.workflow, stage);
  run.stage = stage;
  run.entered_at = event.at;
  if (run.work.task) run.entered = { ...run.entered, [stage]: event.at };
  run.status = "active";
  const before = Math.min(run.ledger.laps?.[stage] ?? 0, draft.workflow.limits.laps);
  run.ledger.laps = { ...run.ledger.laps, [stage]: before + 1 };
  run.ledger.told = [];
  run.ledger.idle = 0;
  delete run.ledger.tools;
  delete run.ledger.nudges;
  delete run.why;
  delete run.paused;
  delete run.checks.claim;
}

/** The first stage of the plan at or after the target. */
export function nextInPlan(workflow: Workflow, plan: string[], target: string): string | undefined {
  const order = workflow.stages.map((stage) => stage.id);
  return order.slice(order.indexOf(target)).find((id) => plan.includes(id));
}

/** `template`: what the person reads instead of the closing message; null: nothing. */
export function endRun(draft: Draft, outcome: Outcome, cause: Cause, template?: string | null): Step {
  const { run, facts } = draft;
  if (outcome === "completed" && !run.done[run.stage]) run.done[run.stage] = doneBy(draft, cause);
  if (outcome === "completed" && facts.git?.ok && facts.git.value.head !== run.checks.base?.head) {
    run.commit_hash = facts.git.value.head;
  }
  run.status = "ended";
  run.outcome = outcome;
  delete run.question;
  delete run.checks.claim;
  dropPending(draft);
  record(draft, "ended", { outcome, signal: cause.signal, by: cause.by, commit: run.commit_hash });
  if (template === null) return closeDraft(draft, { turn: draft.event.kind === "prompt" ? "none" : "end" });
  const person = template ? fill(template, templateValues(draft)) : closingMessage(draft, outcome);
  if (draft.event.kind !== "prompt") return closeDraft(draft, { turn: "end", person });
  if (draft.workflow.watch) return closeDraft(draft, { turn: "none", person });
  const text =
    outcome === "completed"
      ? `${MARK} The workflow is complete. Do no further work on it; tell the person so in one sentence.`
      : `${MARK} The person ended the workflow (${outcome}). Do no further work on it. Tell them:\n\n${partialList(draft)}`;
  return closeDraft(draft, { turn: "none", agent: text, person });
}

function closingMessage(draft: Draft, outcome: Outcome): string {
  if (outcome === "completed")
    return [`✅ ${draft.workflow.name} finished.`, ...draft.proof.map((line) => `  ${line}`)].join("\n");
  return `Pawl: ${draft.workflow.name} ended (${outcome}).\n\n${partialList(draft)}`;
}

/** The person's word on an open question. */
export function choose(draft: Draft, name: string, choice: Choice, how: string): Step {
  const { run, event } = draft;
  record(draft, "decided", { ask: run.question!.ask, choice: name, how });
  if (!choice.show) run.decision = { ask: run.question!.ask, choice: name, at: event.at };
  return takeMove(draft, choice, { signal: name.toUpperCase(), message: "", by: "person" });
}
