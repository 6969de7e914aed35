/** Commands that change a task: one at a time in a project, each with its undo. */

import type { Task, TaskState } from "../../kernel/types/task.ts";
import { UserError } from "../../kernel/user-error.ts";
import { knownActors } from "../../store/actors.ts";
import { callingActor, noteCaller } from "../../store/processes/caller.ts";
import { isElsewhere, isExpired, isFinished } from "../../trackers/core/tasks.ts";
import { type Answer, type Tracker, withLock } from "../../trackers/index.ts";
import { openForChanging } from "../../trackers/project-tracker.ts";
import type { Io, Parsed } from "../shared/args.ts";
import { visible } from "../shared/visible.ts";
import { findTask, opened, sure } from "./find.ts";
import { fieldsOf, labelsOf, priorityOf, titleOf } from "./options.ts";
import { asJson, STATE_WORDS } from "./show.ts";

interface Change {
  tracker: Tracker;
  task: Task;
  me: string;
  parsed: Parsed;
}

interface Changed {
  /** "Closed", or "… is done already" */
  said: string;
  task: Task;
  /** the words after `pawl task`; "": nothing was changed */
  undo: string;
}

const TIMEOUT_MS = 20_000;

/** No other session may look and write in between. */
function withTask(root: string, parsed: Parsed, io: Io, work: (change: Change) => Changed): number {
  const tracker = opened(openForChanging(root));
  const until = Bun.nanoseconds() / 1e6 + TIMEOUT_MS;
  const change = (): Answer<Changed> => {
    const task = findTask(tracker, parsed.words);
    return { kind: "ok", value: work({ tracker, task, me: callingActor(), parsed }) };
  };
  tell(sure(withLock(root, until, change, "taking")), tracker, parsed, io);
  return 0;
}

function tell({ said, task, undo }: Changed, { name, where }: Tracker, { flags }: Parsed, io: Io): void {
  const back = undo === "" ? {} : { undo: `pawl task ${undo}` };
  if (flags.has("--json")) io.out(asJson({ tracker: name, where, changed: undo !== "", task, ...back }));
  else io.out(`${said} ${visible(task.id)}: ${visible(task.title)}\n${undo === "" ? "" : `  undo: ${back.undo}\n`}`);
}

const already = (task: Task): Changed => ({ said: `Already ${STATE_WORDS[task.state]}:`, task, undo: "" });

// ── Guards ──────────────────────────────────────────────────────────────────

/** A session of ours that holds it and is not known to be dead. */
function guard({ tracker, task, me, parsed }: Change): void {
  if (parsed.flags.has("--force") || !isHeld(task, me, tracker)) return;
  const place = task.claimed_on === undefined ? "" : ` on ${task.claimed_on}`;
  throw new UserError(
    `${visible(task.id)} is in progress: ${visible(`${task.owner}${place}`)} works on it`,
    "wait for that session to finish it, or use --force",
    1,
  );
}

const isHeld = (task: Task, me: string, tracker: Tracker) =>
  task.state === "claimed" && !isMine(task, me, tracker) && /^pawl-/.test(task.owner ?? "") && !isDead(task, tracker);

const isMine = (task: Task, me: string, { here }: Tracker) => task.owner === me && !isElsewhere(task, here);

function isDead(task: Task, { here }: Tracker): boolean {
  const known = knownActors();
  return isExpired(task, Date.now(), known, here);
}

function refuseFinished(task: Task): void {
  if (isFinished(task)) refuse(task);
}

function refuse(task: Task): never {
  const hint = `\`pawl task open ${task.id}\` makes it pending again`;
  throw new UserError(`${visible(task.id)} is ${STATE_WORDS[task.state]}`, hint, 1);
}

// ── Changes of the state ────────────────────────────────────────────────────

const VERBS: Record<TaskState, string> = {
  open: "open",
  claimed: "start",
  closed: "done",
  blocked: "block",
  dropped: "drop",
};

/** Back to the state it had. A claim of another person cannot be restored in their name. */
function undoOf(before: Task, now: Task, me: string): string {
  const verb = before.state === "claimed" && before.owner !== me ? "open" : VERBS[before.state];
  const isDirect = verb === "open" || now.state === "open";
  return isDirect ? `${verb} ${now.id}` : `open ${now.id} && pawl task ${verb} ${now.id}`;
}

export function startTask(root: string, parsed: Parsed, io: Io): number {
  return withTask(root, parsed, io, (change) => {
    const { tracker, task, me } = change;
    if (task.state === "claimed" && isMine(task, me, tracker)) return already(task);
    if (isFinished(task) || task.state === "blocked") refuse(task);
    guard(change);
    const mayTake = parsed.flags.has("--force") || isDead(task, tracker);
    noteCaller(root);
    if (task.state === "claimed" && mayTake) sure(tracker.reopen(task.id));
    return { said: "Started", task: sure(tracker.claim(task.id, me)), undo: `open ${task.id}` };
  });
}

export function finishTask(root: string, parsed: Parsed, io: Io): number {
  return withTask(root, parsed, io, (change) => {
    const { tracker, task, me } = change;
    if (task.state === "closed") return already(task);
    refuseFinished(task);
    guard(change);
    const closed = sure(tracker.close(task.id, parsed.values["--reason"] ?? ""));
    return { said: "Closed", task: closed, undo: undoOf(task, closed, me) };
  });
}

export function blockTask(root: string, parsed: Parsed, io: Io): number {
  return withTask(root, parsed, io, (change) => {
    const { tracker, task, me } = change;
    if (task.state === "blocked") return already(task);
    refuseFinished(task);
    guard(change);
    if (task.state === "claimed" && tracker.name === "github") sure(tracker.reopen(task.id));
    const blocked = sure(tracker.update(task.id, { state: "blocked" }));
    return { said: "Blocked", task: noted(tracker, blocked, "blocked", parsed), undo: undoOf(task, blocked, me) };
  });
}

export function dropTask(root: string, parsed: Parsed, io: Io): number {
  return withTask(root, parsed, io, (change) => {
    const { tracker, task, me } = change;
    // Beads has one word for both.
    if (task.state === "dropped" || (task.state === "closed" && tracker.name === "beads")) return already(task);
    refuseFinished(task);
    guard(change);
    const dropped = sure(tracker.update(task.id, { state: "dropped" }));
    return { said: "Dropped", task: noted(tracker, dropped, "dropped", parsed), undo: undoOf(task, dropped, me) };
  });
}

/** Why, in a note: the state has no place for it. */
function noted(tracker: Tracker, task: Task, word: string, { values }: Parsed): Task {
  const reason = values["--reason"]?.trim() ?? "";
  return reason === "" ? task : sure(tracker.comment(task.id, `${word}: ${reason}`));
}

export function openTask(root: string, parsed: Parsed, io: Io): number {
  return withTask(root, parsed, io, (change) => {
    const { tracker, task, me } = change;
    if (task.state === "open") return already(task);
    guard(change);
    const opened = task.state === "blocked" ? tracker.update(task.id, { state: "open" }) : tracker.reopen(task.id);
    return { said: "Opened", task: sure(opened), undo: undoOf(task, sure(opened), me) };
  });
}

// ── Changes of what it says ─────────────────────────────────────────────────

export function editTask(root: string, parsed: Parsed, io: Io): number {
  const { values } = parsed;
  const title = values["--title"] === undefined ? {} : { title: titleOf(values["--title"], "--title 'Fix login bug'") };
  const text = values["--text"] === undefined ? {} : { text: values["--text"] };
  const [add, remove] = [labelsOf(parsed, "--label"), labelsOf(parsed, "--unlabel")];
  const said = { ...title, ...text, ...priorityOf(parsed) };
  return withTask(root, parsed, io, (change) => {
    const { tracker, task } = change;
    const wanted = { ...said, ...fieldsOf(parsed, tracker) };
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
  if (/^[\w./:@%+=-]+$/.test(text)) return text;
  if (visible(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = [...text].map((sign) => (sign === "'" || sign === "\\" ? `\\${sign}` : shown(sign)));
  return `$'${escaped.join("")}'`;
}

function shown(sign: string): string {
  if (sign === "\n") return "\\n";
  return visible(sign) === sign ? sign : `\\U${sign.codePointAt(0)!.toString(16).padStart(8, "0")}`;
}
