/** Where formal workflows may be that no one registered. Hostile folders cost little and never throw. */
import { attempt } from "../kernel/attempt.ts";
import { type Entry, readEntries } from "../native/disk.ts";
import { insideRoot, lookAt, type ReadResult, readText } from "../store/files.ts";
import { join } from "../store/names.ts";
import { NOTES } from "./core/detect.ts";

export interface FoundText {
  /** relative to the root */
  path: string;
  text: string;
}

const STATE = "untracked/workflow-state";
const PLANS = "CLAUDE/Plan";
const LARGEST = 1 << 20;
const MOST_NAMES = 20_000;

/** The documents in untracked/workflow-state/…/, the newest first. */
export const findDocuments = (root: string, limit = 200): FoundText[] => newest(root, stateFiles(root), limit);

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
  return newest(root, paths, limit);
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
const namesIn = (root: string, folder: string, most: number): Entry[] =>
  attempt(() => readEntries(insideRoot(root, folder)).slice(0, most), []);

function newest(root: string, paths: string[], limit: number): FoundText[] {
  const files = paths.flatMap((path) => {
    const found = attempt(() => lookAt(join(root, path)), undefined);
    return found?.isFile() && found.size <= LARGEST ? [{ path, mtime: found.mtimeMs }] : [];
  });
  const byTime = files.sort((a, b) => b.mtime - a.mtime || (a.path < b.path ? -1 : 1));
  return byTime.slice(0, Math.max(0, limit)).flatMap(({ path }) => {
    const read = readInside(root, path);
    return read.ok ? [{ path, text: read.text }] : [];
  });
}

/** The folders may have become something else since they were listed. */
const readInside = (root: string, path: string): ReadResult =>
  attempt(() => readText(insideRoot(root, path), LARGEST), { ok: false, why: "unreadable" });
