/** Journals for tests of the fold: written as Pawl writes them, and read in one go or in pieces. */
import { foldLine, openRun, type RunState, touchRun, type Visit } from "../../../src/insight/core/fold.ts";
import { packRun, unpackRun } from "../../../src/insight/core/fold-pack.ts";
import { openScanner, scanLine } from "../../../src/insight/core/journal-scan.ts";
import { newPacker } from "../../../src/insight/core/packed.ts";

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
  runs: Map<string, Uint8Array>;
  /** every visit that ended, as it was told */
  closed: Visit[];
  skipped: number;
}

const packer = newPacker();

/** As a sync does it: what was known before is unpacked, what changed is packed. */
export function foldText(text: string, before?: Folded): Folded {
  const folded: Folded = before ?? { runs: new Map(), closed: [], skipped: 0 };
  const bytes = new TextEncoder().encode(text);
  const scanner = openScanner();
  const states = new Map<string, RunState>();
  let from = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
    const what = end === from ? null : scanLine(scanner, bytes, from, end);
    from = end + 1;
    if (what === null || what === "again") continue;
    if (what === "none") folded.skipped++;
    else takeLine(what, scanner.line, states, folded);
  }
  for (const [id, state] of states) {
    folded.closed.push(...state.closed.map((visit) => ({ ...visit })));
    folded.runs.set(id, packRun(packer, state).slice());
  }
  return folded;
}

function takeLine(
  what: "record" | "alive",
  line: Parameters<typeof openRun>[0],
  states: Map<string, RunState>,
  { runs }: Folded,
) {
  const packed = runs.get(line.run);
  let state = states.get(line.run) ?? (packed === undefined ? undefined : unpackRun(packed));
  if (what === "alive" && state === undefined) return;
  state ??= openRun(line);
  states.set(line.run, state);
  if (what === "alive") touchRun(state, line.at);
  else foldLine(state, line);
}

export const stateOf = (folded: Folded, id = "cw-1"): RunState => unpackRun(folded.runs.get(id)!);
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
