import { closeDraft, type Draft, record } from "./draft.ts";
import { changePhase } from "./formal-run.ts";
import { judge, needsOf } from "./gate.ts";
import { instruction, resumingLine } from "./guide.ts";
import { owe } from "./ledger.ts";
import { endRun, takeMove } from "./moves.ts";
import type { EventOf, Step } from "./types.ts";
import { stageOf } from "./workflow.ts";

/** Commands come through the same door as everything else, and pass the same gates. */
export function onCommand(draft: Draft, event: EventOf<"command">): Step {
  const { run } = draft;
  record(draft, "commanded", { name: event.name, why: event.why });
  switch (event.name) {
    case "abort":
      draft.log.push("WORKFLOW_ABORTED", "✅ Workflow aborted by user");
      return endRun(draft, "aborted", { signal: "WORKFLOW_ABORTED", message: event.why, by: "person" });
    case "finish":
      return finish(draft, event);
    case "pause":
      run.paused = { turn: "", told: true, firm: true };
      record(draft, "paused", { why: event.why || "by command" });
      return closeDraft(draft, { turn: "none", person: `Paused ${run.id} at ${run.stage}.` });
    case "resume":
      return goAgain(draft);
    case "adopt":
      run.owner = null;
      record(draft, "released", { why: event.why });
      return closeDraft(draft, { turn: "none", person: `Run ${run.id} is free. ${howToTake(draft)}` });
    case "phase":
      return changePhase(draft, event.phase ?? { to: "next" });
    case "start":
      return { none: "started already" };
  }
}

const howToTake = ({ run, workflow }: Draft) =>
  run.formal
    ? `The session whose own shell runs \`pawl runs adopt ${run.id}\` has it from its next stop on.`
    : `Type /${workflow.name} in the session that shall have it.`;

/** The completing move of the last stage, gates included: a command proves nothing by itself. */
function finish(draft: Draft, event: EventOf<"command">): Step {
  const { run, workflow } = draft;
  const last = stageOf(workflow, run.plan.at(-1)!);
  const entry = Object.entries(last.on).find(([, move]) => move.end === "completed");
  if (!entry) return endRun(draft, "completed", { signal: "finish", message: event.why, by: "person" });
  const [signal, move] = entry;
  const need = needsOf(move.gates ?? [], draft.facts);
  if (need.length > 0) return { need };
  const { verdict, why } = judge(move.gates ?? [], run, draft.facts);
  if (verdict !== "pass") return refuse(draft, signal, verdict, why);
  run.stage = last.id;
  return takeMove(draft, move, { signal, message: event.why, by: "person" });
}

/** Nobody is sent on by a refused command, and nothing has moved. */
function refuse(draft: Draft, signal: string, verdict: string, why: string): Step {
  record(draft, "gated", { signal, verdict, why });
  const person = `Refused, ${signal} is ${verdict === "fail" ? "not so" : verdict}: ${why}.`;
  return closeDraft(draft, { turn: "end", reason: "refused", person });
}

function goAgain(draft: Draft): Step {
  const { run } = draft;
  delete run.paused;
  if (run.status === "halted") run.status = "active";
  run.ledger.idle = 0;
  const line = resumingLine(draft);
  record(draft, "resumed", { why: line });
  if (!run.question) owe(draft, instruction(draft), "nothing");
  return closeDraft(draft, {
    turn: "none",
    person: `${line}\nThe agent gets its instruction with the next prompt of its session.`,
  });
}
