/** Runs and journal, read straight from the disk: their format is a promise too. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { textOf } from "./harness.ts";

export interface RunOnDisk {
  id: string;
  seq: number;
  stage: string;
  status: string;
  outcome?: string;
  paused?: unknown;
  plan: string[];
  owner: { session: string } | null;
  document: { path: string };
  updated_at: string;
  archived: boolean;
}

const namesIn = (dir: string) => (existsSync(dir) ? readdirSync(dir) : []);

export function runsOf(root: string): RunOnDisk[] {
  return ["runs", "archive"].flatMap((kind) => {
    const dir = join(root, ".pawl", kind);
    return namesIn(dir).flatMap((id) => newest(join(dir, id), kind === "archive"));
  });
}

function newest(dir: string, archived: boolean): RunOnDisk[] {
  const last = namesIn(dir)
    .filter((name) => /^\d+\.json$/.test(name))
    .sort()
    .at(-1);
  return last ? [{ ...JSON.parse(textOf(join(dir, last))!).run, archived }] : [];
}

/** The session's newest run; of a project with a single run, that one. */
export function runOf(root: string, session: string): RunOnDisk | null {
  const age = (run: RunOnDisk) => `${run.updated_at} ${run.archived ? 0 : 1}`;
  const all = runsOf(root).sort((a, b) => age(a).localeCompare(age(b)));
  return all.filter((run) => run.owner?.session === session).at(-1) ?? (all.length === 1 ? all[0]! : null);
}

export interface JournalLine {
  run: string;
  seq: number;
  i: number;
  kind: string;
  [key: string]: unknown;
}

export function journalOf(root: string): JournalLine[] {
  const dir = join(root, ".pawl/journal");
  const lines = namesIn(dir)
    .sort()
    .flatMap((name) => textOf(join(dir, name))!.split("\n"));
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
}
