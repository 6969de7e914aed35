/** A new task in the project's tracker: from a command, or as a person typed it. */

import type { Fact } from "../kernel/types/run.ts";
import type { Task } from "../kernel/types/task.ts";
import { type NewTask, newLine } from "./core/session-line.ts";
import { taskFromText } from "./core/task-text.ts";
import type { Answer, Tracker } from "./index.ts";
import { openForAdding } from "./project-tracker.ts";
import { answering, unwrap } from "./tracker.ts";

export interface RecordedTask {
  /** as written in session.md; elsewhere its number and name */
  line: string;
  where: string;
  id: string;
}

/** What was typed after `p: `. "fix login bug" → `- [ ] **Fix login bug** — | sonnet` */
export function recordTask(root: string, text: string): Fact<RecordedTask> {
  const task = taskFromText(text);
  if (task.title === "") return { ok: false, why: "there is no text to record" };
  const made = answering(() => {
    const tracker = unwrap(openForAdding(root));
    return unwrap(addTo(tracker, tracker.name === "session-md" ? task : inWords(task))).recorded;
  });
  return made.kind === "ok" ? { ok: true, value: made.value } : { ok: false, why: made.why };
}

export function addTo(tracker: Tracker, task: NewTask): Answer<{ task: Task; recorded: RecordedTask }> {
  return answering(() => {
    const made = unwrap(tracker.create(task));
    const { id, title } = made;
    const number = tracker.name === "github" ? `#${id}` : id;
    const line = tracker.name === "session-md" ? newLine(task) : `${number}: ${title}`;
    return { task: made, recorded: { line, where: tracker.where, id } };
  });
}

/** What the other trackers have no field for, the person still wrote: it stays in the task's text. */
function inWords({ command, model, restart, text = "", ...task }: NewTask): NewTask {
  const said = [...(command ? [`\`${command}\``] : []), ...(model ? [model] : []), ...(restart ? ["restart"] : [])];
  return { ...task, text: [...(said.length > 0 ? [said.join(" | ")] : []), text].join("\n\n").trim() };
}
