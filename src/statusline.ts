/**
 * The one line below the client's prompt: the session's run, or the next task. The client asks for it after every message,
 * so a session without a run loads little, and no other program is asked.
 */
import { lookAt, readText } from "./store/files.ts";
import { findRoot, isOff, type Pointer, readPointer } from "./store/place.ts";

const WIDTH = 80;

/** "": nothing to say. `value` is what the client wrote. */
export function statusLine(value: unknown, at: string): string {
  if (typeof value !== "object" || value === null) return "";
  const { session_id: session, cwd, workspace } = value as Record<string, unknown>;
  const pointer = typeof session === "string" ? readPointer("claude", session) : null;
  if (pointer?.off) return "";
  const line = pointer === null ? null : runOf(pointer, session as string, value, at);
  if (line !== null) return line;
  const folder = (workspace as Record<string, unknown> | null | undefined)?.project_dir ?? cwd;
  return typeof folder === "string" && folder.startsWith("/") ? taskLine(findRoot(folder)) : "";
}

/** null: the session has no run at work. */
function runOf(pointer: Pointer, session: string, value: object, at: string): string | null {
  if (isOff(pointer.root)) return "";
  const { sessionRun } = require("./statusline-run.ts") as typeof import("./statusline-run.ts");
  const lines = sessionRun(pointer, session, value, at);
  return lines === null ? null : fitting(lines);
}

// ── The next task ───────────────────────────────────────────────────────────

const FILES = ["session.md", "agents/session.md"];
const LARGEST = 1 << 20;

/** Of beads and GitHub nothing: asking them takes longer than the line may. */
function taskLine(root: string): string {
  const next = isConfigured(root) ? tasks().nextConfigured(root) : nextInFile(root);
  return next === null || isOff(root) ? "" : fitting([`Next: ${next}`]);
}

const tasks = () => require("./statusline-task.ts") as typeof import("./statusline-task.ts");

function isConfigured(root: string): boolean {
  if (lookAt(`${root}/pawl.yaml`) === undefined) return false;
  const file = readText(`${root}/pawl.yaml`, LARGEST);
  return file.ok && (file.text.includes("tracker") || file.text.includes("tasks"));
}

/** As the trackers choose: beads first, then a file. */
function nextInFile(root: string): string | null {
  if (lookAt(`${root}/.beads`) !== undefined) return null;
  for (const file of FILES) {
    if (lookAt(`${root}/${file}`) === undefined) continue;
    const read = readText(`${root}/${file}`, LARGEST);
    return read.ok ? tasks().nextIn(read.text) : null;
  }
  return null;
}

// ── Width ───────────────────────────────────────────────────────────────────

/** The first that fits, else the last, cut. */
function fitting(lines: string[]): string {
  for (const line of lines) if (Bun.stringWidth(line) <= WIDTH) return line;
  let line = "";
  for (const sign of lines.at(-1) ?? "") {
    if (Bun.stringWidth(`${line}${sign}…`) > WIDTH) break;
    line += sign;
  }
  return `${line}…`;
}
