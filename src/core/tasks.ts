/** What a task is, wherever it lives; which one is next; when a claim has lost its holder. */
export {
  addNote,
  addTask,
  editTask,
  parseSessionFile,
  replaceText,
  taskAt,
  tasksOf,
  whyUnwritable,
} from "./session-file.ts";
export { withoutProse } from "./session-marks.ts";

export type TaskState = "open" | "claimed" | "closed" | "blocked" | "dropped";

export interface Task {
  id: string;
  title: string;
  /** what the tracker holds: untrusted */
  text: string;
  state: TaskState;
  labels: string[];
  /** 0 (first) to 4; 2 where nothing is said */
  priority: number;
  /** whose it is; ours are `pawl-<session>` */
  owner: string | null;
  /** "" where the tracker does not know; `position` stands for it then */
  created_at: string;
  epic: string | null;
  /** tasks it waits for that are not known to be finished */
  blocked_by: string[];
  /** order in its file */
  position?: number;
  claimed_at?: string;
  /** the machine whose Pawl claimed it */
  claimed_on?: string;
  command?: string;
  model?: string;
  restart?: boolean;
}

/** No label: any task. A label that ends in `*` stands for all that begin so. */
export interface Scope {
  labels: string[];
  epic?: string;
}

/** Sessions of ours, as trackers name them. */
const OURS = /^pawl-[A-Za-z0-9._-]+$/;
/** A session that has just claimed may not be known as live yet. */
const GRACE_MS = 60_000;
/** Where nothing says on which machine it was claimed, nobody can tell that its session is dead. */
const UNKNOWN_MACHINE_MS = 24 * 3_600_000;

export function inScope(task: Task, scope: Scope): boolean {
  const labelled = scope.labels.length === 0 || scope.labels.some((wanted) => hasLabel(task, wanted));
  return labelled && (scope.epic === undefined || isUnder(task, scope.epic));
}

export function hasLabel(task: Task, wanted: string): boolean {
  if (!wanted.endsWith("*")) return task.labels.includes(wanted);
  return task.labels.some((label) => label.startsWith(wanted.slice(0, -1)));
}

/** Children of children carry their ancestors in their id: `app-1.2.3`. */
const isUnder = (task: Task, epic: string) => task.epic === epic || task.id.startsWith(`${epic}.`);

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

/** In scope and not finished, but not to be had: somebody works on it, or it is blocked. */
export interface Leftover {
  id: string;
  state: "claimed" | "blocked";
  owner: string | null;
  waits_for: string[];
}

/** `unfinished`: all that the tracker lists. A blocker that it does not list is finished, or nobody knows it. */
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

/** Milliseconds since it was claimed; null: not claimed, or nobody wrote down when. `now` as a time of Date.parse. */
export function claimAge(task: Task, now: number): number | null {
  if (task.state !== "claimed" || task.claimed_at === undefined) return null;
  const since = epochOf(task.claimed_at);
  return since === null ? null : Math.max(0, now - since);
}

/**
 * A claim of a session of ours on this machine that is dead. A person's claim never expires; neither does one from
 * another machine, whose sessions nobody can see from here.
 */
export function isExpired(task: Task, now: number, isLive: (actor: string) => boolean, here?: string): boolean {
  if (task.state !== "claimed" || task.owner === null || !OURS.test(task.owner)) return false;
  if (isLive(task.owner) || isElsewhere(task, here)) return false;
  const age = claimAge(task, now);
  if (task.claimed_on === undefined) return age !== null && age >= UNKNOWN_MACHINE_MS;
  return age === null || age >= GRACE_MS;
}

/** Claimed by a Pawl of another machine. */
export function isElsewhere(task: Task, here: string | undefined): boolean {
  return task.state === "claimed" && task.claimed_on !== undefined && task.claimed_on !== here;
}

const UTC = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(Z|([+-])(\d\d):?(\d\d))$/;

/** RFC 3339 to milliseconds; the clock's own parser is not for this room. */
function epochOf(time: string): number | null {
  const match = UTC.exec(time);
  if (match === null) return null;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const offset =
    match[9] === undefined ? 0 : (Number(match[10]) * 60 + Number(match[11])) * (match[9] === "-" ? -1 : 1);
  const fraction = Number((match[7] ?? "").padEnd(3, "0").slice(0, 3));
  return ((daysTo(year, month, day) * 24 + hour) * 60 + minute - offset) * 60_000 + second * 1000 + fraction;
}

/** Days since 1970-01-01 in the Gregorian calendar; years begin in March, so that a leap day comes last. */
function daysTo(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const era = Math.floor(years / 400);
  const ofEra = years - era * 400;
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468;
}
