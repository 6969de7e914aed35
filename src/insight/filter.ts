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

const STATUSES = ["active", "waiting", "halted", "ended"];

export function whereRuns(filter: Filter): Where {
  const parts: [string, Bound[]][] = [
    ["updated >= ?", [timeOf(filter.since, START)]],
    ["started <= ?", [timeOf(filter.until, END)]],
  ];
  if (filter.project) parts.push(["project = (SELECT id FROM projects WHERE root = ?)", [filter.project]]);
  if (filter.workflow) parts.push(["workflow = ?", [filter.workflow]]);
  if (filter.status === "live") parts.push(["status <> 'ended'", []]);
  else if (filter.status && STATUSES.includes(filter.status)) parts.push(["status = ?", [filter.status]]);
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
