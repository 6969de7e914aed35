/** Tasks on the screen. All of it comes from files and trackers: nothing in it may steer a terminal. */
import type { Task, TaskState } from "../../kernel/types/task.ts";
import { UserError } from "../../kernel/user-error.ts";
import { visible, visibleJson, visibleLines } from "../shared/visible.ts";

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
  const found = (Object.keys(STATE_WORDS) as TaskState[]).find(
    (state) => state === plain || STATE_WORDS[state] === plain,
  );
  if (found !== undefined) return found;
  throw new UserError(`unknown state: ${visible(word)}`, "pending, in-progress, done, blocked or dropped");
}

export const asJson = (value: unknown) => `${visibleJson(value)}\n`;

/** Longer names push their own line only. */
const WIDEST = 48;

export function taskTable(tasks: Task[]): string {
  const rows = tasks.map((task) => [
    visible(task.id),
    STATE_WORDS[task.state] + (task.state === "open" && task.blocked_by.length > 0 ? " (waits)" : ""),
    `p${task.priority}`,
    visible(task.title),
    visible(task.owner ?? ""),
  ]);
  const widths = [0, 1, 2, 3].map((column) =>
    Math.min(WIDEST, Math.max(...rows.map((row) => Bun.stringWidth(row[column]!)))),
  );
  const lines = rows.map((row) =>
    row
      .map((cell, at) => padded(cell, widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

const padded = (text: string, width: number) => text + " ".repeat(Math.max(0, width - Bun.stringWidth(text)));

export function taskPage(task: Task, where: string): string {
  const { command, model, restart, epic, owner, claimed_on, claimed_at } = task;
  const rows: [string, string][] = [
    ["id", task.id],
    ["state", STATE_WORDS[task.state]],
    ["priority", `p${task.priority}`],
    [
      "owner",
      owner === null
        ? ""
        : `${owner}${claimed_on ? ` on ${claimed_on}` : ""}${claimed_at ? ` since ${claimed_at}` : ""}`,
    ],
    ["labels", task.labels.map((label) => `#${label}`).join(" ")],
    ["command", command ?? ""],
    ["model", model ?? ""],
    ["restart", restart ? "yes" : ""],
    ["epic", epic ?? ""],
    ["waits for", task.blocked_by.join(", ")],
    ["in", where],
  ];
  const said = rows.filter(([, value]) => value !== "").map(([name, value]) => `  ${name.padEnd(10)}${visible(value)}`);
  const text = task.text.trim() === "" ? [] : ["", ...visibleLines(task.text).map((line) => `  ${line}`)];
  return `${[visible(task.title), ...said, ...text].join("\n")}\n`;
}
