import { excerpt, safeText } from "../../kernel/text/safe-text.ts";
import type { Ask, Choice, EventOf, Json, Run, Step, ToolCall, Workflow } from "../../kernel/types/run.ts";
import { gatesOf, leavesOf } from "../../kernel/types/workflow.ts";
import { approveClaim } from "./command.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { askText, instruction, MARK, resumingLine } from "./guide.ts";
import { givePending, goOn, keepPending, mayBeScheduled, restartCount } from "./ledger.ts";
import { choose, endRun, enter } from "./moves.ts";

/** The person speaks. Their prompt wins its turn; an open question is decided only by them. */
export function onPrompt(draft: Draft, event: EventOf<"prompt">): Step {
  const { run, workflow } = draft;
  record(draft, "prompted", { said: excerpt(event.text), injected: event.injected });
  if (event.injected) return closeDraft(draft, { turn: "none" });
  const approves = isApproval(event.text) && run.checks.claim?.open === "person";
  if (workflow.watch && !approves) return endRun(draft, "aborted", { signal: "", message: "", by: "person" }, null);
  restartCount(draft);
  const command = parseBeginning(event.text, workflow);
  if (command?.unknown.length) {
    return closeDraft(draft, { turn: "none", person: `Pawl: ${unknownStages(workflow, command.unknown)}` });
  }
  const other = command && run.work.task ? typedCommand(event.text).split(/\s/, 1)[0]! : "";
  if (other !== "" && other !== run.work.task!.id) return otherTask(draft, other);
  if (command?.stages.length) return replan(draft, command.stages);
  const ask = workflow.asks[run.question?.ask ?? ""];
  const found = ask && findChoice(ask, event.text);
  const decides = (found && !command) || isApproval(event.text);
  const doubt = decides && !event.typed ? mayBeScheduled(draft, event) : false;
  if (doubt) return doubt === true ? unsure(draft) : doubt;
  // An open question is answered first, also where its answer is a shortcut elsewhere.
  if (found && !command) return choose(draft, found.name, found.choice, "prompt");
  if (command || isGo(event.text)) return resume(draft);
  if (isApproval(event.text)) return approveClaim(draft, "the person", "prompt");
  return ownBusiness(draft);
}

/** The session sends itself prompts, and the host does not say who typed this one. */
function unsure(draft: Draft): Step {
  const { run } = draft;
  const why = "this session has scheduled prompts, and this could be one of them";
  record(draft, "ignored", { signal: "the answer", why });
  const how = run.question
    ? "Answer on the dashboard (`pawl dashboard`)"
    : `Run \`pawl approve ${run.id}\` in a terminal`;
  return closeDraft(draft, { turn: "none", person: `Pawl: not counted: ${why}. ${how}.` });
}

export const isGo = (text: string) =>
  /^\/?(?:pawl:)?(?:go|x|r)$/i.test(text.trim()) && text.trim().toLowerCase() !== "go";

/** One task at a time: what was begun is brought to its end, or given up by the person. */
function otherTask(draft: Draft, other: string): Step {
  const { run } = draft;
  const person = `Pawl: this session is at work on ${run.work.task!.id}. \`pawl runs abort ${run.id}\` gives it up; then begin ${safeText(other)}.`;
  return closeDraft(draft, { turn: "none", person });
}

/** The list of shortcuts, where the client keeps a single "?" for itself. */
export const isHelp = (text: string) => text.trim() === "/pawl:keys";

export const isApproval = (text: string) => /^\/(?:pawl:)?approve(?:\s|$)/i.test(text.trim());

/** `/complete-work review commit` → the named stages; null: not this workflow's command. */
export function parseBeginning(text: string, workflow: Workflow): { stages: string[]; unknown: string[] } | null {
  const [word = "", ...rest] = text.trim().split(/[\s,]+/);
  const bare = (one: string) => one.replace(/^\/pawl:/, "/");
  if (!workflow.arm.some((arm) => bare(arm) === bare(word))) return null;
  if (workflow.watch === "done") return { stages: [], unknown: [] };
  if (workflow.chains) return { stages: parseChain(text, workflow), unknown: [] };
  if (takesCommand(workflow) || workflow.tasks) return { stages: [], unknown: [] };
  const ids = workflow.stages.map((stage) => stage.id);
  const named = rest.filter((arg) => arg !== "").map((arg) => arg.toLowerCase());
  return {
    stages: ids.filter((id) => named.includes(id)),
    unknown: named.filter((arg) => !ids.includes(arg)),
  };
}

function parseChain(text: string, { chains = {}, stages }: Workflow): string[] {
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
export const commandTyped = (workflow: Workflow) =>
  leavesOf(gatesOf(workflow)).find((gate) => gate.typed)?.shell ?? null;

export const unknownStages = (workflow: Workflow, unknown: string[]) =>
  `${workflow.name} has no stage ${unknown.join(", ")}; it has ${workflow.stages.map((stage) => stage.id).join(", ")}`;

/** Continues where the run is: after the last finished stage, or with the open question. */
export function resume(draft: Draft, note = ""): Step {
  const { run, workflow } = draft;
  const line = [note, resumingLine(draft)].filter((part) => part !== "").join("\n");
  delete run.paused;
  delete run.checks.claim;
  run.ledger.idle = 0;
  run.ledger.told = [];
  run.ledger.laps = { [run.stage]: 1 };
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
  const { pending } = run;
  if (run.status === "active" && !run.paused?.firm) run.paused = { turn: event.turn, told: false };
  if (run.status === "active") record(draft, "paused", { why: "the person asked something else" });
  if (!pending) return closeDraft(draft, { turn: "none" });
  givePending(draft, pending);
  const text = `${MARK} Answer the person's message first. This still applies and may not have reached you before:\n\n${pending.text}`;
  return closeDraft(draft, { turn: "none", agent: text });
}

// ── The person's choice in their own words; anything else leaves the question open ──

const plain = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

function findChoice(ask: Ask, text: string): { name: string; choice: Choice } | null {
  const said = plain(text);
  if (said === "" || text.length > 80) return null;
  const entries = Object.entries(ask.choices);
  const index = entries.findIndex(([name, choice], i) => {
    const number = String(i + 1);
    const label = plain(choice.label);
    return [number, plain(name), label, `${number} ${label}`, ...choice.words.map(plain)].includes(said);
  });
  const hit = entries[index];
  return hit ? { name: hit[0], choice: hit[1] } : null;
}

/** The answer the person gave in the host's own question dialogue, since the question was put. */
export function choiceByTool(draft: Draft): { name: string; choice: Choice } | null {
  const { run, facts, workflow } = draft;
  const ask = workflow.asks[run.question?.ask ?? ""];
  if (!ask || !facts.tools?.ok) return null;
  for (const call of facts.tools.value.toReversed()) {
    for (const { answer } of readAnswers(call)) {
      const found = findChoice(ask, answer);
      if (found) return found;
    }
  }
  return null;
}

export interface ToolAnswer {
  question: string;
  answer: string;
  at: string;
}

/** Only the structured answers count, never the text around them, which repeats the questions. */
export function readAnswers({ name, agent, result, at }: ToolCall): ToolAnswer[] {
  const data = result?.data;
  if (name !== "AskUserQuestion" || agent !== "") return [];
  if (!data || result?.error || typeof data !== "object" || Array.isArray(data)) return [];
  const answers: Json = data.answers ?? null;
  if (!answers || typeof answers !== "object") return [];
  return Object.entries(answers).flatMap(([question, answer]) =>
    typeof answer === "string" ? [{ question, answer, at }] : [],
  );
}
