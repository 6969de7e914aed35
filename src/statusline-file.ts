/** Looks the next task up in session.md, for the status line. */
import { MOST_SIGNS, short } from "./core/run-line.ts";
import { arrange, chooseTask } from "./core/status.ts";
import { parseSessionFile, type Task, tasksOf } from "./core/tasks.ts";
import { lookAt, readText } from "./store/files.ts";
import { findRoot, isOff } from "./store/place.ts";

/** `files`: all that the answer depends on; null: it must not be remembered. */
interface LookedUp {
  root: string;
  next: string;
  files: string[] | null;
}

const FILES = ["session.md", "agents/session.md"];
/** To read the tasks of a larger one takes longer than anybody waits for a line. */
const LARGEST = 128 * 1024;
/** Written so lately that a second writing may bear the same time. */
const FRESH_MS = 1_000;

export async function lookUp(folder: string, now: number): Promise<LookedUp> {
  const root = findRoot(folder);
  if (isOff(root)) return { root, next: "", files: null };
  if (isConfigured(root)) return { root, next: await nextConfigured(root), files: null };
  // A folder's own time changes with every name that is made or taken away in it.
  const depends = [folder, root, `${root}/agents`, `${root}/.pawl/off`, `${root}/pawl.yaml`];
  const file = lookAt(`${root}/.beads`) === undefined ? FILES.find((name) => lookAt(`${root}/${name}`)) : undefined;
  if (file === undefined) return { root, next: "", files: depends };
  const path = `${root}/${file}`;
  const isFresh = now - (lookAt(path)?.mtimeMs ?? now) < FRESH_MS;
  const read = readText(path, LARGEST);
  const next = read.ok ? nameOf(arrange(tasksOf(parseSessionFile(read.text)), null)) : "";
  return { root, next, files: isFresh || !read.ok ? null : [...depends, path] };
}

/** YAML takes its time: only a project whose pawl.yaml speaks of tasks pays for it. */
function isConfigured(root: string): boolean {
  const file = readText(`${root}/pawl.yaml`, LARGEST);
  return file.ok && (file.text.includes("tracker") || file.text.includes("tasks"));
}

async function nextConfigured(root: string): Promise<string> {
  const { openProjectTracker } = await import("./gather/project-tracker.ts");
  const opened = openProjectTracker(root);
  const listed = opened.kind === "ok" && opened.value.name === "session-md" ? opened.value.list({}) : null;
  return listed?.kind === "ok" ? nameOf(arrange(listed.value, null)) : "";
}

function nameOf(tasks: Task[]): string {
  const { start } = chooseTask(tasks, () => false);
  return start === null ? "" : short(start.title, MOST_SIGNS) || start.id;
}
