/** Keeps the tree of the beginning, so that it can be compared with even if the project's own git is removed. */

import { copyFileSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { dropOldBases, keptFile, objectsFolder, readBaseRecord, writeBaseRecord } from "../../store/bases.ts";
import { lookAt, makeDirs } from "../../store/files.ts";
import { dirname, join } from "../../store/names.ts";
import { findRepo, packTree } from "../tree/git.ts";
import { ignoredTests } from "./ignored.ts";

/**
 * Called once, where a run or its task begins; the tree's own new objects are in the run's folder already.
 * @public The engine loads it by `require`.
 */
export function keepBase(root: string, run: string, tree: string): void {
  attempt(() => dropOldBases(Date.now()), undefined);
  const repo = findRepo(root);
  const objects = objectsFolder(root, run);
  if (repo === null || objects === null || !lookAt(objects)?.isDirectory()) return;
  if (readBaseRecord(root, run, tree) !== null) return;
  const ignored = ignoredTests(root);
  for (const [path, hash] of Object.entries(ignored)) {
    const kept = keptFile(root, run, hash);
    makeDirs(dirname(kept), 0o700);
    copyFileSync(join(root, path), kept);
  }
  writeBaseRecord(root, run, { tree, ignored });
  packTree(repo, tree, objects);
}
