/** One project's journal into the database: which files, from where, and what becomes of their lines. */
import type { Database } from "bun:sqlite";
import { foldLine, openRun, type RunState, touchRun } from "../core/fold.ts";
import { packRun, unpackRun } from "../core/fold-pack.ts";
import { openScanner, type Scanner, scanLine } from "../core/journal-scan.ts";
import { newPacker } from "../core/packed.ts";
import { namesOf } from "../store/disk.ts";
import { errorCode, insideRoot, lookAt, messageOf } from "../store/files.ts";
import { join } from "../store/names.ts";
import { type DaySums, newDaySums, noteVisits } from "./days.ts";
import type { Project } from "./projects.ts";
import { nowhere, type Place, readOn } from "./read.ts";

const FOLDER = ".pawl/journal";
const MOST_STATES = 1000;
/** Each look at a cost opens a folder: after a long absence newer runs have to do. */
export const MOST_TOUCHED = 200;

interface Touched {
  project: number;
  root: string;
  id: string;
}

export interface Work {
  db: Database;
  events: number;
  skipped: number;
  problems: string[];
  days: DaySums;
  /** runs that changed and whose cost is not in the journal: the last ones */
  touched: Touched[];
  scanner: Scanner;
}

export const newWork = (db: Database): Work => ({
  db,
  events: 0,
  skipped: 0,
  problems: [],
  days: newDaySums(),
  touched: [],
  scanner: openScanner(),
});

/** A file that is not what it was makes the whole project be folded anew. */
export function foldProject(work: Work, project: Project): void {
  if (project.gone || foldFiles(work, project)) return;
  forgetProject(work.db, project.id);
  work.days.delete(project.id);
  if (!foldFiles(work, project)) work.problems.push(`${project.root}: its journal changes while it is read`);
}

function forgetProject(db: Database, id: number): void {
  for (const table of ["runs", "days", "files"]) db.query(`DELETE FROM ${table} WHERE project = ?`).run(id);
}

// ── Files ───────────────────────────────────────────────────────────────────

interface Found {
  name: string;
  path: string;
  inode: number;
  size: number;
}

/** false: a file was replaced or cut. */
function foldFiles(work: Work, project: Project): boolean {
  const known = placesOf(work.db, project.id);
  const found = filesOf(work, project);
  if (isReplaced(known, found)) return false;
  const fold = openFold(work, project);
  for (const file of found) {
    const before = known.find(({ inode }) => inode === file.inode);
    if (before?.offset === file.size && before.name === file.name) continue;
    try {
      const after = readFile(file, before, fold);
      if (after === null) return false;
      keepPlace(work.db, project.id, file, after);
    } catch (error) {
      work.problems.push(`${file.path}: ${messageOf(error)}`);
    }
  }
  fold.flush();
  return true;
}

/** A rotated file has another name, but it is the same file; unless the disk gave the number of a removed one to a new one. */
function readFile(file: Found, before: KnownPlace | undefined, fold: Fold): Place | null {
  const place = before ?? nowhere(file.inode);
  const after = readOn(file.path, place, fold);
  const isNew = after === null && before !== undefined && before.name !== file.name;
  return isNew ? readOn(file.path, nowhere(file.inode), fold) : after;
}

/** Another file has the name of one that is nowhere any more. */
function isReplaced(known: KnownPlace[], found: Found[]): boolean {
  const isThere = (inode: number) => found.some((file) => file.inode === inode);
  return known.some(({ name, inode }) => !isThere(inode) && found.some((file) => file.name === name));
}

function filesOf({ problems }: Work, { root }: Project): Found[] {
  try {
    const dir = insideRoot(root, FOLDER);
    if (lookAt(dir) === undefined) return [];
    const names = namesOf(dir).filter((name) => name.endsWith(".jsonl"));
    return names.sort().flatMap((name) => fileAt(join(dir, name), name, problems));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") problems.push(`${root}: ${messageOf(error)}`);
    return [];
  }
}

function fileAt(path: string, name: string, problems: string[]): Found[] {
  const found = lookAt(path);
  if (found === undefined) return [];
  if (found.isFile()) return [{ name, path, inode: found.ino, size: found.size }];
  problems.push(`${path}: not a regular file`);
  return [];
}

interface KnownPlace extends Place {
  name: string;
}

function placesOf(db: Database, project: number): KnownPlace[] {
  const rows = db.query("SELECT name, inode, offset, skipping, tail FROM files WHERE project = ?").all(project);
  return (rows as Record<"name" | "inode" | "offset" | "skipping" | "tail", string>[]).map((row) => ({
    name: row.name,
    inode: Number(row.inode),
    offset: Number(row.offset),
    skipping: Number(row.skipping) === 1,
    tail: row.tail,
  }));
}

function keepPlace(db: Database, project: number, { name, inode }: Found, { offset, skipping, tail }: Place): void {
  db.query("DELETE FROM files WHERE project = ? AND inode = ? AND name <> ?").run(project, String(inode), name);
  db.query("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)").run(
    project,
    name,
    String(inode),
    offset,
    skipping ? 1 : 0,
    tail,
  );
}

// ── Lines ───────────────────────────────────────────────────────────────────

interface Fold {
  take: (bytes: Buffer, from: number, to: number) => void;
  skipped: () => void;
  flush: () => void;
}

interface Held {
  state: RunState;
  changed: boolean;
}

function openFold(work: Work, project: Project): Fold {
  const { scanner } = work;
  const held = new Map<string, Held>();
  const load = loader(work.db, project.id);
  /** Runs of a project that was never folded are nowhere but here. */
  const saved = hasRuns(work.db, project.id) ? null : new Set<string>();
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
  return { take, flush, skipped: () => work.skipped++ };
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
    noteVisits(work.days, project, state);
    const { id, workflow, stage, status, outcome, started, updated, loop } = state;
    const cost = loop?.cost ?? null;
    const loops = loop === null ? 0 : 1;
    const packed = packRun(packer, state);
    save.run(project, id, workflow, stage, status, outcome, started, updated, cost, loops, packed);
    if (loop === null) touch(work, { project, root, id });
    held.changed = false;
  };
}
