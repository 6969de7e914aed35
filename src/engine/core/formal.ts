import { guidance, isOutdated, reminder, summaryText } from "../../formal/core/guidance.ts";
import { importContent, parseFormal } from "../../formal/core/state.ts";
import type { Formal } from "../../kernel/types/formal.ts";
import type { EventOf, FileState, PhaseChange, Step, ToolCall } from "../../kernel/types/run.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { MARK } from "./guide.ts";
import { goOn, keepPending, noteArrival, toldOnce } from "./ledger.ts";
import { endRun } from "./moves.ts";

/** Runs of formal workflows: the agent works, Pawl remembers. They are never nagged, only restored. */

/** Reads the document; null: go on. Its removal is how seed 001 tells agents to end a workflow. */
export function importFormal(draft: Draft): Step | null {
  const { run, facts } = draft;
  if (!facts.document?.ok) return null;
  const { state, text } = facts.document.value;
  if (state === "missing" && run.document.written) {
    record(draft, "removed", { path: run.document.path });
    const cause = { signal: "removed", message: "", by: "agent" as const };
    return endRun(
      draft,
      "completed",
      cause,
      `Pawl: ${run.document.path} was removed, so the run ${run.id} is completed.`,
    );
  }
  const parsed = state === "present" ? parseFormal(text) : null;
  if (!parsed || typeof parsed === "string") {
    if (state !== "missing") noteBroken(draft, typeof parsed === "string" ? parsed : "it cannot be read");
    return null;
  }
  const before = run.formal!.phase;
  const formal = importContent(run.formal!, parsed);
  draft.dirty = JSON.stringify(formal) !== JSON.stringify(run.formal) || parsed.repaired.length > 0;
  run.formal = formal;
  if (parsed.repaired.length > 0) record(draft, "mended", { what: parsed.repaired });
  if (JSON.stringify(before) !== JSON.stringify(run.formal.phase)) {
    record(draft, "phased", {
      from: before.current,
      to: run.formal.phase.current,
      name: run.formal.phase.name,
      by: "document",
    });
    enterPhase(draft);
  }
  return null;
}

function noteBroken(draft: Draft, why: string): void {
  const { path } = draft.run.document;
  record(draft, "errored", { why: `the document was put aside: ${why}`, path });
  draft.notes.push(`Pawl: ${path} could not be read (${why}); it was put aside as *.corrupt and written again.`);
}

/** The stage is only for display: phases may outgrow what was planned. */
function enterPhase(draft: Draft): void {
  const { run, workflow, event } = draft;
  const stages = workflow.stages;
  const stage = stages[Math.min(run.formal!.phase.current, stages.length) - 1];
  if (stage) run.stage = stage.id;
  run.entered_at = event.at;
  run.moved_at = event.at;
}

// ── Events ──────────────────────────────────────────────────────────────────

export const summaryOfFormal = ({ run }: Draft) => summaryText(run.formal!, run.id);

const pathOf = (entry: string) => entry.replace(/^@/, "").replace(/^\.\//, "");
const ABSENT: Record<FileState, string> = {
  there: "",
  missing: " (does not exist)",
  outside: " (outside the project: do not read it)",
};

export function restoreFormal(draft: Draft, event: EventOf<"start">): Step {
  const { run } = draft;
  const reading = run.formal!.required_reading;
  if (reading.length > 0 && draft.facts.files === undefined)
    return { need: [{ kind: "files", paths: reading.map(pathOf) }] };
  const states = draft.facts.files?.ok ? draft.facts.files.value : {};
  const notes = Object.fromEntries(reading.map((entry) => [entry, ABSENT[states[pathOf(entry)] ?? "there"]]));
  const now = draft.workflow.stages.find((stage) => stage.id === run.stage)?.say ?? "";
  const text = [`${MARK}\n${guidance(run.formal!, run.id, event.source, notes)}`, now && `This phase: ${now}`]
    .filter(Boolean)
    .join("\n\n");
  run.formal!.restored = { at: event.at, absent: reading.filter((entry) => notes[entry]) };
  run.ledger.told = [];
  record(draft, "restored", { source: event.source, phase: run.formal!.phase.current });
  keepPending(draft, text, "start");
  return closeDraft(draft, { turn: "none", agent: text });
}

/** A prompt does not show whether the guidance arrived: it is repeated in short, with the command that shows all of it. */
export function onFormalPrompt(draft: Draft, event: EventOf<"prompt">): Step {
  const { run } = draft;
  const { owed } = run;
  if (event.injected || !owed) return { none: "no instruction is pending" };
  record(draft, "undelivered", { given_by: owed.given_by, turn: owed.turn, times: owed.times });
  record(draft, "owed", { given_by: "prompt" });
  run.owed = { ...owed, given_by: "prompt", turn: event.turn, times: owed.times + 1 };
  const inShort = owed.times === 1 || isOutdated(owed.text, run.formal!);
  const agent = inShort ? `${MARK} ${reminder(run.formal!, run.id)}` : owed.text;
  return closeDraft(draft, { turn: "none", agent });
}

/** After a restore the required files must have been read; once, the agent is sent back for what is missing. */
export function onFormalStop(draft: Draft): Step {
  const { run, workflow, facts } = draft;
  const formal = run.formal!;
  const policy = workflow.reading ?? "enforce";
  const check = formal.restored !== undefined && policy !== "off" && formal.required_reading.length > 0;
  if (check && facts.tools === undefined) return { need: [{ kind: "tools", since: formal.restored!.at }] };
  const silent = !check && !run.owed && !draft.dirty;
  if (silent) return { none: "nothing to say" };
  record(draft, "stopped", {});
  noteArrival(draft);
  const missing = check && facts.tools?.ok ? unread(formal, facts.tools.value) : [];
  if (check) delete formal.restored;
  if (missing.length === 0) return closeDraft(draft, { turn: "end" });
  record(draft, "unread", { files: missing, policy });
  if (policy === "remind" || !toldOnce(draft, "reading")) {
    return closeDraft(draft, { turn: "end", person: `Pawl: not read after the restore: ${missing.join(" ")}` });
  }
  return goOn(draft, readingText(formal, missing), { progress: false });
}

const readingText = (formal: Formal, missing: string[]) =>
  [
    `${MARK} The workflow "${formal.name}" was restored, but this required reading was not read since:`,
    ...missing,
    "Read these files with the Read tool now (say which do not exist), then go on with the phase.",
  ].join("\n");

/** The required files that no tool call read. A path that is only named somewhere was not read. */
function unread(formal: Formal, calls: ToolCall[]): string[] {
  const done = calls.filter((call) => call.result !== null && !call.result.error);
  return formal.required_reading.filter(
    (entry) => !formal.restored?.absent?.includes(entry) && !done.some((call) => isReadOf(call, pathOf(entry))),
  );
}

const READERS = /(?:^|[\s;&|(])(?:cat|head|tail|less|more|sed|nl|bat)\s/;

function isReadOf({ name, input }: ToolCall, path: string): boolean {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return false;
  if (name === "Bash")
    return typeof input.command === "string" && READERS.test(input.command) && input.command.includes(path);
  const file = input.file_path ?? input.path;
  return name === "Read" && typeof file === "string" && (file === path || file.endsWith(`/${path}`));
}

// ── Commands ────────────────────────────────────────────────────────────────

export function changePhase(draft: Draft, change: PhaseChange): Step {
  const { run } = draft;
  const formal = run.formal;
  if (!formal) return refuse(draft, `${run.workflow} has no phases`);
  const before = formal.phase;
  const after = phaseAfter(formal, change);
  if (typeof after === "string") return refuse(draft, after);
  formal.phase = after;
  if (change.to === "next" && after.current < before.current) formal.context.iteration = iterationOf(formal) + 1;
  record(draft, "phased", {
    from: before.current,
    to: after.current,
    name: after.name,
    status: after.status,
    by: "command",
  });
  enterPhase(draft);
  return closeDraft(draft, {
    turn: "none",
    person: `${formal.name}: phase ${after.current}/${after.total} - ${after.name} (${after.status})`,
  });
}

const refuse = (draft: Draft, why: string) =>
  closeDraft(draft, { turn: "end", reason: "refused", person: `Refused: ${why}.` });

const iterationOf = (formal: Formal) => (typeof formal.context.iteration === "number" ? formal.context.iteration : 1);

/** The phase after a change; a string says why not. A QA loop begins again after its last phase. */
function phaseAfter(formal: Formal, change: PhaseChange): Formal["phase"] | string {
  const { phase, phases, type } = formal;
  if (change.to === "block") return { ...phase, status: "blocked" };
  if (change.to === "done") return { ...phase, status: "completed" };
  const loops = type === "qa-loop" && change.to === "next" && phase.current >= phase.total;
  const current = change.to === "set" ? change.current : loops ? 1 : phase.current + 1;
  if (!Number.isInteger(current) || current < 1) return `there is no phase ${current}`;
  if (current > phase.total && change.to === "set") return `there is no phase ${current}, only ${phase.total}`;
  if (current > phase.total)
    return `phase ${phase.current} is the last of ${phase.total}: \`pawl runs finish\` ends the run`;
  const name = (change.to === "set" ? change.name : undefined) ?? phases[current - 1] ?? `Phase ${current}`;
  return { ...phase, current, name, status: "in_progress" };
}
