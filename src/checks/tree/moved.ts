/**
 * Did the tree stay as it is while a check ran? A file that is swapped and swapped back leaves the same content, but not
 * the same inode and time of change, which `touch` cannot set. A folder that is renamed and renamed back shows only in
 * its own time of change: entries that come and go (caches do that) set both of a folder's times at once.
 */
import { lstatSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { messageOf } from "../../store/files.ts";
import { dirname, join } from "../../store/names.ts";
import { isOwned } from "../../store/owned.ts";
import { isTestClass } from "../core/test-class.ts";
import { deadline, timeLeft } from "./git.ts";
import { ignoredTests, listFiles, newFiles } from "./surroundings.ts";
import { setTrueTimes } from "./times.ts";
import { treeHash } from "./tree.ts";

/** Written by checks each time, often with the same content. */
const OUTPUT =
  /(?:^|\/)(?:coverage|htmlcov|test-results|playwright-report|reports?|dist|build|out|generated|__generated__|__snapshots__|node_modules|target|__pycache__|\.[\w-]*(?:cache|vitest|nyc_output))\/|(?:^|\/)(?:\.coverage|coverage\.\w+|junit[\w.-]*\.xml)$|\.(?:log|tsbuildinfo|lcov|snap|pyc|gen\.\w+|generated\.\w+)$/;

/** What a check may write as its report, also where git neither tracks nor ignores it. Code and tests are no report. */
const REPORT = /\.(?:txt|out|json|xml|html?|csv|md|svg|png)$/;

/** How far the two times of one change of a folder may differ, in ms. */
const SAME_MOMENT = 2;

interface Seen {
  ino: number;
  ctime: number;
  size: number;
  folder: boolean;
  /** plainly written again, it has not moved: entries come and go in a folder, and a check writes its report */
  mayBeWritten: boolean;
}

/** Looks at the tree, which has to be `tree` now; the answer names what moved since then. */
export function watchTree(root: string, tree: string): () => string[] {
  const start = attempt(() => lookAround(root), null);
  const hash = treeHash(root, null);
  if (start === null || !hash.ok) return () => ["it could not be read at the beginning"];
  if (hash.value !== tree) return () => ["it changed before the command was started"];
  return () => {
    try {
      return [...start].flatMap(([path, seen]) => (isSame(path, seen) ? [] : [shorten(root, path)]));
    } catch (error) {
      return [`it could not be read at the end: ${messageOf(error)}`];
    }
  };
}

const shorten = (root: string, path: string) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path);

function lookAround(root: string): Map<string, Seen> {
  const until = deadline();
  const listed = listFiles(root, until);
  setTrueTimes(root, listed);
  const files = [...listed, ...ignoredTests(root, until)];
  const paths = new Set(foldersAbove(root));
  for (const path of files) {
    if (isOwned(path) || OUTPUT.test(path)) continue;
    paths.add(join(root, path));
    for (let dir = dirname(path); dir !== "." && !paths.has(join(root, dir)); dir = dirname(dir))
      paths.add(join(root, dir));
  }
  timeLeft(until);
  const fresh = newFiles(root, until);
  const isReport = (path: string) => fresh.has(path) && REPORT.test(path) && !isTestClass(path, new Set());
  return new Map(
    [...paths].flatMap((path) => {
      const found = look(path);
      if (found === null) return [];
      return [[path, { ...found, mayBeWritten: found.folder || isReport(shorten(root, path)) }]];
    }),
  );
}

/** The project itself and all above it: each can be renamed, too. */
function foldersAbove(root: string): string[] {
  const above = dirname(root);
  return above === root ? [root] : [root, ...foldersAbove(above)];
}

function look(path: string): (Omit<Seen, "mayBeWritten"> & { mtime: number }) | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  const { ino, ctimeMs, mtimeMs, size } = found;
  return { ino, ctime: ctimeMs, mtime: mtimeMs, size, folder: found.isDirectory() };
}

function isSame(path: string, before: Seen): boolean {
  const now = look(path);
  if (now === null || now.ino !== before.ino || now.folder !== before.folder) return false;
  if (now.ctime === before.ctime) return true;
  return before.mayBeWritten && Math.abs(now.ctime - now.mtime) <= SAME_MOMENT;
}
