/** What the tracker says: the next task, claimed for us, or one task as it is now. Loaded only where a run has tasks. */
import { hasLabel, isExpired, isFinished, nextTask, type Task } from "../core/tasks.ts";
import type { Fact, TaskFact } from "../core/types.ts";
import type { TaskScope } from "../core/workflow.ts";
import { liveActors } from "../store/actors.ts";
import { openTracker } from "../trackers/index.ts";
import type { Tracker } from "../trackers/types.ts";

type Answer<T> = { kind: "ok"; value: T } | { kind: "absent" | "failed"; why: string };

const asFact = <T>(answer: Answer<T>): Fact<T> =>
  answer.kind === "ok" ? { ok: true, value: answer.value } : { ok: false, why: answer.why };

function withTracker<T>(root: string, scope: TaskScope, ask: (tracker: Tracker) => Answer<T>): Fact<T> {
  const opened = openTracker(root, {
    kind: scope.tracker ?? "auto",
    ...(scope.path !== undefined && { path: scope.path }),
  });
  return opened.kind === "ok" ? asFact(ask(opened.value)) : { ok: false, why: opened.why };
}

export const gatherTask = (root: string, scope: TaskScope, id: string): Fact<TaskFact> =>
  withTracker(root, scope, (tracker) => mapped(tracker.show(id), (task) => factOf(task, tracker, scope)));

/** One that is ours already comes first: after a crash the same task goes on. A lost race means: look again. */
export function gatherNext(root: string, scope: TaskScope, actor: string, wanted: string): Fact<TaskFact | null> {
  return withTracker(root, scope, (tracker) => {
    const refused = new Set<string>();
    for (let tries = 0; tries < 5; tries++) {
      const chosen = wanted === "" ? choose(tracker, scope, actor, refused) : tracker.show(wanted);
      if (chosen.kind !== "ok" || chosen.value === null) return chosen as Answer<null>;
      const task = chosen.value;
      if (wanted !== "" && isFinished(task)) return { kind: "failed", why: `${task.id} is ${task.state} already` };
      const claimed = task.state === "claimed" && task.owner === actor ? chosen : tracker.claim(task.id, actor);
      if (claimed.kind === "ok") return { kind: "ok", value: factOf(claimed.value as Task, tracker, scope) };
      if (wanted !== "" || claimed.kind === "absent") return claimed;
      refused.add(task.id);
    }
    return { kind: "failed", why: "every task was claimed by someone else meanwhile" };
  });
}

function choose(tracker: Tracker, scope: TaskScope, actor: string, refused: Set<string>): Answer<Task | null> {
  const listed = tracker.list({});
  if (listed.kind !== "ok") return listed;
  const now = Date.now();
  const live = liveActors();
  const isLive = (one: string) => live.has(one);
  const isFree = (task: Task) =>
    !refused.has(task.id) &&
    (task.state === "open" || (task.state === "claimed" && (task.owner === actor || isExpired(task, now, isLive))));
  const mine = listed.value.find((task) => task.state === "claimed" && task.owner === actor && inAny(task, scope));
  if (mine) return { kind: "ok", value: mine };
  for (const label of scope.labels) {
    const one = nextTask(
      listed.value,
      { labels: [label, `${label}:*`], ...(scope.epic !== undefined && { epic: scope.epic }) },
      isFree,
    );
    if (one) return { kind: "ok", value: one };
  }
  return { kind: "ok", value: null };
}

const inAny = (task: Task, scope: TaskScope) =>
  scope.labels.some((label) => hasLabel(task, label) || hasLabel(task, `${label}:*`));

const mapped = <A, B>(answer: Answer<A>, make: (value: A) => B): Answer<B> =>
  answer.kind === "ok" ? { kind: "ok", value: make(answer.value) } : answer;

const factOf = (task: Task, tracker: Tracker, scope: TaskScope): TaskFact => ({
  id: task.id,
  title: task.title,
  text: task.text,
  state: task.state,
  owner: task.owner,
  labels: task.labels,
  tracker: tracker.name,
  ...(scope.path !== undefined && { path: scope.path }),
});
