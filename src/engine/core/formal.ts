import { detectIn, NOTES } from "../../formal/core/detect.ts";
import { guidance, isOutdated, reminder } from "../../formal/core/guidance.ts";
import { importContent, mergeContent, type ParsedFormal } from "../../formal/core/state.ts";
import type { Content, Formal, Phase } from "../../kernel/types/formal.ts";
import type { EventOf, FileState, PhaseChange, Step, ToolCall } from "../../kernel/types/run.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { MARK } from "./guide.ts";
import { givePending, goOn, isFirstTime, keepPending, noteArrival } from "./ledger.ts";
import { endRun } from "./moves.ts";

/** Runs of formal workflows: the agent works, Pawl remembers. They are never nagged, only restored. */

/** Takes over what an agent wrote into the document. */
export function importFormal(draft: Draft, parsed: ParsedFormal): void {
  const { run } = draft;
  const before = run.formal!.phase;
  const formal = importContent(run.formal!, parsed);
  draft.dirty = JSON.stringify(formal) !== JSON.stringify(run.formal) || parsed.repaired.length > 0;
  run.formal = formal;
  if (parsed.repaired.length > 0) record(draft, "mended", { what: parsed.repaired });
  notePhase(draft, before, "document");
}

function notePhase(draft: Draft, before: Phase, by: string): void {
  const { phase } = draft.run.formal!;
  if (JSON.stringify(before) === JSON.stringify(phase)) return;
  record(draft, "phased", { from: before.current, to: phase.current, name: phase.name, by });
  enterPhase(draft);
}

/**
 * Notes and plans are written too. They are read whenever the conversation is about to be lost, or has been: what changed
 * there since the last time is taken over, like what changes in the document.
 */
export function importNotes(draft: Draft): Step | null {
  const { run, facts } = draft;
  const formal = run.formal!;
  const path = formal.notes?.path ?? NOTES;
  if (facts.notes === undefined) return { need: [{ kind: "notes", path }] };
  // What cannot be read now says nothing.
  if (!facts.notes.ok) return null;
  const found = detectIn(facts.notes.value?.text ?? "", path);
  if (!found || (path === NOTES && !isSameName(found.name, formal.name))) return endWithNotes(draft, path);
  const { name: _name, type: _type, ...rest } = found;
  const content: Content = { ...rest, extra: {} };
  const before = formal.phase;
  const isNews = (facts.notes.value?.changed_at ?? "") > run.moved_at;
  const base = formal.notes?.content ?? { ...NOTHING_SEEN, ...(!isNews && { phase: content.phase }) };
  run.formal = { ...formal, ...mergeContent(formal, base, content), notes: { ...formal.notes, path, content } };
  notePhase(draft, before, "notes");
  return null;
}

const isSameName = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();
const NOTHING_SEEN: Content = {
  phase: { current: 0, total: 0, name: "", status: "not_started" },
  required_reading: [],
  key_reminders: [],
  context: {},
  extra: {},
};

/** A workflow found in notes is over when they no longer hold it. One whose document an agent keeps up needs no notes. */
function endWithNotes(draft: Draft, path: string): Step | null {
  const { id, formal } = draft.run;
  if (!formal?.notes?.found || (path === NOTES && formal.seen)) return null;
  const person = `Pawl: ${formal.name} is no longer in progress in ${path}, so the run ${id} is completed.`;
  return endRun(draft, "completed", { signal: "notes", message: "", by: "agent" }, person);
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

const barePath = (entry: string) => entry.replace(/^@/, "").replace(/^\.\//, "");
const ABSENT: Record<FileState, string> = {
  there: "",
  missing: " (does not exist)",
  outside: " (outside the project: do not read it)",
};

export function restoreFormal(draft: Draft, event: EventOf<"start">): Step {
  const { run } = draft;
  const reading = run.formal!.required_reading;
  if (reading.length > 0 && draft.facts.files === undefined)
    return { need: [{ kind: "files", paths: reading.map(barePath) }] };
  const states = draft.facts.files?.ok ? draft.facts.files.value : {};
  const notes = Object.fromEntries(reading.map((entry) => [entry, ABSENT[states[barePath(entry)] ?? "there"]]));
  const now = draft.workflow.stages.find((stage) => stage.id === run.stage)?.say ?? "";
  const text = [`${MARK}\n${guidance(run.formal!, run.id, event.source, notes)}`, now && `This phase: ${now}`]
    .filter(Boolean)
    .join("\n\n");
  run.formal!.restored = { at: event.at, absent: reading.filter((entry) => notes[entry]) };
  run.ledger.told = run.ledger.told.filter((subject) => subject !== "reading");
  record(draft, "restored", { source: event.source, phase: run.formal!.phase.current });
  keepPending(draft, text, "start");
  return closeDraft(draft, { turn: "none", agent: text });
}

/** A prompt does not show whether the guidance arrived: it is repeated in short, with the command that shows all of it. */
export function onFormalPrompt(draft: Draft, event: EventOf<"prompt">): Step {
  const { run } = draft;
  const { pending } = run;
  if (event.injected || !pending)
    return draft.notes.length > 0 ? closeDraft(draft, { turn: "none" }) : { none: "no instruction is pending" };
  givePending(draft, pending);
  const inShort = pending.times === 1 || isOutdated(pending.text, run.formal!);
  const agent = inShort ? `${MARK} ${reminder(run.formal!, run.id)}` : pending.text;
  return closeDraft(draft, { turn: "none", agent });
}

/** After a restore the required files must have been read; once, the agent is sent back for what is missing. */
export function onFormalStop(draft: Draft): Step {
  const { run, workflow, facts } = draft;
  const formal = run.formal!;
  const policy = workflow.reading ?? "enforce";
  const check = formal.restored !== undefined && policy !== "off" && formal.required_reading.length > 0;
  if (check && facts.tools === undefined) return { need: [{ kind: "tools", since: formal.restored!.at }] };
  const silent = !check && !run.pending && !draft.dirty && draft.notes.length === 0;
  if (silent) return { none: "nothing to say" };
  record(draft, "stopped", {});
  noteArrival(draft);
  const missing = check && facts.tools?.ok ? unread(formal, facts.tools.value) : [];
  if (missing.length > 0) record(draft, "unread", { files: missing, policy });
  const isSentBack = missing.length > 0 && policy !== "remind" && isFirstTime(draft, "reading");
  if (!isSentBack) {
    delete formal.restored;
    if (missing.length === 0) return closeDraft(draft, { turn: "end" });
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
    (entry) => !formal.restored?.absent?.includes(entry) && !done.some((call) => reads(call, barePath(entry))),
  );
}

const READERS = /(?:^|[\s;&|(])(?:cat|head|tail|less|more|sed|nl|bat)\s/;

function reads({ name, input }: ToolCall, path: string): boolean {
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
  const { iteration } = formal.context;
  if (change.to === "next" && after.current < before.current)
    formal.context.iteration = (typeof iteration === "number" ? iteration : 1) + 1;
  const { current, total, name, status } = after;
  record(draft, "phased", { from: before.current, to: current, name, status, by: "command" });
  enterPhase(draft);
  const person = `${formal.name}: phase ${current}/${total} - ${name} (${status})`;
  return closeDraft(draft, { turn: "none", person });
}

const refuse = (draft: Draft, why: string) =>
  closeDraft(draft, { turn: "end", reason: "refused", person: `Refused: ${why}.` });

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
