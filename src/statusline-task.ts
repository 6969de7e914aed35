/** The next task for the status line, from session.md. Loaded only where there is one. */
import { MOST_SIGNS, short } from "./core/run-line.ts";
import { arrange, chooseTask } from "./core/status.ts";
import { parseSessionFile, type Task, tasksOf } from "./core/tasks.ts";

/** null: nothing to start. */
export const nextIn = (text: string) => nameOf(arrange(tasksOf(parseSessionFile(text)), null));

/** Where pawl.yaml speaks of tasks; YAML takes its time, so that only such projects pay for it. */
export function nextConfigured(root: string): string | null {
  const { openProjectTracker } = require("./gather/project-tracker.ts") as typeof import("./gather/project-tracker.ts");
  const opened = openProjectTracker(root);
  const listed = opened.kind === "ok" && opened.value.name === "session-md" ? opened.value.list({}) : null;
  return listed?.kind === "ok" ? nameOf(arrange(listed.value, null)) : null;
}

function nameOf(tasks: Task[]): string | null {
  const { start } = chooseTask(tasks, () => false);
  return start === null ? null : short(start.title, MOST_SIGNS) || start.id;
}
