/** What the tracker says: the next task, claimed for us, or one task as it is now. Loaded only where a run has tasks. */
import { hasLabel, isExpired, isFinished, nextTask, type Task } from "../core/tasks.ts";
import type { Fact, TaskFact } from "../core/types.ts";
import type { TaskScope } from "../core/workflow.ts";
import { liveActors } from "../store/actors.ts";
import { type Answer, openTracker, type Tracker } from "../trackers/index.ts";

const asFact = <T>(answer: Answer<T>): Fact<T> =>
  answer.kind === "ok" ? { ok: true, value: answer.value } : { ok: false, why: answer.why };

function withTracker<T>(root: string, scope: TaskScope, ask: (tracker: Tracker) => Answer<T>): Fact<T> {
  const path = scope.path === undefined ? {} : { path: scope.path };
  const opened = openTracker(root, { kind: scope.tracker ?? "auto", ...path });
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
): Fact<TaskFact | null> {
  return withTracker<TaskFact | null>(root, scope, (tracker) => {
    if (wanted !== "") return takeWanted(tracker, scope, actor, wanted);
    const refused = new Set<string>();
    for (let tries = 0; tries < TRIES; tries++) {
      const chosen = choose(tracker, scope, actor, refused);
      if (chosen.kind !== "ok") return chosen;
      if (chosen.value === null) return { kind: "ok", value: null };
      if (peek) return asTaskFact({ kind: "ok", value: chosen.value }, tracker, scope);
      const claimed = take(tracker, chosen.value, actor);
      if (claimed.kind !== "failed" || claimed.code !== "taken") return asTaskFact(claimed, tracker, scope);
      refused.add(chosen.value.id);
    }
    return { kind: "failed", code: "taken", why: "each task was claimed by someone else meanwhile" };
  });
}

function takeWanted(tracker: Tracker, scope: TaskScope, actor: string, wanted: string): Answer<TaskFact> {
  const shown = tracker.show(wanted);
  if (shown.kind !== "ok") return shown;
  if (isFinished(shown.value))
    return { kind: "failed", code: "refused", why: `${wanted} is ${shown.value.state} already` };
  return asTaskFact(take(tracker, shown.value, actor), tracker, scope);
}

/** A claim whose session is dead is given back first; the tracker's history shows it. */
function take(tracker: Tracker, task: Task, actor: string): Answer<Task> {
  if (task.state === "claimed" && task.owner === actor) return { kind: "ok", value: task };
  if (task.state === "claimed" && isDead(tracker, task)) {
    const freed = tracker.reopen(task.id);
    if (freed.kind !== "ok") return freed;
  }
  return tracker.claim(task.id, actor);
}

function isDead(tracker: Tracker, task: Task): boolean {
  const live = liveActors();
  return isExpired(task, Date.now(), (actor) => live.has(actor), tracker.here);
}

/** Label by label, in the order of the scope; `label` means `label:anything`, too. */
function choose(tracker: Tracker, scope: TaskScope, actor: string, refused: Set<string>): Answer<Task | null> {
  const listed = tracker.list({});
  if (listed.kind !== "ok") return listed;
  const mine = listed.value.find((task) => task.state === "claimed" && task.owner === actor && isWanted(task, scope));
  if (mine) return { kind: "ok", value: mine };
  const isFree = (task: Task) =>
    !refused.has(task.id) && (task.state === "open" || (task.state === "claimed" && isDead(tracker, task)));
  const epic = scope.epic === undefined ? {} : { epic: scope.epic };
  for (const label of scope.labels) {
    const next = nextTask(listed.value, { labels: [label, `${label}:*`], ...epic }, isFree);
    if (next) return { kind: "ok", value: next };
  }
  return { kind: "ok", value: null };
}

const isWanted = (task: Task, { labels }: TaskScope) =>
  labels.some((label) => hasLabel(task, label) || hasLabel(task, `${label}:*`));

function asTaskFact(answer: Answer<Task>, tracker: Tracker, scope: TaskScope): Answer<TaskFact> {
  if (answer.kind !== "ok") return answer;
  const { id, title, text, state, owner, labels } = answer.value;
  const path = scope.path === undefined ? {} : { path: scope.path };
  return { kind: "ok", value: { id, title, text, state, owner, labels, tracker: tracker.name, ...path } };
}
