/** Where formal workflows may be that no one registered. Hostile folders cost little and never throw. */
import { type Entry, entriesOf } from "../native/disk.ts";
import { insideRoot, lookAt, type ReadResult, readText } from "../store/files.ts";
import { join } from "../store/names.ts";

export interface FoundDocument {
  /** relative to the root */
  path: string;
  text: string;
  hash: string;
  /** in milliseconds */
  mtime: number;
}

export interface FoundText {
  path: string;
  text: string;
}

const STATE = "untracked/workflow-state";
const PLANS = "CLAUDE/Plan";
const NOTES = "CLAUDE.local.md";
const LARGEST = 1 << 20;
const MOST_NAMES = 20_000;

/** The documents in untracked/workflow-state/…/, the newest first. */
export function findDocuments(root: string, limit = 200): FoundDocument[] {
  return newest(root, stateFiles(root), limit).flatMap(({ path, mtime }) => {
    const read = readInside(root, path);
    return read.ok ? [{ path, text: read.text, hash: read.hash, mtime }] : [];
  });
}

/** CLAUDE.local.md; null: there is none that can be read. */
export function readNotes(root: string): string | null {
  const read = readInside(root, NOTES);
  return read.ok ? read.text : null;
}

/** CLAUDE/Plan/…/PLAN.md, the newest first. */
export function readPlans(root: string, limit = 50): FoundText[] {
  const paths = namesIn(root, PLANS, MOST_NAMES)
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(PLANS, entry.name, "PLAN.md"));
  return newest(root, paths, limit).flatMap(({ path }) => {
    const read = readInside(root, path);
    return read.ok ? [{ path, text: read.text }] : [];
  });
}

function stateFiles(root: string): string[] {
  const paths: string[] = [];
  const folders = namesIn(root, STATE, MOST_NAMES);
  let left = MOST_NAMES - folders.length;
  for (const folder of folders) {
    if (left <= 0) break;
    if (!folder.isDirectory() || folder.name === "archive") continue;
    const files = namesIn(root, join(STATE, folder.name), left);
    left -= files.length;
    paths.push(...files.filter(isDocument).map((file) => join(STATE, folder.name, file.name)));
  }
  return paths;
}

const isDocument = (file: Entry) => file.isFile() && file.name.endsWith(".json") && !file.name.startsWith(".");

/** At most so many names; none where the folder is not one of the project's own. */
function namesIn(root: string, folder: string, most: number): Entry[] {
  try {
    return entriesOf(insideRoot(root, folder)).slice(0, most);
  } catch {
    return [];
  }
}

function newest(root: string, paths: string[], limit: number): { path: string; mtime: number }[] {
  const files = paths.flatMap((path) => {
    const mtime = timeOf(join(root, path));
    return mtime === null ? [] : [{ path, mtime }];
  });
  const byTime = files.sort((a, b) => b.mtime - a.mtime || (a.path < b.path ? -1 : 1));
  return byTime.slice(0, Math.max(0, limit));
}

/** null: no regular file of a sensible size. */
function timeOf(path: string): number | null {
  try {
    const found = lookAt(path);
    return found?.isFile() && found.size <= LARGEST ? found.mtimeMs : null;
  } catch {
    return null;
  }
}

/** The folders may have become something else since they were listed. */
function readInside(root: string, path: string): ReadResult {
  try {
    return readText(insideRoot(root, path), LARGEST);
  } catch {
    return { ok: false, why: "unreadable" };
  }
}
