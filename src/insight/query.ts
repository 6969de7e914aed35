/** All questions that report, statistics and dashboard ask. Nothing here reads a journal but `sync`. */
import type { Database } from "bun:sqlite";
import { statePath } from "../store/home.ts";
import { basename, dirname } from "../store/names.ts";
import { findBottleneck } from "./bottleneck.ts";
import type { RunState } from "./core/fold.ts";
import { inMemory, isDamage, isInMemory, isUnwritable, makeAnew, openDatabase } from "./db.ts";
import { afterCursor, cursorOf, IS_LIVE, IS_OVER, limitOf, whereRuns } from "./filter.ts";
import { asGone, gateRows, iso, loopRow, runRow, stageRows } from "./rows.ts";
import { stageStats, trendOf } from "./stats.ts";
import { beginSync } from "./sync.ts";
import type { Counts, Filter, Insight, LoopRow, ProjectRow, RunRow, Synced } from "./types.ts";

export { ENOUGH_ATTEMPTS } from "./bottleneck.ts";
export type { Filter, Insight, LoopRow } from "./types.ts";

const STEP_MS = 500;

interface Options {
  path?: string;
  /** only these (and those seen before) instead of all that Pawl has heard of */
  projects?: string[];
}

export function openInsight(options: Options = {}): Insight {
  const path = options.path ?? statePath("insight.db");
  const opened = openDatabase(path);
  let { db, rebuilt } = opened;
  let going: ((ms: number) => Synced) | null = null;
  const close = () => {
    going = null;
    db.close();
  };
  const syncSome = (ms: number): Synced => {
    going ??= beginSync(db, options.projects);
    const synced = going(ms);
    if (synced.share < 1) return synced;
    going = null;
    const why = rebuilt;
    rebuilt = null;
    return { ...synced, rebuilt: why };
  };
  const sync = (told?: (share: number) => void): Synced => {
    for (;;) {
      const synced = syncSome(STEP_MS);
      told?.(synced.share);
      if (synced.share === 1) return synced;
    }
  };
  // A file that turns out to be damaged is made again once, whoever notices. What cannot be written is done in memory.
  const heal = <T>(work: () => T, again = work, isSecond = false): T => {
    try {
      return work();
    } catch (error) {
      if (isInMemory(db) || !(isDamage(error) || isUnwritable(error))) throw error;
      close();
      const next = isDamage(error) && !isSecond ? makeAnew(path, "it was damaged") : inMemory(error);
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
    sync: (told) => heal(() => sync(told)),
    syncSome: (ms) => heal(() => syncSome(ms)),
    projects: () => ask(projectRows),
    runs: (filter) => ask((db) => runPage(db, filter)),
    run: (project, id) => ask((db) => oneRun(db, project, id)),
    stageStats: (filter) => ask((db) => stageStats(db, filter)),
    trend: (filter, buckets) => ask((db) => trendOf(db, filter, buckets)),
    bottleneck: (filter) => ask((db) => findBottleneck(stageStats(db, filter))),
    loops: (filter) => ask((db) => loopRows(db, filter)),
    workflows: (filter) => ask((db) => workflowNames(db, filter)),
    counts: (filter) => ask((db) => countRuns(db, filter)),
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
  const rows = db.query(PROJECTS).all() as {
    root: string;
    gone: number;
    runs: number;
    live: number;
    updated: number;
  }[];
  const names = new Map<string, number>();
  for (const { root } of rows) names.set(basename(root), (names.get(basename(root)) ?? 0) + 1);
  return rows.map(({ root, gone, runs, live, updated }) => {
    const own = basename(root);
    const name = names.get(own) === 1 ? own : `${basename(dirname(root))}/${own}`;
    return { root, name, runs, live, updated_at: updated === null ? "" : iso(updated), gone: gone === 1 };
  });
}

// ── Runs ────────────────────────────────────────────────────────────────────

interface Kept {
  key: number;
  root: string;
  gone: number;
  updated: number;
  cost: number | null;
  state: string;
}

const FIELDS = `key, updated, cost, state, (SELECT root FROM projects WHERE id = runs.project) AS root,
  (SELECT gone FROM projects WHERE id = runs.project) AS gone`;
const stateOf = ({ state }: Kept) => JSON.parse(state) as RunState;

function knownOf(row: Kept): NonNullable<ReturnType<Insight["run"]>> {
  const { root, cost, gone } = row;
  const state = stateOf(row);
  // No one waits for what is gone.
  const now = gone ? state.updated : Date.now();
  const stages = stageRows(root, state, now);
  const known = { run: runRow(root, state, cost, now), stages, gates: gateRows(root, state) };
  return gone ? asGone(known) : known;
}

function runPage(db: Database, filter: Filter): { rows: RunRow[]; next: string | null } {
  const where = whereRuns(filter);
  const after = afterCursor(filter);
  const limit = limitOf(filter);
  // The keys first, from the index alone: most states would be read for nothing.
  const keys = `SELECT key FROM runs INDEXED BY runs_by_time WHERE ${where.sql} AND ${after.sql} ORDER BY updated DESC, key DESC LIMIT ?`;
  const sql = `SELECT ${FIELDS} FROM runs WHERE key IN (${keys}) ORDER BY updated DESC, key DESC`;
  const found = db.query(sql).all(...where.values, ...after.values, limit + 1) as Kept[];
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    rows: page.map((row) => knownOf(row).run),
    next: found.length > limit && last ? cursorOf(last.updated, last.key) : null,
  };
}

function oneRun(db: Database, project: string, id: string): ReturnType<Insight["run"]> {
  const sql = `SELECT ${FIELDS} FROM runs WHERE project = (SELECT id FROM projects WHERE root = ?) AND id = ?`;
  const row = db.query(sql).get(project, id) as Kept | null;
  return row === null ? null : knownOf(row);
}

function loopRows(db: Database, filter: Filter): LoopRow[] {
  const where = whereRuns(filter);
  const sql = `SELECT ${FIELDS} FROM runs WHERE loops = 1 AND ${where.sql} ORDER BY updated DESC, key DESC LIMIT ?`;
  const rows = db.query(sql).all(...where.values, limitOf(filter)) as Kept[];
  return rows.flatMap((row) => loopRow(row.root, stateOf(row), row.gone === 1));
}

function workflowNames(db: Database, filter: Filter): string[] {
  const where = whereRuns(filter);
  const sql = `SELECT DISTINCT workflow FROM runs INDEXED BY runs_by_time WHERE ${where.sql} ORDER BY workflow`;
  return (db.query(sql).all(...where.values) as { workflow: string }[]).map(({ workflow }) => workflow);
}

function countRuns(db: Database, filter: Filter): Counts {
  const where = whereRuns(filter);
  const sql = `
    SELECT count(*) AS runs, coalesce(sum(outcome = 'completed'), 0) AS completed,
      coalesce(sum(outcome = 'failed'), 0) AS failed, coalesce(sum(outcome = 'aborted'), 0) AS aborted,
      coalesce(sum(${IS_OVER}), 0) AS ended, sum(cost) AS cost_usd
    FROM runs INDEXED BY runs_by_time WHERE ${where.sql}`;
  const { ended, ...found } = db.query(sql).get(...where.values) as Omit<Counts, "other" | "live"> & { ended: number };
  const { runs, completed, failed, aborted, cost_usd } = found;
  return {
    runs,
    completed,
    failed,
    aborted,
    other: ended - completed - failed - aborted,
    live: runs - ended,
    cost_usd,
  };
}
