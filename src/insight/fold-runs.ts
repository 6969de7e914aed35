/** Folds the journal lines of one project into its runs. Runs at hand are kept in memory and saved as JSON in SQLite. */
import type { Database } from "bun:sqlite";
import { foldLine, openRun, type RunState, tellsOnlyLife, touchRun } from "./core/fold.ts";
import { readRecord } from "./core/journal-line.ts";
import { type DaySums, noteVisits } from "./days.ts";
import type { Project } from "./projects.ts";
import type { LineReader } from "./read.ts";

const MOST_STATES = 1000;
/** Reading a cost opens a folder: after a long absence only the newest runs get theirs. */
export const MOST_TOUCHED = 200;

/** What one sync has done so far, in all its steps. */
export interface Work {
  db: Database;
  projects: number;
  events: number;
  skipped: number;
  problems: string[];
  /** runs whose cost is read at the end */
  touched: { project: number; root: string; id: string }[];
  step: Step;
}

/** The current step. Bytes: of all files, and how many of them have been read. */
export interface Step {
  until: number;
  days: DaySums;
  read: number;
  total: number;
  isCut: boolean;
}

interface CachedRun {
  state: RunState;
  changed: boolean;
}

export interface RunFold extends Omit<LineReader, "isEnough"> {
  save: () => void;
}

export function openFold(work: Work, project: Project): RunFold {
  const cache = new Map<string, CachedRun>();
  const find = work.db.query("SELECT state FROM runs WHERE project = ? AND id = ?");
  const write = runWriter(work.db, project.id);
  const load = (id: string): CachedRun | undefined => {
    const cached = cache.get(id);
    if (cached !== undefined) return cached;
    const row = find.get(project.id, id) as { state: string } | null;
    return row === null ? undefined : add(JSON.parse(row.state) as RunState);
  };
  const add = (state: RunState): CachedRun => {
    if (cache.size >= MOST_STATES) save();
    const run = { state, changed: false };
    cache.set(state.id, run);
    return run;
  };
  const save = () => {
    for (const { state, changed } of cache.values()) {
      if (!changed) continue;
      noteVisits(work.step.days, project.id, state);
      state.closed = [];
      write(state);
      if (state.loop === null) touch(work, project, state.id);
    }
    cache.clear();
  };
  const take = (value: unknown) => {
    const line = readRecord(value);
    if (line === null) {
      work.skipped++;
      return;
    }
    work.events++;
    let run = load(line.run);
    if (tellsOnlyLife(line)) {
      if (run !== undefined && touchRun(run.state, line.at)) run.changed = true;
      return;
    }
    run ??= add(openRun(line));
    if (foldLine(run.state, line)) run.changed = true;
  };
  return { take, save, skip: () => work.skipped++ };
}

const SAVE = `
INSERT INTO runs (project, id, workflow, stage, status, outcome, started, updated, cost, loops, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project, id) DO UPDATE SET workflow = excluded.workflow, stage = excluded.stage, status = excluded.status,
  outcome = excluded.outcome, started = excluded.started, updated = excluded.updated,
  cost = coalesce(excluded.cost, cost), loops = excluded.loops, state = excluded.state`;

/** Columns are what queries filter by; the rest is in the state. */
function runWriter(db: Database, project: number): (state: RunState) => void {
  const query = db.query(SAVE);
  return (state) => {
    const { id, workflow, stage, status, outcome, started, updated, loop } = state;
    const [cost, loops] = [loop?.cost ?? null, loop === null ? 0 : 1];
    const json = JSON.stringify(state);
    query.run(project, id, workflow, stage, status, outcome, started, updated, cost, loops, json);
  };
}

function touch({ touched }: Work, { id: project, root }: Project, id: string): void {
  touched.push({ project, root, id });
  if (touched.length >= 2 * MOST_TOUCHED) touched.splice(0, MOST_TOUCHED);
}
