/** Tasks as a person names and reads them: which one is meant, what the options say, and how it is shown. */

import { visible, visibleLines } from "../../kernel/text/safe-text.ts";
import type { Task, TaskState } from "../../kernel/types/task.ts";
import { UserError } from "../../kernel/user-error.ts";
import { cleanTitle } from "../../trackers/core/task-text.ts";
import type { Answer, Tracker } from "../../trackers/index.ts";
import type { Parsed } from "../shared/args.ts";
import { type Facts, factLines, table } from "../shared/screen.ts";

export const STATE_WORDS: Record<TaskState, string> = {
  open: "pending",
  claimed: "in progress",
  closed: "done",
  blocked: "blocked",
  dropped: "dropped",
};

/** The words people use, and those of the trackers. */
export function stateFrom(word: string): TaskState {
  const plain = word.toLowerCase().replace(/[-_]/g, " ");
  const states = Object.keys(STATE_WORDS) as TaskState[];
  const found = states.find((state) => state === plain || STATE_WORDS[state] === plain);
  if (found !== undefined) return found;
  throw new UserError(`unknown state: ${visible(word)}`, "pending, in-progress, done, blocked or dropped");
}

// ── Which task ──────────────────────────────────────────────────────────────

const HINTS: Record<string, string> = {
  "unknown-id": "`pawl task list --all` shows them",
  "ambiguous-id": "use the full id: `pawl task list --all` shows it",
  "bad-argument": "`pawl task --help` shows the format",
  taken: "--force takes it over",
  "other-machine": "release it there first: `pawl task open`",
  unsupported: "install it, or set another `tracker:` in pawl.yaml",
  busy: "try again in a moment",
  deadline: "try again; the tracker may be unreachable",
};
const ELSEWHERE = "to keep tasks elsewhere, set `tracker:` in pawl.yaml";

export function sure<T>(answer: Answer<T>): T {
  if (answer.kind === "ok") return answer.value;
  const hint = answer.kind === "absent" ? ELSEWHERE : (HINTS[answer.code] ?? "fix what it names, then try again");
  throw new UserError(visible(answer.why), hint, 1);
}

/** There is no list yet: the one thing that can make it is `add`. */
export function opened(answer: Answer<Tracker>): Tracker {
  if (answer.kind !== "absent") return sure(answer);
  throw new UserError(visible(answer.why), `\`pawl task add\` creates a session.md; ${ELSEWHERE}`, 1);
}

/** Finished ones come last. */
export function tasksIn(tracker: Tracker, all: boolean, label?: string): Task[] {
  const labelled = label === undefined ? {} : { label };
  const open = sure(tracker.list(labelled));
  if (!all) return open;
  const closed = (["closed", "dropped"] as const).flatMap((state) => sure(tracker.list({ ...labelled, state })));
  return [...open, ...closed.filter(({ id }) => !open.some((one) => one.id === id))];
}

/** By its id, or by a part of its title that no other task has, finished ones included: a second `done` hits no other. */
export function findTask(tracker: Tracker, words: string[]): Task {
  const wanted = words.join(" ").trim();
  if (wanted === "") throw new UserError("which task?", "an id or a part of the title; `pawl task list` shows them");
  const shown = tracker.show(wanted);
  if (shown.kind === "ok") return shown.value;
  if (shown.kind === "absent" || !/^(unknown-id|ambiguous-id|bad-argument)$/.test(shown.code)) return sure(shown);
  const found = byTitle(tasksIn(tracker, true), wanted.toLowerCase());
  if (found.length === 1) return found[0]!;
  const name = visible(JSON.stringify(wanted));
  if (found.length === 0)
    throw new UserError(`there is no task ${name} in ${visible(tracker.where)}`, HINTS["unknown-id"]!, 1);
  const lines = found.map(({ id, state, title }) => `  ${visible(id)}  ${STATE_WORDS[state]}  ${visible(title)}`);
  throw new UserError(`${name} matches several tasks:\n${lines.join("\n")}`, "use the id of one of them", 1);
}

function byTitle(tasks: Task[], wanted: string): Task[] {
  const exact = tasks.filter(({ title }) => title.toLowerCase() === wanted);
  return exact.length === 1 ? exact : tasks.filter(({ title }) => title.toLowerCase().includes(wanted));
}

// ── Options ─────────────────────────────────────────────────────────────────

const LONGEST_TITLE = 500;

export function formatTitle(text: string, example: string): string {
  const title = cleanTitle(text);
  if (title === "") throw new UserError("a task needs a title", `as in: ${example}`);
  if (title.length <= LONGEST_TITLE) return title;
  const what = `a title has at most ${LONGEST_TITLE} characters, this one ${title.length}`;
  throw new UserError(what, "put the rest into --text");
}

export function readPriority({ values }: Parsed): { priority?: number } {
  const said = values["--priority"];
  if (said === undefined) return {};
  const priority = /^p?([0-4])$/i.exec(said)?.[1];
  if (priority !== undefined) return { priority: Number(priority) };
  throw new UserError(`${visible(said)} is not a priority`, "a number from 0 (first) to 4; the default is 2");
}

export function parseLabels({ lists }: Parsed, option: string): string[] {
  const labels = (lists[option] ?? [])
    .flatMap((text) => text.split(","))
    .map((label) => label.trim().replace(/^#/, ""));
  if (!labels.includes("")) return [...new Set(labels)];
  throw new UserError("a label needs a name", `as in: ${option} web`);
}

/** Beads and GitHub have no place for them; leaving them out without a word would lose what was asked for. */
export function parseFields({ values, flags }: Parsed, tracker: Tracker): Pick<Task, "command" | "model" | "restart"> {
  const { "--command": command, "--model": model } = values;
  if (flags.has("--restart") && flags.has("--no-restart"))
    throw new UserError("--restart and --no-restart contradict each other", "use one of them");
  const restart = flags.has("--restart") || (flags.has("--no-restart") ? false : undefined);
  const fields = {
    ...(command !== undefined && { command }),
    ...(model !== undefined && { model }),
    ...(restart !== undefined && { restart }),
  };
  const [first] = Object.keys(fields);
  if (first === undefined || tracker.name === "session-md") return fields;
  const hint = "write it into --text, or keep the tasks in session.md";
  throw new UserError(`${tracker.name} cannot store --${first}`, hint, 1);
}

// ── On the screen: all of it comes from files and trackers, and must not steer a terminal ──

/** Longer cells push their own line only. */
const WIDEST = 48;

export function taskTable(tasks: Task[]): string {
  const rows = tasks.map((task) => [
    visible(task.id),
    STATE_WORDS[task.state] + (task.state === "open" && task.blocked_by.length > 0 ? " (waits)" : ""),
    `p${task.priority}`,
    visible(task.title),
    visible(task.owner ?? ""),
  ]);
  return `${table(rows, WIDEST)}\n`;
}

export function taskPage(task: Task, where: string): string {
  const { owner, claimed_on, claimed_at } = task;
  const claim = `${owner}${claimed_on ? ` on ${claimed_on}` : ""}${claimed_at ? ` since ${claimed_at}` : ""}`;
  const facts: Facts = [
    ["id", visible(task.id)],
    ["state", STATE_WORDS[task.state]],
    ["priority", `p${task.priority}`],
    ["owner", owner !== null && visible(claim)],
    ["labels", visible(task.labels.map((label) => `#${label}`).join(" "))],
    ["command", visible(task.command ?? "")],
    ["model", visible(task.model ?? "")],
    ["restart", task.restart && "yes"],
    ["epic", visible(task.epic ?? "")],
    ["waits for", visible(task.blocked_by.join(", "))],
    ["in", visible(where)],
  ];
  const text = task.text.trim() === "" ? [] : ["", ...visibleLines(task.text).map((line) => `  ${line}`)];
  return `${[visible(task.title), ...factLines(facts, 10, "  "), ...text].join("\n")}\n`;
}
