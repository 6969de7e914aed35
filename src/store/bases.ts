/**
 * What a run is compared with, outside the project, where an agent does not come by: `~/.local/state/pawl/bases/<project>/`.
 * `<run>/objects` holds the tree of the beginning, `<run>/files` the files of test class that git ignores, `results/` what
 * test commands said on a tree.
 */

import { attempt } from "../kernel/attempt.ts";
import type { NamedReport } from "../kernel/types/verdict.ts";
import { realpath, removeAll } from "../native/disk.ts";
import { hashOf, lookAt, makeDirs, namesOrNone, removeQuietly, writeAtomic } from "./files.ts";
import { statePath } from "./home.ts";
import { join } from "./names.ts";
import { readSealed, seal } from "./seal.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const DAY_MS = 86_400_000;
const OLDEST_MS = 30 * DAY_MS;
const MOST_RESULTS = 60;

const projectFolder = (root: string) => statePath("bases", hashOf(attempt(() => realpath(root), root)).slice(0, 24));

/** null without a run */
export function baseFolder(root: string, run: string): string | null {
  if (run === "") return null;
  if (!NAME.test(run)) throw new Error(`no run can be called ${JSON.stringify(run.slice(0, 100))}`);
  return join(projectFolder(root), run);
}

/** Where git puts what the repository itself does not have yet; null without a run. */
export function objectsFolder(root: string, run: string): string | null {
  const folder = baseFolder(root, run);
  return folder && join(folder, "objects");
}

export const dropBase = (root: string, run: string) => removeAll(baseFolder(root, run)!);
export const listBases = (root: string) => namesOrNone(projectFolder(root)).filter((name) => name !== RESULTS);

/** Of runs that were never ended. */
export function dropOldBases(now: number): void {
  const all = statePath("bases");
  for (const project of namesOrNone(all))
    for (const run of namesOrNone(join(all, project)).filter((name) => name !== RESULTS)) {
      const folder = join(all, project, run);
      if (now - (lookAt(folder)?.mtimeMs ?? now) > OLDEST_MS) removeAll(folder);
    }
}

// ── The beginning ───────────────────────────────────────────────────────────

export interface BaseRecord {
  tree: string;
  /** files of test class that git ignores: sha256 by path; copies of them are in `files/` */
  ignored: Record<string, string>;
}

const recordContext = (root: string, run: string, tree: string) => `base/${run}/${tree}/${root}`;
const recordPath = (root: string, run: string, tree: string) => join(baseFolder(root, run)!, `${tree}.json`);
export const keptFile = (root: string, run: string, hash: string) => join(baseFolder(root, run)!, "files", hash);

export function writeBaseRecord(root: string, run: string, record: BaseRecord): void {
  makeDirs(baseFolder(root, run)!, 0o700);
  const text = seal(recordContext(root, run, record.tree), JSON.stringify(record));
  writeAtomic(recordPath(root, run, record.tree), text, 0o600, "unsynced");
}

/** null: nothing was kept, or it was removed, or it is not ours. */
export const readBaseRecord = (root: string, run: string, tree: string) =>
  readSealed(recordContext(root, run, tree), recordPath(root, run, tree), 8 << 20) as unknown as BaseRecord | null;

// ── What a test command said ────────────────────────────────────────────────

const RESULTS = "results";

export interface KeptResult {
  exit: number | null;
  /** null: no runner was heard */
  report: NamedReport | null;
}

const resultPath = (root: string, name: string) => join(projectFolder(root), RESULTS, `${name}.json`);

/** `name`: of the gate and the tree. */
export const readResult = (root: string, name: string) =>
  readSealed(`result/${name}/${root}`, resultPath(root, name), 32 << 20) as unknown as KeptResult | null;

export function writeResult(root: string, name: string, value: KeptResult): void {
  writeSealed(root, name, value);
  const folder = join(projectFolder(root), RESULTS);
  const names = namesOrNone(folder).filter((one) => one.includes("-"));
  if (names.length <= MOST_RESULTS) return;
  const aged = names.map((one) => ({ path: join(folder, one), at: lookAt(join(folder, one))?.mtimeMs ?? 0 }));
  for (const { path } of aged.toSorted((a, b) => b.at - a.at).slice(MOST_RESULTS)) removeQuietly(path);
}

/** Tests that may fail until they have passed once, by gate; null: not known yet. */
export const readKnownFailures = (root: string, gate: string): string[] | null =>
  (readSealed(`result/${gate}/${root}`, resultPath(root, gate), 8 << 20)?.names as string[] | undefined) ?? null;

export const writeKnownFailures = (root: string, gate: string, names: string[]) => writeSealed(root, gate, { names });

function writeSealed(root: string, name: string, value: object): void {
  if (!NAME.test(name)) throw new Error(`no result can be called ${JSON.stringify(name.slice(0, 100))}`);
  makeDirs(join(projectFolder(root), RESULTS), 0o700);
  writeAtomic(resultPath(root, name), seal(`result/${name}/${root}`, JSON.stringify(value)), 0o600, "unsynced");
}
