/** Filters as SQL on the table of runs. Everything a person typed is bound, never pasted. */
import type { Filter } from "./types.ts";

type Bound = string | number;

export interface Where {
  sql: string;
  values: Bound[];
}

/** Garbage means no limit rather than nothing found. */
export function parseTime(iso: string | undefined, otherwise: number): number {
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

type Part = [sql: string, ...values: Bound[]];

export function whereRuns(filter: Filter): Where {
  const { since, until, status } = filter;
  const parts: Part[] = [
    ["updated >= ?", parseTime(since, START)],
    ["started <= ?", parseTime(until, END)],
    ...aboutParts(filter),
  ];
  if (status === "live") parts.push([IS_LIVE]);
  else if (status === "ended") parts.push([IS_OVER]);
  else if (status === "gone") parts.push([`status <> 'ended' AND ${OF_GONE}`]);
  else if (status && STATUSES.includes(status)) parts.push([`status = ? AND ${IS_LIVE}`, status]);
  else if (status) parts.push(["outcome = ?", status]);
  return whereAll(parts);
}

export function aboutParts({ project, workflow }: Filter): Part[] {
  const parts: Part[] = [];
  if (project) parts.push(["project = (SELECT id FROM projects WHERE root = ?)", project]);
  if (workflow) parts.push(["workflow = ?", workflow]);
  return parts;
}

export const whereAll = (parts: Part[]): Where => ({
  sql: parts.map(([sql]) => sql).join(" AND "),
  values: parts.flatMap(([, ...values]) => values),
});

const LIMIT = 50;
const MOST = 500;

export const clampLimit = ({ limit = LIMIT }: Filter) => Math.max(1, Math.min(MOST, Math.floor(limit) || LIMIT));

// ── Pages ───────────────────────────────────────────────────────────────────

/** Newest first; two runs of the same moment are told apart by their key. */
export const formatCursor = (updated: number, key: number) => `${updated}.${key}`;

export function afterCursor({ after }: Filter): Where {
  const [, updated, key] = /^(\d{1,16})\.(\d{1,16})$/.exec(after ?? "") ?? [];
  if (updated === undefined || key === undefined) return { sql: "1", values: [] };
  return { sql: "(updated, key) < (?, ?)", values: [Number(updated), Number(key)] };
}
