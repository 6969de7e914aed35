/**
 * What changes in the known projects, told to open pages as server-sent events: a look at sizes and times, several times
 * a second, and only while a page is open.
 */
import { attempt } from "../kernel/attempt.ts";
import { insideRoot, isObject, lookAt, namesOrNone, parseJson } from "../store/files.ts";
import { basename, dirname, join } from "../store/names.ts";
import { bytesBetween } from "./journal-page.ts";
import type { Projects } from "./projects.ts";

export type Live = ReturnType<typeof openLive>;

export type Change = Record<"project" | "run" | "kind" | "at", string>;

const MOST_STREAMS = 20;
const LOOK_MS = 250;
/** More projects than this are looked at in turns. */
const AT_ONCE = 50;
const HEARTBEAT_MS = 5_000;
const MOST_CHANGES = 20;
const MOST_NEW_BYTES = 256 * 1024;

export function openLive(projects: Projects) {
  const listeners = new Set<(text: string) => void>();
  const seen = new Map<string, Fingerprint>();
  let timers: Timer[] = [];
  let turn = 0;
  const tell = (text: string) => {
    for (const send of listeners) send(text);
  };
  const look = (roots: string[]) => {
    for (const root of roots) for (const change of changesIn(root, seen)) tell(asEvent(change));
  };
  const lookInTurn = () => {
    const roots = projects.all();
    turn = turn + AT_ONCE >= roots.length ? 0 : turn + AT_ONCE;
    look(roots.slice(turn, turn + AT_ONCE));
  };
  const begin = () => {
    look(projects.all());
    timers = [setInterval(lookInTurn, LOOK_MS), setInterval(() => tell(": still here\n\n"), HEARTBEAT_MS)];
  };
  const end = () => {
    for (const timer of timers) clearInterval(timer);
    seen.clear();
  };
  /** null: too many listen already. Returns how to leave. */
  const join = (send: (text: string) => void) => {
    if (listeners.size >= MOST_STREAMS) return null;
    listeners.add(send);
    if (listeners.size === 1) begin();
    return () => {
      if (listeners.delete(send) && listeners.size === 0) end();
    };
  };
  const close = () => {
    listeners.clear();
    end();
  };
  return { join, close };
}

const asEvent = (change: Change) => `event: change\ndata: ${JSON.stringify(change)}\n\n`;

/** What is looked at below .pawl, and how many of each: the newest, by name. */
const LOOKED_AT = { journal: 3, runs: 300, loops: 300 };
const KINDS = Object.keys(LOOKED_AT) as (keyof typeof LOOKED_AT)[];

/** null: it is not there, or leads out of the project. */
function folderIn(root: string, kind: string): string | null {
  const path = attempt(() => insideRoot(root, `.pawl/${kind}`), null);
  return path !== null && attempt(() => lookAt(path)?.isDirectory(), false) ? path : null;
}

// ── Looking ─────────────────────────────────────────────────────────────────

/** By path: the size of each file of the journal, and when each run's and loop's folder last changed. */
type Fingerprint = Map<string, number>;

/** The first look only learns what is there. */
function changesIn(project: string, seen: Map<string, Fingerprint>): Change[] {
  const before = seen.get(project);
  const now = fingerprint(project);
  seen.set(project, now);
  if (!before) return [];
  const at = new Date().toISOString();
  const changed = [...now].filter(([path, value]) => before.get(path) !== value);
  const told = changed.flatMap(([path, size]) =>
    isJournal(path) ? grown(project, path, before.get(path) ?? 0, size) : [],
  );
  const folders = changed.flatMap(([path]) => {
    const run = basename(path);
    return isJournal(path) || told.some((change) => change.run === run)
      ? []
      : [{ project, run, kind: basename(dirname(path)), at }];
  });
  const isGone = [...before.keys()].some((path) => !isJournal(path) && !now.has(path)) && told.length === 0;
  return [...told, ...folders, ...(isGone ? [{ project, run: "", kind: "runs", at }] : [])].slice(-MOST_CHANGES);
}

const isJournal = (path: string) => path.endsWith(".jsonl");

function fingerprint(root: string): Fingerprint {
  const paths = KINDS.flatMap((kind) => {
    const dir = folderIn(root, kind);
    const names = dir === null ? [] : namesOrNone(dir).filter((name) => kind !== "journal" || isJournal(name));
    return names
      .sort()
      .slice(-LOOKED_AT[kind])
      .map((name) => join(dir!, name));
  });
  return new Map(
    paths.map((path) => [path, attempt(() => lookAt(path)?.[isJournal(path) ? "size" : "mtimeMs"], 0) ?? 0]),
  );
}

/** What was appended, one change for each kind of record of a run. */
function grown(project: string, path: string, from: number, to: number): Change[] {
  if (to <= from) return [];
  const changes = new Map<string, Change>();
  const bytes = bytesBetween(path, Math.max(from, to - MOST_NEW_BYTES), to);
  for (const line of bytes.toString("utf8").split("\n")) {
    const value = line === "" ? null : parseJson(line);
    if (!isObject(value) || typeof value.run !== "string" || typeof value.kind !== "string") continue;
    const change = { project, run: value.run, kind: value.kind, at: String(value.at ?? "") };
    changes.set(`${change.run} ${change.kind}`, change);
  }
  return changes.size > 0
    ? [...changes.values()]
    : [{ project, run: "", kind: "journal", at: new Date().toISOString() }];
}
