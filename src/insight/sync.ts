/**
 * Brings the database up to the journals, step by step. Each step is one transaction: another process sees all of it or nothing,
 * may do the next one itself, and whoever is interrupted goes on from there.
 */
import type { Database } from "bun:sqlite";
import { readCost } from "../store/cost.ts";
import { messageOf } from "../store/files.ts";
import { saveDays } from "./days.ts";
import { isBusy } from "./db.ts";
import { foldProject } from "./fold-project.ts";
import type { Team } from "./mate.ts";
import { registerProjects } from "./projects.ts";
import type { Synced } from "./types.ts";
import { dismissMate, MOST_TOUCHED, newStep, newWork, type Work } from "./work.ts";

/** All may be read, and still the step may not have come to its end. */
const MOST_UNFINISHED = 0.999;

export interface Sync {
  /** One more step, of about so many milliseconds. What it returns adds up over all of them. */
  step(ms: number): Synced;
  stop(): void;
}

export function beginSync(db: Database, projects: string[] | undefined, team: Team | null): Sync {
  const work = newWork(db, team);
  let ms = 0;
  return {
    step(most) {
      const began = performance.now();
      work.step = newStep(began + most);
      takeStep(work, projects);
      ms += performance.now() - began;
      const { events, helped, skipped, problems, step } = work;
      if (!step.isCut) dismissMate(work);
      const share = step.isCut ? Math.min(MOST_UNFINISHED, step.read / step.total) : 1;
      return { events, helped, skipped, projects: work.projects, ms, share, rebuilt: null, problems };
    },
    stop: () => dismissMate(work),
  };
}

function takeStep(work: Work, projects: string[] | undefined): void {
  const { db } = work;
  const all = db.transaction(() => {
    notice(work);
    const known = registerProjects(db, projects);
    work.projects = known.length;
    for (const project of known) foldProject(work, project);
    saveDays(db, work.step.days);
    if (!work.step.isCut) noteCosts(work);
  });
  try {
    all.immediate();
  } catch (error) {
    if (!isBusy(error)) throw error;
    work.problems.push("another process is reading the journals; its figures will do");
  }
}

/** What another process wrote since the last step. */
function notice(work: Work): void {
  const { data_version } = work.db.query("PRAGMA data_version").get() as { data_version: number };
  if (data_version !== work.version) work.saved.clear();
  work.version = data_version;
}

/** What sessions cost is not in the journal. A loop's own figures are, and go first. */
function noteCosts({ db, touched, problems }: Work): void {
  const save = db.query("UPDATE runs SET cost = ? WHERE project = ? AND id = ?");
  for (const { project, root, id } of touched.slice(-MOST_TOUCHED)) {
    try {
      const cost = readCost(root, id);
      if (cost !== null) save.run(cost.usd, project, id);
    } catch (error) {
      problems.push(`cost of ${id}: ${messageOf(error)}`);
    }
  }
}
