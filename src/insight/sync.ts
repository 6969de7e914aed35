/**
 * Brings the database up to the journals, step by step. Each step is one transaction: another process sees all of it or
 * nothing, may do the next one itself, and goes on from there if this one is interrupted.
 */
import type { Database } from "bun:sqlite";
import { attempt } from "../kernel/attempt.ts";
import { readNames } from "../native/disk.ts";
import { readCost } from "../store/cost.ts";
import { errorCode, insideRoot, lookAt, messageOf } from "../store/files.ts";
import { statePath } from "../store/home.ts";
import { join } from "../store/names.ts";
import { knownProjects } from "../store/projects.ts";
import { foldLine, openRun, type RunState, tellsOnlyLife } from "./core/fold.ts";
import { readRecord } from "./core/journal-line.ts";
import { type DaySums, noteVisits, saveDays } from "./days.ts";
import { isBusy } from "./db.ts";
import { type FilePosition, type LineReader, nowhere, readOn } from "./read.ts";
import type { SyncResult } from "./types.ts";

const FOLDER = ".pawl/journal";
/** Everything may be read although the step has not ended. */
const MOST_UNFINISHED = 0.999;
const MOST_STATES = 1000;
/** Reading a cost opens a folder: after a long absence only the newest runs get theirs. */
const MOST_TOUCHED = 200;

/** What one sync has done so far, in all its steps. */
interface Work extends Pick<SyncResult, "projects" | "events" | "skipped" | "problems"> {
  db: Database;
  /** runs whose cost is read at the end */
  touched: { project: number; root: string; id: string }[];
  step: Step;
}

/** The current step. Bytes: of all files, and how many of them have been read. */
interface Step {
  until: number;
  days: DaySums;
  read: number;
  total: number;
  isCut: boolean;
}

const newStep = (until: number): Step => ({ until, days: new Map(), read: 0, total: 0, isCut: false });

/**
 * Returns a function that takes one more step of about so many milliseconds. What it returns adds up over all steps.
 * `roots`: instead of all projects that are known.
 */
export function beginSync(db: Database, roots: string[] | undefined): (ms: number) => SyncResult {
  const work: Work = { db, projects: 0, events: 0, skipped: 0, problems: [], touched: [], step: newStep(0) };
  let ms = 0;
  return (most) => {
    const began = performance.now();
    work.step = newStep(began + most);
    takeStep(work, roots);
    ms += performance.now() - began;
    const { projects, events, skipped, problems, step } = work;
    const share = step.isCut ? Math.min(MOST_UNFINISHED, step.read / step.total) : 1;
    return { events, skipped, projects, ms, share, rebuilt: null, problems };
  };
}

function takeStep(work: Work, roots: string[] | undefined): void {
  const { db } = work;
  const all = db.transaction(() => {
    const projects = registerProjects(db, roots ?? readHeard());
    work.projects = projects.length;
    for (const project of projects) if (!project.gone) foldProject(work, project);
    saveDays(db, work.step.days);
    if (!work.step.isCut) noteCosts(work);
  });
  try {
    all.immediate();
  } catch (error) {
    if (!isBusy(error)) throw error;
    work.problems.push("another process is reading the journals; its figures are used");
  }
}

/** What sessions cost is not in the journal. A loop's own figures are, and go first. */
function noteCosts({ db, touched, problems }: Work): void {
  const save = db.query("UPDATE runs SET cost = ? WHERE project = ? AND id = ?");
  for (const { project, root, id } of touched.slice(-MOST_TOUCHED)) {
    try {
      const cost = readCost(root, id);
      if (cost !== null) save.run(cost.usd, project, id);
    } catch (error) {
      problems.push(`cost of ${id}: ${messageOf(error)}`);
    }
  }
}

// ── Projects ────────────────────────────────────────────────────────────────

/** A worktree is one of its own. */
interface Project {
  id: number;
  root: string;
  gone: boolean;
}

/** These, and those that were known before and may be gone. */
function registerProjects(db: Database, roots: string[]): Project[] {
  const add = db.query("INSERT INTO projects (root, gone) VALUES (?, 0) ON CONFLICT (root) DO NOTHING");
  for (const root of roots) add.run(root);
  const mark = db.query("UPDATE projects SET gone = ? WHERE id = ? AND gone <> ?");
  const all = db.query("SELECT id, root FROM projects ORDER BY root").all() as Omit<Project, "gone">[];
  return all.map(({ id, root }) => {
    const gone = !isThere(root);
    mark.run(gone, id, gone);
    return { id, root, gone };
  });
}

/** Looked for each time: a disk may come back. What may not be looked at is there all the same. */
const isThere = (root: string) =>
  attempt(() => root.startsWith("/") && lookAt(join(root, ".pawl")) !== undefined, true);

let known: { places: string; roots: string[] } | null = null;

/** Every session has a file of its own, so they are only looked through again when one came or went. */
function readHeard(): string[] {
  const places = ["sessions", "greeted"].map((name) => findChange(statePath(name))).join(" ");
  if (known === null || known.places !== places) known = { places, roots: knownProjects() };
  return known.roots;
}

function findChange(folder: string): string {
  const found = attempt(() => lookAt(folder), undefined);
  return `${folder}:${found?.ino}:${found?.mtimeMs}`;
}

// ── Files of a project ──────────────────────────────────────────────────────

/** A file that is not what it was makes the whole project be folded again. */
function foldProject(work: Work, project: Project): void {
  const { read, total } = work.step;
  if (foldFiles(work, project)) return;
  Object.assign(work.step, { read, total });
  for (const table of ["runs", "days", "files"])
    work.db.query(`DELETE FROM ${table} WHERE project = ?`).run(project.id);
  work.step.days.delete(project.id);
  if (!foldFiles(work, project)) work.problems.push(`${project.root}: its journal changes while it is read`);
}

interface JournalFile {
  name: string;
  path: string;
  inode: number;
  size: number;
}

interface KnownPlace extends FilePosition {
  name: string;
}

/** false: a file was replaced or cut. */
function foldFiles(work: Work, project: Project): boolean {
  const { db, step, problems } = work;
  const rows = db.query("SELECT name, inode, offset, skipping, tail FROM files WHERE project = ?").all(project.id);
  const places = (rows as KnownPlace[]).map((row) => ({ ...row, skipping: Boolean(row.skipping) }));
  const files = listFiles(work, project);
  if (isReplaced(places, files)) return false;
  const fold = openFold(work, project);
  for (const file of files) {
    const before = places.find(({ inode }) => inode === file.inode);
    step.total += file.size;
    step.read += before?.offset ?? 0;
    if (step.isCut || (before?.offset === file.size && before.name === file.name)) continue;
    try {
      const after = readFile(file, before, fold);
      if (after === null) return false;
      step.read += after.offset - (before?.offset ?? 0);
      keepPlace(db, project.id, { ...after, name: file.name });
    } catch (error) {
      problems.push(`${file.path}: ${messageOf(error)}`);
    }
  }
  fold.save();
  return true;
}

/** A rotated file has another name, but it is the same file; unless the disk gave the number of a removed one to a new one. */
function readFile(
  { path, name, inode }: JournalFile,
  before: KnownPlace | undefined,
  fold: LineReader,
): FilePosition | null {
  const after = readOn(path, before ?? nowhere(inode), fold);
  const isNew = after === null && before !== undefined && before.name !== name;
  return isNew ? readOn(path, nowhere(inode), fold) : after;
}

/** Another file has the name of one that is nowhere any more. */
function isReplaced(places: KnownPlace[], files: JournalFile[]): boolean {
  const isThere = (inode: number) => files.some((file) => file.inode === inode);
  return places.some(({ name, inode }) => !isThere(inode) && files.some((file) => file.name === name));
}

function listFiles({ problems }: Work, { root }: Project): JournalFile[] {
  try {
    const dir = insideRoot(root, FOLDER);
    if (lookAt(dir) === undefined) return [];
    const names = readNames(dir).filter((name) => name.endsWith(".jsonl"));
    return names.sort().flatMap((name) => {
      const path = join(dir, name);
      const found = lookAt(path);
      if (found?.isFile()) return [{ name, path, inode: found.ino, size: found.size }];
      if (found !== undefined) problems.push(`${path}: not a regular file`);
      return [];
    });
  } catch (error) {
    if (errorCode(error) !== "ENOENT") problems.push(`${root}: ${messageOf(error)}`);
    return [];
  }
}

function keepPlace(db: Database, project: number, { name, inode, offset, skipping, tail }: KnownPlace): void {
  db.query("DELETE FROM files WHERE project = ? AND inode = ? AND name <> ?").run(project, inode, name);
  const save = db.query("INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)");
  save.run(project, name, inode, offset, skipping, tail);
}

// ── Runs of a project ───────────────────────────────────────────────────────

interface CachedRun {
  state: RunState;
  changed: boolean;
}

/** Runs at hand are kept in memory and saved as JSON in SQLite. */
function openFold(work: Work, project: Project): LineReader & { save(): void } {
  const { db, step, touched } = work;
  const cache = new Map<string, CachedRun>();
  const find = db.query("SELECT state FROM runs WHERE project = ? AND id = ?");
  const write = db.query(SAVE);
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
      noteVisits(step.days, project.id, state);
      state.closed = [];
      const { id, workflow, stage, status, outcome, started, updated, loop } = state;
      const columns = [id, workflow, stage, status, outcome, started, updated, loop?.cost ?? null, loop !== null];
      write.run(project.id, ...columns, JSON.stringify(state));
      if (loop === null) touched.push({ project: project.id, root: project.root, id });
      if (touched.length >= 2 * MOST_TOUCHED) touched.splice(0, MOST_TOUCHED);
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
    if (run === undefined && tellsOnlyLife(line)) return;
    run ??= add(openRun(line));
    if (foldLine(run.state, line)) run.changed = true;
  };
  const isEnough = () => {
    step.isCut ||= performance.now() >= step.until;
    return step.isCut;
  };
  return { take, save, skip: () => work.skipped++, isEnough };
}

/** Columns are what queries filter by; the rest is in the state. */
const SAVE = `
INSERT INTO runs (project, id, workflow, stage, status, outcome, started, updated, cost, loops, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project, id) DO UPDATE SET workflow = excluded.workflow, stage = excluded.stage, status = excluded.status,
  outcome = excluded.outcome, started = excluded.started, updated = excluded.updated,
  cost = coalesce(excluded.cost, cost), loops = excluded.loops, state = excluded.state`;
