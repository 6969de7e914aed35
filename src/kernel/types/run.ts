/** The vocabulary of Pawl. Data only: every room speaks in these types, none of them does anything. */

import type { GitFact, Need } from "./facts.ts";
import type { Formal } from "./formal.ts";

export type { FileState } from "./verdict.ts";

import type { Json } from "./json.ts";
import type { Verdict } from "./verdict.ts";
import type { Outcome } from "./workflow.ts";

export type { DocumentFact, Fact, Facts, GitFact, Need, NextTask, NotesFact, TaskFact, ToolCall } from "./facts.ts";
export type { Formal } from "./formal.ts";
export type { Json } from "./json.ts";
export type { GateFact, GateNeed, Ran, Verdict, VerdictWord } from "./verdict.ts";
export type { Ask, Choice, DocumentSpec, Gate, Move, Outcome, SignalFamily, Stage, Workflow } from "./workflow.ts";

// ── Events: what happened, in our own words ─────────────────────────────────

export interface EventBase {
  /** sha of what makes the event itself; see hosts/identity.ts */
  id: string;
  /** ISO time; the only clock core ever sees */
  at: string;
  host: string;
  session: string;
  /** constant during one turn of the person; "" where the host has none */
  turn: string;
  /** which installed hook command brought it: plugin, project, local, user, cli */
  via: string;
}

export type StartSource = "startup" | "resume" | "fork" | "clear" | "compact";

/** A sub-agent or workflow that runs in the background. */
export interface RunningAgent {
  id: string;
  name: string;
}

export type CommandName =
  | "start"
  | "abort"
  | "adopt"
  | "pause"
  | "resume"
  | "finish"
  | "phase"
  | "approve"
  /** a check that went on by itself is over */
  | "checked"
  /** the person accepted the workflow as it is now */
  | "accept"
  /** the person's answer to an open question, given elsewhere than in its session */
  | "decide";

/** `next`, `done` and `block` speak of the current phase; `set` names one. */
export type PhaseChange = { to: "next" | "done" | "block" } | { to: "set"; current: number; name?: string };

export type EventKind =
  | {
      kind: "prompt";
      text: string;
      injected: boolean /** the host itself says that a person typed it */;
      typed: boolean;
    }
  | {
      kind: "stop";
      message: string;
      continuing: boolean;
      /** whatever still runs: shells, monitors, agents */
      background: number;
      /** those of them whose work a claim may rest on */
      agents: RunningAgent[];
      /** the session sends itself prompts that no one types */
      scheduled: boolean;
      /** the client is in plan mode: nothing is changed yet */
      planning?: true;
    }
  | { kind: "sub_stop"; agent: string; message: string }
  | { kind: "stop_failed"; error: string }
  | { kind: "start"; source: StartSource }
  | { kind: "compacting"; trigger: string }
  | { kind: "ended"; reason: string /** the client's process; "": not known */; client: string }
  | { kind: "noticed"; what: string; detail: string }
  | {
      kind: "command";
      name: CommandName;
      why: string;
      phase?: PhaseChange;
      /** approve: who said so */
      who?: string;
      /** decide: which of the choices */
      choice?: string;
      /** decide, approve: when the question was put, or the claim made, that it is meant for */
      asked?: string;
    };

export type Event = EventBase & EventKind;
export type EventOf<K extends EventKind["kind"]> = Extract<Event, { kind: K }>;

// ── Run ─────────────────────────────────────────────────────────────────────

export type RunStatus = "active" | "waiting" | "halted" | "ended";

export interface Owner {
  host: string;
  session: string;
  /** set when the host said that the session ended */
  ended_at?: string;
  /** it had scheduled prompts at its last stop */
  scheduled?: true;
}

/** An instruction that was decided but not yet seen to arrive. */
export interface PendingInstruction {
  text: string;
  /** by which kind of event it was given, and in which turn: tells what proves its arrival */
  given_by: "prompt" | "stop" | "start" | "nothing";
  turn: string;
  at: string;
  /** how often it was given */
  times: number;
}

/** `signal` is "" for a stop that is checked without one. */
export interface OpenClaim {
  signal: string;
  at: string;
  /** how often its gates sent the agent back in this stage */
  rounds: number;
  tree: string;
  /** what it waits for */
  open?: "running" | "person" | "agents";
}

/** The task a run is about. */
export interface RunTask {
  id: string;
  title: string;
  text: string;
  labels: string[];
  tracker: string;
  path?: string;
  /** as whom it was claimed; "" where the tracker names no one */
  actor: string;
  claimed_at: string;
}

export interface Question {
  ask: string;
  at: string;
  /** seq at which it was asked: a newer review has a higher one */
  seq: number;
  turn: string;
}

export interface Report {
  agent: string;
  at: string;
  seq: number;
  stage: string;
  /** file name inside the run's folder */
  file: string;
  /** the valid signal the report carried, if any */
  signal: string | null;
  critical: string[];
}

export interface Ledger {
  /** continues since the last state change or new evidence */
  idle: number;
  /** continues in this turn since the last known tool call: the host's own cap counts these */
  unbroken: number;
  turn: string;
  /** when the first of those unbroken continues was given */
  since: string;
  /** what was already told once, e.g. "malformed:review" */
  told: string[];
  /** tool calls of this stage at the last look, and how often it was only told to go on */
  tools?: number;
  nudges?: number;
  /** how often each stage was entered since the task began, or the person last spoke */
  laps?: Record<string, number>;
}

export interface SeenEvent {
  id: string;
  via: string;
  at: string;
}

export interface Call {
  about: "permission" | "idle" | "question";
  /** for which a permission is asked; "": unknown */
  tool: string;
  at: string;
}

export interface RunDocument {
  /** relative to the root; "" where the workflow has none */
  path: string;
  /** it was written once: from then on a missing file means that someone removed it */
  written: boolean;
  /** keys and text of others, kept verbatim */
  extra: Record<string, string>;
  body: string;
  /** keys once read from the file: missing there now means removed by its owner */
  seen: string[];
}

/** What a run is about. */
export interface RunWork {
  task?: RunTask;
  /** where no task says it: what the person asked for before, the command that is to pass */
  request?: string;
  /** each task begins in a fresh conversation: a loop drives it */
  fresh?: true;
  /** the person cleared the conversation in this process (not known: in this turn), for the next one to take it up */
  cleared?: string;
  /** tasks of this run that are over, with what proved their stages */
  finished?: { task: string; title: string; at: string; plan: string[]; done: Run["done"] }[];
}

/** What was claimed, and what the checks found. */
export interface RunChecks {
  /** a claim that was not let through yet */
  claim?: OpenClaim;
  /** the newest verdict of each gate, by its id */
  verdicts?: Record<string, Verdict>;
  /** the most tests that each gate ever saw, by its id */
  most_tests?: Record<string, number>;
  /** old tests that a person accepted as they are now, by their signs */
  accepted?: string[];
  /** git as it was when the run, or its task, began; null: unknown */
  base: GitFact | null;
  /** the tree as it was then; only for workflows whose gates compare with it */
  base_tree?: string;
  /** the person does not want this turn checked */
  skipped?: true;
}

/** A common head, and a part for each capability. */
export interface Run {
  v: 2;
  id: string;
  seq: number;
  workflow: string;
  /** ids of the stages of this run, in order */
  plan: string[];
  stage: string;
  /** when this stage was entered: evidence older than this proves nothing for it */
  entered_at: string;
  /** when each stage of this task was last entered */
  entered?: Record<string, string>;
  status: RunStatus;
  outcome?: Outcome;
  /** why it waits, is halted or ended, in plain words */
  why?: string;
  owner: Owner | null;
  /** the turn whose prompt was the person's own business: its stop is theirs */
  paused?: { turn: string; told: boolean /** said by command: only a go lifts it, no claim does */; firm?: true };
  /** since when the agent's turn is over, with nothing of ours to continue it */
  stopped_at?: string;
  question?: Question;
  /** the host called the person, and nothing was heard of the session since */
  call?: Call;
  decision?: { ask: string; choice: string; at: string };
  pending?: PendingInstruction;
  /** `proof`: what let it through, in words */
  done: Record<string, { at: string; signal: string; proof?: string[] }>;
  reports: Report[];
  ledger: Ledger;
  /** the newest events, for repeats and double deliveries */
  recent: SeenEvent[];
  /** pairs of ways that delivered the same event: the hook is installed twice */
  doubled?: string[];
  commit_hash: string | null;
  last_signal: string | null;
  work: RunWork;
  checks: RunChecks;
  document: RunDocument;
  /** a formal workflow: phases, reading, reminders */
  formal?: Formal;
  created_at: string;
  /** the last accepted signal or decision */
  moved_at: string;
  updated_at: string;
}

export interface RunSummary {
  id: string;
  workflow: string;
  status: RunStatus;
  owner: Owner | null;
  /** the owner's session ended, or its process is known to be gone */
  owner_gone: boolean;
  updated_at: string;
  recent: SeenEvent[];
  document_path: string | null;
}

// ── Decisions ───────────────────────────────────────────────────────────────

export interface Answer {
  turn: "continue" | "end" | "none";
  agent?: string;
  person?: string;
  /** the failure responses of the seed: a visible block, its reason to the letter */
  reason?: string;
}

/** One thing that happened, for the journal. `kind` is open: readers ignore unknown ones. */
export interface JournalRecord {
  kind: string;
  [key: string]: Json;
}

/** What was given and whether it arrived, and what the host only mentioned: a story is clear without these records. */
export const BOOKKEEPING = ["owed", "delivered", "noticed", "left"];

export type Effect =
  /** write the document (null: take it out of the active path), only over the bytes whose hash we read ("" = missing) */
  | { kind: "document"; path: string; text: string | null; expect: string }
  /** put a broken file aside, never delete it */
  | { kind: "quarantine"; path: string }
  | { kind: "log"; path: string; lines: string[] }
  | { kind: "report"; file: string; text: string }
  | { kind: "archive" };

export interface Decision {
  run: Run;
  answer: Answer;
  records: JournalRecord[];
  effects: Effect[];
}

export type Step = { need: Need[] } | { decision: Decision } | { none: string };

/** What is on disk as <seq>.json: the run, and everything that has to follow from it. */
export interface Commit {
  run: Run;
  event: { id: string; at: string; host: string; session: string; via: string; kind: string };
  records: JournalRecord[];
  effects: Effect[];
}
