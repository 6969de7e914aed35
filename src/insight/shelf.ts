/** Runs in the database. */
import type { Database } from "bun:sqlite";
import type { RunState } from "./core/fold.ts";
import { packRun, unpackRun } from "./core/fold-pack.ts";
import { newPacker } from "./core/packed.ts";
import { noteVisits } from "./days.ts";
import type { Shelf } from "./fold-lines.ts";
import type { Project } from "./projects.ts";
import { MOST_TOUCHED, type Touched, type Work } from "./work.ts";

const MOST_STATES = 1000;

/** What questions are asked by; the rest is in the packed state. */
export interface Row {
  id: string;
  workflow: string;
  stage: string;
  status: string;
  outcome: string | null;
  started: number;
  updated: number;
  cost: number | null;
  loops: number;
}

export interface ProjectShelf extends Shelf {
  has: (id: string) => boolean;
  keep: (row: Row, packed: Uint8Array) => void;
}

export function openShelf(work: Work, project: Project): ProjectShelf {
  const saved = savedRuns(work, project.id);
  const find = finder(work.db, project.id);
  const save = saver(work, project);
  const packer = newPacker();
  const keep = (row: Row, packed: Uint8Array) => {
    save(row, packed);
    saved?.add(row.id);
  };
  const load = (id: string): RunState | null => {
    const packed = saved?.has(id) === false ? null : find(id);
    return packed === null ? null : unpackRun(packed);
  };
  return {
    load,
    has: (id) => saved?.has(id) ?? find(id) !== null,
    keep,
    save(state) {
      noteVisits(work.step.days, project.id, state);
      keep(rowOf(state), packRun(packer, state));
    },
    room: MOST_STATES,
    passOn: null,
  };
}

export function rowOf({ id, workflow, stage, status, outcome, started, updated, loop }: RunState): Row {
  const cost = loop?.cost ?? null;
  return { id, workflow, stage, status, outcome, started, updated, cost, loops: loop === null ? 0 : 1 };
}

function finder(db: Database, project: number): (id: string) => Uint8Array | null {
  const find = db.query("SELECT state FROM runs WHERE project = ? AND id = ?");
  return (id) => (find.get(project, id) as { state: Uint8Array } | null)?.state ?? null;
}

/** null: it has runs of which nobody keeps a list. */
function savedRuns({ db, saved }: Work, project: number): Set<string> | null {
  if (!saved.has(project) && !hasRuns(db, project)) saved.set(project, new Set());
  return saved.get(project) ?? null;
}

const hasRuns = (db: Database, project: number) =>
  db.query("SELECT 1 FROM runs WHERE project = ? LIMIT 1").get(project) !== null;

const SAVE = `
INSERT INTO runs (project, id, workflow, stage, status, outcome, started, updated, cost, loops, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project, id) DO UPDATE SET workflow = excluded.workflow, stage = excluded.stage, status = excluded.status,
  outcome = excluded.outcome, started = excluded.started, updated = excluded.updated,
  cost = coalesce(excluded.cost, cost), loops = excluded.loops, state = excluded.state`;

function saver(work: Work, { id: project, root }: Project): ProjectShelf["keep"] {
  const save = work.db.query(SAVE);
  return ({ id, workflow, stage, status, outcome, started, updated, cost, loops }, packed) => {
    save.run(project, id, workflow, stage, status, outcome, started, updated, cost, loops, packed);
    if (loops === 0) touch(work, { project, root, id });
  };
}

function touch({ touched }: Work, one: Touched): void {
  touched.push(one);
  if (touched.length >= 2 * MOST_TOUCHED) touched.splice(0, MOST_TOUCHED);
}
