/** All questions that report, statistics and dashboard ask. Nothing here reads a journal but `sync`. */
import type { Database } from "bun:sqlite";
import { statePath } from "../store/home.ts";
import { basename, dirname } from "../store/names.ts";
import type { RunState } from "./core/fold.ts";
import { findBottleneck } from "./core/stats-text.ts";
import { inMemory, isDamage, isInMemory, isUnwritable, openDatabase } from "./db.ts";
import { afterCursor, clampLimit, formatCursor, IS_LIVE, IS_OVER, whereRuns } from "./filter.ts";
import { iso, type KnownRun, knownRun, loopRow } from "./rows.ts";
import { computeTrend, stageStats } from "./stats.ts";
import { beginSync } from "./sync.ts";
import type { Filter, LoopRow, ProjectRow, RunFigures, RunRow, SyncResult } from "./types.ts";

export type { Filter, LoopRow } from "./types.ts";

const STEP_MS = 500;

interface Options {
  path?: string;
  /** only these (and those seen before) instead of all that Pawl has heard of */
  projects?: string[];
}

export type Insight = ReturnType<typeof openInsight>;

export function openInsight(options: Options = {}) {
  const path = options.path ?? statePath("insight.db");
  let { db, rebuilt } = openDatabase(path);
  let going: ((ms: number) => SyncResult) | null = null;
  const close = () => {
    going = null;
    db.close();
  };
  const syncSome = (ms: number): SyncResult => {
    going ??= beginSync(db, options.projects);
    const synced = going(ms);
    if (synced.share < 1) return synced;
    going = null;
    const why = rebuilt;
    rebuilt = null;
    return { ...synced, rebuilt: why };
  };
  const sync = (told?: (share: number) => void): SyncResult => {
    for (;;) {
      const synced = syncSome(STEP_MS);
      told?.(synced.share);
      if (synced.share === 1) return synced;
    }
  };
  // A file that turns out to be damaged is made again once, whichever question notices. What cannot be written is done in memory.
  const heal = <T>(work: () => T, again = work, isSecond = false): T => {
    try {
      return work();
    } catch (error) {
      if (isInMemory(db) || !(isDamage(error) || isUnwritable(error))) throw error;
      close();
      const next = isDamage(error) && !isSecond ? openDatabase(path, "it was damaged") : inMemory(error);
      ({ db, rebuilt } = next);
      return heal(again, again, true);
    }
  };
  const ask = <T>(question: (db: Database) => T): T =>
    heal(
      () => question(db),
      () => {
        sync();
        return question(db);
      },
    );
  return {
    /** Everything. `told` hears now and then how far it has come, from 0 to 1. */
    sync: (told?: (share: number) => void) => heal(() => sync(told)),
    /** As much of it as can be done in about so many milliseconds; the next call goes on. */
    syncSome: (ms: number) => heal(() => syncSome(ms)),
    projects: () => ask(projectRows),
    runs: (filter: Filter) => ask((db) => runPage(db, filter)),
    run: (project: string, id: string) => ask((db) => oneRun(db, project, id)),
    stageStats: (filter: Filter) => ask((db) => stageStats(db, filter)),
    trend: (filter: Filter, buckets: number) => ask((db) => computeTrend(db, filter, buckets)),
    /** null: fewer than ENOUGH_ATTEMPTS stays in stages are over */
    bottleneck: (filter: Filter) => ask((db) => findBottleneck(stageStats(db, filter))),
    loops: (filter: Filter) => ask((db) => loopRows(db, filter)),
    /** of which a run is known, by name */
    workflows: (filter: Filter) => ask((db) => workflowNames(db, filter)),
    counts: (filter: Filter) => ask((db) => countRuns(db, filter)),
    close,
  };
}

// ── Projects ────────────────────────────────────────────────────────────────

const PROJECTS = `
SELECT root, gone,
  (SELECT count(*) FROM runs INDEXED BY runs_by_project WHERE project = projects.id) AS runs,
  (SELECT count(*) FROM runs INDEXED BY runs_live WHERE project = projects.id AND ${IS_LIVE}) AS live,
  (SELECT max(updated) FROM runs INDEXED BY runs_by_project WHERE project = projects.id) AS updated
FROM projects ORDER BY updated DESC, root`;

function projectRows(db: Database): ProjectRow[] {
  const rows = db.query(PROJECTS).all() as (Omit<ProjectRow, "gone"> & { gone: number; updated: number | null })[];
  const names = new Map<string, number>();
  for (const { root } of rows) names.set(basename(root), (names.get(basename(root)) ?? 0) + 1);
  return rows.map(({ root, gone, runs, live, updated }) => {
    const own = basename(root);
    const name = names.get(own) === 1 ? own : `${basename(dirname(root))}/${own}`;
    return { root, name, runs, live, updated_at: updated === null ? "" : iso(updated), gone: gone === 1 };
  });
}

// ── Runs ────────────────────────────────────────────────────────────────────

interface StoredRun {
  key: number;
  root: string;
  gone: number;
  updated: number;
  cost: number | null;
  state: string;
}

const FIELDS = `key, updated, cost, state, (SELECT root FROM projects WHERE id = runs.project) AS root,
  (SELECT gone FROM projects WHERE id = runs.project) AS gone`;
const parseState = ({ state }: StoredRun) => JSON.parse(state) as RunState;

const toKnownRun = (row: StoredRun): KnownRun => knownRun(row.root, parseState(row), row.cost, row.gone === 1);

function runPage(db: Database, filter: Filter): { rows: RunRow[]; next: string | null } {
  const where = whereRuns(filter);
  const after = afterCursor(filter);
  const limit = clampLimit(filter);
  // The keys first, from the index alone: most states would be read for nothing.
  const keys = `SELECT key FROM runs INDEXED BY runs_by_time WHERE ${where.sql} AND ${after.sql} ORDER BY updated DESC, key DESC LIMIT ?`;
  const sql = `SELECT ${FIELDS} FROM runs WHERE key IN (${keys}) ORDER BY updated DESC, key DESC`;
  const found = db.query(sql).all(...where.values, ...after.values, limit + 1) as StoredRun[];
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    rows: page.map((row) => toKnownRun(row).run),
    next: found.length > limit && last ? formatCursor(last.updated, last.key) : null,
  };
}

function oneRun(db: Database, project: string, id: string): KnownRun | null {
  const sql = `SELECT ${FIELDS} FROM runs WHERE project = (SELECT id FROM projects WHERE root = ?) AND id = ?`;
  const row = db.query(sql).get(project, id) as StoredRun | null;
  return row === null ? null : toKnownRun(row);
}

function loopRows(db: Database, filter: Filter): LoopRow[] {
  const where = whereRuns(filter);
  const sql = `SELECT ${FIELDS} FROM runs WHERE loops = 1 AND ${where.sql} ORDER BY updated DESC, key DESC LIMIT ?`;
  const rows = db.query(sql).all(...where.values, clampLimit(filter)) as StoredRun[];
  return rows.flatMap((row) => loopRow(row.root, parseState(row), row.gone === 1));
}

function workflowNames(db: Database, filter: Filter): string[] {
  const where = whereRuns(filter);
  const sql = `SELECT DISTINCT workflow FROM runs INDEXED BY runs_by_time WHERE ${where.sql} ORDER BY workflow`;
  return (db.query(sql).all(...where.values) as { workflow: string }[]).map(({ workflow }) => workflow);
}

function countRuns(db: Database, filter: Filter): RunFigures {
  const where = whereRuns(filter);
  const sql = `
    SELECT runs, completed, failed, aborted, ended - completed - failed - aborted AS other, runs - ended AS live, cost_usd
    FROM (SELECT count(*) AS runs, coalesce(sum(outcome = 'completed'), 0) AS completed,
      coalesce(sum(outcome = 'failed'), 0) AS failed, coalesce(sum(outcome = 'aborted'), 0) AS aborted,
      coalesce(sum(${IS_OVER}), 0) AS ended, sum(cost) AS cost_usd
      FROM runs INDEXED BY runs_by_time WHERE ${where.sql})`;
  return db.query(sql).get(...where.values) as RunFigures;
}
