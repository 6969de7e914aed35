/**
 * The one line below the client's prompt, made anew: the session's run, or the next task. The client asks for it after every
 * message, so no other program is asked, and what was found is remembered for quick-line.ts.
 */

import { namesOf, rename } from "../native/disk.ts";
import type * as quickLine from "../quick-line.ts";
import { keepCost, readMemo } from "../store/cost.ts";
import { logError } from "../store/errors.ts";
import { lookAt, makeDirs, removeQuietly, withTemp } from "../store/files.ts";
import { basename, dirname, isPlainName } from "../store/names.ts";
import { findRoot } from "../store/place.ts";
import { sessionRun } from "./status-line-run.ts";
import { nextTask } from "./status-line-task.ts";
import type { Watch } from "./status-line-watch.ts";

/** Handed over by main.ts, which alone may import it. */
export type Quick = typeof quickLine;
type Memo = quickLine.Memo;

const WIDTH = 80;
/** A project may get another root by what is made above it, which no stamp tells. */
const VALID_MS = 60_000;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** "": nothing to say. `value` is what the client wrote. */
export async function statusLine(value: unknown, now: number, quick: Quick): Promise<string> {
  if (typeof value !== "object" || value === null) return "";
  const path = quick.memoPath(value);
  if (path !== null) settle(path);
  // Where nothing can be stamped, nothing is remembered.
  const watch: Watch = { stampOf: quick.stampOf, seen: [], sure: quick.stampOf("/") !== "" };
  const made = await make(value, now, watch, quick);
  const line = made.words.length === 0 ? "" : `${fitting(made.words)}\n`;
  if (path !== null) {
    const { folder, root, until, run } = made;
    remember(path, watch.sure ? { v: 1, folder, root, at: now, until, seen: watch.seen, run } : null, line, quick);
  }
  return line;
}

interface Made extends Pick<Memo, "folder" | "root" | "until" | "run"> {
  words: string[];
}

async function make(value: object, now: number, watch: Watch, quick: Quick): Promise<Made> {
  const { session_id: session } = value as Record<string, unknown>;
  const given = quick.folderOf(value);
  const folder = typeof given === "string" && given.startsWith("/") ? given : "";
  const found = typeof session === "string" && isPlainName(session) ? sessionRun(session, now, watch) : null;
  const nothing = { folder, root: "", until: now + VALID_MS, run: null, words: [] };
  if (found === "off") return nothing;
  if (found !== null) {
    const told = quick.toldBy(value);
    keep(found.root, found.id, session as string, told);
    return { ...nothing, ...found, run: { id: found.id, ...told } };
  }
  if (folder === "") return nothing;
  const root = findRoot(folder);
  const next = await nextTask(root, folder, now, watch);
  return { ...nothing, root, words: next === "" ? [] : [`Next: ${next}`] };
}

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

// ── Memory ──────────────────────────────────────────────────────────────────

/** What was told since the last line was made goes to the run it was about. */
function settle(path: string): void {
  const memo = readMemo(path);
  if (memo?.run) keep(memo.root, memo.run.id, basename(path).slice("claude-".length), memo.run);
}

/** A figure that cannot be kept must not cost the person the line. */
function keep(root: string, id: string, session: string, told: quickLine.Told): void {
  try {
    if (told.figures) keepCost(root, id, session, told.figures, told.context, new Date(told.at).toISOString());
  } catch (error) {
    logError(root, "cost", error);
  }
}

/** What cannot be remembered is made again. */
function remember(path: string, memo: Memo | null, line: string, quick: Quick): void {
  if (memo === null) {
    removeQuietly(path);
    return;
  }
  try {
    const folder = dirname(path);
    if (lookAt(path) === undefined) {
      makeDirs(folder, 0o700);
      forgetOld(folder, memo.at);
    }
    withTemp(folder, quick.memoText(memo, line), 0o600, (temp) => rename(temp, path), "unsynced");
  } catch {
    // a full disk, or a home that cannot be written
  }
}

/** Sessions end without a word. */
function forgetOld(folder: string, now: number): void {
  for (const name of namesOf(folder)) {
    const path = `${folder}/${name}`;
    if (now - (lookAt(path)?.mtimeMs ?? now) < WEEK_MS) continue;
    settle(path);
    removeQuietly(path);
  }
}
