/**
 * Brings the database up to the journals, step by step. Each step is one transaction: another process sees all of it or
 * nothing, may do the next one itself, and goes on from there if this one is interrupted.
 */
import type { Database } from "bun:sqlite";
import { readCost } from "../store/cost.ts";
import { messageOf } from "../store/files.ts";
import { newDaySums, saveDays } from "./days.ts";
import { isBusy } from "./db.ts";
import { foldProject } from "./fold-project.ts";
import { MOST_TOUCHED, type Step, type Work } from "./fold-runs.ts";
import { registerProjects } from "./projects.ts";
import type { Synced } from "./types.ts";

/** Everything may be read although the step has not ended. */
const MOST_UNFINISHED = 0.999;

const newStep = (until: number): Step => ({ until, days: newDaySums(), read: 0, total: 0, isCut: false });

/** Returns a function that takes one more step of about so many milliseconds. What it returns adds up over all steps. */
export function beginSync(db: Database, projects: string[] | undefined): (ms: number) => Synced {
  const work: Work = { db, projects: 0, events: 0, skipped: 0, problems: [], touched: [], step: newStep(0) };
  let ms = 0;
  return (most) => {
    const began = performance.now();
    work.step = newStep(began + most);
    takeStep(work, projects);
    ms += performance.now() - began;
    const { events, skipped, problems, step } = work;
    const share = step.isCut ? Math.min(MOST_UNFINISHED, step.read / step.total) : 1;
    return { events, skipped, projects: work.projects, ms, share, rebuilt: null, problems };
  };
}

function takeStep(work: Work, projects: string[] | undefined): void {
  const { db } = work;
  const all = db.transaction(() => {
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
    work.problems.push("another process is reading the journals; its figures are used");
  }
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
