/** STATUS: what is next, what waits, what is under way. Said to people and agents alike, so it is one text. */
import { MOST_SIGNS, type RunView, runText, short, waitingText } from "../../engine/core/run-view.ts";
import { counted } from "../../kernel/text/counted.ts";
import type { Task } from "../../kernel/types/task.ts";
import { compareTasks, isFinished } from "../../trackers/core/tasks.ts";

export interface StatusView {
  /** where the tasks come from; "" where there is no tracker */
  tracker: string;
  /** in the order in which they would be started; null: no tracker, or it failed */
  tasks: Task[] | null;
  /** why the tasks are not known: never to be taken for "nothing to do" */
  why?: string;
  runs: RunView[];
  /** what could not be read, in words */
  unread: string[];
  /** null: no repository */
  dirty: { files: number } | { why: string } | null;
}

const DEFAULT_MODEL = "sonnet";
/** What is longer no one reads, and an agent pays for it with every prompt. */
const MOST_LINES = 25;

// ── Which task ──────────────────────────────────────────────────────────────

/**
 * As they would be started. `ready`: what the tracker itself calls ready, in its order; the other open ones then wait for
 * something that only the tracker knows. null: the tasks say it themselves, as those of session.md do.
 */
export function arrange(tasks: Task[], ready: Task[] | null): Task[] {
  const open = tasks.filter((task) => !isFinished(task));
  if (ready === null) return open.toSorted(compareTasks);
  const ranks = new Map(ready.map((task, rank) => [task.id, rank]));
  const rank = ({ id }: Task) => ranks.get(id) ?? ranks.size;
  return open
    .map((task) => asReady(task, ranks.has(task.id)))
    .toSorted((a, b) => rank(a) - rank(b) || compareTasks(a, b));
}

function asReady(task: Task, ready: boolean): Task {
  if (task.state !== "open") return task;
  return ready ? { ...task, blocked_by: [] } : { ...task, state: "blocked" };
}

const isFree = (task: Task) => task.state === "open" && task.blocked_by.length === 0;

/** `mine`: no other live session holds it. The tasks are in the order of `arrange`. */
export function chooseTask(tasks: Task[], mine: (task: Task) => boolean): { resume: Task | null; start: Task | null } {
  return {
    resume: tasks.find((task) => task.state === "claimed" && mine(task)) ?? null,
    start: tasks.find(isFree) ?? null,
  };
}

// ── Text ────────────────────────────────────────────────────────────────────

export function statusText(view: StatusView): string {
  const tasks = view.tasks ?? [];
  const [next, ...pending] = tasks.filter(isFree);
  const blocks = [
    headLines(view, next),
    block("Pending:", pending, pendingText),
    block("In progress:", tasks.filter(isClaimed), claimedText),
    block("Runs:", view.runs, (run) => `${runText(run)}${STATE_WORDS[run.state] ?? ""}`),
    block("Waiting for you:", [...view.runs.flatMap(waitingLine), ...view.unread], String),
    block("Blocked:", tasks.filter(isHeldUp), blockedText),
    dirtyLines(view.dirty),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

/** `runText` itself says that a run is paused. */
const STATE_WORDS: Record<string, string> = { waiting: ", needs you", halted: ", stopped" };

const isHeldUp = (task: Task) => task.state === "blocked" || (task.state === "open" && task.blocked_by.length > 0);

function headLines({ why }: StatusView, next: Task | undefined): string[] {
  if (why !== undefined) return [`Tasks not known: ${short(why, 300)}`];
  if (next === undefined) return ["No pending tasks."];
  const command = taskCommand(next);
  return [
    `Next: ${taskName(next)}`,
    ...(command === "" ? [] : [`  \`${command}\``]),
    `  Model: ${formatModel(next)} | Restart: ${next.restart ? "yes" : "no"}`,
  ];
}

const isClaimed = ({ state }: Task) => state === "claimed";

function block<T>(heading: string, entries: T[], textOf: (entry: T) => string): string[] {
  if (entries.length === 0) return [];
  const more = entries.length - MOST_LINES;
  const shown = entries.slice(0, MOST_LINES).map((entry) => `- ${textOf(entry)}`);
  return [heading, ...shown, ...(more > 0 ? [`- … and ${more} more`] : [])];
}

function pendingText(task: Task): string {
  const model = formatModel(task);
  return model.toLowerCase() === DEFAULT_MODEL ? taskName(task) : `${taskName(task)} (${model})`;
}

const claimedText = (task: Task) =>
  task.owner === null ? taskName(task) : `${taskName(task)} (${short(task.owner, 40)})`;

function blockedText(task: Task): string {
  const after = short(task.blocked_by.join(", "), 60);
  return after === "" ? taskName(task) : `${taskName(task)} (after ${after})`;
}

const waitingLine = ({ id, workflow, waits }: RunView) =>
  waits === null ? [] : [`${workflow} (${id}): ${waitingText(waits)}`];

function dirtyLines(dirty: StatusView["dirty"]): string[] {
  if (dirty === null) return [];
  if ("why" in dirty) return [`Git status unknown: ${short(dirty.why, 200)}`];
  return dirty.files === 0 ? [] : [`${counted(dirty.files, "file")} changed and not committed.`];
}

const taskName = (task: Task) => short(task.title, MOST_SIGNS) || short(task.id, MOST_SIGNS);
/** Never cut: half a command is another command. */
const taskCommand = ({ command = "" }: Task) => short(command, Number.MAX_SAFE_INTEGER);
const formatModel = ({ model = "" }: Task) => short(model, 40) || DEFAULT_MODEL;

// ── Data ────────────────────────────────────────────────────────────────────

/** For programs: the same, with nothing left out. Names and texts are as the tracker has them. */
export function statusData(view: StatusView) {
  const tasks = view.tasks ?? [];
  const free = tasks.filter(isFree).map(taskData);
  return {
    tracker: view.tracker || null,
    failed: view.why ?? null,
    next: free[0] ?? null,
    pending: free.slice(1),
    in_progress: tasks.filter(isClaimed).map(taskData),
    blocked: tasks.filter(isHeldUp).map(taskData),
    runs: view.runs,
    unread: view.unread,
    changed_files: view.dirty && "files" in view.dirty ? view.dirty.files : null,
  };
}

const taskData = (task: Task) => ({
  id: task.id,
  title: task.title,
  command: task.command ?? null,
  model: formatModel(task),
  restart: task.restart === true,
  owner: task.owner,
  after: task.blocked_by,
});

/** The person has to do something before it can go on. */
export const waitsForPerson = (view: StatusView) =>
  view.why !== undefined || view.unread.length > 0 || view.runs.some(({ waits }) => waits !== null);
