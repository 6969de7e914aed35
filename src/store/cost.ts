/**
 * What a run costs, as the client tells its status line. One file for each session that worked on it, in the run's folder,
 * so that no two sessions write the same one and it goes to the archive with the run:
 *   cost-<session>.json  {"seal":…,"v":1,"at":…,"from":{…},"to":{…},"earlier":{…},"context":…}
 * The client counts by session, not by run: `from` is what the session had cost when the run was first seen in it, `to`
 * the newest figures. A client that was restarted may count from zero: what was spent until then is `earlier`.
 * Written whole under another name and renamed; not synced, as a lost figure comes again with the next message.
 */

import { findRunDir } from "./commits.ts";
import { namesIn, writeAtomic } from "./files.ts";
import { isPlainName, isRunId, join } from "./names.ts";
import { readSealed, seal } from "./seal.ts";

/** Counted by the client since its session began. */
export interface Figures {
  usd: number;
  /** changes with every message, so a new value alone is no reason to write */
  ms: number;
  api_ms: number;
  added: number;
  removed: number;
}

interface StoredCost {
  v: 1;
  at: string;
  from: Figures;
  to: Figures;
  earlier: Figures;
  /** how full the context is, in percent; null: unknown */
  context: number | null;
}

export interface RunCost extends Figures {
  /** of the session that was heard of last */
  context: number | null;
  sessions: number;
}

const LARGEST = 64 * 1024;
const ZERO: Figures = { usd: 0, ms: 0, api_ms: 0, added: 0, removed: 0 };
const KEYS = ["usd", "ms", "api_ms", "added", "removed"] as const;

const costContext = (id: string, session: string) => `run/${id}/cost/${session}`;
const costFile = (session: string) => `cost-${session}.json`;

/** `figures` and `context` as they are now. Does nothing if they are known. */
export function keepCost(
  root: string,
  id: string,
  session: string,
  figures: Figures,
  context: number | null,
  at: string,
): void {
  if (!isRunId(id) || !isPlainName(session)) return;
  const dir = findRunDir(root, id);
  if (dir === null) return;
  const before = readKept(dir, id, session);
  if (before !== null && isSame(before.to, figures) && before.context === context) return;
  const kept: StoredCost = { v: 1, at, ...spans(before, figures), context };
  const text = seal(costContext(id, session), JSON.stringify(kept));
  writeAtomic(join(dir, costFile(session)), text, 0o600, "unsynced");
}

const isSame = (a: Figures, b: Figures) =>
  a.usd === b.usd && a.api_ms === b.api_ms && a.added === b.added && a.removed === b.removed;

function spans(before: StoredCost | null, figures: Figures): Pick<StoredCost, "from" | "to" | "earlier"> {
  if (before === null) return { from: figures, to: figures, earlier: ZERO };
  const { from, to, earlier } = before;
  if (figures.usd >= to.usd && figures.api_ms >= to.api_ms) return { from, to: figures, earlier };
  return { from: ZERO, to: figures, earlier: plus(earlier, to, from) };
}

function plus(sum: Figures, to: Figures, from: Figures): Figures {
  const next = { ...sum };
  for (const key of KEYS) next[key] += Math.max(0, to[key] - from[key]);
  return next;
}

/** Of a live or an archived run. null: nothing is known. */
export function readCost(root: string, id: string): RunCost | null {
  const dir = isRunId(id) ? findRunDir(root, id) : null;
  if (dir === null) return null;
  const sessions = (namesIn(dir) ?? []).flatMap((name) => /^cost-(.+)\.json$/.exec(name)?.[1] ?? []);
  const kept = sessions.flatMap((session) => readKept(dir, id, session) ?? []);
  if (kept.length === 0) return null;
  const newest = kept.reduce((a, b) => (a.at > b.at ? a : b));
  const spent = kept.reduce((sum, { earlier, from, to }) => plus(plus(sum, earlier, ZERO), to, from), ZERO);
  return { ...spent, context: newest.context, sessions: kept.length };
}

function readKept(dir: string, id: string, session: string): StoredCost | null {
  if (!isPlainName(session)) return null;
  const value = readSealed(costContext(id, session), join(dir, costFile(session)), LARGEST);
  return value?.v === 1 ? (value as unknown as StoredCost) : null;
}
