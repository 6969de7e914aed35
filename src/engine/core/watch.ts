/**
 * A watch looks at the end of a turn: what its stages ask for is there, or the agent is sent on with what is missing, and
 * then let go. It says nothing otherwise, and any other prompt of the person ends it.
 */

import { backgroundOf, type Judged, judge, needsOf } from "../../checks/core/gate.ts";
import { excerpt } from "../../kernel/text/safe-text.ts";
import type { EventOf, Gate, Stage, Step } from "../../kernel/types/run.ts";
import { stageOf } from "../../kernel/types/workflow.ts";
import { remember, saidIn } from "./claim.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { fill, MARK, valuesOf } from "./guide.ts";
import { goOn, noteArrival } from "./ledger.ts";
import { endRun } from "./moves.ts";

const NO_SIGNAL = { signal: "", message: "" };

export function onChainPrompt(draft: Draft, event: EventOf<"prompt">): Step {
  record(draft, "prompted", { said: excerpt(event.text), injected: event.injected });
  if (event.injected) return closeDraft(draft, { turn: "none" });
  return endRun(draft, "aborted", { ...NO_SIGNAL, by: "person" }, null);
}

export function onChainStop(draft: Draft, event: EventOf<"stop">): Step {
  const { run, workflow, facts } = draft;
  const asked = run.plan.map((id) => stageOf(workflow, id)).flatMap(gatesIn);
  const gates = asked.map(({ gate }) => gate);
  const need = needsOf(gates, run, workflow, facts);
  if (need.length > 0) return { need };
  record(draft, "stopped", { said: excerpt(event.message), continuing: event.continuing });
  noteArrival(draft);
  // Something of the agent's is still running: it will be back.
  if (event.background > 0) return closeDraft(draft, { turn: "end" });
  const background = backgroundOf(run, event.at, saidIn(draft));
  const judged = asked.map(({ stage, gate }) => ({ stage, verdict: judge(gate, background, facts) }));
  remember(draft, gates, NO_SIGNAL);
  const missing = judged.filter(({ verdict }) => verdict.verdict !== "pass");
  if (missing.length === 0) return complete(draft, judged);
  run.stage = missing[0]!.stage.id;
  const rounds = (run.claim?.rounds ?? 0) + 1;
  run.claim = { signal: "", at: event.at, rounds, tree: "" };
  return rounds > workflow.limits.rounds ? letGo(draft, missing) : sendOn(draft, missing);
}

const gatesIn = (stage: Stage): { stage: Stage; gate: Gate }[] =>
  (stage.stop?.gates ?? []).map((gate) => ({ stage, gate }));

interface Checked {
  stage: Stage;
  verdict: Judged;
}

/** All of its stages at once, each with what showed it. */
function complete(draft: Draft, judged: Checked[]): Step {
  const { run, event } = draft;
  for (const id of run.plan) {
    const proof = judged.filter(({ stage }) => stage.id === id).map(({ verdict }) => `${verdict.gate}: ${verdict.why}`);
    run.done[id] = { at: event.at, signal: "", ...(proof.length > 0 && { proof }) };
  }
  run.stage = run.plan.at(-1)!;
  return endRun(draft, "completed", { ...NO_SIGNAL, by: "agent" }, null);
}

function sendOn(draft: Draft, missing: Checked[]): Step {
  const { run, workflow } = draft;
  const chain = run.plan.map((id) => stageOf(workflow, id).title).join(" → ");
  const lines = missing.map(
    ({ stage, verdict }) => `- ${stage.title} (${verdict.why}): ${fill(stage.say, valuesOf(draft))}`,
  );
  const text = [
    `${MARK} The chain ${chain} has not come to its end. What is missing:`,
    ...lines,
    "Do it now, in this order. If the person has to decide something first, ask them and stop.",
  ].join("\n");
  return goOn(draft, text, { progress: false });
}

function letGo(draft: Draft, missing: Checked[]): Step {
  const what = missing.map(({ stage, verdict }) => `${stage.title} (${verdict.why})`).join("; ");
  const person = `Pawl: the agent ended without ${what}. It was reminded once.`;
  return endRun(draft, "failed", { ...NO_SIGNAL, by: "agent" }, person);
}
