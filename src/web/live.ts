/**
 * What changes in the known projects, told to open pages as server-sent events. Watched only while a page is open: the
 * file system's own word where it has one, and a look at sizes and times twice a second where it has not.
 */
import { type FSWatcher, watch } from "node:fs";
import { insideRoot, isObject, lookAt, namesOrNone, parseJson } from "../store/files.ts";
import { join } from "../store/names.ts";
import { bytesBetween } from "./bytes.ts";
import type { Projects } from "./projects.ts";

export interface Live {
  /** null: too many listen already. Returns how to leave. */
  join(send: (text: string) => void): (() => void) | null;
  close(): void;
}

export interface Change {
  project: string;
  run: string;
  kind: string;
  at: string;
}

const MOST_STREAMS = 20;
const LOOK_MS = 500;
/** More projects than this are looked at in turns. */
const AT_ONCE = 50;
/** Several writes of one commit are one look. */
const SETTLE_MS = 40;
const HEARTBEAT_MS = 5_000;
const MOST_WATCHED = 100;
const MOST_RUNS = 300;
const MOST_CHANGES = 20;
const MOST_NEW_BYTES = 256 * 1024;

export function openLive(projects: Projects): Live {
  const listeners = new Set<(text: string) => void>();
  const seen = new Map<string, Fingerprint>();
  let watchers = new Map<string, FSWatcher>();
  let timers: Timer[] = [];
  let soon: Timer | undefined;
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
  const hurry = () => {
    soon ??= setTimeout(() => {
      soon = undefined;
      look(projects.all());
    }, SETTLE_MS);
  };
  const begin = () => {
    look(projects.all());
    watchers = watchAll(projects.all(), watchers, hurry);
    timers = [
      setInterval(() => {
        watchers = watchAll(projects.all(), watchers, hurry);
        lookInTurn();
      }, LOOK_MS),
      setInterval(() => tell(": still here\n\n"), HEARTBEAT_MS),
    ];
  };
  const end = () => {
    for (const timer of timers) clearInterval(timer);
    clearTimeout(soon);
    soon = undefined;
    for (const watcher of watchers.values()) watcher.close();
    watchers = new Map();
    seen.clear();
  };
  return {
    join(send) {
      if (listeners.size >= MOST_STREAMS) return null;
      listeners.add(send);
      if (listeners.size === 1) begin();
      return () => {
        if (listeners.delete(send) && listeners.size === 0) end();
      };
    },
    close() {
      listeners.clear();
      end();
    },
  };
}

const asEvent = (change: Change) => `event: change\ndata: ${JSON.stringify(change)}\n\n`;

const FOLDERS = [".pawl/journal", ".pawl/runs", ".pawl/loops"];

/** Folders that come later are watched when they are there; those that cannot be watched are looked at anyway. */
function watchAll(roots: string[], before: Map<string, FSWatcher>, hurry: () => void): Map<string, FSWatcher> {
  for (const path of roots.flatMap((root) => FOLDERS.flatMap((folder) => folderIn(root, folder) ?? []))) {
    if (before.size >= MOST_WATCHED) break;
    if (before.has(path)) continue;
    try {
      const watcher = watch(path, hurry);
      watcher.on("error", () => {
        watcher.close();
        before.delete(path);
      });
      before.set(path, watcher);
    } catch {
      // looked at twice a second
    }
  }
  return before;
}

/** null: it is not there, or leads out of the project. */
function folderIn(root: string, folder: string): string | null {
  try {
    const path = insideRoot(root, folder);
    return lookAt(path)?.isDirectory() === true ? path : null;
  } catch {
    return null;
  }
}

// ── Looking ─────────────────────────────────────────────────────────────────

interface Fingerprint {
  /** size of each file of the journal */
  journal: Map<string, number>;
  /** when each run's and loop's folder last changed */
  folders: Map<string, number>;
}

/** The first look only learns what is there. */
function changesIn(root: string, seen: Map<string, Fingerprint>): Change[] {
  const before = seen.get(root);
  const now = fingerprint(root);
  seen.set(root, now);
  if (!before) return [];
  const told = [...now.journal].flatMap(([path, size]) => grown(root, path, before.journal.get(path) ?? 0, size));
  const about = new Set(told.map(({ run }) => run));
  const others = [...now.folders].flatMap(([id, at]) => {
    if (before.folders.get(id) === at || about.has(id.replace(/^\w+\//, ""))) return [];
    return [{ project: root, run: id.replace(/^\w+\//, ""), kind: id.split("/")[0]!, at: new Date().toISOString() }];
  });
  const gone = [...before.folders.keys()].some((id) => !now.folders.has(id)) && told.length === 0;
  const left = gone ? [{ project: root, run: "", kind: "runs", at: new Date().toISOString() }] : [];
  return [...told, ...others, ...left].slice(-MOST_CHANGES);
}

function fingerprint(root: string): Fingerprint {
  const journal = namesIn(root, ".pawl/journal").filter(({ name }) => name.endsWith(".jsonl"));
  const sizes = journal
    .toSorted((a, b) => a.name.localeCompare(b.name))
    .slice(-3)
    .map(({ path }): [string, number] => [path, numberOf(path, "size")]);
  const folders = ["runs", "loops"].flatMap((kind) =>
    namesIn(root, `.pawl/${kind}`)
      .slice(-MOST_RUNS)
      .map(({ name, path }): [string, number] => [`${kind}/${name}`, numberOf(path, "mtimeMs")]),
  );
  return { journal: new Map(sizes), folders: new Map(folders) };
}

function namesIn(root: string, folder: string): { name: string; path: string }[] {
  const dir = folderIn(root, folder);
  return dir === null ? [] : namesOrNone(dir).map((name) => ({ name, path: join(dir, name) }));
}

function numberOf(path: string, what: "size" | "mtimeMs"): number {
  try {
    return lookAt(path)?.[what] ?? 0;
  } catch {
    return 0;
  }
}

/** What was appended, one change for each kind of record of a run. */
function grown(project: string, path: string, from: number, to: number): Change[] {
  if (to <= from) return [];
  const changes = new Map<string, Change>();
  for (const line of bytesBetween(path, Math.max(from, to - MOST_NEW_BYTES), to)
    .toString("utf8")
    .split("\n")) {
    const value = line === "" ? null : parseJson(line);
    if (!isObject(value) || typeof value.run !== "string" || typeof value.kind !== "string") continue;
    const change = { project, run: value.run, kind: value.kind, at: String(value.at ?? "") };
    changes.set(`${change.run} ${change.kind}`, change);
  }
  return changes.size > 0
    ? [...changes.values()]
    : [{ project, run: "", kind: "journal", at: new Date().toISOString() }];
}
