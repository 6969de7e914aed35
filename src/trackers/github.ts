/** Tasks in GitHub's issues, by its program `gh`. What counts is what an issue shows after it was written. */

import type { Scope, Task } from "../kernel/types/task.ts";
import { checkActor, checkLabels, checkTask, checkText } from "./arguments.ts";
import { type Asking, ask, clock, type Said } from "./ask.ts";
import { compareTasks, inScope, isElsewhere, isFinished } from "./core/tasks.ts";
import { claimComment, commentNumber, complaint, FIELDS, isPriority, issuesIn, releaseComment } from "./github-json.ts";
import { machineName } from "./machine.ts";
import { heldBy, matches } from "./session-md.ts";
import { type Answer, type Filter, failed, type NewTask, ok, type TaskChange, type Tracker, then } from "./types.ts";

interface Place extends Asking {
  repo: string;
  here: string;
}

/** gh has no "all"; who has more is told so. */
const MOST_ISSUES = 500;
/** Issues that others wait for, looked up one by one. */
const MOST_BLOCKERS = 20;
/** A fresh comment may take a moment to be shown. */
const LOOKS = 4;
const LOOK_AGAIN_MS = 250;
const NOT_ATOMIC = "GitHub cannot claim atomically, so Pawl works on its issues from one machine only";

export function github(root: string, repo: string, why: string, deadline_ms: number): Tracker {
  const here = machineName();
  const begin = (): Place => ({ root, until: clock() + deadline_ms, repo, here });
  const withId = (id: string, work: (at: Place, number: string) => Answer<Task>) =>
    then(checkNumber(id), (number) => work(begin(), number));
  return {
    name: "github",
    why,
    where: repo,
    atomic: false,
    here,
    list: (filter) => list(begin(), filter),
    ready: (scope) => ready(begin(), scope),
    show: (id) => withId(id, (at, number) => then(view(at, number), (task) => settleBlockers(at, task))),
    claim: (id, actor) => then(checkActor(actor), () => withId(id, (at, number) => claim(at, number, actor))),
    close: (id, reason) => then(checkText(reason), () => withId(id, (at, number) => close(at, number, reason))),
    reopen: (id) => withId(id, reopen),
    create: (task) => then(checkTask(task), () => create(begin(), task)),
    update: (id, change) => then(checkTask(change), () => withId(id, (at, number) => update(at, number, change))),
    label: (id, add, remove) =>
      then(checkLabels([...add, ...remove]), () => withId(id, (at, number) => label(at, number, add, remove))),
    comment: (id, text) => then(checkText(text), () => withId(id, (at, number) => comment(at, number, text))),
  };
}

function checkNumber(id: string): Answer<string> {
  const number = /^#?([1-9]\d{0,9})$/.exec(id)?.[1];
  return number === undefined
    ? failed("bad-argument", `${JSON.stringify(id.slice(0, 80))} is not the number of an issue`)
    : ok(number);
}

// ── Asking ──────────────────────────────────────────────────────────────────

function issue(at: Place, args: string[]): Answer<Said> {
  return ask(at, "gh", ["issue", ...args, "--repo", at.repo]);
}

/** Old versions do not know why an issue was closed. */
function read(at: Place, args: string[]): Answer<Task[]> {
  const first = then(issue(at, [...args, "--json", `${FIELDS},stateReason`]), issuesIn);
  if (first.kind !== "failed" || first.code !== "unsupported") return first;
  return then(issue(at, [...args, "--json", FIELDS]), issuesIn);
}

function view(at: Place, number: string): Answer<Task> {
  return then(read(at, ["view", number]), (tasks) => {
    const task = tasks.find((one) => one.id === number);
    return task ? ok(task) : failed("unknown-id", `gh found no issue ${number}`);
  });
}

function changed(at: Place, number: string, args: string[], isDone: (task: Task) => boolean): Answer<Task> {
  return then(issue(at, args), (said) =>
    then(view(at, number), (task) => {
      if (isDone(task)) return ok(task);
      return said.exit === 0
        ? failed("not-done", `gh reported success, but issue ${number} did not change`)
        : complaint(said);
    }),
  );
}

// ── Reading ─────────────────────────────────────────────────────────────────

function list(at: Place, filter: Filter): Answer<Task[]> {
  const exact = filter.label === undefined || filter.label.endsWith("*") ? [] : [filter.label];
  const state = filter.state === "closed" || filter.state === "dropped" ? "closed" : "open";
  return then(checkLabels(exact), () =>
    then(listBy(at, exact[0], state), (tasks) => ok(tasks.filter((task) => matches(task, filter)).sort(compareTasks))),
  );
}

function listBy(at: Place, label: string | undefined, state: "open" | "closed"): Answer<Task[]> {
  const args = [
    "list",
    "--state",
    state,
    "--limit",
    String(MOST_ISSUES),
    ...(label === undefined ? [] : [`--label=${label}`]),
  ];
  return then(read(at, args), (tasks) =>
    tasks.length < MOST_ISSUES || state === "closed"
      ? ok(tasks)
      : failed("too-large", `${at.repo} has ${MOST_ISSUES} or more open issues: narrow them down with a label`),
  );
}

/** One question for each label: gh joins several with "and". */
function ready(at: Place, scope: Scope): Answer<Task[]> {
  const exact = scope.labels.filter((label) => !label.endsWith("*"));
  const questions = exact.length === scope.labels.length && exact.length > 0 ? exact : [undefined];
  return then(checkLabels(exact), () => {
    const found = new Map<string, Task>();
    for (const label of questions) {
      const some = listBy(at, label, "open");
      if (some.kind !== "ok") return some;
      for (const task of some.value) if (inScope(task, scope)) found.set(task.id, task);
    }
    const away = [...found.values()].find((task) => isElsewhere(task, at.here));
    if (away !== undefined) return failed("other-machine", `${heldBy(away)}; ${NOT_ATOMIC}`);
    return unblocked(at, [...found.values()]);
  });
}

function unblocked(at: Place, tasks: Task[]): Answer<Task[]> {
  const free: Task[] = [];
  const known = new Map(tasks.map((task) => [task.id, task]));
  for (const task of tasks.filter(({ state }) => state === "open")) {
    const settled = settleBlockers(at, task, known);
    if (settled.kind !== "ok") return settled;
    if (settled.value.blocked_by.length === 0) free.push(settled.value);
  }
  return ok(free.sort(compareTasks));
}

/** Leaves those that are not closed. What cannot be found is not known to be closed. */
function settleBlockers(at: Place, task: Task, known = new Map<string, Task>()): Answer<Task> {
  const left: string[] = [];
  for (const id of task.blocked_by) {
    if (!known.has(id) && /^\d+$/.test(id)) {
      if (known.size > MOST_ISSUES + MOST_BLOCKERS) return failed("too-large", "too many issues wait for others");
      const seen = view(at, id);
      if (seen.kind === "ok") known.set(id, seen.value);
      else if (seen.kind !== "failed" || seen.code !== "unknown-id") return seen;
    }
    const blocker = known.get(id);
    if (blocker === undefined || !isFinished(blocker)) left.push(id);
  }
  return ok({ ...task, blocked_by: left });
}

// ── Claiming ────────────────────────────────────────────────────────────────

function claim(at: Place, number: string, actor: string): Answer<Task> {
  return then(
    then(view(at, number), (task) => settleBlockers(at, task)),
    (task) => {
      if (task.state === "claimed") return judged(at, task, actor);
      if (task.state !== "open") return failed("refused", `${task.id} is ${task.state}`);
      if (task.blocked_by.length > 0) return failed("refused", `${task.id} waits for ${task.blocked_by.join(", ")}`);
      return then(say(at, number, claimComment(actor, at.here)), () =>
        then(lookFor(at, number), (now) => {
          const verdict = judged(at, now, actor);
          if (verdict.kind === "ok") issue(at, ["edit", number, "--add-assignee", "@me"]);
          // Said after the winner's: no one must wait for a claim that never held.
          else say(at, number, releaseComment(actor, at.here));
          return verdict;
        }),
      );
    },
  );
}

function judged(at: Place, task: Task, actor: string): Answer<Task> {
  if (isElsewhere(task, at.here)) return failed("other-machine", `${heldBy(task)}; ${NOT_ATOMIC}`);
  if (task.state === "claimed" && task.owner === actor) return ok(task);
  if (task.state === "claimed") return failed("taken", heldBy(task));
  return failed("not-done", `the claim of ${task.id} is not visible`);
}

/** Until the claim shows: ours, or another that was first. */
function lookFor(at: Place, number: string): Answer<Task> {
  let seen = view(at, number);
  for (let looks = 1; looks < LOOKS && seen.kind === "ok" && seen.value.state === "open"; looks++) {
    Bun.sleepSync(LOOK_AGAIN_MS);
    seen = view(at, number);
  }
  return seen;
}

// ── Writing ─────────────────────────────────────────────────────────────────

/** The number of the new comment. */
function say(at: Place, number: string, text: string): Answer<number> {
  return then(issue(at, ["comment", number, `--body=${text}`]), (said) => {
    if (said.exit !== 0) return complaint(said);
    const made = commentNumber(said.stdout);
    return made > 0 ? ok(made) : failed("not-done", `gh returned no new comment on ${number}`);
  });
}

function close(at: Place, number: string, reason: string, as = "completed"): Answer<Task> {
  const note = reason.trim() === "" ? [] : [`--comment=${reason}`];
  return then(view(at, number), (task) =>
    isFinished(task) ? ok(task) : changed(at, number, ["close", number, "--reason", as, ...note], isFinished),
  );
}

function reopen(at: Place, number: string): Answer<Task> {
  return then(view(at, number), (task) => {
    const opened = isFinished(task) ? changed(at, number, ["reopen", number], (now) => !isFinished(now)) : ok(task);
    return then(opened, (now) => (now.state === "claimed" ? release(at, now) : ok(now)));
  });
}

function release(at: Place, task: Task): Answer<Task> {
  return then(say(at, task.id, releaseComment(task.owner ?? "", task.claimed_on ?? at.here)), () => {
    if (task.claimed_on === at.here) issue(at, ["edit", task.id, "--remove-assignee", "@me"]);
    return then(view(at, task.id), (now) =>
      now.state === "claimed" ? failed("not-done", `${task.id} is still claimed by ${now.owner}`) : ok(now),
    );
  });
}

function create(
  at: Place,
  { title, text = "", labels = [], priority = 2, epic, blocked_by = [] }: NewTask,
): Answer<Task> {
  const all = priority === 2 ? labels : [...labels, `p${priority}`];
  const waits = blocked_by.length === 0 ? "" : `\n\nBlocked by: ${blocked_by.map((id) => `#${id}`).join(", ")}`;
  const more = [...(all.length === 0 ? [] : [`--label=${all.join(",")}`]), ...(epic ? [`--milestone=${epic}`] : [])];
  return then(issue(at, ["create", `--title=${title}`, `--body=${(text + waits).trim()}`, ...more]), (said) => {
    if (said.exit !== 0) return complaint(said);
    const number = /\/issues\/(\d+)\s*$/.exec(said.stdout)?.[1];
    return number === undefined
      ? failed("malformed", "gh created an issue but did not return its id")
      : view(at, number);
  });
}

function update(at: Place, number: string, { title, text, priority, state }: TaskChange): Answer<Task> {
  const edits = [
    ...(title === undefined ? [] : [`--title=${title}`]),
    ...(text === undefined ? [] : [`--body=${text}`]),
  ];
  const isDone = (task: Task) =>
    (title === undefined || task.title === title) && (text === undefined || task.text === text);
  const edited = edits.length === 0 ? view(at, number) : changed(at, number, ["edit", number, ...edits], isDone);
  return then(
    then(edited, (task) => prioritise(at, task, priority)),
    (task) => {
      if (state === "dropped") return close(at, number, "", "not planned");
      if (state === "blocked") return label(at, number, ["blocked"], []);
      if (state === "open") return then(label(at, number, [], ["blocked"]), () => reopen(at, number));
      return ok(task);
    },
  );
}

/** The middle one is what nothing is said of. */
function prioritise(at: Place, task: Task, priority: number | undefined): Answer<Task> {
  if (priority === undefined || priority === task.priority) return ok(task);
  const add = priority === 2 ? [] : [`p${priority}`];
  return then(label(at, task.id, add, task.labels.filter(isPriority)), (now) =>
    now.priority === priority ? ok(now) : failed("refused", `another label of ${task.id} says p${now.priority}`),
  );
}

/** gh refuses labels the repository does not have; making one is the person's choice. */
function label(at: Place, number: string, add: string[], remove: string[]): Answer<Task> {
  return then(view(at, number), (task) => {
    const more = add.filter((one) => !task.labels.includes(one));
    const less = remove.filter((one) => task.labels.includes(one) && !add.includes(one));
    if (more.length + less.length === 0) return ok(task);
    const args = [...more.map((one) => `--add-label=${one}`), ...less.map((one) => `--remove-label=${one}`)];
    const isDone = (now: Task) =>
      more.every((one) => now.labels.includes(one)) && !less.some((one) => now.labels.includes(one));
    return changed(at, number, ["edit", number, ...args], isDone);
  });
}

function comment(at: Place, number: string, text: string): Answer<Task> {
  return then(say(at, number, text), () => view(at, number));
}
