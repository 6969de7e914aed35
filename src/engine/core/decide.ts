import type { Event, EventOf, Facts, Run, Step, Workflow } from "../../kernel/types/run.ts";
import { noteCall } from "./calls.ts";
import { openRefusal } from "./claim.ts";
import { onCommand } from "./command.ts";
import { importDocument, parseFrontMatter } from "./document.ts";
import { closeDraft, type Draft, openDraft, record } from "./draft.ts";
import { importFormal, onFormalPrompt, onFormalStop, restoreFormal, summaryOfFormal } from "./formal.ts";
import { askText, header, instruction, MARK } from "./guide.ts";
import { keepPending, toldOnce } from "./ledger.ts";
import { endRun } from "./moves.ts";
import { onPrompt } from "./prompt.ts";
import { keepSubAgentReport } from "./report.ts";
import { onStop } from "./stop.ts";
import { onChainPrompt, onChainStop } from "./watch.ts";

/** One event against one run. Pure: the same input gives the same step, so a replay after a crash is harmless. */
export function decide(input: { workflow: Workflow; run: Run; event: Event; facts: Facts }): Step {
  const { run, event } = input;
  if (run.status === "ended") return { none: "the run has ended" };
  if (!mayDecide(run, event)) return { none: "another session's run" };
  const seen = seenBefore(run, event);
  const draft = openDraft(input);
  if (seen && seen.via !== event.via) return doubled(draft, seen.via);
  draft.repeated = seen !== undefined;
  if (draft.repeated && !REPEATABLE.includes(event.kind)) return { none: "the same event again" };
  if (event.kind !== "ended") delete draft.run.owner?.ended_at;
  if (event.kind !== "noticed" && event.kind !== "command") delete draft.run.call;
  const removed = draft.run.formal ? importFormal(draft) : readDocument(draft);
  if (removed) return removed;
  return dispatch(draft);
}

/**
 * Compactions, resumes, endings and permissions asked for in one turn look alike and each of them counts: the host
 * delivers an event but once by the same way. A stop has its own rule.
 */
const REPEATABLE: Event["kind"][] = ["stop", "start", "compacting", "ended", "noticed"];

function mayDecide(run: Run, event: Event): boolean {
  if (event.kind === "command") return true;
  return run.owner?.session === event.session && run.owner.host === event.host;
}

/** Where the host has no turn, only the last event can be recognized as a repetition. */
function seenBefore(run: Run, event: Event) {
  if (event.turn === "" && event.kind === "prompt") {
    const last = run.recent.at(-1);
    return last?.id === event.id ? (last.via === event.via ? undefined : last) : undefined;
  }
  return run.recent.find((seen) => seen.id === event.id);
}

/** The hook is installed twice: the first delivery decided, this one is silent. Recorded once for `doctor`. */
function doubled(draft: Draft, first: string): Step {
  const ways = [first, draft.event.via].sort().join("+");
  if (draft.run.doubled?.includes(ways)) return { none: "delivered before by another way" };
  draft.run.doubled = [...(draft.run.doubled ?? []), ways];
  record(draft, "doubled", { first, second: draft.event.via });
  return closeDraft({ ...draft, event: { ...draft.event, via: first } }, { turn: "none" });
}

/** Takes over what others wrote into the document; its removal ends the run. */
function readDocument(draft: Draft): Step | null {
  const { run, facts, workflow } = draft;
  if (!workflow.document || !facts.document) return null;
  if (!facts.document.ok) {
    if (toldOnce(draft, "document")) {
      record(draft, "errored", { why: `document: ${facts.document.why}` });
      draft.notes.push(`Pawl: ${run.document.path} is not kept up to date: ${facts.document.why}`);
    }
    return null;
  }
  const { state, text } = facts.document.value;
  if (state === "missing" && run.document.written) {
    record(draft, "removed", { path: run.document.path });
    draft.log.push("WORKFLOW_ABORTED", "✅ Workflow aborted by user");
    const cause = { signal: "WORKFLOW_ABORTED", message: "", by: "person" as const };
    return endRun(draft, "aborted", cause, `Pawl: ${run.document.path} was removed, so the run ${run.id} is aborted.`);
  }
  if (state === "broken") {
    record(draft, "errored", { why: "the document could not be read and was put aside", path: run.document.path });
    draft.notes.push(`Pawl: ${run.document.path} could not be read; it was put aside as *.corrupt and written again.`);
  }
  const parsed = state === "present" ? parseFrontMatter(text) : null;
  if (parsed) run.document = importDocument(run.document, parsed, workflow);
  return null;
}

/** What sets the kinds of runs apart. `summary` goes into the summarizer's prompt: what it must not lose. */
interface Handlers {
  stop(draft: Draft, event: EventOf<"stop">): Step;
  prompt(draft: Draft, event: EventOf<"prompt">): Step;
  /** after compaction or resume: the agent has forgotten */
  restore(draft: Draft, event: EventOf<"start">): Step;
  summary(draft: Draft): string | null;
}

/** The agent claims stage by stage. */
const STAGES: Handlers = { stop: onStop, prompt: onPrompt, restore, summary };
/** A chain that is only checked at its end: it gives no instruction. */
const CHAIN: Handlers = {
  stop: onChainStop,
  prompt: onChainPrompt,
  restore: () => ({ none: "no instruction" }),
  summary: () => null,
};
/** Phases that are only remembered, and restored. */
const PHASES: Handlers = {
  stop: onFormalStop,
  prompt: onFormalPrompt,
  restore: restoreFormal,
  summary: summaryOfFormal,
};

const handlersOf = ({ run, workflow }: Draft) => (run.formal ? PHASES : workflow.watch ? CHAIN : STAGES);

function dispatch(draft: Draft): Step {
  const { event } = draft;
  const handlers = handlersOf(draft);
  switch (event.kind) {
    case "stop":
      return handlers.stop(draft, event);
    case "prompt":
      return handlers.prompt(draft, event);
    case "start":
      if (event.source !== "compact" && event.source !== "resume") return { none: "a fresh start" };
      return handlers.restore(draft, event);
    case "compacting": {
      record(draft, "checkpointed", { trigger: event.trigger });
      const agent = handlers.summary(draft);
      return closeDraft(draft, { turn: "none", ...(agent !== null && { agent }) });
    }
    case "ended":
      if (draft.run.owner) draft.run.owner.ended_at = event.at;
      if (draft.workflow.fresh && event.reason === "clear" && draft.run.status === "waiting")
        draft.run.cleared = event.turn;
      record(draft, "left", { reason: event.reason });
      return closeDraft(draft, { turn: "none" });
    case "command":
      return onCommand(draft, event);
    default:
      return draft.run.formal ? { none: "nothing for a formal workflow" } : note(draft, event);
  }
}

/** What is only kept: it moves nothing. */
function note(draft: Draft, event: EventOf<"sub_stop"> | EventOf<"stop_failed"> | EventOf<"noticed">): Step {
  switch (event.kind) {
    case "sub_stop":
      return keepSubAgentReport(draft, event)
        ? closeDraft(draft, { turn: "none" })
        : { none: "no report of this stage" };
    case "stop_failed":
      record(draft, "errored", { why: `the host's turn failed: ${event.error}` });
      return closeDraft(draft, { turn: "none" });
    case "noticed":
      noteCall(draft.run, event);
      record(draft, "noticed", { what: event.what, detail: event.detail });
      return closeDraft(draft, { turn: "none" });
  }
}

/** The agent gets its place and its instruction again. */
function restore(draft: Draft, event: EventOf<"start">): Step {
  const { run, workflow } = draft;
  const ask = workflow.asks[run.question?.ask ?? ""];
  const now = ask ? askText(draft, ask) : instruction(draft);
  const rest =
    run.status === "halted"
      ? `The workflow is stopped here: ${run.why ?? ""}. Do nothing for it until the person says so.`
      : "";
  const pause = run.paused ? "The person paused it with a request of their own: do that first." : "";
  const text = [
    `${MARK} Restored after ${event.source}: a workflow is running in this session.`,
    rest,
    pause,
    now,
    openRefusal(draft),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
  record(draft, "restored", { source: event.source });
  keepPending(draft, text, "start");
  return closeDraft(draft, { turn: "none", agent: text });
}

function summary({ run, workflow }: Draft): string {
  return `Keep in the summary: ${header(run, workflow)} is running (${run.status}). Pawl will give the instruction again after compaction.`;
}
