import { stageQuestion } from "../../auto/core/text.ts";
import { buildBackground, type Judged, judge, listNeeds, namesFor } from "../../checks/core/gate.ts";
import { nearest } from "../../kernel/text/nearest.ts";
import { excerpt } from "../../kernel/text/safe-text.ts";
import { parseSignals, type Signals } from "../../kernel/text/signal.ts";
import type { EventOf, Move, Need, Run, Stage, Step } from "../../kernel/types/run.ts";
import { isRegistered, listSignals, stageOf } from "../../kernel/types/workflow.ts";
import { askedByReport, holdForAgents, newestReport } from "./agents.ts";
import { claimedMove, remember, saidIn } from "./claim.ts";
import { checkDone } from "./done.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { fill, header, instruction, MARK, signalList, signalTag, templateValues } from "./guide.ts";
import { endTurn, goOn, HOST_CAP, isFirstTime, noteArrival, pausedLine, restartCount } from "./ledger.ts";
import { choose, endRun, nextInPlan, takeMove } from "./moves.ts";
import { choiceByTool } from "./prompt.ts";
import { reportsSince } from "./report.ts";

/** The agent wants to stop: was there a claim, does it count, and what follows? */
export function onStop(draft: Draft, event: EventOf<"stop">): Step {
  const { run, workflow, facts } = draft;
  if (workflow.watch === "done") return checkDone(draft, event.message);
  if (workflow.watch) return checkChain(draft, event);
  const said = parseSignals(event.message, workflow.signals);
  const need = stopNeeds(draft, said, event.message);
  if (need.length > 0) return { need };
  const message = said.found.length > 0 || !facts.message?.ok ? event.message : facts.message.value;
  const signals = said.found.length > 0 ? said : parseSignals(message, workflow.signals);
  record(draft, "stopped", { said: excerpt(message), continuing: event.continuing });
  // The document of this family has a log of its own, in these words.
  if (workflow.signals === "stage") draft.log.push("Hook triggered", "Detecting stage from message");
  noteArrival(draft);
  noteScheduled(run, event);
  if (facts.tools?.ok && facts.tools.value.length > 0) restartCount(draft);
  if (run.question) {
    const answered = choiceByTool(draft);
    if (answered) return choose(draft, answered.name, answered.choice, "AskUserQuestion");
  }
  // A claim that was sent back is judged again, even in the same words: the files may have changed.
  const isSaidAgain = draft.repeated && !run.checks.claim;
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

/** A prompt of this session may then be one that no one typed. */
function noteScheduled({ owner }: Run, { scheduled }: EventOf<"stop">): void {
  if (owner && scheduled) owner.scheduled = true;
  else delete owner?.scheduled;
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
  const held = holdForAgents(draft, signal, move);
  if (held) return held;
  const reported = askedByReport(draft, move);
  if (!reported) return takeMove(draft, move, { signal, message, by: "agent" });
  record(draft, "ignored", { signal, why: `${reported.agent} reported ${reported.signal}` });
  return takeMove(draft, reported.move, { signal: reported.signal, message: "", by: "agent" });
}

/** The sub-agents have ended. What was said before that counts only where something else confirms it now. */
function takeUpHeld(draft: Draft, signal: string): Step {
  const { run, workflow } = draft;
  const stage = stageOf(workflow, run.stage);
  const move = claimedMove(signal, stage, workflow)!;
  const held = holdForAgents(draft, signal, move);
  if (held) return held;
  const isConfirmed = (move.gates ?? []).length > 0 || newestReport(draft)?.signal === signal;
  if (isConfirmed || askedByReport(draft, move)) return claimed(draft, signal, "");
  delete run.checks.claim;
  const text = `${MARK} ${signal} came before the sub-agents had ended, so it did not count. Read what they reported, then emit, alone on its line:`;
  return goOn(draft, `${text}\n${signalList(workflow, stage)}`, { progress: false });
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
  if (isDecidedAlready(draft, signal) && isFirstTime(draft, `decided:${signal}`)) {
    run.last_signal = signal;
    return goOn(draft, instruction(draft), { progress: false });
  }
  record(draft, "ignored", { signal, why: "out of order" });
  draft.log.push(`IGNORED: ${signal} (out of order, step is ${run.stage})`);
  if (run.status !== "active" || !isFirstTime(draft, `order:${signal}`))
    return endTurn(draft, `${signal} does not belong there`);
  const text = [`${MARK} ${signal} does not belong to this step and moved nothing.`, instruction(draft)].join("\n\n");
  return goOn(draft, text, { progress: false });
}

/** The person's answer led here, and the agent says it with the signal that would have: no news, and no mistake. */
function isDecidedAlready({ run, workflow }: Draft, signal: string): boolean {
  const { ask, choice } = run.decision ?? { ask: "", choice: "" };
  const to = workflow.asks[ask]?.choices[choice]?.to;
  return (
    to !== undefined &&
    nextInPlan(workflow, run.plan, to) === run.stage &&
    workflow.stages.some(({ on }) => on[signal]?.to === to)
  );
}

/** Word for word the same as before: no new claim. A pending instruction is given again, within the bound. */
function repeated(draft: Draft): Step {
  const { run } = draft;
  record(draft, "repeated", { why: "the same message again" });
  if (run.paused) return closeDraft(draft, { turn: "end" });
  if (run.status !== "active" || !run.pending) return endTurn(draft, "the agent repeated itself");
  return goOn(draft, run.pending.text, { progress: false });
}

function noClaim(draft: Draft, event: EventOf<"stop">, signals: Signals): Step {
  const { run, workflow } = draft;
  if (run.status !== "active") return closeDraft(draft, { turn: "end" });
  if (signals.malformed.length > 0) record(draft, "malformed", { lines: signals.malformed });
  const misread = listMisread(draft, signals);
  if (misread.length > 0 && !run.paused && isFirstTime(draft, "malformed")) return tellMisread(draft, misread);
  if (run.checks.claim?.open === "agents" && !run.paused) return takeUpHeld(draft, run.checks.claim.signal);
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
  const [wrong] = misread;
  if (!wrong) return endTurn(draft, "got no signal");
  const meant = wrong.near ? `; the nearest signal is ${wrong.near}` : "";
  return endTurn(draft, `${excerpt(wrong.line)} is not a signal${meant}`);
}

/** A stage whose every stop is checked, or a check that went on without us and is asked for again. */
function checkAnyway(draft: Draft): Step | null {
  const { run, workflow } = draft;
  const { on, stop } = stageOf(workflow, run.stage);
  const waiting = run.checks.claim?.open === "running" ? run.checks.claim.signal : null;
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
      task: run.work.task?.id ?? "",
      names: namesFor(run, workflow),
    };
    return { need: [need] };
  }
  // Nothing can be seen: the agent ends its turn as it would without us.
  if (!facts.seen.ok) return endTurn(draft, "got no signal");
  const seen = facts.seen.value;
  if (seen.inferred) {
    const { signal, evidence } = seen.inferred;
    record(draft, "inferred", { signal, evidence });
    draft.log.push(`Inferred ${signal}: ${evidence}`);
    return takeMove(draft, stage.on[signal]!, { signal, message: "", by: "agent" });
  }
  draft.log.push(`Stage: ${seen.progress}`);
  if (seen.progress !== "UNKNOWN" && isNewWork(draft, seen.tools)) return nudge(draft, seen.progress);
  if (!isFirstTime(draft, "asked")) return closeDraft(draft, { turn: "end", person: pausedLine(draft) });
  record(draft, "asked_agent", { why: "no signal, and nothing that shows one" });
  return goOn(draft, `${stageQuestion(workflow, run.plan)}\n\n${header(run, workflow)}`, { progress: false });
}

/** Tools were used since the last look: the agent is at work and only stopped for breath. */
function isNewWork(draft: Draft, tools: number): boolean {
  const { ledger } = draft.run;
  const before = ledger.tools ?? 0;
  ledger.tools = tools;
  const { rounds } = draft.workflow.limits;
  ledger.nudges = Math.min(ledger.nudges ?? 0, rounds) + 1;
  return tools > before && ledger.nudges <= rounds;
}

function nudge(draft: Draft, progress: string): Step {
  const stage = stageOf(draft.workflow, draft.run.stage);
  const text = [
    `${MARK} ${stage.title} goes on (${progress}). Finish it; then emit, alone on its line:`,
    signalList(draft.workflow, stage).split("\n")[0],
  ].join("\n");
  return goOn(draft, text, { progress: true });
}

interface MisreadSignal {
  line: string;
  /** the signal that it may mean; null: none is near */
  near: string | null;
}

/** What was meant as a signal and is none: in another form, or misspelt. A name that is near no signal means nothing here. */
function listMisread({ run, workflow }: Draft, { malformed, found }: Signals): MisreadSignal[] {
  const known = [...Object.keys(stageOf(workflow, run.stage).on), ...listSignals(workflow)];
  const nameIn = (line: string) => /(?:>|stage\s*:)\s*([\w -]+)/i.exec(line)?.[1]?.trim() ?? "";
  const asMisread = (line: string) => ({ line, near: nearest(nameIn(line), known) });
  const misspelt = found.map((name) => asMisread(signalTag(workflow, name)));
  return [...malformed.map(asMisread), ...misspelt.filter(({ near }) => near !== null)];
}

function tellMisread(draft: Draft, misread: MisreadSignal[]): Step {
  const stage = stageOf(draft.workflow, draft.run.stage);
  const near = misread.findLast((one) => one.near !== null)?.near;
  const text = [
    `${MARK} This looks like a signal but is not one: ${misread.map(({ line }) => line).join("  ")}`,
    ...(near ? [`The nearest signal is ${signalTag(draft.workflow, near)}`] : []),
    "A signal is alone on its line, in capitals, with nothing inside it but its name and nothing around it. If you meant it, say it again as one of:",
    signalList(draft.workflow, stage),
  ].join("\n");
  return goOn(draft, text, { progress: false });
}

// ── A chain: only how the turn ends is checked ──────────────────────────────

interface CheckedStage {
  stage: Stage;
  verdict: Judged;
}

/** All stages are asked for at once: what they ask for is there, or the agent is sent on with what is missing, then let go. */
function checkChain(draft: Draft, event: EventOf<"stop">): Step {
  const { run, workflow, facts } = draft;
  const stages = run.plan.map((id) => stageOf(workflow, id));
  const gates = stages.flatMap(({ stop }) => stop?.gates ?? []);
  const need = listNeeds(gates, run, workflow, facts);
  if (need.length > 0) return { need };
  record(draft, "stopped", { said: excerpt(event.message), continuing: event.continuing });
  noteArrival(draft);
  // Something of the agent's is still running: it will be back.
  if (event.background > 0) return closeDraft(draft, { turn: "end" });
  const background = buildBackground(run, event.at, saidIn(draft));
  const checked = stages.flatMap((stage) =>
    (stage.stop?.gates ?? []).map((gate) => ({ stage, verdict: judge(gate, background, facts) })),
  );
  remember(draft, gates, { signal: "" });
  const missing = checked.filter(({ verdict }) => verdict.verdict !== "pass");
  if (missing.length === 0) return completeChain(draft, checked);
  run.stage = missing[0]!.stage.id;
  const rounds = (run.checks.claim?.rounds ?? 0) + 1;
  run.checks.claim = { signal: "", at: event.at, rounds, tree: "" };
  if (rounds <= workflow.limits.rounds) return goOn(draft, missingText(draft, missing), { progress: false });
  const what = missing.map(({ stage, verdict }) => `${stage.title} (${verdict.why})`).join("; ");
  const person = `Pawl: the agent ended without ${what}. It was reminded once.`;
  return endRun(draft, "failed", { signal: "", message: "", by: "agent" }, person);
}

/** Each stage is done, with what showed it. */
function completeChain(draft: Draft, checked: CheckedStage[]): Step {
  const { run, event } = draft;
  for (const id of run.plan) {
    const proof = checked
      .filter(({ stage }) => stage.id === id)
      .map(({ verdict }) => `${verdict.gate}: ${verdict.why}`);
    run.done[id] = { at: event.at, signal: "", ...(proof.length > 0 && { proof }) };
  }
  run.stage = run.plan.at(-1)!;
  return endRun(draft, "completed", { signal: "", message: "", by: "agent" }, null);
}

const missingText = (draft: Draft, missing: CheckedStage[]) =>
  [
    `${MARK} The chain ${draft.run.plan.map((id) => stageOf(draft.workflow, id).title).join(" → ")} has not come to its end. What is missing:`,
    ...missing.map(
      ({ stage, verdict }) => `- ${stage.title} (${verdict.why}): ${fill(stage.say, templateValues(draft))}`,
    ),
    "Do it now, in this order. If the person has to decide something first, ask them and stop.",
  ].join("\n");
