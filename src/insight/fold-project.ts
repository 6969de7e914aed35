/** One project's journal into the database: which files, and from where. */
import type { Database } from "bun:sqlite";
import { namesOf } from "../native/disk.ts";
import { errorCode, insideRoot, lookAt, messageOf } from "../store/files.ts";
import { join } from "../store/names.ts";
import { openFold, type Work } from "./fold-runs.ts";
import type { Project } from "./projects.ts";
import { type LineReader, nowhere, type Place, readOn } from "./read.ts";

const FOLDER = ".pawl/journal";

/** A file that is not what it was makes the whole project be folded again. */
export function foldProject(work: Work, project: Project): void {
  const { read, total } = work.step;
  if (project.gone || foldFiles(work, project)) return;
  Object.assign(work.step, { read, total });
  forgetProject(work.db, project.id);
  work.step.days.delete(project.id);
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
  const { step } = work;
  const fold = openFold(work, project);
  const reader = {
    ...fold,
    isEnough: () => {
      step.isCut ||= performance.now() >= step.until;
      return step.isCut;
    },
  };
  for (const file of found) {
    const before = known.find(({ inode }) => inode === file.inode);
    step.total += file.size;
    step.read += before?.offset ?? 0;
    if (step.isCut || (before?.offset === file.size && before.name === file.name)) continue;
    try {
      const after = readFile(file, before, reader);
      if (after === null) return false;
      step.read += after.offset - (before?.offset ?? 0);
      keepPlace(work.db, project.id, file, after);
    } catch (error) {
      work.problems.push(`${file.path}: ${messageOf(error)}`);
    }
  }
  fold.save();
  return true;
}

/** A rotated file has another name, but it is the same file; unless the disk gave the number of a removed one to a new one. */
function readFile({ path, name, inode }: Found, before: KnownPlace | undefined, reader: LineReader): Place | null {
  const after = readOn(path, before ?? nowhere(inode), reader);
  const isNew = after === null && before !== undefined && before.name !== name;
  return isNew ? readOn(path, nowhere(inode), reader) : after;
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
