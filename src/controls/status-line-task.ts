/** The next task for the status line, from session.md. Beads and GitHub are not asked: that takes longer than a line may. */
import { MOST_SIGNS, short } from "../engine/core/run-line.ts";
import { lookAt, mayHaveKey, readText } from "../store/files.ts";
import { isOff } from "../store/place.ts";
import { parseSessionFile, type Task, tasksOf } from "../trackers/core/tasks.ts";
import { arrange, chooseTask } from "./core/status.ts";
import { noteFile, noteFolder, type Watch } from "./status-line-watch.ts";

const FILES = ["session.md", "agents/session.md"];
/** To read the tasks of a larger one takes longer than anybody waits for a line. */
const LARGEST = 128 * 1024;
/** "": nothing to start, or not known here. */
export async function nextTask(root: string, folder: string, now: number, watch: Watch): Promise<string> {
  // A folder's own time changes with every name that is made or taken away in it.
  for (const path of [folder, root, `${root}/agents`]) noteFolder(watch, path);
  for (const name of [".pawl/off", "pawl.yaml"]) noteFile(watch, `${root}/${name}`, now);
  if (isOff(root)) return "";
  // YAML takes its time: only a project whose pawl.yaml may speak of tasks pays for it.
  if (mayHaveKey(`${root}/pawl.yaml`, ["tracker", "tasks"], LARGEST)) {
    watch.sure = false; // it may name any file
    return await nextConfigured(root);
  }
  const file = lookAt(`${root}/.beads`) === undefined ? FILES.find((name) => lookAt(`${root}/${name}`)) : undefined;
  if (file === undefined) return "";
  noteFile(watch, `${root}/${file}`, now);
  const read = readText(`${root}/${file}`, LARGEST);
  return read.ok ? nameOf(arrange(tasksOf(parseSessionFile(read.text)), null)) : "";
}

async function nextConfigured(root: string): Promise<string> {
  const { openProjectTracker } = await import("../trackers/project-tracker.ts");
  const opened = openProjectTracker(root);
  const listed = opened.kind === "ok" && opened.value.name === "session-md" ? opened.value.list({}) : null;
  return listed?.kind === "ok" ? nameOf(arrange(listed.value, null)) : "";
}

function nameOf(tasks: Task[]): string {
  const { start } = chooseTask(tasks, () => false);
  return start === null ? "" : short(start.title, MOST_SIGNS) || start.id;
}
