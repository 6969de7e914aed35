/**
 * The one line below the client's prompt: the session's run, or the next task. The client asks for it after every message,
 * so no other program is started for it.
 */

import { MOST_SIGNS, runText, short, stageBar, viewRun, waitingText } from "../engine/core/run-view.ts";
import { cut } from "../kernel/text/columns.ts";
import type { Run } from "../kernel/types/run.ts";
import type { Task } from "../kernel/types/task.ts";
import { liveDir, readCommit, readPinned, seqsIn } from "../store/commits.ts";
import { type Figures, keepCost } from "../store/cost.ts";
import { logError } from "../store/errors.ts";
import { insideRoot, isObject, lookAt, mayHaveKey, readText } from "../store/files.ts";
import { inMainCheckout } from "../store/git-dir.ts";
import { isPlainName } from "../store/names.ts";
import { findRoot, isOff, readPointer } from "../store/place.ts";
import { listTasks, parseSessionFile } from "../trackers/core/session-file.ts";
import { arrange, chooseTask } from "./core/status.ts";

const WIDTH = 80;
const SESSION_FILES = ["session.md", "agents/session.md"];
/** Parsing a larger session.md takes longer than a person waits for a line. */
const LARGEST = 128 * 1024;

type Input = Record<string, unknown>;

/** `value` is the JSON that the client wrote; "" if there is nothing to show. */
export async function statusLine(value: unknown, now: number): Promise<string> {
  if (typeof value !== "object" || value === null) return "";
  const { session_id: session, cwd, workspace } = value as Input;
  if (typeof session === "string" && isPlainName(session)) {
    const found = sessionRun(session);
    if (found === "off") return "";
    if (found !== null) {
      saveCost(found, session, value as Input, now);
      return `${fitToWidth(variants(found, now))}\n`;
    }
  }
  const folder = (workspace as Input | null | undefined)?.project_dir ?? cwd;
  if (typeof folder !== "string" || !folder.startsWith("/") || lookAt(folder) === undefined) return "";
  const next = await nextTask(findRoot(folder));
  return next === "" ? "" : `${fitToWidth([`Next: ${next}`])}\n`;
}

/** The first that fits, else the last one, cut. */
const fitToWidth = (lines: string[]): string =>
  lines.find((line) => Bun.stringWidth(line) <= WIDTH) ?? cut(lines.at(-1) ?? "", WIDTH);

// ── The session's run ───────────────────────────────────────────────────────

type SessionRun = { root: string; run: Run };

/** null: no active run belongs to this session. */
function sessionRun(session: string): SessionRun | "off" | null {
  const pointer = readPointer("claude", session);
  if (pointer === null) return null;
  const { root } = pointer;
  if (pointer.off || isOff(root)) return "off";
  for (const id of [pointer.run, ...(pointer.formal ?? [])]) {
    const run = id === "" ? null : newestRun(root, id);
    if (run !== null && run.status !== "ended" && run.owner?.session === session) return { root, run };
  }
  return null;
}

/** A damaged commit is skipped here; the next hook moves it aside. */
function newestRun(root: string, id: string): Run | null {
  const dir = insideRoot(root, liveDir(id));
  for (const seq of (seqsIn(dir) ?? []).reverse()) {
    const read = readCommit(dir, id, seq);
    if (read.ok) return read.commit.run;
  }
  return null;
}

/** The same line with fewer and fewer words. */
function variants({ root, run }: SessionRun, now: number): string[] {
  const pinned = readPinned(insideRoot(root, liveDir(run.id)), run.id);
  // The answers to a question do not fit in.
  const workflow = pinned.ok ? { ...pinned.workflow, asks: {} } : null;
  // The session's own screen shows what the client asks for; finding out whether that is answered would cost too much.
  const view = viewRun(run, { at: new Date(now).toISOString(), workflow, ownerGone: false });
  const { stage, step, steps, task, waits } = view;
  const full = runText(view);
  if (waits === null) return task === "" ? [full] : [`${full}  ${task}`];
  const text = waitingText(waits);
  return [
    `${full}  ${text}`,
    `${view.workflow}  ${stageBar(step, steps)}  ${stage}  ${text}`,
    `${view.workflow}  ${stage}  ${text}`,
    `${stage}  ${waits.how}: ${waits.what}`,
  ];
}

// ── What it costs ───────────────────────────────────────────────────────────

/** The client sends its cost figures along. Failing to save them must not cost the person the line. */
function saveCost({ root, run }: SessionRun, session: string, value: Input, now: number): void {
  const figures = costFigures(value.cost);
  if (figures === null) return;
  const used = (value.context_window as Input | null | undefined)?.used_percentage;
  const context = typeof used === "number" ? amount(used) : null;
  try {
    keepCost(root, run.id, session, figures, context, new Date(now).toISOString());
  } catch (error) {
    logError(root, "cost", error);
  }
}

function costFigures(cost: unknown): Figures | null {
  if (!isObject(cost) || typeof cost.total_cost_usd !== "number") return null;
  return {
    usd: amount(cost.total_cost_usd),
    ms: amount(cost.total_duration_ms),
    api_ms: amount(cost.total_api_duration_ms),
    added: amount(cost.total_lines_added),
    removed: amount(cost.total_lines_removed),
  };
}

const amount = (value: unknown) => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0);

// ── The next task ───────────────────────────────────────────────────────────

/** From session.md only: asking Beads or GitHub takes too long for a line. "": nothing to start, or not known. */
async function nextTask(root: string): Promise<string> {
  if (isOff(root)) return "";
  // Loading the YAML parser is slow: only a project whose pawl.yaml may name a tracker pays for it.
  if (mayHaveKey(`${root}/pawl.yaml`, ["tracker", "tasks"], LARGEST)) return await nextConfigured(root);
  const main = inMainCheckout(root);
  if (lookAt(`${root}/.beads`) !== undefined || lookAt(`${main}/.beads`) !== undefined) return "";
  const places = [...new Set([main, root])].flatMap((place) => SESSION_FILES.map((name) => `${place}/${name}`));
  const file = places.find((path) => lookAt(path) !== undefined);
  const read = file === undefined ? null : readText(file, LARGEST);
  return read?.ok ? firstTitle(listTasks(parseSessionFile(read.text))) : "";
}

async function nextConfigured(root: string): Promise<string> {
  const { openProjectTracker } = await import("../trackers/project-tracker.ts");
  const opened = openProjectTracker(root);
  const listed = opened.kind === "ok" && opened.value.name === "session-md" ? opened.value.list({}) : null;
  return listed?.kind === "ok" ? firstTitle(listed.value) : "";
}

function firstTitle(tasks: Task[]): string {
  const { start } = chooseTask(arrange(tasks, null), () => false);
  return start === null ? "" : short(start.title, MOST_SIGNS) || start.id;
}
