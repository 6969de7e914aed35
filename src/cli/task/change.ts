/** Commands that change a task: one at a time in a project, each with its undo. */

import { quoteWord } from "../../kernel/text/command-line.ts";
import { visible } from "../../kernel/text/safe-text.ts";
import type { Task, TaskState } from "../../kernel/types/task.ts";
import { UserError } from "../../kernel/user-error.ts";
import { knownActors } from "../../store/actors.ts";
import { callingActor, noteCaller } from "../../store/processes/caller.ts";
import { isElsewhere, isExpired, isFinished } from "../../trackers/core/tasks.ts";
import { type Answer, type Tracker, withLock } from "../../trackers/index.ts";
import { openForChanging } from "../../trackers/project-tracker.ts";
import { type Io, type Parsed, print } from "../shared/args.ts";
import { findTask, formatTitle, opened, parseFields, parseLabels, readPriority, STATE_WORDS, sure } from "./tasks.ts";

interface Change {
  root: string;
  tracker: Tracker;
  task: Task;
  me: string;
  parsed: Parsed;
}

interface ChangeResult {
  /** "Closed", or "… is done already" */
  said: string;
  task: Task;
  /** the words after `pawl task`; "": nothing was changed */
  undo: string;
}

const TIMEOUT_MS = 20_000;

/** No other session may look and write in between. */
function withTask(root: string, parsed: Parsed, io: Io, work: (change: Change) => ChangeResult): number {
  const tracker = opened(openForChanging(root));
  const until = Bun.nanoseconds() / 1e6 + TIMEOUT_MS;
  const change = (): Answer<ChangeResult> => {
    const task = findTask(tracker, parsed.words);
    return { kind: "ok", value: work({ root, tracker, task, me: callingActor(), parsed }) };
  };
  return tell(sure(withLock(root, until, change, "taking")), tracker, parsed, io);
}

function tell({ said, task, undo }: ChangeResult, { name, where }: Tracker, parsed: Parsed, io: Io): number {
  const back = undo === "" ? {} : { undo: `pawl task ${undo}` };
  const lines = [`${said} ${visible(task.id)}: ${visible(task.title)}`, ...(back.undo ? [`  undo: ${back.undo}`] : [])];
  const data = { tracker: name, where, changed: undo !== "", task, ...back };
  return print(io, parsed, data, () => `${lines.join("\n")}\n`);
}

// ── Guards ──────────────────────────────────────────────────────────────────

/** A session of ours that holds it and is not known to be dead. */
function guard({ tracker, task, me, parsed }: Change): void {
  const isOurs = task.state === "claimed" && /^pawl-/.test(task.owner ?? "");
  if (parsed.flags.has("--force") || !isOurs || isMine(task, me, tracker) || isDead(task, tracker)) return;
  const owner = `${task.owner}${task.claimed_on === undefined ? "" : ` on ${task.claimed_on}`}`;
  const hint = "wait for that session to finish it, or use --force";
  throw new UserError(`${visible(task.id)} is in progress: ${visible(owner)} works on it`, hint, 1);
}

const isMine = (task: Task, me: string, { here }: Tracker) => task.owner === me && !isElsewhere(task, here);

const isDead = (task: Task, { here }: Tracker) => isExpired(task, Date.now(), knownActors(), here);

// ── Changes of the state ────────────────────────────────────────────────────

const MOVES: Record<TaskState, { verb: string; said: string; apply(change: Change): Answer<Task> }> = {
  open: {
    verb: "open",
    said: "Opened",
    apply: ({ tracker, task: { id, state } }) =>
      state === "blocked" ? tracker.update(id, { state: "open" }) : tracker.reopen(id),
  },
  claimed: { verb: "start", said: "Started", apply: claim },
  closed: {
    verb: "done",
    said: "Closed",
    apply: ({ tracker, task, parsed }) => tracker.close(task.id, parsed.values["--reason"] ?? ""),
  },
  blocked: { verb: "block", said: "Blocked", apply: block },
  dropped: {
    verb: "drop",
    said: "Dropped",
    apply: ({ tracker, task }) => tracker.update(task.id, { state: "dropped" }),
  },
};

export const moveTask = (to: TaskState) => (root: string, parsed: Parsed, io: Io) =>
  withTask(root, parsed, io, (change) => {
    const { task, me } = change;
    if (isAt(to, change)) return { said: `Already ${STATE_WORDS[task.state]}:`, task, undo: "" };
    if (to !== "open" && (isFinished(task) || (to === "claimed" && task.state === "blocked"))) {
      const hint = `\`pawl task open ${task.id}\` makes it pending again`;
      throw new UserError(`${visible(task.id)} is ${STATE_WORDS[task.state]}`, hint, 1);
    }
    guard(change);
    const moved = sure(MOVES[to].apply(change));
    return { said: MOVES[to].said, task: noted(change, to, moved), undo: undoHint(task, moved, me) };
  });

function isAt(to: TaskState, { tracker, task, me }: Change): boolean {
  // Beads has one word for both.
  if (to === "dropped" && tracker.name === "beads") return isFinished(task);
  return task.state === to && (to !== "claimed" || isMine(task, me, tracker));
}

function claim({ tracker, task, me, parsed }: Change): Answer<Task> {
  const mayTake = parsed.flags.has("--force") || isDead(task, tracker);
  noteCaller();
  if (task.state === "claimed" && mayTake) sure(tracker.reopen(task.id));
  return tracker.claim(task.id, me);
}

function block({ tracker, task }: Change): Answer<Task> {
  if (task.state === "claimed" && tracker.name === "github") sure(tracker.reopen(task.id));
  return tracker.update(task.id, { state: "blocked" });
}

/** Why, in a note: these states have no place for it. */
function noted({ tracker, parsed }: Change, to: TaskState, task: Task): Task {
  const reason = parsed.values["--reason"]?.trim() ?? "";
  const isNoted = reason !== "" && (to === "blocked" || to === "dropped");
  return isNoted ? sure(tracker.comment(task.id, `${to}: ${reason}`)) : task;
}

/** Back to the state it had. A claim of another person cannot be restored in their name. */
function undoHint(before: Task, now: Task, me: string): string {
  const isOthers = before.state === "claimed" && before.owner !== me;
  const { verb } = MOVES[isOthers || now.state === "claimed" ? "open" : before.state];
  const isDirect = verb === "open" || now.state === "open";
  return isDirect ? `${verb} ${now.id}` : `open ${now.id} && pawl task ${verb} ${now.id}`;
}

// ── Changes of what it says ─────────────────────────────────────────────────

export function editTask(root: string, parsed: Parsed, io: Io): number {
  const { values } = parsed;
  const title =
    values["--title"] === undefined ? {} : { title: formatTitle(values["--title"], "--title 'Fix login bug'") };
  const text = values["--text"] === undefined ? {} : { text: values["--text"] };
  const [add, remove] = [parseLabels(parsed, "--label"), parseLabels(parsed, "--unlabel")];
  const said = { ...title, ...text, ...readPriority(parsed) };
  return withTask(root, parsed, io, (change) => {
    const { tracker, task } = change;
    const wanted = { ...said, ...parseFields(parsed, tracker) };
    const names = Object.keys(wanted) as (keyof typeof wanted)[];
    if (names.length + add.length + remove.length === 0)
      throw new UserError("nothing to change", "`pawl task --help` shows what can be changed");
    // In session.md the name is what the others know it by.
    if (wanted.title !== undefined && tracker.name === "session-md") guard(change);
    const labelled = add.length + remove.length === 0 ? task : sure(tracker.label(task.id, add, remove));
    const edited = names.length === 0 ? labelled : sure(tracker.update(task.id, wanted));
    const undo = editBack(task, edited, names, add, remove);
    return { said: undo === "" ? "Already set:" : "Changed", task: edited, undo };
  });
}

/** Only what was changed needs an undo. */
function editBack(before: Task, now: Task, names: (keyof Task)[], add: string[], remove: string[]): string {
  const { command = "", model = "sonnet", restart = false } = before;
  const old = { ...before, command, model, restart };
  const fields = names.filter((name) => before[name] !== now[name]).map((name) => asOption(name, old[name]));
  const labels = [
    ...add.filter((label) => !before.labels.includes(label)).map((label) => `--unlabel ${shellWord(label)}`),
    ...remove.filter((label) => before.labels.includes(label)).map((label) => `--label ${shellWord(label)}`),
  ];
  const words = [...fields, ...labels];
  return words.length === 0 ? "" : `edit ${now.id} ${words.join(" ")}`;
}

const asOption = (name: string, value: unknown) =>
  typeof value === "boolean" ? `--${value ? "" : "no-"}${name}` : `--${name} ${shellWord(String(value))}`;

/** A person copies the undo from the screen into a shell, so characters that the screen would hide are escaped. */
function shellWord(text: string): string {
  if (visible(text) === text) return quoteWord(text);
  const escaped = [...text].map((sign) => (sign === "'" || sign === "\\" ? `\\${sign}` : shown(sign)));
  return `$'${escaped.join("")}'`;
}

function shown(sign: string): string {
  if (sign === "\n") return "\\n";
  return visible(sign) === sign ? sign : `\\U${sign.codePointAt(0)!.toString(16).padStart(8, "0")}`;
}
