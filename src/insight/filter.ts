/** Filters as SQL on the table of runs. Everything a person typed is bound, never pasted. */
import type { Filter } from "./types.ts";

export type Bound = string | number;

export interface Where {
  sql: string;
  values: Bound[];
}

/** Garbage means no limit rather than nothing found. */
export function timeOf(iso: string | undefined, otherwise: number): number {
  const ms = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(ms) ? otherwise : ms;
}

export const START = 0;
/** the last moment that a date can be */
export const END = 8.64e15;

/** A run that was open, and whose project is not there any more, is over: asked for each time, as it may come back. */
const OF_GONE = "project IN (SELECT id FROM projects WHERE gone = 1)";
export const IS_LIVE = `status <> 'ended' AND NOT ${OF_GONE}`;
export const IS_OVER = `(status = 'ended' OR ${OF_GONE})`;

const STATUSES = ["active", "waiting", "halted"];

export function whereRuns(filter: Filter): Where {
  const parts: [string, Bound[]][] = [
    ["updated >= ?", [timeOf(filter.since, START)]],
    ["started <= ?", [timeOf(filter.until, END)]],
  ];
  if (filter.project) parts.push(["project = (SELECT id FROM projects WHERE root = ?)", [filter.project]]);
  if (filter.workflow) parts.push(["workflow = ?", [filter.workflow]]);
  if (filter.status === "live") parts.push([IS_LIVE, []]);
  else if (filter.status === "ended") parts.push([IS_OVER, []]);
  else if (filter.status === "gone") parts.push([`status <> 'ended' AND ${OF_GONE}`, []]);
  else if (filter.status && STATUSES.includes(filter.status))
    parts.push([`status = ? AND ${IS_LIVE}`, [filter.status]]);
  else if (filter.status) parts.push(["outcome = ?", [filter.status]]);
  return { sql: parts.map(([sql]) => sql).join(" AND "), values: parts.flatMap(([, values]) => values) };
}

const LIMIT = 50;
const MOST = 500;

export const limitOf = ({ limit = LIMIT }: Filter) => Math.max(1, Math.min(MOST, Math.floor(limit) || LIMIT));

// ── Pages ───────────────────────────────────────────────────────────────────

/** Newest first; two runs of the same moment are told apart by their key. */
export const cursorOf = (updated: number, key: number) => `${updated}.${key}`;

export function afterCursor({ after }: Filter): Where {
  const [, updated, key] = /^(\d{1,16})\.(\d{1,16})$/.exec(after ?? "") ?? [];
  if (updated === undefined || key === undefined) return { sql: "1", values: [] };
  return { sql: "(updated, key) < (?, ?)", values: [Number(updated), Number(key)] };
}
