/** What a task is, wherever it lives; which one is next; when a claim has lost its holder. */
import { parseInstant } from "../../kernel/time/calendar.ts";
import type { Leftover, Scope, Task, TaskState } from "../../kernel/types/task.ts";

/** Sessions of ours, as trackers name them. */
const OURS = /^pawl-[A-Za-z0-9._-]+$/;
/** A session that has just claimed may not be known as live yet. */
const GRACE_MS = 60_000;
/** Without the name of the machine, no one can tell that the session of a claim is dead. */
const UNKNOWN_MACHINE_MS = 24 * 3_600_000;

export function inScope(task: Task, scope: Scope): boolean {
  const labelled = scope.labels.length === 0 || scope.labels.some((wanted) => hasLabel(task, wanted));
  // Children of children carry their ancestors in their id: `app-1.2.3`.
  return labelled && (scope.epic === undefined || task.epic === scope.epic || task.id.startsWith(`${scope.epic}.`));
}

export function hasLabel(task: Task, wanted: string): boolean {
  if (!wanted.endsWith("*")) return task.labels.includes(wanted);
  return task.labels.some((label) => label.startsWith(wanted.slice(0, -1)));
}

/** What a list is asked for; without a state everything that is not finished. */
export function matches(task: Task, { label, state }: { label?: string; state?: TaskState }): boolean {
  if (label !== undefined && !inScope(task, { labels: [label] })) return false;
  return state === undefined ? !isFinished(task) : task.state === state;
}

/** A tracker's program is asked once for each label; undefined, for all tasks, where one of them is a pattern. */
export function labelsToAsk(labels: string[]): (string | undefined)[] {
  return labels.length === 0 || labels.some((label) => label.endsWith("*")) ? [undefined] : labels;
}

/** Which one is next: in scope, not blocked, not held by a live session; by priority, then age, then id. */
export function nextTask(tasks: Task[], scope: Scope, isFree: (task: Task) => boolean = isUnclaimed): Task | null {
  const finished = new Set(tasks.filter(isFinished).map((task) => task.id));
  const ready = tasks.filter(
    (task) => isFree(task) && inScope(task, scope) && task.blocked_by.every((id) => finished.has(id)),
  );
  return ready.reduce<Task | null>((best, task) => (best === null || compareTasks(task, best) < 0 ? task : best), null);
}

const isUnclaimed = (task: Task) => task.state === "open";
export const isFinished = (task: Task) => task.state === "closed" || task.state === "dropped";

export function compareTasks(a: Task, b: Task): number {
  return (
    a.priority - b.priority ||
    compareText(a.created_at, b.created_at) ||
    (a.position ?? 0) - (b.position ?? 0) ||
    compareText(a.id, b.id)
  );
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

// ── What is left ────────────────────────────────────────────────────────────

/** `unfinished`: all that the tracker lists. A blocker that it does not list is finished, or no one knows it. */
export function leftovers(unfinished: Task[], scope: Scope): Leftover[] {
  const known = new Set(unfinished.map((task) => task.id));
  return unfinished
    .filter((task) => inScope(task, scope) && !isFinished(task))
    .map(({ id, state, owner, blocked_by }) => {
      const listed = blocked_by.filter((one) => known.has(one));
      const waits_for = listed.length > 0 ? listed : blocked_by;
      return { id, state: state === "claimed" ? "claimed" : "blocked", owner, waits_for };
    });
}

// ── Claims ──────────────────────────────────────────────────────────────────

/** Milliseconds since it was claimed; null: not claimed, or no one wrote down when. `now`: milliseconds since 1970. */
export function claimAge(task: Task, now: number): number | null {
  if (task.state !== "claimed" || task.claimed_at === undefined) return null;
  const since = parseInstant(task.claimed_at);
  return since === null ? null : Math.max(0, now - since);
}

/**
 * A claim of a session of ours on this machine that is dead. A person's claim never expires; neither does one from
 * another machine, whose sessions cannot be seen from here. `known`: who is at work (true), and who surely is not.
 */
export function isExpired(task: Task, now: number, known: ReadonlyMap<string, boolean>, here?: string): boolean {
  if (task.state !== "claimed" || task.owner === null || !OURS.test(task.owner)) return false;
  if (isElsewhere(task, here)) return false;
  const isLive = known.get(task.owner);
  if (isLive !== undefined) return !isLive;
  const age = claimAge(task, now);
  if (task.claimed_on === undefined) return age !== null && age >= UNKNOWN_MACHINE_MS;
  return age === null || age >= GRACE_MS;
}

/** Claimed by a Pawl of another machine. */
export function isElsewhere(task: Task, here: string | undefined): boolean {
  return task.state === "claimed" && task.claimed_on !== undefined && task.claimed_on !== here;
}

export const heldBy = (task: Task) =>
  `${task.id} is claimed by ${task.owner}${task.claimed_on === undefined ? "" : ` on ${task.claimed_on}`}`;
