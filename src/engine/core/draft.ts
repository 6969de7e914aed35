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

/** The only way out: numbers the run, notes the event, and lets document and log follow from the state. */
export function closeDraft(draft: Draft, answer: Answer): Step {
  const { run, event } = draft;
  run.seq += 1;
  run.updated_at = event.at;
  run.recent = [...run.recent.filter((seen) => seen.id !== event.id), { id: event.id, via: event.via }].slice(-RECENT);
  const effects = [...draft.effects, ...projectDocument(run, draft.workflow, draft.facts)];
  if (draft.log.length > 0 && draft.workflow.log) {
    effects.push({ kind: "log", path: draft.workflow.log, lines: draft.log });
  }
  if (run.status === "ended") effects.push({ kind: "archive" });
  const person = [answer.person, ...draft.notes].filter((text) => text !== undefined).join("\n\n");
  const decision: Decision = { run, answer: person ? { ...answer, person } : answer, records: draft.records, effects };
  return { decision };
}
