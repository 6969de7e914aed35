/**
 * One SQLite file for the person, all projects. It is only an index of the journals: whatever is wrong with it, it is thrown
 * away and made again; where none can be kept, it is made in memory. Raw events are not in it.
 */
import { Database } from "bun:sqlite";
import { close, FLAGS, open } from "../native/disk.ts";
import { errorCode, makeDirs, messageOf, removeQuietly } from "../store/files.ts";
import { dirname } from "../store/names.ts";

const VERSION = 5;
/** Longer than any sync but the first of a long history, and no longer than a page may stand still. */
const BUSY_MS = 2000;

const SCHEMA = `
CREATE TABLE projects (id INTEGER PRIMARY KEY, root TEXT NOT NULL UNIQUE, gone INTEGER NOT NULL);
CREATE TABLE files (
  project INTEGER NOT NULL, name TEXT NOT NULL, inode REAL NOT NULL, offset INTEGER NOT NULL,
  skipping INTEGER NOT NULL, tail TEXT NOT NULL, PRIMARY KEY (project, name)) WITHOUT ROWID;
CREATE TABLE runs (
  key INTEGER PRIMARY KEY, project INTEGER NOT NULL, id TEXT NOT NULL, workflow TEXT NOT NULL, stage TEXT NOT NULL,
  status TEXT NOT NULL, outcome TEXT, started INTEGER NOT NULL, updated INTEGER NOT NULL, cost REAL,
  loops INTEGER NOT NULL, state TEXT NOT NULL, UNIQUE (project, id));
CREATE INDEX runs_by_time ON runs (updated, started, project, workflow, status, outcome, cost);
CREATE INDEX runs_by_project ON runs (project, updated);
CREATE INDEX runs_live ON runs (project, workflow, stage, updated) WHERE status <> 'ended';
CREATE INDEX runs_loops ON runs (updated) WHERE loops = 1;
CREATE TABLE days (
  day TEXT NOT NULL, project INTEGER NOT NULL, workflow TEXT NOT NULL, stage TEXT NOT NULL, place INTEGER NOT NULL,
  visits INTEGER NOT NULL, runs INTEGER NOT NULL, done INTEGER NOT NULL, ms INTEGER NOT NULL, waited INTEGER NOT NULL,
  claims INTEGER NOT NULL, continues INTEGER NOT NULL, asks INTEGER NOT NULL, gate_fails INTEGER NOT NULL,
  histogram TEXT NOT NULL, PRIMARY KEY (day, project, workflow, stage)) WITHOUT ROWID;
PRAGMA user_version = ${VERSION};
`;

export interface OpenedDatabase {
  db: Database;
  /** why what was there was thrown away, or is not used; null: it was kept, or there was nothing */
  rebuilt: string | null;
}

/** `rebuilt`: why the file that is there must go. */
export function openDatabase(path: string, rebuilt: string | null = null): OpenedDatabase {
  if (rebuilt !== null) for (const end of ["", "-wal", "-shm", "-journal"]) removeQuietly(`${path}${end}`);
  try {
    const found = tryOpen(path);
    if ("db" in found) return { db: found.db, rebuilt };
    return rebuilt === null ? openDatabase(path, found.why) : inMemory(found.why);
  } catch (error) {
    return inMemory(error);
  }
}

/** For this process alone: a full disk or a home that is read-only is no reason to know nothing. */
export function inMemory(why: unknown): OpenedDatabase {
  const db = new Database(":memory:");
  prepare(db);
  return { db, rebuilt: `it cannot be kept (${messageOf(why)})` };
}

export const isInMemory = ({ filename }: Database): boolean => filename === ":memory:";

/** Errors that mean the file, not the question. */
export function isDamage(error: unknown): boolean {
  return (
    // A state that is not JSON.
    error instanceof SyntaxError ||
    /^SQLITE_(CORRUPT|NOTADB|FORMAT|SCHEMA|IOERR)/.test(errorCode(error)) ||
    /no such (table|column|index)|malformed|not a database/.test(messageOf(error))
  );
}

/** Errors that mean the place: nothing can be written there. */
export const isUnwritable = (error: unknown): boolean => /^SQLITE_(FULL|READONLY|CANTOPEN|PERM)/.test(errorCode(error));

export const isBusy = (error: unknown): boolean => /^SQLITE_(BUSY|LOCKED)/.test(errorCode(error));

function tryOpen(path: string): { db: Database } | { why: string } {
  // Only the person may read it; its helper files take the same mode.
  makeDirs(dirname(path), 0o700);
  close(open(path, FLAGS.O_RDWR | FLAGS.O_CREAT | FLAGS.O_NONBLOCK, 0o600));
  const db = new Database(path, { readwrite: true, create: true });
  try {
    db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
    // The first fold writes them by the thousand; with larger ones it has to write fewer.
    db.run("PRAGMA page_size = 16384");
    db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = NORMAL");
    db.run("PRAGMA cache_size = -32000");
    const why = prepare(db);
    if (why === null) return { db };
    db.close();
    return { why };
  } catch (error) {
    db.close();
    if (!isDamage(error)) throw error;
    return { why: `it was damaged (${messageOf(error)})` };
  }
}

/** null: ready to use. */
function prepare(db: Database): string | null {
  const version = readVersion(db);
  if (version === VERSION) return null;
  if (version !== 0 || hasTables(db)) return `it was of version ${version}, this is ${VERSION}`;
  const make = db.transaction(() => {
    if (readVersion(db) === 0) db.run(SCHEMA);
  });
  make.immediate();
  return null;
}

const readVersion = (db: Database) => (db.query("PRAGMA user_version").get() as { user_version: number }).user_version;
const hasTables = (db: Database) => db.query("SELECT 1 FROM sqlite_master LIMIT 1").get() !== null;
