/** Tasks that a session of a loop has claimed and not finished: when it is over, they are ready again. */

import type { Procedure } from "../kernel/types/procedure.ts";
import type { Task } from "../kernel/types/task.ts";
import { actorOf } from "../kernel/types/task.ts";
import { isElsewhere } from "../trackers/core/tasks.ts";
import { type Tracker, withLock } from "../trackers/index.ts";
import { openForChanging } from "../trackers/project-tracker.ts";

const PATIENCE_MS = 20_000;

/**
 * Nobody has to wait until such a claim expires, and a task that is "in progress" with nobody at it is not done. Only for
 * procedures that go by what is ready; a tracker that does not answer keeps its claims until they expire.
 */
export function freeClaims(root: string, { gates }: Procedure, session: string): void {
  if (session === "" || !gates.some(({ tracker }) => tracker === "none-ready")) return;
  const opened = openForChanging(root);
  if (opened.kind !== "ok") return;
  const tracker = opened.value;
  if (claimsOf(tracker, session).length === 0) return;
  const until = Bun.nanoseconds() / 1e6 + PATIENCE_MS;
  withLock(root, until, () => free(tracker, claimsOf(tracker, session)), "taking");
}

function claimsOf(tracker: Tracker, session: string): Task[] {
  const claimed = tracker.list({ state: "claimed" });
  const actor = actorOf(session);
  if (claimed.kind !== "ok") return [];
  return claimed.value.filter((task) => task.owner === actor && !isElsewhere(task, tracker.here));
}

function free(tracker: Tracker, tasks: Task[]) {
  for (const { id } of tasks) tracker.reopen(id);
  return { kind: "ok" as const, value: null };
}
