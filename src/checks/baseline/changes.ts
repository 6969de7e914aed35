/** What was changed of that which decides what tests prove, since the beginning; and how to put it back. */

import { keptFile, readBaseRecord } from "../../store/bases.ts";
import { isTestClass } from "../core/test-class.ts";
import { withOldPart } from "../core/test-parts.ts";
import type { TreeChange } from "../tree/diff.ts";
import { askGit, deadline, findRepo } from "../tree/git.ts";
import { ignoredTests } from "./ignored.ts";

/** What differs from the project as it is now. */
export interface Restoring {
  /** as in the tree of the beginning */
  restore: string[];
  remove: string[];
  /** shared files, with their part about tests as it was */
  texts: Record<string, string>;
  /** copies of files that no tree has, by path */
  copies: Record<string, string>;
}

export const nothing = (): Restoring => ({ restore: [], remove: [], texts: {}, copies: {} });

/** Every path that is put back, removed or written. */
export const pathsOf = ({ restore, remove, texts, copies }: Restoring) =>
  [...new Set([...restore, ...remove, ...Object.keys(texts), ...Object.keys(copies)])].sort();

/** Old tests on new code. `named`: files that runners named. */
export function oldTests(changes: TreeChange[], named: ReadonlySet<string>): Restoring {
  const back = nothing();
  for (const change of changes) {
    const { path, from = path } = change;
    if (isTestClass(path, named) || isTestClass(from, named)) putBack(back, change);
    else if (change.status !== "removed") {
      const swapped = withOldPart(path, change.before ?? "", change.after ?? "");
      if (swapped !== null && swapped !== change.after && change.after !== null) back.texts[path] = swapped;
    }
  }
  return back;
}

/**
 * All as it was. `kept`: files that the person approved as they are now, since they decide what is run: only their part
 * about tests is put back.
 */
export function wholeBase(changes: TreeChange[], named: ReadonlySet<string>, kept: ReadonlySet<string>): Restoring {
  const back = oldTests(
    changes.filter(({ path }) => kept.has(path)),
    named,
  );
  for (const change of changes) if (!kept.has(change.path)) putBack(back, change);
  return back;
}

function putBack(back: Restoring, { path, from, status }: TreeChange): void {
  if (status !== "added") back.restore.push(from ?? path);
  if (status === "added" || status === "renamed") back.remove.push(path);
}

/** Null: what was kept of the beginning is gone. */
export function ignoredChanges(root: string, run: string, tree: string): Restoring | null {
  const record = readBaseRecord(root, run, tree);
  if (record === null) return null;
  const now = ignoredTests(root);
  const back = nothing();
  for (const [path, hash] of Object.entries(record.ignored))
    if (now[path] !== hash) back.copies[path] = keptFile(root, run, hash);
  back.remove.push(...Object.keys(now).filter((path) => record.ignored[path] === undefined));
  return back;
}

export const together = (a: Restoring, b: Restoring): Restoring => ({
  restore: [...a.restore, ...b.restore],
  remove: [...a.remove, ...b.remove],
  texts: { ...a.texts, ...b.texts },
  copies: { ...a.copies, ...b.copies },
});

// ── For people ──────────────────────────────────────────────────────────────

const MOST_LINES = 24;
const MOST_FILES = 200;

export type FileDiffs = Record<string, { sign: string; diff: string }>;

/** Each of these files: git's names for it before and now, and what was changed. */
export function showChanges(
  root: string,
  base: string,
  now: string,
  objects: string | null,
  paths: string[],
): FileDiffs {
  const repo = findRepo(root);
  if (repo === null || paths.length === 0) return {};
  const how = [
    "-U1",
    "--full-index",
    "--no-renames",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=",
    "--dst-prefix=",
  ];
  const args = [
    "--literal-pathspecs",
    "-c",
    "core.quotePath=false",
    "diff",
    ...how,
    base,
    now,
    "--",
    ...paths.slice(0, MOST_FILES),
  ];
  const out = Buffer.from(askGit({ ...repo, top: root }, args, { until: deadline(), objects }), "latin1").toString();
  const parts = out.split(/^diff --git /m).slice(1);
  return Object.fromEntries(parts.map(asDiff));
}

function asDiff(part: string): [string, { sign: string; diff: string }] {
  const head = part.slice(0, part.indexOf("\n"));
  // "path path": the same twice.
  const path = head.slice(0, (head.length - 1) / 2);
  const sign = /^index ([0-9a-f]+\.\.[0-9a-f]+)/m.exec(part)?.[1] ?? "";
  const lines = part.split("\n").filter((line) => /^[-+ ](?![-+]{2} )/.test(line));
  const more = lines.length > MOST_LINES ? [`… ${lines.length - MOST_LINES} more lines`] : [];
  return [path, { sign, diff: [...lines.slice(0, MOST_LINES), ...more].join("\n") }];
}
