/** What a sync carries along from journal to journal and from step to step. */
import type { Database } from "bun:sqlite";
import { openScanner, type Scanner } from "./core/journal-scan.ts";
import { type DaySums, newDaySums } from "./days.ts";
import type { Mate, Team } from "./mate.ts";

/** Each look at a cost opens a folder: after a long absence newer runs have to do. */
export const MOST_TOUCHED = 200;

export interface Touched {
  project: number;
  root: string;
  id: string;
}

/** What one sync has done so far, in all its steps. */
export interface Work {
  db: Database;
  projects: number;
  events: number;
  skipped: number;
  problems: string[];
  scanner: Scanner;
  touched: Touched[];
  /** Of projects that had no runs before: those that have been saved. Others are nowhere, so nobody has to look for them. */
  saved: Map<number, Set<string>>;
  /** as `saved` was written; another process may write between two steps */
  version: number;
  /** null: not yet, or not any more */
  mate: Mate | null;
  /** null: alone is as quick, or the mate fell over */
  team: Team | null;
  /** of the events, those that the mate folded */
  helped: number;
  step: Step;
}

/** What the current step has come to. Bytes: of all files, and how many of them are done with. */
export interface Step {
  until: number;
  days: DaySums;
  read: number;
  total: number;
  isCut: boolean;
}

export const newWork = (db: Database, team: Team | null): Work => ({
  db,
  projects: 0,
  events: 0,
  skipped: 0,
  problems: [],
  scanner: openScanner(),
  touched: [],
  saved: new Map(),
  version: -1,
  mate: null,
  team,
  helped: 0,
  step: newStep(0),
});

export const newStep = (until: number): Step => ({ until, days: newDaySums(), read: 0, total: 0, isCut: false });

export function dismissMate(work: Work): void {
  work.mate?.stop();
  work.mate = null;
}
