import { excerpt, plain } from "../../kernel/text/safe-text.ts";
import type { EventOf, Run, Step, Workflow } from "../../kernel/types/run.ts";
import { gatesOf, leavesOf } from "../../kernel/types/workflow.ts";
import { approveClaim } from "./command.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { askText, instruction, MARK, resumingLine } from "./guide.ts";
import { goOn, keepPending, restartCount } from "./ledger.ts";
import { choose, enter } from "./moves.ts";
import { findChoice } from "./question.ts";

/** The person speaks. Their prompt wins its turn; an open question is decided only by them. */
export function onPrompt(draft: Draft, event: EventOf<"prompt">): Step {
  const { run, workflow } = draft;
  record(draft, "prompted", { said: excerpt(event.text), injected: event.injected });
  if (event.injected) return closeDraft(draft, { turn: "none" });
  restartCount(draft);
  const command = parseBeginning(event.text, workflow);
  if (command?.unknown.length) {
    return closeDraft(draft, { turn: "none", person: `Pawl: ${unknownStages(workflow, command.unknown)}` });
  }
  const other = command && run.task ? typedCommand(event.text).split(/\s/, 1)[0]! : "";
  if (other !== "" && other !== run.task!.id) return otherTask(draft, other);
  if (command?.stages.length) return replan(draft, command.stages);
  const ask = workflow.asks[run.question?.ask ?? ""];
  const found = ask && findChoice(ask, event.text);
  // An open question is answered first, also where its answer is a shortcut elsewhere.
  if (found && !command) return choose(draft, found.name, found.choice, "prompt");
  if (command || isGo(event.text)) return resume(draft);
  if (isApproval(event.text)) return approveClaim(draft, "the person", "prompt");
  return ownBusiness(draft);
}

export const isGo = (text: string) =>
  /^\/?(?:pawl:)?(?:go|x|r)$/i.test(text.trim()) && text.trim().toLowerCase() !== "go";

/** One task at a time: what was begun is brought to its end, or given up by the person. */
function otherTask(draft: Draft, other: string): Step {
  const { run } = draft;
  const person = `Pawl: this session is at work on ${run.task!.id}. \`pawl runs abort ${run.id}\` gives it up; then begin ${plain(other)}.`;
  return closeDraft(draft, { turn: "none", person });
}

/** The list of shortcuts, where the client keeps a single "?" for itself. */
export const isHelp = (text: string) => text.trim() === "/pawl:keys";

export const isApproval = (text: string) => /^\/(?:pawl:)?approve(?:\s|$)/i.test(text.trim());

/** `/complete-work review commit` → the named stages; null: not this workflow's command. */
export function parseBeginning(text: string, workflow: Workflow): { stages: string[]; unknown: string[] } | null {
  const [word = "", ...rest] = text.trim().split(/[\s,]+/);
  if (!workflow.arm.some((arm) => word === arm || word === arm.replace(/^\/(?!pawl:)/, "/pawl:"))) return null;
  if (workflow.chains) return { stages: chainOf(text, workflow), unknown: [] };
  if (takesCommand(workflow) || workflow.tasks) return { stages: [], unknown: [] };
  const ids = workflow.stages.map((stage) => stage.id);
  const named = rest.filter((arg) => arg !== "").map((arg) => arg.toLowerCase());
  return {
    stages: ids.filter((id) => named.includes(id)),
    unknown: named.filter((arg) => !ids.includes(arg)),
  };
}

function chainOf(text: string, { chains = {}, stages }: Workflow): string[] {
  const typed = `${text
    .trim()
    .replace(/^\/pawl:/, "/")
    .replace(/\s+/g, " ")} `;
  const fits = Object.keys(chains).filter((word) => typed.startsWith(`${word} `));
  const longest = fits.toSorted((a, b) => b.length - a.length)[0];
  return longest === undefined ? stages.map((stage) => stage.id) : chains[longest]!;
}

/** Whether what the person typed is an answer to the run, and not their own business. */
export function isForRun({ question }: Run, workflow: Workflow, text: string): boolean {
  if (workflow.watch) return false;
  const ask = workflow.asks[question?.ask ?? ""];
  return (
    parseBeginning(text, workflow) !== null ||
    isGo(text) ||
    isApproval(text) ||
    (!!ask && findChoice(ask, text) !== null)
  );
}

/** What the person types after the word is the command of a gate. */
export const takesCommand = (workflow: Workflow) => leavesOf(gatesOf(workflow)).some((gate) => gate.typed);
export const typedCommand = (text: string) => text.trim().replace(/^\S+\s*/, "");
/** The command that a run began with; null: it takes none. */
export const typedCommandOf = (workflow: Workflow) =>
  leavesOf(gatesOf(workflow)).find((gate) => gate.typed)?.shell ?? null;

export const unknownStages = (workflow: Workflow, unknown: string[]) =>
  `${workflow.name} has no stage ${unknown.join(", ")}; it has ${workflow.stages.map((stage) => stage.id).join(", ")}`;

/** Continues where the run is: after the last finished stage, or with the open question. */
export function resume(draft: Draft, note = ""): Step {
  const { run, workflow } = draft;
  const line = [note, resumingLine(draft)].filter((part) => part !== "").join("\n");
  delete run.paused;
  delete run.claim;
  run.ledger.idle = 0;
  run.ledger.told = [];
  const ask = workflow.asks[run.question?.ask ?? ""];
  if (!ask) {
    run.status = "active";
    delete run.why;
  }
  record(draft, "resumed", { why: excerpt(line) });
  const text = `${MARK} ${line}\n\n${ask ? askText(draft, ask) : instruction(draft)}`;
  if (draft.event.kind === "stop") return goOn(draft, text, { progress: true, person: line });
  keepPending(draft, text, "prompt");
  return closeDraft(draft, { turn: "none", agent: text, person: line });
}

function replan(draft: Draft, stages: string[]): Step {
  draft.run.plan = stages;
  delete draft.run.question;
  enter(draft, stages[0]!);
  record(draft, "replanned", { plan: stages });
  return resume(draft);
}

/** Any other prompt: the agent answers the person; an instruction that may have been lost is given again, once. */
function ownBusiness(draft: Draft): Step {
  const { run, event } = draft;
  const { owed } = run;
  if (run.status === "active" && !run.paused?.firm) run.paused = { turn: event.turn, told: false };
  if (run.status === "active") record(draft, "paused", { why: "the person asked something else" });
  if (!owed) return closeDraft(draft, { turn: "none" });
  record(draft, "undelivered", { given_by: owed.given_by, turn: owed.turn, times: owed.times });
  record(draft, "owed", { given_by: "prompt" });
  run.owed = { ...owed, given_by: "prompt", turn: event.turn, times: owed.times + 1 };
  const text = `${MARK} Answer the person's message first. This still applies and may not have reached you before:\n\n${owed.text}`;
  return closeDraft(draft, { turn: "none", agent: text });
}
