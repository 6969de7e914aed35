/** The lines of one project's journal into runs, and runs into the database. */
import type { Database } from "bun:sqlite";
import { foldLine, openRun, type RunState, touchRun } from "../core/fold.ts";
import { packRun, unpackRun } from "../core/fold-pack.ts";
import { scanLine } from "../core/journal-scan.ts";
import { newPacker } from "../core/packed.ts";
import { noteVisits } from "./days.ts";
import type { Project } from "./projects.ts";
import { MOST_TOUCHED, type Step, type Touched, type Work } from "./work.ts";

const MOST_STATES = 1000;

export interface Fold {
  take: (bytes: Buffer, from: number, to: number) => void;
  skipped: () => void;
  isEnough: () => boolean;
  flush: () => void;
}

interface Held {
  state: RunState;
  changed: boolean;
}

export function openFold(work: Work, project: Project): Fold {
  const { scanner } = work;
  const held = new Map<string, Held>();
  const load = loader(work.db, project.id);
  const saved = savedRuns(work, project.id);
  const save = saver(work, project);
  let last: Held | undefined;
  const find = (id: string): Held | undefined => {
    if (last !== undefined && last.state.id === id) return last;
    const known = held.get(id) ?? (saved?.has(id) === false ? undefined : hold(held, load(id)));
    if (known !== undefined) last = known;
    return known;
  };
  const flush = () => {
    for (const [id, one] of held) {
      if (one.changed) save(one);
      saved?.add(id);
    }
    held.clear();
    last = undefined;
  };
  const take = (bytes: Buffer, from: number, to: number) => {
    const what = scanLine(scanner, bytes, from, to);
    if (what === "again") {
      work.events++;
      return;
    }
    if (what === "none") {
      work.skipped++;
      return;
    }
    work.events++;
    const { line } = scanner;
    let run = find(line.run);
    if (what === "alive") {
      if (run === undefined) return;
      touchRun(run.state, line.at);
      run.changed = true;
      return;
    }
    if (run === undefined) {
      if (held.size >= MOST_STATES) flush();
      run = { state: openRun(line), changed: true };
      held.set(line.run, run);
      last = run;
    }
    if (foldLine(run.state, line)) run.changed = true;
  };
  return { take, flush, skipped: () => work.skipped++, isEnough: () => isEnough(work.step) };
}

function isEnough(step: Step): boolean {
  step.isCut ||= performance.now() >= step.until;
  return step.isCut;
}

/** null: it has runs of which nobody keeps a list. */
function savedRuns({ db, saved }: Work, project: number): Set<string> | null {
  if (!saved.has(project) && !hasRuns(db, project)) saved.set(project, new Set());
  return saved.get(project) ?? null;
}

const hasRuns = (db: Database, project: number) =>
  db.query("SELECT 1 FROM runs WHERE project = ? LIMIT 1").get(project) !== null;

function loader(db: Database, project: number): (id: string) => { state: Uint8Array } | null {
  const load = db.query("SELECT state FROM runs WHERE project = ? AND id = ?");
  return (id) => load.get(project, id) as { state: Uint8Array } | null;
}

function hold(held: Map<string, Held>, row: { state: Uint8Array } | null): Held | undefined {
  if (row === null) return undefined;
  const one = { state: unpackRun(row.state), changed: false };
  held.set(one.state.id, one);
  return one;
}

function touch({ touched }: Work, one: Touched): void {
  touched.push(one);
  if (touched.length >= 2 * MOST_TOUCHED) touched.splice(0, MOST_TOUCHED);
}

const SAVE = `
INSERT INTO runs (project, id, workflow, stage, status, outcome, started, updated, cost, loops, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project, id) DO UPDATE SET workflow = excluded.workflow, stage = excluded.stage, status = excluded.status,
  outcome = excluded.outcome, started = excluded.started, updated = excluded.updated,
  cost = coalesce(excluded.cost, cost), loops = excluded.loops, state = excluded.state`;

function saver(work: Work, { id: project, root }: Project): (held: Held) => void {
  const save = work.db.query(SAVE);
  const packer = newPacker();
  return (held) => {
    const { state } = held;
    noteVisits(work.step.days, project, state);
    const { id, workflow, stage, status, outcome, started, updated, loop } = state;
    const cost = loop?.cost ?? null;
    const loops = loop === null ? 0 : 1;
    const packed = packRun(packer, state);
    save.run(project, id, workflow, stage, status, outcome, started, updated, cost, loops, packed);
    if (loop === null) touch(work, { project, root, id });
    held.changed = false;
  };
}
