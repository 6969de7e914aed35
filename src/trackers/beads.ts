/**
 * Tasks in beads, by its program `bd`. Its exit status and its answers to writes are not believed: what counts is what
 * `bd show` says afterwards.
 */

import type { Scope, Task } from "../kernel/types/task.ts";
import { isObject } from "../store/files.ts";
import { checkActor, checkId, checkLabels, checkTask, checkText } from "./arguments.ts";
import { type Asking, ask, clock, type Said, withLock } from "./ask.ts";
import { complaint, issuesOf, joinActor, payloadOf } from "./beads-json.ts";
import { compareTasks, inScope, isElsewhere, isFinished } from "./core/tasks.ts";
import { machineName } from "./machine.ts";
import { heldBy, matches } from "./session-md.ts";
import { type Answer, type Filter, failed, type NewTask, ok, type TaskChange, type Tracker, then } from "./types.ts";

interface Place {
  root: string;
  here: string;
  deadline_ms: number;
}

export function beads(root: string, why: string, deadline_ms: number): Tracker {
  const place: Place = { root, here: machineName(), deadline_ms };
  const begin = (): Asking => ({ root, until: clock() + deadline_ms });
  const withId = (id: string, work: (at: Asking, task: Task) => Answer<Task>) =>
    then(checkId(id), () => {
      const at = begin();
      return then(show(at, id), (task) => work(at, task));
    });
  return {
    name: "beads",
    why,
    where: ".beads",
    atomic: true,
    here: place.here,
    list: (filter) => list(begin(), filter),
    ready: (scope) => ready(begin(), scope),
    show: (id) => withId(id, (_at, task) => ok(task)),
    claim: (id, actor) =>
      then(checkActor(actor), () => withId(id, (at, task) => claim(at, task.id, actor, place.here))),
    close: (id, reason) => then(checkText(reason), () => withId(id, (at, task) => close(at, task.id, reason))),
    reopen: (id) => withId(id, reopen),
    create: (task) => then(checkTask(task), () => create(begin(), task)),
    update: (id, change) => then(checkTask(change), () => withId(id, (at, task) => update(at, task.id, change))),
    label: (id, add, remove) =>
      then(checkLabels([...add, ...remove]), () => withId(id, (at, task) => label(at, task, add, remove))),
    comment: (id, text) => then(checkText(text), () => withId(id, (at, task) => comment(at, task, text))),
  };
}

// ── Asking ──────────────────────────────────────────────────────────────────

function read(at: Asking, args: string[]): Answer<Task[]> {
  return then(ask(at, "bd", [...args, "--json"]), (said) => then(payloadOf(said), issuesOf));
}

/** Old versions know no --json for some commands; as everything is read again, plain words will do. */
function write(at: Asking, args: string[], rest: string[] = []): Answer<Said> {
  const said = ask(at, "bd", [...args, "--json", ...rest]);
  if (said.kind !== "ok" || !/unknown flag: --json/.test(said.value.stderr)) return said;
  return ask(at, "bd", [...args, ...rest]);
}

/** Why a write that had no effect had none. */
function whyNot(said: Said, otherwise: string): Answer<never> {
  const payload = payloadOf(said);
  if (payload.kind !== "ok" && payload.kind !== "failed") return payload;
  if (payload.kind === "failed" && payload.code !== "malformed") return payload;
  return said.stderr.trim() === "" ? failed("not-done", otherwise) : complaint(said.stderr);
}

/**
 * bd also takes the end of an id; anything else it may have taken it for is refused. Everything is looked up like this
 * before it is written, or the wrong issue would be closed.
 */
function show(at: Asking, id: string): Answer<Task> {
  return then(read(at, ["show", id]), (tasks) => {
    const task = tasks.find((one) => one.id === id) ?? tasks.find((one) => one.id.endsWith(`-${id}`));
    if (task !== undefined) return ok(task);
    return failed("unknown-id", tasks[0] ? `bd read ${id} as ${tasks[0].id}` : `bd has no issue ${id}`);
  });
}

/** Writes, reads again, and believes only that. */
function changed(
  at: Asking,
  id: string,
  args: string[],
  isDone: (task: Task) => boolean,
  rest?: string[],
): Answer<Task> {
  return then(write(at, args, rest), (said) =>
    then(show(at, id), (task) =>
      isDone(task) ? ok(task) : whyNot(said, `bd ${args[0]} reported success, but ${id} did not change`),
    ),
  );
}

// ── Reading ─────────────────────────────────────────────────────────────────

const STATUS: Partial<Record<string, string>> = { closed: "closed", claimed: "in_progress" };

/** Without a limit of our own bd shows the first 20, 50 or 100, by version and environment. */
function list(at: Asking, filter: Filter): Answer<Task[]> {
  const { label, state } = filter;
  return then(checkLabels(label === undefined || label.endsWith("*") ? [] : [label]), () => {
    const status = state === undefined ? undefined : STATUS[state];
    const args = ["list", "--limit", "0", ...labelArgs(label), ...(status === undefined ? [] : ["--status", status])];
    return then(read(at, args), (tasks) =>
      ok(
        withoutFinished(tasks)
          .filter((task) => matches(task, filter))
          .sort(compareTasks),
      ),
    );
  });
}

const labelArgs = (label: string | undefined) => (label === undefined || label.endsWith("*") ? [] : ["--label", label]);

/** Old versions list closed issues too: then they are known to hold nothing up. */
function withoutFinished(tasks: Task[]): Task[] {
  const finished = new Set(tasks.filter(isFinished).map((task) => task.id));
  return tasks.map((task) => ({ ...task, blocked_by: task.blocked_by.filter((id) => !finished.has(id)) }));
}

/** One question for each label: bd joins several with "and". bd itself says what is blocked. */
function ready(at: Asking, scope: Scope): Answer<Task[]> {
  const exact = scope.labels.filter((label) => !label.endsWith("*"));
  const questions = exact.length === scope.labels.length && exact.length > 0 ? exact : [undefined];
  return then(checkLabels(exact), () => {
    const found = new Map<string, Task>();
    for (const label of questions) {
      const some = read(at, ["ready", "--limit", "0", "--sort", "priority", ...labelArgs(label)]);
      if (some.kind !== "ok") return some;
      for (const task of some.value) found.set(task.id, { ...task, blocked_by: [] });
    }
    const open = [...found.values()].filter((task) => task.state === "open" && inScope(task, scope));
    return ok(open.sort(compareTasks));
  });
}

// ── Claiming ────────────────────────────────────────────────────────────────

function claim(at: Asking, id: string, actor: string, here: string): Answer<Task> {
  const name = joinActor(actor, here);
  const said = write(at, ["update", id, "--claim", "--actor", name]);
  if (said.kind !== "ok") return said;
  if (/unknown flag: --claim/.test(said.value.stderr)) return claimByHand(at, id, actor, here);
  return then(show(at, id), (task) => judged(task, actor, here, said.value));
}

function judged(task: Task, actor: string, here: string, said: Said): Answer<Task> {
  const mine = task.owner === actor && (task.claimed_on === undefined || task.claimed_on === here);
  if (task.state === "claimed" && mine) return ok(task);
  if (task.state === "claimed" && task.owner !== null) return failed("taken", heldBy(task));
  if (task.state !== "open") return failed("refused", `${task.id} is ${task.state}`);
  return whyNot(said, `bd update --claim reported success, but ${task.id} is still open`);
}

/** Versions before --claim: safe between the sessions of this machine only. */
function claimByHand(at: Asking, id: string, actor: string, here: string): Answer<Task> {
  const name = joinActor(actor, here);
  return withLock(at.root, at.until, () =>
    then(list(at, { state: "claimed" }), (held) => {
      const away = held.find((task) => isElsewhere(task, here));
      if (away !== undefined)
        return failed("other-machine", `${heldBy(away)}; this bd cannot claim atomically (no --claim)`);
      return then(show(at, id), (task) => {
        if (task.state !== "open") return judged(task, actor, here, { stdout: "", stderr: "", exit: 0 });
        const args = ["update", id, "--status", "in_progress", "--assignee", name, "--actor", name];
        return then(write(at, args), (said) => then(show(at, id), (now) => judged(now, actor, here, said)));
      });
    }),
  );
}

// ── Writing ─────────────────────────────────────────────────────────────────

/** Never without an id: bd would close the issue it touched last. */
function close(at: Asking, id: string, reason: string): Answer<Task> {
  const why = reason.trim() === "" ? "Closed" : reason;
  return changed(at, id, ["close", id, `--reason=${why}`], (task) => task.state === "closed");
}

function reopen(at: Asking, task: Task): Answer<Task> {
  if (task.state === "open") return ok(task);
  if (task.state === "closed") {
    const again = changed(at, task.id, ["reopen", task.id], (now) => now.state !== "closed");
    if (again.kind !== "ok" || again.value.state === "open") return again;
  }
  const args = ["update", task.id, "--status", "open", "--assignee="];
  return changed(at, task.id, args, (now) => now.state === "open");
}

function create(at: Asking, task: NewTask): Answer<Task> {
  const { title, text = "", labels = [], priority = 2, epic, blocked_by = [] } = task;
  const parent = epic === undefined || epic === null ? ok([]) : then(checkId(epic), (id) => ok([`--parent=${id}`]));
  return then(parent, (more) => {
    const labelled = labels.length === 0 ? [] : [`--labels=${labels.join(",")}`];
    const args = [
      "create",
      `--title=${title}`,
      `--description=${text}`,
      `--priority=${priority}`,
      ...labelled,
      ...more,
    ];
    return then(read(at, args), ([made]) => {
      if (made === undefined) return failed("malformed", "bd created an issue but did not return its id");
      return then(dependOn(at, made.id, blocked_by), () => show(at, made.id));
    });
  });
}

function dependOn(at: Asking, id: string, blockers: string[]): Answer<null> {
  for (const blocker of blockers) {
    const done = changed(at, id, ["dep", "add", id, blocker], (task) => task.blocked_by.includes(blocker));
    if (done.kind !== "ok") return done;
  }
  return ok(null);
}

/** bd has no issue dropped tasks: they are closed, and the reason says so. */
function update(at: Asking, id: string, { title, text, priority, state }: TaskChange): Answer<Task> {
  if (state === "dropped") return close(at, id, "dropped");
  const flags = [
    ...(title === undefined ? [] : [`--title=${title}`]),
    ...(text === undefined ? [] : [`--description=${text}`]),
    ...(priority === undefined ? [] : [`--priority=${priority}`]),
    ...(state === undefined ? [] : ["--status", state, "--assignee="]),
  ];
  if (flags.length === 0) return show(at, id);
  const isDone = (task: Task) =>
    (title === undefined || task.title === title) &&
    (text === undefined || task.text.startsWith(text)) &&
    (priority === undefined || task.priority === priority) &&
    (state === undefined || task.state === state);
  return changed(at, id, ["update", id, ...flags], isDone);
}

/** Adding to an unknown id exits with 0, removing what is not there "succeeds": each is looked at afterwards. */
function label(at: Asking, task: Task, add: string[], remove: string[]): Answer<Task> {
  const gone = remove.filter((one) => !add.includes(one));
  let last: Answer<Task> = ok(task);
  for (const [verb, name] of [...gone.map((one) => ["remove", one]), ...add.map((one) => ["add", one])] as [
    string,
    string,
  ][]) {
    const has = (now: Task) => now.labels.includes(name) === (verb === "add");
    if (last.kind === "ok" && !has(last.value)) last = changed(at, task.id, ["label", verb, task.id, name], has);
  }
  return last;
}

function comment(at: Asking, { id }: Task, text: string): Answer<Task> {
  return then(write(at, ["comments", "add"], ["--", id, text]), (said) => {
    const listed = then(ask(at, "bd", ["comments", id, "--json"]), payloadOf);
    if (listed.kind !== "ok") return listed;
    const there = Array.isArray(listed.value) && listed.value.some((one) => isObject(one) && one.text === text);
    return there ? show(at, id) : whyNot(said, `bd comments add reported success, but ${id} has no such comment`);
  });
}
