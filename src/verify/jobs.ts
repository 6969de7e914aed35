/** Commands under way for us: waited for without standing still, and ended with us. */
import { rmSync } from "node:fs";
import { awaitJob, endJob, forgetJob, jobState } from "../checks/jobs/job.ts";
import type { Ran } from "../kernel/types/run.ts";

/** What is started here ends here; a job that a hook started is only watched. */
export interface Running {
  own: Map<string, { root: string; id: string; name: string }>;
  /** folders that are only here while we are */
  folders: Set<string>;
}

export const nothingRuns = (): Running => ({ own: new Map(), folders: new Set() });

export interface JobView {
  since: string;
  tail: string;
}

const SHORTEST_MS = 15;
const LONGEST_MS = 150;

/** null: there is no such job, or it was still running after `most_ms`. */
export async function awaitDone(
  root: string,
  id: string,
  tick: (seen: JobView) => void,
  most_ms = Number.POSITIVE_INFINITY,
): Promise<Ran | null> {
  const until = performance.now() + most_ms;
  for (let pause = SHORTEST_MS; ; pause = Math.min(LONGEST_MS, pause * 1.3)) {
    const ran = awaitJob(root, id, 0);
    if (ran !== null) return ran;
    const seen = jobState(root, id);
    if (seen === null || performance.now() >= until) return null;
    tick(seen);
    await Bun.sleep(Math.max(1, Math.min(pause, until - performance.now())));
  }
}

const jobKey = (root: string, id: string) => `${root}\0${id}`;

export function own(running: Running, root: string, id: string, name: string): void {
  running.own.set(jobKey(root, id), { root, id, name });
}

/** Its verdict is known: its files are not needed any more. */
export function settle(running: Running, root: string, id: string): void {
  if (running.own.delete(jobKey(root, id))) forgetJob(root, id);
}

export function removeFolder(running: Running, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  running.folders.delete(folder);
}

/** Ends all of them with everything they started, and leaves no files; returns their names. */
export function endAll(running: Running): string[] {
  const all = [...running.own.values()];
  for (const { root, id } of all) {
    endJob(root, id);
    settle(running, root, id);
  }
  for (const folder of running.folders) removeFolder(running, folder);
  return all.map(({ name }) => name);
}
