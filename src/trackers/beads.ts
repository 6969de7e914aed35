/**
 * Tasks in beads, by its program `bd`. Its exit status and its answers to writes are not believed: what counts is what
 * `bd show` says afterwards.
 */

import type { Scope, Task, TaskState } from "../kernel/types/task.ts";
import { isObject, parseJson } from "../store/files.ts";
import { ask, clock, locked, type ToolContext, type ToolOutput } from "./ask.ts";
import { compareTasks, heldBy, inScope, isElsewhere, isFinished, labelsToAsk, matches } from "./core/tasks.ts";
import {
  absent,
  answering,
  checkId,
  checkLabels,
  type Failure,
  type Filter,
  fail,
  flags,
  hasFailed,
  makeTracker,
  type NewTask,
  NoAnswer,
  type TaskChange,
  type Tracker,
  textIn,
} from "./tracker.ts";

interface BeadsContext extends ToolContext {
  here: string;
}

export function beads(root: string, why: string, deadline_ms: number): Tracker {
  return makeTracker({ name: "beads", why, where: ".beads", atomic: true }, (here) => {
    const begin = (): BeadsContext => ({ root, here, until: clock() + deadline_ms });
    const withId = (id: string, work: (at: BeadsContext, task: Task) => Task) => {
      checkId(id);
      const at = begin();
      return work(at, show(at, id));
    };
    return {
      list: (filter) => list(begin(), filter),
      ready: (scope) => ready(begin(), scope),
      show: (id) => withId(id, (_at, task) => task),
      claim: (id, actor) => withId(id, (at, task) => claim(at, task.id, actor)),
      close: (id, reason) => withId(id, (at, task) => close(at, task.id, reason)),
      reopen: (id) => withId(id, reopen),
      create: (task) => create(begin(), task),
      update: (id, change) => withId(id, (at, task) => update(at, task.id, change)),
      label: (id, add, remove) => withId(id, (at, task) => label(at, task, add, remove)),
      comment: (id, text) => withId(id, (at, task) => comment(at, task.id, text)),
    };
  });
}

// ── Asking ──────────────────────────────────────────────────────────────────

const read = (at: ToolContext, args: string[]): Task[] => listIssues(readPayload(ask(at, "bd", [...args, "--json"])));

/** Old versions know no --json for some commands; as everything is read again, plain words will do. */
function write(at: ToolContext, args: string[], rest: string[] = []): ToolOutput {
  const said = ask(at, "bd", [...args, "--json", ...rest]);
  return /unknown flag: --json/.test(said.stderr) ? ask(at, "bd", [...args, ...rest]) : said;
}

/** Why a write that had no effect had none. */
function whyNot(said: ToolOutput, otherwise: string): never {
  const payload = answering(() => readPayload(said));
  if (payload.kind !== "ok" && !hasFailed(payload, "malformed")) throw new NoAnswer(payload);
  return said.stderr.trim() === "" ? fail("not-done", otherwise) : complain(said.stderr);
}

/**
 * bd also takes the end of an id; anything else it may have taken it for is refused. Everything is looked up like this
 * before it is written, or the wrong issue would be closed.
 */
function show(at: ToolContext, id: string): Task {
  const tasks = read(at, ["show", id]);
  const task = tasks.find((one) => one.id === id) ?? tasks.find((one) => one.id.endsWith(`-${id}`));
  return task ?? fail("unknown-id", tasks[0] ? `bd read ${id} as ${tasks[0].id}` : `bd has no issue ${id}`);
}

/** Writes, reads again, and believes only that. */
function changed(at: ToolContext, id: string, args: string[], isDone: (task: Task) => boolean): Task {
  const said = write(at, args);
  const task = show(at, id);
  return isDone(task) ? task : whyNot(said, `bd ${args[0]} reported success, but ${id} did not change`);
}

// ── Reading ─────────────────────────────────────────────────────────────────

const STATUS: Partial<Record<string, string>> = { closed: "closed", claimed: "in_progress" };

/** Without a limit of our own bd shows the first 20, 50 or 100, by version and environment. */
function list(at: ToolContext, filter: Filter): Task[] {
  const [label] = labelsToAsk(filter.label === undefined ? [] : [filter.label]);
  checkLabels([label]);
  const status = STATUS[filter.state ?? ""];
  const tasks = read(at, ["list", "--limit", "0", ...option("--label", label), ...option("--status", status)]);
  return withoutFinished(tasks)
    .filter((task) => matches(task, filter))
    .sort(compareTasks);
}

const option = (name: string, value: string | undefined) => (value === undefined ? [] : [name, value]);

/** Old versions list closed issues too: then they are known to hold nothing up. */
function withoutFinished(tasks: Task[]): Task[] {
  const finished = new Set(tasks.filter(isFinished).map((task) => task.id));
  return tasks.map((task) => ({ ...task, blocked_by: task.blocked_by.filter((id) => !finished.has(id)) }));
}

/** One question for each label: bd joins several with "and". bd itself says what is blocked. */
function ready(at: ToolContext, scope: Scope): Task[] {
  const questions = labelsToAsk(scope.labels);
  checkLabels(questions);
  const listed = questions.flatMap((label) =>
    read(at, ["ready", "--limit", "0", "--sort", "priority", ...option("--label", label)]),
  );
  const found = new Map(listed.map((task) => [task.id, { ...task, blocked_by: [] }]));
  const open = [...found.values()].filter((task) => task.state === "open" && inScope(task, scope));
  return open.sort(compareTasks);
}

// ── Claiming ────────────────────────────────────────────────────────────────

function claim(at: BeadsContext, id: string, actor: string): Task {
  const said = write(at, ["update", id, "--claim", "--actor", joinActor(actor, at.here)]);
  if (/unknown flag: --claim/.test(said.stderr)) return claimByHand(at, id, actor);
  return judged(at, show(at, id), actor, said);
}

function judged({ here }: BeadsContext, task: Task, actor: string, said: ToolOutput): Task {
  if (task.state === "claimed" && task.owner === actor && !isElsewhere(task, here)) return task;
  if (task.state === "claimed" && task.owner !== null) fail("taken", heldBy(task));
  if (task.state !== "open") fail("refused", `${task.id} is ${task.state}`);
  return whyNot(said, `bd update --claim reported success, but ${task.id} is still open`);
}

/** Versions before --claim: safe between the sessions of this machine only. */
function claimByHand(at: BeadsContext, id: string, actor: string): Task {
  const name = joinActor(actor, at.here);
  return locked(at.root, at.until, () => {
    const away = list(at, { state: "claimed" }).find((task) => isElsewhere(task, at.here));
    if (away !== undefined) fail("other-machine", `${heldBy(away)}; this bd cannot claim atomically (no --claim)`);
    const task = show(at, id);
    if (task.state !== "open") return judged(at, task, actor, { stdout: "", stderr: "", exit: 0 });
    const said = write(at, ["update", id, "--status", "in_progress", "--assignee", name, "--actor", name]);
    return judged(at, show(at, id), actor, said);
  });
}

// ── Writing ─────────────────────────────────────────────────────────────────

/** Never without an id: bd would close the issue it touched last. */
function close(at: ToolContext, id: string, reason: string): Task {
  const why = reason.trim() === "" ? "Closed" : reason;
  return changed(at, id, ["close", id, `--reason=${why}`], (task) => task.state === "closed");
}

function reopen(at: ToolContext, task: Task): Task {
  if (task.state === "open") return task;
  if (task.state === "closed") {
    const again = changed(at, task.id, ["reopen", task.id], (now) => now.state !== "closed");
    if (again.state === "open") return again;
  }
  const args = ["update", task.id, "--status", "open", "--assignee="];
  return changed(at, task.id, args, (now) => now.state === "open");
}

function create(at: ToolContext, task: NewTask): Task {
  const { title, text = "", labels = [], priority = 2, epic, blocked_by = [] } = task;
  const parent = epic ?? undefined;
  if (parent !== undefined) checkId(parent);
  const args = flags({ title, description: text, priority, labels: labels.join(",") || undefined, parent });
  const [made] = read(at, ["create", ...args]);
  if (made === undefined) return fail("malformed", "bd created an issue but did not return its id");
  for (const blocker of blocked_by)
    changed(at, made.id, ["dep", "add", made.id, blocker], (now) => now.blocked_by.includes(blocker));
  return show(at, made.id);
}

/** bd has no issue dropped tasks: they are closed, and the reason says so. */
function update(at: ToolContext, id: string, { title, text, priority, state }: TaskChange): Task {
  if (state === "dropped") return close(at, id, "dropped");
  const changes = flags({
    title,
    description: text,
    priority,
    status: state,
    assignee: state === undefined ? undefined : "",
  });
  if (changes.length === 0) return show(at, id);
  const isDone = (task: Task) =>
    (title === undefined || task.title === title) &&
    (text === undefined || task.text.startsWith(text)) &&
    (priority === undefined || task.priority === priority) &&
    (state === undefined || task.state === state);
  return changed(at, id, ["update", id, ...changes], isDone);
}

/** Adding to an unknown id exits with 0, removing what is not there "succeeds": each is looked at afterwards. */
function label(at: ToolContext, task: Task, add: string[], remove: string[]): Task {
  const gone = remove.filter((one) => !add.includes(one));
  let last = task;
  const set = (verb: "add" | "remove", name: string) => {
    const has = (now: Task) => now.labels.includes(name) === (verb === "add");
    if (!has(last)) last = changed(at, task.id, ["label", verb, task.id, name], has);
  };
  for (const name of gone) set("remove", name);
  for (const name of add) set("add", name);
  return last;
}

function comment(at: ToolContext, id: string, text: string): Task {
  const said = write(at, ["comments", "add"], ["--", id, text]);
  const listed = readPayload(ask(at, "bd", ["comments", id, "--json"]));
  const there = Array.isArray(listed) && listed.some((one) => isObject(one) && one.text === text);
  return there ? show(at, id) : whyNot(said, `bd comments add reported success, but ${id} has no such comment`);
}

// ── What bd says ────────────────────────────────────────────────────────────
// In all the forms its versions use: a bare list, one object, an envelope with `data`, null for nothing, warnings before
// the JSON, an error as JSON on stdout with any exit status, or plain words on stderr.

type Json = Record<string, unknown>;

const SAYS: [RegExp, Failure][] = [
  [/unknown (shorthand )?(flag|command)/i, "unsupported"],
  [/already claimed|claimed by/i, "taken"],
  [/ambiguous|multiple (issues )?match|matches \d+ issues/i, "ambiguous-id"],
  [/not claimable|cannot close|use --force|blocked by|open child|is pinned|template/i, "refused"],
  [/lock(ed|ing)?\b|daemon|connection refused|timed? ?out|deadline exceeded/i, "busy"],
  [/not found|no issues? found|resolving|no such issue|does not exist/i, "unknown-id"],
  [/invalid|cannot be empty|required/i, "bad-argument"],
];

/** bd's own words, and what they mean to us. */
function complain(words: string): never {
  const json = findJson(words);
  const lines = (isObject(json) && typeof json.error === "string" ? json.error : words)
    .trim()
    .split("\n")
    .filter(Boolean);
  const errors = lines.filter((line) => !/^(warning|note|hint)\b/i.test(line));
  const text = (errors.length > 0 ? errors : lines).slice(0, 3).join("; ").slice(0, 400);
  if (/no beads database found|no \.beads|not a beads/i.test(text)) absent(`bd: ${text}`);
  const code = SAYS.find(([pattern]) => pattern.test(text))?.[1] ?? "error";
  return fail(code, `bd: ${text || "it failed without a message"}`);
}

/** The payload of an answer that is one; an error in it counts whatever the exit status says. */
function readPayload({ stdout, stderr, exit }: ToolOutput): unknown {
  const json = findJson(stdout);
  if (json === undefined) {
    if (exit !== 0 || stdout.trim() === "") complain(stderr || stdout || `exit ${exit}`);
    fail("malformed", `the answer of bd is not JSON: ${stdout.trim().slice(0, 120)}`);
  }
  const error = isObject(json) ? json.error : undefined;
  // Of an id that could be several, stdout says only that none was found.
  if (typeof error === "string" && error !== "") complain(/ambiguous/i.test(stderr) ? stderr : error);
  return isObject(json) && "data" in json && !("id" in json) ? json.data : json;
}

const MOST_BEGINNINGS = 20;

/** undefined: none. Some versions print warnings before it, or a note after it. */
function findJson(text: string): unknown {
  const whole = parseJson(text.replace(/^\uFEFF/, ""));
  if (whole !== undefined) return whole;
  for (const begin of text.matchAll(/^(?=[[{]|null\s*$)/gm).take(MOST_BEGINNINGS)) {
    const rest = text.slice(begin.index);
    const end = Math.max(rest.lastIndexOf("]"), rest.lastIndexOf("}")) + 1;
    const found = parseJson(rest) ?? parseJson(rest.slice(0, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All or nothing: a list with one entry we cannot read is no list. */
function listIssues(payload: unknown): Task[] {
  const list = listIn(payload) ?? fail("malformed", "the answer of bd has no list of issues");
  return list.map((one) => asTask(one) ?? fail("malformed", "bd returned an issue without id or title"));
}

function listIn(payload: unknown): unknown[] | null {
  if (payload === null) return [];
  if (Array.isArray(payload)) return payload;
  if (!isObject(payload)) return null;
  if (typeof payload.id === "string") return [payload];
  const inner = payload.issues ?? payload.closed ?? payload.updated;
  return Array.isArray(inner) ? inner : null;
}

// ── Issues ──────────────────────────────────────────────────────────────────

/** Anything else, custom ones too, is nothing to begin with. */
const STATES: Record<string, TaskState> = {
  open: "open",
  in_progress: "claimed",
  hooked: "claimed",
  closed: "closed",
  tombstone: "dropped",
};
/** Kinds of dependencies that hold nothing up. */
const HARMLESS = /^(parent-child|related|relates-to|discovered-from|duplicates|supersedes|replies-to)$/;

function asTask(value: unknown): Task | null {
  if (!isObject(value) || textIn(value.id) === "" || textIn(value.title) === "") return null;
  const status = textIn(value.status) || "open";
  const { owner, machine } = splitActor(textIn(value.assignee));
  const open = STATES[status] ?? "blocked";
  const state = open === "open" && owner !== null ? "claimed" : open;
  const claimed = textIn(value.started_at) || textIn(value.updated_at);
  const titles = { design: "Design", acceptance_criteria: "Acceptance criteria", notes: "Notes" };
  const parts = Object.entries(titles).map(
    ([key, title]) => textIn(value[key]) && `## ${title}\n${textIn(value[key])}`,
  );
  return {
    id: textIn(value.id),
    title: textIn(value.title),
    text: [textIn(value.description), ...parts].filter(Boolean).join("\n\n"),
    state,
    labels: Array.isArray(value.labels) ? value.labels.filter((label) => typeof label === "string") : [],
    priority: readPriority(value.priority),
    owner,
    created_at: textIn(value.created_at),
    epic: readParent(value),
    blocked_by: readBlockers(value),
    ...(state === "claimed" && claimed !== "" && { claimed_at: claimed }),
    ...(machine !== null && { claimed_on: machine }),
  };
}

const readPriority = (value: unknown) =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 4 ? value : 2;

/** `pawl-1a2b3c4d@laptop-3f2a`: two sessions of one person are two actors, and a dead one's machine is known. */
function splitActor(assignee: string): { owner: string | null; machine: string | null } {
  const ours = /^(pawl-[^@\s]+)@(\S+)$/.exec(assignee);
  return { owner: ours?.[1] ?? (assignee === "" ? null : assignee), machine: ours?.[2] ?? null };
}

/** A person is the same one on every machine. */
const joinActor = (actor: string, here: string) => (actor.startsWith("pawl-") ? `${actor}@${here}` : actor);

const readDependencies = (value: Json) =>
  Array.isArray(value.dependencies) ? value.dependencies.filter(isObject) : [];
const readType = (dependency: Json) => textIn(dependency.dependency_type) || textIn(dependency.type);
const findTarget = (dependency: Json) => textIn(dependency.depends_on_id) || textIn(dependency.id);

function readParent(value: Json): string | null {
  const parent = readDependencies(value).find((dependency) => readType(dependency) === "parent-child");
  return textIn(value.parent) || (parent === undefined ? "" : findTarget(parent)) || null;
}

/** `show` gives the issues it waits for with their status, `list` only their ids: those count as unfinished. */
function readBlockers(value: Json): string[] {
  const waiting = readDependencies(value).filter(
    (dependency) => !HARMLESS.test(readType(dependency)) && !/^(closed|tombstone)$/.test(textIn(dependency.status)),
  );
  const named = Array.isArray(value.blocked_by) ? value.blocked_by.filter((id) => typeof id === "string") : [];
  return [...new Set([...waiting.map(findTarget).filter(Boolean), ...named])];
}
