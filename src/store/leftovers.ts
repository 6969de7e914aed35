/** What the checks of a run leave behind once it is over: trees to compare with, and results no one asks for again. */
import type { Run } from "../kernel/types/run.ts";
import { removeAll } from "../native/disk.ts";
import { insideRoot } from "./files.ts";
import { dropFinishedJobs } from "./jobs.ts";

export function dropLeftovers(root: string, run: Run): void {
  if (run.base_tree !== undefined || run.verdicts !== undefined) {
    removeAll(insideRoot(root, `.pawl/objects/${run.id}`));
  }
  for (const id of Object.keys(run.verdicts ?? {})) dropFinishedJobs(root, id);
}
