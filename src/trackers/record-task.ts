/** A new task in the project's tracker: from a command, or as a person typed it. */

import type { Fact } from "../kernel/types/run.ts";
import type { Task } from "../kernel/types/task.ts";
import { type NewTask, newLine } from "./core/session-line.ts";
import { taskFromText } from "./core/task-text.ts";
import type { Answer, Tracker } from "./index.ts";
import { openForAdding } from "./project-tracker.ts";

export interface Recorded {
  /** as it stands in session.md; elsewhere its number and name */
  line: string;
  where: string;
  id: string;
}

/** `p: fix login bug` → `- [ ] **Fix login bug** — | sonnet`; "p: " itself may be left out. */
export function recordTask(root: string, text: string): Fact<Recorded> {
  const task = taskFromText(text.replace(/^\s*p:\s/, ""));
  if (task.title === "") return { ok: false, why: "there is no text to record" };
  const opened = openForAdding(root);
  if (opened.kind !== "ok") return { ok: false, why: opened.why };
  const tracker = opened.value;
  const made = addTo(tracker, tracker.name === "session-md" ? task : inWords(task));
  return made.kind === "ok" ? { ok: true, value: made.value.recorded } : { ok: false, why: made.why };
}

export function addTo(tracker: Tracker, task: NewTask): Answer<{ task: Task; recorded: Recorded }> {
  const made = tracker.create(task);
  if (made.kind !== "ok") return made;
  const { id, title } = made.value;
  const number = tracker.name === "github" ? `#${id}` : id;
  const line = tracker.name === "session-md" ? newLine(task) : `${number}: ${title}`;
  return { kind: "ok", value: { task: made.value, recorded: { line, where: tracker.where, id } } };
}

/** What the other trackers have no field for, the person still wrote: it stays in the task's text. */
function inWords({ command, model, restart, text = "", ...task }: NewTask): NewTask {
  const said = [...(command ? [`\`${command}\``] : []), ...(model ? [model] : []), ...(restart ? ["restart"] : [])];
  return { ...task, text: [...(said.length > 0 ? [said.join(" | ")] : []), text].join("\n\n").trim() };
}
