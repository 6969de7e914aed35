import type {
  Answer,
  Decision,
  Effect,
  Event,
  Facts,
  JournalRecord,
  Json,
  Run,
  Step,
  Workflow,
} from "../../kernel/types/run.ts";
import { projectDocument } from "./document.ts";

/** A decision in the making: handlers change the copy of the run and note what happened. */
export interface Draft {
  workflow: Workflow;
  run: Run;
  event: Event;
  facts: Facts;
  records: JournalRecord[];
  effects: Effect[];
  /** lines for the human log */
  log: string[];
  /** what the person has to know in addition to the answer */
  notes: string[];
  /** the same event came before by the same way: the agent repeated itself */
  repeated: boolean;
  /** what the gates of this move found, in words */
  proof: string[];
  /** the document brought something new */
  dirty: boolean;
}

const RECENT = 40;

export function openDraft(input: { workflow: Workflow; run: Run; event: Event; facts: Facts }): Draft {
  return {
    ...input,
    run: structuredClone(input.run),
    records: [],
    effects: [],
    log: [],
    notes: [],
    proof: [],
    repeated: false,
    dirty: false,
  };
}

export function record(draft: Draft, kind: string, fields: Record<string, Json> = {}): void {
  draft.records.push({ kind, stage: draft.run.stage, ...fields });
}

/** A sub-agent or a shell that still runs brings the agent back, and so does a check that wakes it. */
function noteTurn(run: Run, event: Event, answer: Answer): void {
  const isOver = event.kind === "stop" ? answer.turn === "end" && event.background === 0 : event.kind === "stop_failed";
  const isBack = answer.turn === "continue" || event.kind === "prompt" || (event.via === "rewake" && answer.agent);
  if (isOver) run.stopped_at = event.at;
  else if (isBack) delete run.stopped_at;
}

/** The only way out: numbers the run, notes the event, and lets document and log follow from the state. */
export function closeDraft(draft: Draft, answer: Answer): Step {
  const { run } = draft;
  const { id, via, at } = draft.event;
  run.seq += 1;
  run.updated_at = at;
  if (!draft.repeated || answer.turn !== "none") noteTurn(run, draft.event, answer);
  run.recent = [...run.recent.filter((seen) => seen.id !== id), { id, via, at }].slice(-RECENT);
  const effects = [...draft.effects, ...projectDocument(run, draft.workflow, draft.facts)];
  if (draft.log.length > 0 && draft.workflow.log) {
    effects.push({ kind: "log", path: draft.workflow.log, lines: draft.log });
  }
  if (run.status === "ended") effects.push({ kind: "archive" });
  const person = [answer.person, ...draft.notes].filter((text) => text !== undefined).join("\n\n");
  const decision: Decision = { run, answer: person ? { ...answer, person } : answer, records: draft.records, effects };
  return { decision };
}
