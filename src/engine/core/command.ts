import { buildBackground, isChanged, judgeAll, listNeeds } from "../../checks/core/gate.ts";
import type { EventOf, Gate, Move, Stage, Step } from "../../kernel/types/run.ts";
import { stageOf, stepNumber } from "../../kernel/types/workflow.ts";
import { approve, claimedMove, formatProof, nothingToApprove, remember } from "./claim.ts";
import { checkDone } from "./done.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { changePhase } from "./formal.ts";
import { instruction, resumingLine } from "./guide.ts";
import { keepPending } from "./ledger.ts";
import { choose, endRun, follow, takeMove } from "./moves.ts";

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
    case "approve":
      if (event.asked !== undefined && event.asked !== run.checks.claim?.at)
        return notTaken(draft, "the approval", "the agent has claimed again since");
      return approveClaim(draft, event.who ?? "someone", event.via === "cli" ? "terminal" : event.via);
    case "checked":
      return checked(draft);
    case "accept":
      return accept(draft, event);
    case "decide":
      return answerQuestion(draft, event);
    case "start":
      return { none: "started already" };
  }
}

const howToTake = ({ run, workflow }: Draft) =>
  workflow.arm[0] === undefined
    ? `The session whose own shell runs \`pawl runs adopt ${run.id}\` has it from its next stop on.`
    : `Type ${workflow.arm[0]} in the session that shall have it.`;

/** The completing move of the last stage, past every gate that is still before it: a command proves nothing by itself. */
function finish(draft: Draft, event: EventOf<"command">): Step {
  const { run, workflow, facts } = draft;
  const gates = gatesAhead(draft);
  const need = listNeeds(gates, run, workflow, facts);
  if (need.length > 0) return { need };
  const judged = judgeAll(gates, buildBackground(run, event.at), facts);
  const open = judged.find((one) => one.verdict !== "pass");
  if (gates.length > 0 && isChanged(facts))
    return refuse(draft, "the workflow", "unproven", "it was changed while it ran");
  remember(draft, gates, { signal: "finish" });
  if (open) return refuse(draft, open.gate, open.verdict, open.why);
  draft.proof = judged.map(formatProof);
  const last = stageOf(workflow, run.plan.at(-1)!);
  const [signal, move] = waysOn(last).find(([, way]) => way.end === "completed") ?? [
    "finish",
    { end: "completed" as const },
  ];
  run.stage = last.id;
  return follow(draft, move, { signal, message: event.why, by: "person" });
}

const waysOn = (stage: Stage): [string, Move][] => [
  ...Object.entries(stage.on),
  ...(stage.stop ? [["stop", stage.stop] as [string, Move]] : []),
];

/** The gates of every way forward, from here to the end. */
function gatesAhead({ run, workflow }: Draft): Gate[] {
  const from = run.plan.indexOf(run.stage);
  const ways = run.plan
    .slice(Math.max(0, from))
    .flatMap((id) => waysOn(stageOf(workflow, id)).map(([, way]) => ({ id, way })));
  const isForward = (id: string, way: Move) =>
    way.end === "completed" || (way.to !== undefined && stepNumber(workflow, way.to) > stepNumber(workflow, id));
  const gates = ways.filter(({ id, way }) => isForward(id, way)).flatMap(({ way }) => way.gates ?? []);
  return [...new Map(gates.map((gate) => [gate.id, gate])).values()];
}

/** A refused command moves nothing and sends no one on. */
function refuse(draft: Draft, gate: string, verdict: string, why: string): Step {
  record(draft, "refused", { gate, verdict, why });
  const person = `Refused, ${gate} ${verdict === "fail" ? "failed" : `is ${verdict}`}: ${why}.`;
  return closeDraft(draft, { turn: "end", reason: "refused", person });
}

/** The claim that was not let through: which move it asks for. */
const openMove = ({ run, workflow }: Draft) =>
  run.checks.claim && claimedMove(run.checks.claim.signal, stageOf(workflow, run.stage), workflow);

/** The person's own word, from a terminal, a prompt or the dashboard; never the agent's. */
export function approveClaim(draft: Draft, who: string, how: string): Step {
  const move = openMove(draft);
  if (!move) return nothingToApprove(draft);
  const { signal } = draft.run.checks.claim!;
  return approve(draft, move.gates ?? [], who, how) ?? follow(draft, move, { signal, message: "", by: "person" });
}

/** Only to the question that is open, and only with one of its choices: nothing here is guessed from words. */
function answerQuestion(draft: Draft, { choice: name = "", asked, via }: EventOf<"command">): Step {
  const { run, workflow } = draft;
  const ask = workflow.asks[run.question?.ask ?? ""];
  if (!ask || !run.question) return notTaken(draft, "the answer", `no question is open in run ${run.id}`);
  if (asked !== undefined && asked !== run.question.at)
    return notTaken(draft, "the answer", "another question was put meanwhile");
  const choice = Object.hasOwn(ask.choices, name) ? ask.choices[name] : undefined;
  return choice ? choose(draft, name, choice, via) : notTaken(draft, "the answer", "the question has no such choice");
}

function notTaken(draft: Draft, what: string, why: string): Step {
  record(draft, "ignored", { signal: what, why });
  return closeDraft(draft, { turn: "none", reason: "refused", person: `Pawl: not accepted: ${why}.` });
}

/** A check that went on by itself is over: the claim is judged now, and the agent is woken with what follows. */
function checked(draft: Draft): Step {
  const move = openMove(draft);
  if (draft.run.checks.claim?.open !== "running" || !move) return { none: "no claim waits for a check" };
  if (draft.workflow.watch === "done") return checkDone(draft, "");
  return takeMove(draft, move, { signal: draft.run.checks.claim.signal, message: "", by: "agent" });
}

/** The person accepted the changed workflow, and it was pinned again. */
function accept(draft: Draft, event: EventOf<"command">): Step {
  record(draft, "accepted", { who: event.who ?? "", why: event.why });
  return goAgain(draft);
}

function goAgain(draft: Draft): Step {
  const { run } = draft;
  delete run.paused;
  delete run.checks.claim;
  if (run.status === "halted") run.status = "active";
  run.ledger.idle = 0;
  run.ledger.laps = { [run.stage]: 1 };
  const line = resumingLine(draft);
  record(draft, "resumed", { why: line });
  if (!run.question) keepPending(draft, instruction(draft), "nothing");
  return closeDraft(draft, {
    turn: "none",
    person: `${line}\nThe agent gets its instruction with the next prompt of its session.`,
  });
}
