/** What the tracker says: the next task, claimed for us, or one task as it is now. Loaded only where a run has tasks. */

import type { Fact, NextTask, TaskFact } from "../kernel/types/run.ts";
import type { Leftover, Task } from "../kernel/types/task.ts";
import type { TaskScope } from "../kernel/types/workflow.ts";
import { knownActors } from "../store/actors.ts";
import { hasLabel, isElsewhere, isExpired, isFinished, leftovers, nextTask } from "./core/tasks.ts";
import { type Answer, openTracker, type Tracker, withLock } from "./index.ts";

const asFact = <T>(answer: Answer<T>): Fact<T> =>
  answer.kind === "ok" ? { ok: true, value: answer.value } : { ok: false, why: answer.why };

function withTracker<T>(root: string, scope: TaskScope, ask: (tracker: Tracker) => Answer<T>): Fact<T> {
  const { tracker: kind = "auto", path, repo } = scope;
  const opened = openTracker(root, { kind, ...(path && { path }), ...(repo && { repo }) });
  return asFact(opened.kind === "ok" ? ask(opened.value) : opened);
}

export function gatherTask(root: string, scope: TaskScope, id: string): Fact<TaskFact> {
  return withTracker(root, scope, (tracker) => asTaskFact(tracker.show(id), tracker, scope));
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
    return peek ? next() : withLock(root, until, next, "taking");
  });
}

/** Below what the hook of a prompt is given. */
const TIMEOUT_MS = 15_000;

function chooseAndTake(
  tracker: Tracker,
  scope: TaskScope,
  actor: string,
  wanted: string,
  peek: boolean,
): Answer<NextTask> {
  if (wanted !== "") return takeWanted(tracker, scope, actor, wanted);
  const refused = new Set<string>();
  for (let tries = 0; tries < TRIES; tries++) {
    const chosen = choose(tracker, scope, actor, refused);
    if (chosen.kind !== "ok") return chosen;
    if ("left" in chosen.value) return { kind: "ok", value: chosen.value };
    if (peek) return asTaskFact({ kind: "ok", value: chosen.value }, tracker, scope);
    const claimed = take(tracker, chosen.value, actor);
    if (claimed.kind !== "failed" || claimed.code !== "taken")
      return withFreed(asTaskFact(claimed, tracker, scope), chosen.value, actor);
    refused.add(chosen.value.id);
  }
  return { kind: "failed", code: "taken", why: "every task was claimed by someone else in the meantime" };
}

function takeWanted(tracker: Tracker, scope: TaskScope, actor: string, wanted: string): Answer<TaskFact> {
  const shown = tracker.show(wanted);
  if (shown.kind !== "ok") return shown;
  if (isFinished(shown.value))
    return { kind: "failed", code: "refused", why: `${wanted} is already ${shown.value.state}` };
  return withFreed(asTaskFact(take(tracker, shown.value, actor), tracker, scope), shown.value, actor);
}

function withFreed(answer: Answer<TaskFact>, before: Task, actor: string): Answer<TaskFact> {
  const freed = before.state === "claimed" && before.owner !== actor ? before.owner : null;
  return answer.kind === "ok" && freed !== null ? { kind: "ok", value: { ...answer.value, freed } } : answer;
}

/** A claim whose session is dead is given back first; the tracker's history shows it. */
export function take(tracker: Tracker, task: Task, actor: string): Answer<Task> {
  if (task.state === "claimed" && task.owner === actor) return { kind: "ok", value: task };
  const freed = task.state === "claimed" && isDead(tracker, task) ? tracker.reopen(task.id) : null;
  return freed === null || freed.kind === "ok" ? tracker.claim(task.id, actor) : freed;
}

function isDead(tracker: Tracker, task: Task): boolean {
  const known = knownActors();
  return isExpired(task, Date.now(), known, tracker.here);
}

/** Label by label, in the order of the scope; `label` means `label:anything`, too. */
function choose(
  tracker: Tracker,
  scope: TaskScope,
  actor: string,
  refused: Set<string>,
): Answer<Task | { left: Leftover[] }> {
  const listed = tracker.list({});
  if (listed.kind !== "ok") return listed;
  const away = tracker.atomic
    ? undefined
    : listed.value.find((task) => isElsewhere(task, tracker.here) && isWanted(task, scope));
  if (away) return { kind: "failed", code: "other-machine", why: awayWords(tracker, away) };
  const mine = listed.value.find((task) => task.state === "claimed" && task.owner === actor && isWanted(task, scope));
  if (mine) return { kind: "ok", value: mine };
  const isDeadOne = (task: Task) => task.state === "claimed" && !refused.has(task.id) && isDead(tracker, task);
  const epic = scope.epic === undefined ? {} : { epic: scope.epic };
  for (const label of scope.labels) {
    const wanted = { labels: [label, `${label}:*`], ...epic };
    // What is ready the tracker knows best: it resolves what a task waits for.
    const ready = tracker.ready(wanted);
    if (ready.kind !== "ok") return ready;
    const next = ready.value.find((task) => !refused.has(task.id)) ?? nextTask(listed.value, wanted, isDeadOne);
    if (next) return { kind: "ok", value: next };
  }
  const labels = scope.labels.flatMap((label) => [label, `${label}:*`]);
  return { kind: "ok", value: { left: leftovers(listed.value, { labels, ...epic }) } };
}

const awayWords = ({ name }: Tracker, { id, owner, claimed_on }: Task) =>
  `${id} is claimed by ${owner} on ${claimed_on}, and ${name} is not safe to share: work through its tasks on one machine`;

const isWanted = (task: Task, { labels }: TaskScope) =>
  labels.some((label) => hasLabel(task, label) || hasLabel(task, `${label}:*`));

function asTaskFact(answer: Answer<Task>, tracker: Tracker, scope: TaskScope): Answer<TaskFact> {
  if (answer.kind !== "ok") return answer;
  const { id, title, text, state, owner, labels } = answer.value;
  const path = scope.path === undefined ? {} : { path: scope.path };
  return { kind: "ok", value: { id, title, text, state, owner, labels, tracker: tracker.name, ...path } };
}
