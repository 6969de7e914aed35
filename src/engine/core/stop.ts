import { stageQuestion } from "../../auto/core/text.ts";
import { namesFor } from "../../checks/core/gate.ts";
import { excerpt } from "../../kernel/text/safe-text.ts";
import { parseSignals, type Signals } from "../../kernel/text/signal.ts";
import type { EventOf, Move, Need, Step } from "../../kernel/types/run.ts";
import { isRegistered, stageOf, stepNumber } from "../../kernel/types/workflow.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { header, instruction, MARK, signalList } from "./guide.ts";
import { goOn, HOST_CAP, noteArrival, pausedLine, restartCount, toldOnce } from "./ledger.ts";
import { choose, takeMove } from "./moves.ts";
import { choiceByTool } from "./question.ts";
import { reportsSince } from "./report.ts";

/** The agent wants to stop: was there a claim, does it count, and what follows? */
export function onStop(draft: Draft, event: EventOf<"stop">): Step {
  const { run, workflow, facts } = draft;
  const said = parseSignals(event.message, workflow.signals);
  const need = stopNeeds(draft, said, event.message);
  if (need.length > 0) return { need };
  const message = said.found.length > 0 || !facts.message?.ok ? event.message : facts.message.value;
  const signals = said.found.length > 0 ? said : parseSignals(message, workflow.signals);
  record(draft, "stopped", { said: excerpt(message), continuing: event.continuing });
  // The document of this family has a log of its own, in these words.
  if (workflow.signals === "stage") draft.log.push("Hook triggered", "Detecting stage from message");
  noteArrival(draft);
  if (facts.tools?.ok && facts.tools.value.length > 0) restartCount(draft);
  if (run.question) {
    const answered = choiceByTool(draft);
    if (answered) return choose(draft, answered.name, answered.choice, "AskUserQuestion");
  }
  // A claim that was sent back is judged again, even in the same words: the files may have changed.
  const isSaidAgain = draft.repeated && !run.claim;
  const signal = isSaidAgain ? null : lastClaim(draft, signals);
  if (isSaidAgain) return repeated(draft);
  if (signal === null) return noClaim(draft, event, signals);
  if (run.paused?.firm) {
    record(draft, "ignored", { signal, why: "the run is paused" });
    return closeDraft(draft, { turn: "end", person: pausedLine(draft) });
  }
  delete run.paused;
  return claimed(draft, signal, message);
}

/** Without a last message the newest one on disk could be of an earlier turn: then nothing was said. */
function stopNeeds(draft: Draft, said: Signals, message: string): Need[] {
  const { run, facts, event } = draft;
  const need: Need[] = [];
  if (said.found.length === 0 && message !== "" && facts.message === undefined) need.push({ kind: "message" });
  const nearCap = run.ledger.turn === event.turn && run.ledger.unbroken >= HOST_CAP;
  if ((run.question || nearCap) && facts.tools === undefined) {
    need.push({ kind: "tools", since: run.question ? run.question.at : run.ledger.since });
  }
  return need;
}

/** The last registered signal; what else was there is recorded. */
function lastClaim(draft: Draft, signals: Signals): string | null {
  const known = signals.found.filter((name) => isRegistered(draft.workflow, name));
  const unknown = signals.found.filter((name) => !known.includes(name));
  if (unknown.length > 0) record(draft, "ignored", { why: "unknown signal", signals: unknown });
  if (new Set(known).size > 1) record(draft, "multiple_signals", { signals: known });
  const last = known.at(-1) ?? null;
  if (last) record(draft, "signalled", { signal: last, trailing: signals.trailing });
  if (last && draft.workflow.signals === "stage") draft.log.push(`Found explicit marker: ${last}`);
  return last;
}

function claimed(draft: Draft, signal: string, message: string): Step {
  const { run, workflow } = draft;
  const move = stageOf(workflow, run.stage).on[signal] ?? workflow.anywhere[signal];
  if (!move) return outOfOrder(draft, signal);
  if (run.question && !countsWhileWaiting(draft, signal, move)) {
    record(draft, "ignored", { signal, why: "the person has not decided yet" });
    return closeDraft(draft, { turn: "end" });
  }
  return takeMove(draft, move, { signal, message, by: "agent" });
}

/** An open question yields to the person's word, to an end, or to a review newer than the question. */
function countsWhileWaiting(draft: Draft, signal: string, move: Move): boolean {
  if (move.end !== undefined) return true;
  const { question } = draft.run;
  const newer = reportsSince(draft, question!.seq);
  if (move.ask !== undefined) return newer.length > 0 && draft.event.turn !== question!.turn;
  return newer.at(-1)?.signal === signal || (newer.length > 0 && newer.at(-1)!.signal === null);
}

function outOfOrder(draft: Draft, signal: string): Step {
  const { run } = draft;
  record(draft, "ignored", { signal, why: "out of order" });
  draft.log.push(`IGNORED: ${signal} (out of order, step is ${run.stage})`);
  if (run.status !== "active" || !toldOnce(draft, `order:${signal}`)) return closeDraft(draft, { turn: "end" });
  const text = [`${MARK} ${signal} does not belong to this step and moved nothing.`, instruction(draft)].join("\n\n");
  return goOn(draft, text, { progress: false });
}

/** Word for word the same as before: no new claim. A pending instruction is given again, within the bound. */
function repeated(draft: Draft): Step {
  const { run } = draft;
  record(draft, "repeated", { why: "the same message again" });
  if (run.status !== "active" || run.paused || !run.owed) return closeDraft(draft, { turn: "end" });
  return goOn(draft, run.owed.text, { progress: false });
}

function noClaim(draft: Draft, event: EventOf<"stop">, signals: Signals): Step {
  const { run, workflow } = draft;
  if (run.status !== "active") return closeDraft(draft, { turn: "end" });
  if (signals.malformed.length > 0) {
    record(draft, "malformed", { lines: signals.malformed });
    if (!run.paused && toldOnce(draft, "malformed")) return tellMalformed(draft, signals.malformed);
  }
  if (event.background > 0) return closeDraft(draft, { turn: "end" });
  const checked = run.paused ? null : checkAnyway(draft);
  if (checked) return checked;
  record(draft, "missing", { why: run.paused ? "the person's own turn" : "no signal" });
  if (run.paused) {
    const told = run.paused.told;
    run.paused.told = true;
    return closeDraft(draft, told ? { turn: "end" } : { turn: "end", person: pausedLine(draft) });
  }
  if (workflow.missing === "ask") return inferOrAsk(draft, event);
  if (!toldOnce(draft, "missing")) return closeDraft(draft, { turn: "end" });
  const step = `step ${stepNumber(workflow, run.stage)} (${run.stage})`;
  return closeDraft(draft, {
    turn: "end",
    person: `Pawl: ${workflow.name} is at ${step} and got no signal. /pawl:go continues it.`,
  });
}

/** A stage whose every stop is checked, or a check that went on without us and is asked for again. */
function checkAnyway(draft: Draft): Step | null {
  const { run, workflow } = draft;
  const { on, stop } = stageOf(workflow, run.stage);
  const waiting = run.claim?.open === "running" ? run.claim.signal : null;
  const move = waiting ? (on[waiting] ?? workflow.anywhere[waiting]) : stop;
  return move ? takeMove(draft, move, { signal: waiting ?? "", message: "", by: "agent" }) : null;
}

/** Second and third tier: what the tool calls show; else, once in a stage, the agent is asked itself. */
function inferOrAsk(draft: Draft, event: EventOf<"stop">): Step {
  const { run, workflow, facts } = draft;
  const stage = stageOf(workflow, run.stage);
  if (facts.seen === undefined) {
    const message = facts.message?.ok ? facts.message.value : event.message;
    const need = {
      kind: "seen" as const,
      rules: stage.infer ?? {},
      since: run.entered_at,
      message,
      task: run.task?.id ?? "",
      names: namesFor(run, workflow),
    };
    return { need: [need] };
  }
  // Nothing can be seen: the agent ends its turn as it would without us.
  if (!facts.seen.ok) return closeDraft(draft, { turn: "end" });
  const seen = facts.seen.value;
  if (seen.inferred) {
    const { signal, evidence } = seen.inferred;
    record(draft, "inferred", { signal, evidence });
    draft.log.push(`Inferred ${signal}: ${evidence}`);
    return takeMove(draft, stage.on[signal]!, { signal, message: "", by: "agent" });
  }
  draft.log.push(`Stage: ${seen.progress}`);
  if (seen.progress !== "UNKNOWN" && isNewWork(draft, seen.tools)) return nudge(draft, seen.progress);
  if (!toldOnce(draft, "asked")) return closeDraft(draft, { turn: "end", person: pausedLine(draft) });
  record(draft, "asked_agent", { why: "no signal, and nothing that shows one" });
  return goOn(draft, `${stageQuestion(workflow, run.plan)}\n\n${header(run, workflow)}`, { progress: false });
}

/** Tools were used since the last look: the agent is at work and only stopped for breath. */
function isNewWork(draft: Draft, tools: number): boolean {
  const { ledger } = draft.run;
  const before = ledger.tools ?? 0;
  ledger.tools = tools;
  ledger.nudges = (ledger.nudges ?? 0) + 1;
  return tools > before && ledger.nudges <= draft.workflow.limits.rounds;
}

function nudge(draft: Draft, progress: string): Step {
  const stage = stageOf(draft.workflow, draft.run.stage);
  const text = [
    `${MARK} ${stage.title} goes on (${progress}). Finish it; then emit, alone on its line:`,
    signalList(draft.workflow, stage).split("\n")[0],
  ].join("\n");
  return goOn(draft, text, { progress: true });
}

function tellMalformed(draft: Draft, lines: string[]): Step {
  const stage = stageOf(draft.workflow, draft.run.stage);
  const text = [
    `${MARK} This looks like a signal but is not one: ${lines.join("  ")}`,
    "A signal is alone on its line, in capitals, with nothing inside it but its name and nothing around it. If you meant it, say it again as one of:",
    signalList(draft.workflow, stage),
  ].join("\n");
  return goOn(draft, text, { progress: false });
}
