/**
 * What a run costs, as the client tells its status line. One file for each session that worked on it, in the run's folder,
 * so that no two sessions write the same one and it goes to the archive with the run:
 *   cost-<session>.json  {"seal":…,"v":1,"at":…,"from":{…},"to":{…},"earlier":{…},"context":…}
 * The client counts by session, not by run: `from` is what the session had cost when the run was first seen in it, `to`
 * the newest figures. A client that was restarted may count from zero: what was spent until then is `earlier`.
 * Written whole under another name and renamed; not synced, as a lost figure comes again with the next message.
 */

import { rename } from "../native/disk.ts";
import { findRunDir } from "./archive.ts";
import { namesIn } from "./commits.ts";
import { isObject, parseJson, readText, withTemp } from "./files.ts";
import { isPlainName, isRunId, join } from "./names.ts";
import { seal, unseal } from "./seal.ts";

/** Counted by the client since its session began. */
export interface Figures {
  usd: number;
  /** changes with every message, so a new value alone is no reason to write */
  ms: number;
  api_ms: number;
  added: number;
  removed: number;
}

interface Kept {
  v: 1;
  at: string;
  from: Figures;
  to: Figures;
  earlier: Figures;
  /** how full the context is, in percent; null: not told */
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

const contextOf = (id: string, session: string) => `run/${id}/cost/${session}`;
const fileOf = (session: string) => `cost-${session}.json`;

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
  const kept: Kept = { v: 1, at, ...spans(before, figures), context };
  const text = seal(contextOf(id, session), JSON.stringify(kept));
  withTemp(dir, text, 0o600, (temp) => rename(temp, join(dir, fileOf(session))), "unsynced");
}

const isSame = (a: Figures, b: Figures) =>
  a.usd === b.usd && a.api_ms === b.api_ms && a.added === b.added && a.removed === b.removed;

function spans(before: Kept | null, figures: Figures): Pick<Kept, "from" | "to" | "earlier"> {
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
  const kept: Kept[] = [];
  if (dir === null) return null;
  for (const name of namesIn(dir) ?? []) {
    const session = name.startsWith("cost-") && name.endsWith(".json") ? name.slice(5, -5) : "";
    const one = session === "" ? null : readKept(dir, id, session);
    if (one !== null) kept.push(one);
  }
  if (kept.length === 0) return null;
  const newest = kept.reduce((a, b) => (a.at > b.at ? a : b));
  const spent = kept.reduce((sum, { earlier, from, to }) => plus(plus(sum, earlier, ZERO), to, from), ZERO);
  return { ...spent, context: newest.context, sessions: kept.length };
}

function readKept(dir: string, id: string, session: string): Kept | null {
  if (!isPlainName(session)) return null;
  const file = readText(join(dir, fileOf(session)), LARGEST);
  const json = file.ok ? unseal(contextOf(id, session), file.text) : null;
  const value = json === null ? undefined : parseJson(json);
  return isObject(value) && value.v === 1 ? (value as unknown as Kept) : null;
}
