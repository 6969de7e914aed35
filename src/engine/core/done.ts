import { buildBackground, isChanged, type Judged, judgeAll, listNeeds } from "../../checks/core/gate.ts";
import { endsInQuestion, leavesWorkOpen } from "../../kernel/text/open-work.ts";
import { excerpt } from "../../kernel/text/safe-text.ts";
import type { Outcome, Step } from "../../kernel/types/run.ts";
import { stageOf } from "../../kernel/types/workflow.ts";
import { askPerson, formatProof, keepClaim, reasons, remember, renderTail, saidIn, sendOn } from "./claim.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { fill, MARK, templateValues } from "./guide.ts";
import { mayBeScheduled, noteArrival } from "./ledger.ts";
import { endRun } from "./moves.ts";

/**
 * The guard: a session without a workflow ended a turn in which it changed files. Whatever it said, that claims to be done,
 * unless the message asks the person something or says itself what is open.
 */
export function checkDone(draft: Draft, message: string): Step {
  const { run, workflow, facts, event } = draft;
  if (run.checks.skipped) {
    const scheduled = mayBeScheduled(draft, event);
    if (typeof scheduled !== "boolean") return scheduled;
    if (!scheduled) return endRun(draft, "aborted", { signal: "", message: "", by: "person" }, SKIPPED);
  }
  const gates = stageOf(workflow, run.stage).stop?.gates ?? [];
  const need = listNeeds(gates, run, workflow, facts);
  if (need.length > 0) return { need };
  if (event.kind === "stop") record(draft, "stopped", { said: excerpt(message), continuing: event.continuing });
  noteArrival(draft);
  if (isChanged(facts))
    return close(draft, "failed", "the definition of done was changed during the turn, so it was not checked");
  const judged = judgeAll(gates, buildBackground(run, event.at, saidIn(draft)), facts);
  remember(draft, gates, { signal: "" });
  const failed = judged.filter((one) => one.verdict === "fail");
  if (failed.length > 0) return fails(draft, failed, message);
  const running = judged.filter((one) => one.open === "running");
  if (running.length > 0) return leaveRunning(draft, running);
  const stuck = judged.filter((one) => one.verdict !== "pass");
  if (stuck.length > 0 && stuck.every((one) => one.open === "person")) return askPerson(draft, { signal: "" }, stuck);
  if (stuck.length > 0) return close(draft, "failed", `not checked: ${reasons(stuck)}`);
  draft.proof = judged.map(formatProof);
  return close(draft, "completed", reasons(judged));
}

const SKIPPED = "Pawl: not checked, as you asked (/pawl:skip).";

/** A pass that comes late is no news: the agent is not woken for it. */
function close(draft: Draft, outcome: Outcome, what: string): Step {
  const isLatePass = draft.event.kind === "command" && outcome === "completed";
  return endRun(draft, outcome, { signal: "", message: "", by: "agent" }, isLatePass ? null : `Pawl: ${what}.`);
}

function fails(draft: Draft, failed: Judged[], message: string): Step {
  const { run, workflow } = draft;
  const { rounds: most } = workflow.limits;
  const why = reasons(failed);
  if (endsInQuestion(message)) return close(draft, "failed", why);
  if (leavesWorkOpen(message))
    return close(
      draft,
      "failed",
      `${why}, ${SAYS_SO.test(message) ? "as the agent said" : "and the agent says that work is open"}`,
    );
  const rounds = (run.checks.claim?.rounds ?? 0) + 1;
  const before = run.checks.claim?.tree;
  // A run that only tells begins beyond its rounds.
  if (rounds > most)
    return close(draft, "failed", rounds > most + 1 ? why : `${why}. The agent was sent back ${most} times`);
  const tree = keepClaim(draft, { signal: "" }, failed, { rounds });
  const text = [
    `${MARK} Not done: ${why}.`,
    ...failed.flatMap(renderTail),
    `${fill(stageOf(workflow, run.stage).say, templateValues(draft)).trim()} (${rounds} of ${most})`,
  ].join("\n\n");
  return sendOn(draft, text, { progress: before !== undefined && before !== tree });
}

const SAYS_SO = /\b(?:fail\w*|red|broken|crash\w*|errors?)\b|fehl|échou|falla/i;

/** The turn is not held any longer. If the check fails, the agent is woken, or the next stop finds it. */
function leaveRunning(draft: Draft, running: Judged[]): Step {
  keepClaim(draft, { signal: "" }, running, { open: "running" });
  record(draft, "checking", { signal: "", gates: running.map((one) => one.gate) });
  return closeDraft(draft, { turn: "end" });
}
