import { summaryText } from "../../formal/core/guidance.ts";
import { parseFormal } from "../../formal/core/state.ts";
import type { Call, Event, EventOf, Facts, Run, SeenEvent, Step, Workflow } from "../../kernel/types/run.ts";
import { openRefusal } from "./claim.ts";
import { onCommand } from "./command.ts";
import { importDocument, parseFrontMatter } from "./document.ts";
import { closeDraft, type Draft, openDraft, record } from "./draft.ts";
import { importFormal, importNotes, onFormalPrompt, onFormalStop, restoreFormal } from "./formal.ts";
import { askText, header, instruction, MARK } from "./guide.ts";
import { isFirstTime, keepPending } from "./ledger.ts";
import { endRun } from "./moves.ts";
import { onPrompt } from "./prompt.ts";
import { keepSubAgentReport } from "./report.ts";
import { onStop } from "./stop.ts";

/** One event against one run. Pure: the same input gives the same step, so a replay after a crash is harmless. */
export function decide(input: { workflow: Workflow; run: Run; event: Event; facts: Facts }): Step {
  const { run, event } = input;
  if (run.status === "ended") return { none: "the run has ended" };
  if (!mayDecide(run, event)) return { none: "another session's run" };
  const seen = seenBefore(run, event);
  const draft = openDraft(input);
  if (seen && seen.via !== event.via) return doubled(draft, seen.via);
  draft.repeated = seen !== undefined && !isForgotten(run, event, seen);
  if (draft.repeated && !REPEATABLE.includes(event.kind)) return { none: "the same event again" };
  if (event.kind !== "ended") delete draft.run.owner?.ended_at;
  if (event.kind !== "noticed" && event.kind !== "command") delete draft.run.call;
  return readDocument(draft) ?? dispatch(draft);
}

/**
 * Compactions, resumes, endings and permissions asked for in one turn look alike and each of them counts: the host
 * delivers an event but once by the same way. A stop has its own rule.
 */
const REPEATABLE: Event["kind"][] = ["stop", "start", "compacting", "ended", "noticed"];

/**
 * New work is new: what was said before this stage or task began may be said again, and is a new claim. The very stop
 * that led here counts once more only from an agent that was sent on since: else its answer was never given.
 */
function isForgotten({ entered_at }: Run, event: Event, { at }: SeenEvent): boolean {
  if (event.kind !== "stop") return event.kind === "sub_stop" && at <= entered_at;
  return at < entered_at || (at === entered_at && event.continuing);
}

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
  return closeDraft({ ...draft, event: { ...draft.event, via: first }, repeated: true }, { turn: "none" });
}

/** Takes over what others wrote into the document; its removal ends the run. */
function readDocument(draft: Draft): Step | null {
  const { run, facts, workflow } = draft;
  const { path, written } = run.document;
  if (!facts.document?.ok) {
    if (facts.document && isFirstTime(draft, "document")) {
      record(draft, "errored", { why: `document: ${facts.document.why}` });
      draft.notes.push(`Pawl: ${path} is not kept up to date: ${facts.document.why}`);
    }
    return null;
  }
  const { state, text } = facts.document.value;
  if (state === "missing") return written ? endRemoved(draft) : null;
  const parsed = state === "broken" ? null : run.formal ? parseFormal(text) : parseFrontMatter(text);
  if (parsed === null || typeof parsed === "string") {
    const why = parsed ?? "it cannot be read";
    record(draft, "errored", { why: `the document was put aside: ${why}`, path });
    draft.notes.push(`Pawl: ${path} could not be read (${why}); it was put aside as *.corrupt and written again.`);
  } else if ("content" in parsed) importFormal(draft, parsed);
  else run.document = importDocument(run.document, parsed, workflow);
  return null;
}

/** Seed 001 tells agents to end a formal workflow so; with any other one, the person aborts it. */
function endRemoved(draft: Draft): Step {
  const { run } = draft;
  const { path } = run.document;
  record(draft, "removed", { path });
  const told = (how: string) => `Pawl: ${path} was removed, so the run ${run.id} is ${how}.`;
  if (run.formal) return endRun(draft, "completed", { signal: "removed", message: "", by: "agent" }, told("completed"));
  draft.log.push("WORKFLOW_ABORTED", "✅ Workflow aborted by user");
  return endRun(draft, "aborted", { signal: "WORKFLOW_ABORTED", message: "", by: "person" }, told("aborted"));
}

function dispatch(draft: Draft): Step {
  const { run, workflow, event } = draft;
  const { formal } = run;
  switch (event.kind) {
    case "stop":
      return formal ? onFormalStop(draft) : onStop(draft, event);
    case "prompt":
      return formal ? onFormalPrompt(draft, event) : onPrompt(draft, event);
    case "start":
      if (event.source !== "compact" && event.source !== "resume") return { none: "a fresh start" };
      if (workflow.watch) return { none: "no instruction" };
      return formal ? (importNotes(draft) ?? restoreFormal(draft, event)) : restore(draft, event);
    case "compacting": {
      const over = formal ? importNotes(draft) : null;
      if (over) return over;
      record(draft, "checkpointed", { trigger: event.trigger });
      return closeDraft(draft, { turn: "none", ...(!workflow.watch && { agent: summary(draft) }) });
    }
    case "ended":
      if (run.owner) run.owner.ended_at = event.at;
      if (workflow.fresh && event.reason === "clear" && run.status === "waiting")
        run.work.cleared = event.client || event.turn;
      record(draft, "left", { reason: event.reason });
      return closeDraft(draft, { turn: "none" });
    case "command":
      return onCommand(draft, event);
    default:
      return formal ? { none: "nothing for a formal workflow" } : note(draft, event);
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

/** What the host's own notifications are about; others are no call. */
const NOTIFIED: Readonly<Record<string, Call["about"]>> = {
  permission_prompt: "permission",
  idle_prompt: "idle",
  elicitation_dialog: "question",
};

/**
 * The host calls the person: it asks for a permission, or waits. No hook hears what came of it; the next event of the
 * session shows that it went on. It asks for a permission twice: first with the tool's name, some seconds later by a
 * notification without it.
 */
function noteCall(run: Run, { what, detail, at }: EventOf<"noticed">): void {
  const about = Object.hasOwn(NOTIFIED, detail) ? NOTIFIED[detail]! : null;
  if (what === "permission") run.call = { about: "permission", tool: detail, at };
  else if (what !== "notification") delete run.call;
  else if (about !== null && (about !== "permission" || run.call?.about !== about)) run.call = { about, tool: "", at };
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

/** For the summarizer's prompt: what it must not lose. */
function summary({ run, workflow }: Draft): string {
  if (run.formal) return summaryText(run.formal, run.id);
  return `Keep in the summary: ${header(run, workflow)} is running (${run.status}). Pawl will give the instruction again after compaction.`;
}
