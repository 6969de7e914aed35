/** What the tracker says: the next task, claimed for us, or one task as it is now. Loaded only where a run has tasks. */

import type { Fact, NextTask, TaskFact } from "../kernel/types/run.ts";
import type { Leftover, Task } from "../kernel/types/task.ts";
import type { TaskScope } from "../kernel/types/workflow.ts";
import { knownActors } from "../store/actors.ts";
import { locked } from "./ask.ts";
import { hasLabel, isElsewhere, isExpired, isFinished, leftovers, nextTask } from "./core/tasks.ts";
import { type Answer, openTracker, type Tracker } from "./index.ts";
import { fail, hasFailed, NoAnswer, ok, unwrap } from "./tracker.ts";

function withTracker<T>(root: string, scope: TaskScope, ask: (tracker: Tracker) => T): Fact<T> {
  const { tracker: kind = "auto", path, repo } = scope;
  try {
    const tracker = unwrap(openTracker(root, { kind, ...(path && { path }), ...(repo && { repo }) }));
    return { ok: true, value: ask(tracker) };
  } catch (error) {
    if (error instanceof NoAnswer) return { ok: false, why: error.answer.why };
    throw error;
  }
}

export function gatherTask(root: string, scope: TaskScope, id: string): Fact<TaskFact> {
  return withTracker(root, scope, (tracker) => asTaskFact(unwrap(tracker.show(id)), tracker, scope));
}

const TRIES = 5;

/** One that is ours already comes first: after a crash the same task goes on. A lost race means: look again. */
export function gatherNext(
  root: string,
  scope: TaskScope,
  actor: string,
  wanted: string,
  peek = false,
): Fact<NextTask> {
  return withTracker<NextTask>(root, scope, (tracker) => {
    const next = () => chooseAndTake(tracker, scope, actor, wanted, peek);
    const until = Bun.nanoseconds() / 1e6 + TIMEOUT_MS;
    // One of us at a time: between looking and claiming another hook, also of the same prompt, may do the same.
    return peek ? next() : locked(root, until, next, "taking");
  });
}

/** Below what the hook of a prompt is given. */
const TIMEOUT_MS = 15_000;

function chooseAndTake(tracker: Tracker, scope: TaskScope, actor: string, wanted: string, peek: boolean): NextTask {
  if (wanted !== "") return takeWanted(tracker, scope, actor, wanted);
  const refused = new Set<string>();
  for (let tries = 0; tries < TRIES; tries++) {
    const chosen = choose(tracker, scope, actor, refused);
    if ("left" in chosen) return chosen;
    if (peek) return asTaskFact(chosen, tracker, scope);
    const claimed = take(tracker, chosen, actor);
    if (!hasFailed(claimed, "taken")) return withFreed(asTaskFact(unwrap(claimed), tracker, scope), chosen, actor);
    refused.add(chosen.id);
  }
  return fail("taken", "every task was claimed by someone else in the meantime");
}

function takeWanted(tracker: Tracker, scope: TaskScope, actor: string, wanted: string): TaskFact {
  const task = unwrap(tracker.show(wanted));
  if (isFinished(task)) fail("refused", `${wanted} is already ${task.state}`);
  return withFreed(asTaskFact(unwrap(take(tracker, task, actor)), tracker, scope), task, actor);
}

function withFreed(fact: TaskFact, before: Task, actor: string): TaskFact {
  const freed = before.state === "claimed" && before.owner !== actor ? before.owner : null;
  return freed === null ? fact : { ...fact, freed };
}

/** A claim whose session is dead is given back first; the tracker's history shows it. */
export function take(tracker: Tracker, task: Task, actor: string): Answer<Task> {
  if (task.state === "claimed" && task.owner === actor) return ok(task);
  const freed = task.state === "claimed" && isDead(tracker, task) ? tracker.reopen(task.id) : null;
  return freed === null || freed.kind === "ok" ? tracker.claim(task.id, actor) : freed;
}

const isDead = (tracker: Tracker, task: Task) => isExpired(task, Date.now(), knownActors(), tracker.here);

/** Label by label, in the order of the scope; `label` means `label:anything`, too. */
function choose(tracker: Tracker, scope: TaskScope, actor: string, refused: Set<string>): Task | { left: Leftover[] } {
  const listed = unwrap(tracker.list({}));
  const claimed = listed.filter((task) => task.state === "claimed" && isWanted(task, scope));
  const away = tracker.atomic ? undefined : claimed.find((task) => isElsewhere(task, tracker.here));
  if (away) {
    const advice = `${tracker.name} is not safe to share: work through its tasks on one machine`;
    fail("other-machine", `${away.id} is claimed by ${away.owner} on ${away.claimed_on}, and ${advice}`);
  }
  const mine = claimed.find((task) => task.owner === actor);
  if (mine) return mine;
  const isDeadOne = (task: Task) => task.state === "claimed" && !refused.has(task.id) && isDead(tracker, task);
  const epic = scope.epic === undefined ? {} : { epic: scope.epic };
  for (const label of scope.labels) {
    const wanted = { labels: [label, `${label}:*`], ...epic };
    // What is ready the tracker knows best: it resolves what a task waits for.
    const ready = unwrap(tracker.ready(wanted)).find((task) => !refused.has(task.id));
    const next = ready ?? nextTask(listed, wanted, isDeadOne);
    if (next) return next;
  }
  const labels = scope.labels.flatMap((label) => [label, `${label}:*`]);
  return { left: leftovers(listed, { labels, ...epic }) };
}

const isWanted = (task: Task, { labels }: TaskScope) =>
  labels.some((label) => hasLabel(task, label) || hasLabel(task, `${label}:*`));

function asTaskFact(task: Task, tracker: Tracker, scope: TaskScope): TaskFact {
  const { id, title, text, state, owner, labels } = task;
  // A file of the main checkout is named in full.
  const path = tracker.where.startsWith("/") ? tracker.where : scope.path;
  return { id, title, text, state, owner, labels, tracker: tracker.name, ...(path !== undefined && { path }) };
}
