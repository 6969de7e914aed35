/** Brings the database up to the journals. One transaction: another process sees all of it or nothing. */
import type { Database } from "bun:sqlite";
import { readCost } from "../store/cost.ts";
import { messageOf } from "../store/files.ts";
import { saveDays } from "./days.ts";
import { isBusy } from "./db.ts";
import { foldProject, MOST_TOUCHED, newWork, type Work } from "./fold-project.ts";
import { registerProjects } from "./projects.ts";
import type { Synced } from "./types.ts";

export function syncDatabase(db: Database, projects: string[] | undefined): Synced {
  const began = performance.now();
  const work = newWork(db);
  let count = 0;
  const all = db.transaction(() => {
    const known = registerProjects(db, projects);
    count = known.length;
    for (const project of known) foldProject(work, project);
    saveDays(db, work.days);
    noteCosts(work);
  });
  try {
    all.immediate();
  } catch (error) {
    if (!isBusy(error)) throw error;
    work.problems.push("another process is reading the journals; its figures will do");
  }
  const { events, skipped, problems } = work;
  return { events, skipped, projects: count, ms: performance.now() - began, rebuilt: null, problems };
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
