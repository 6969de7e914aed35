/** Journals for tests of the fold: written as Pawl writes them, and read in one go or in pieces. */
import { foldLine, openRun, type RunState, tellsOnlyLife, type Visit } from "../../../src/insight/core/fold.ts";
import { type JournalLine, readRecord } from "../../../src/insight/core/journal-line.ts";

type Fields = Record<string, unknown>;
export type Told = [kind: string, fields?: Fields];

const BEGIN = Date.parse("2026-03-01T10:00:00.000Z");
export const at = (minutes: number) => BEGIN + minutes * 60_000;

export interface Where {
  run?: string;
  workflow?: string;
  session?: string;
}

/** The lines of one commit. */
export function commit(seq: number, minutes: number, stage: string, told: Told[], where: Where = {}): string[] {
  const { run = "cw-1", workflow = "complete-work", session = "s1" } = where;
  const key = { v: 1, at: new Date(at(minutes)).toISOString(), run, seq };
  // A record that moves the run names its new stage, and those behind it are there too.
  let there = stage;
  return told.map(([kind, fields], i) => {
    if (typeof fields?.stage === "string") there = fields.stage;
    return JSON.stringify({ ...key, i, kind, host: "claude", session, workflow, stage: there, ...fields });
  });
}

/** One run: `[minutes, stage at first, …records]`, numbered from 1. */
export type Story = [minutes: number, stage: string, ...told: Told[]][];
export const linesOf = (story: Story, where: Where = {}) =>
  story.flatMap(([minutes, stage, ...told], n) => commit(n + 1, minutes, stage, told, where));

export interface Folded {
  /** as JSON, the way the database keeps them */
  runs: Map<string, string>;
  /** every visit that ended */
  closed: Visit[];
  skipped: number;
}

/** As a sync does it: a known run is loaded, a changed one is saved. */
export function foldText(text: string, before?: Folded): Folded {
  const folded: Folded = before ?? { runs: new Map(), closed: [], skipped: 0 };
  const states = new Map<string, RunState>();
  for (const one of text.split("\n").slice(0, -1)) {
    if (one === "") continue;
    const line = readRecord(parse(one));
    if (line === null) folded.skipped++;
    else takeLine(line, states, folded);
  }
  for (const [id, state] of states) {
    folded.closed.push(...state.closed.map((visit) => ({ ...visit })));
    state.closed = [];
    folded.runs.set(id, JSON.stringify(state));
  }
  return folded;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function takeLine(line: JournalLine, states: Map<string, RunState>, { runs }: Folded) {
  const known = runs.get(line.run);
  const state = states.get(line.run) ?? (known === undefined ? undefined : (JSON.parse(known) as RunState));
  if (state === undefined && tellsOnlyLife(line)) return;
  const open = state ?? openRun(line);
  states.set(line.run, open);
  foldLine(open, line);
}

export const stateOf = (folded: Folded, id = "cw-1"): RunState => JSON.parse(folded.runs.get(id)!);
export const foldStory = (story: Story, where: Where = {}) =>
  stateOf(foldText(`${linesOf(story, where).join("\n")}\n`), where.run);

// ── What stories are made of ────────────────────────────────────────────────

export const PLAN = ["memory", "review", "commit"];
export const ARMED: Told = ["armed", { plan: PLAN, by: "prompt", beside: [] }];
export const SIGNALLED: Told = ["signalled", { signal: "DONE", trailing: false }];
export const to = (from: string, stage: string): Told => ["advanced", { stage, from, to: stage, signal: "DONE" }];
export const gated = (verdict: string, gate = "npm test"): Told => [
  "gated",
  {
    signal: "DONE",
    gate,
    id: `id-${gate}`,
    verdict,
    why: `it is ${verdict}`,
    tree: "abc",
    command: "npm test",
    cwd: ".",
  },
];
export const ended = (outcome = "completed"): Told => ["ended", { outcome, signal: "DONE", by: "agent", commit: null }];
export const ENDED = ended();
