/** Hooks and loops notify the person: once for each thing, and without waiting. Notifications never make a caller fail. */
import type { LoopState } from "../kernel/types/loop.ts";
import type { Commit } from "../kernel/types/run.ts";
import { logError } from "../store/errors.ts";
import { hashOf, isObject, lookAt, writeAtomic } from "../store/files.ts";
import { ownCommand, statePath } from "../store/home.ts";
import { isOff, readPointer, sessionRoot } from "../store/place.ts";
import { notificationsOn, readMark } from "./mark.ts";
import { buildNotice, formatTitle, loopText, type Notice, projectName } from "./notice.ts";
import { firstToSay, put } from "./spool.ts";

export interface Call {
  notice: Notice;
  /** for the session's own terminal, through the host, which lets only a title and a bell through */
  alert?: string;
}

/** The same thing is not sent twice within this time. */
const AGAIN_MS = 600_000;
/** If the hook is installed twice, both calls come within this time. A later request for permission is a new one. */
const DOUBLE_MS = 10_000;

function quietly<T>(root: string | null, work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    logError(root, "notify", error);
    return null;
  }
}

/** null: nothing worth it, already sent, or turned off. */
export function callFor(root: string, commit: Commit): Call | null {
  return quietly(root, () => {
    const notice = buildNotice(root, commit);
    return notice && callOnce(notice, `${notice.what} ${root} ${notice.run} ${notice.text}`);
  });
}

const NEEDS: readonly unknown[] = ["permission_prompt", "idle_prompt", "elicitation_dialog"];

/** The host itself asks for a permission or waits. `raw` is the hook's payload. */
export function callOfHost(raw: unknown, at: string): Call | null {
  if (!isObject(raw)) return null;
  const { hook_event_name: name, notification_type: type, cwd, session_id: session } = raw;
  if (name !== "PermissionRequest" && !(name === "Notification" && NEEDS.includes(type))) return null;
  return quietly(null, () => {
    if (typeof cwd !== "string" || !cwd.startsWith("/") || typeof session !== "string") return null;
    const root = sessionRoot("claude", session, cwd);
    if (isOff(root) || readPointer("claude", session)?.off) return null;
    const what = name === "Notification" && type === "idle_prompt" ? "idle" : "permission";
    const notice: Notice = { what, text: hostText(root, raw), root, run: "", session, at };
    const request = JSON.stringify([raw.prompt_id, raw.tool_name, raw.tool_input]);
    // The host repeats a question that was just sent, or the end of a turn, as its own notification.
    return name === "PermissionRequest"
      ? callOnce(notice, `permission ${session} ${hashOf(request)}`, DOUBLE_MS)
      : callOnce(notice, sessionKey(session));
  });
}

/** The tool's input is left out: it may contain anything. */
function hostText(
  root: string,
  { hook_event_name: name, notification_type: type, tool_name: tool }: JsonObject,
): string {
  if (name === "PermissionRequest" && typeof tool === "string")
    return `${projectName(root)}: Claude asks for permission to use ${projectName(tool)}`;
  return `${projectName(root)}: Claude ${type === "idle_prompt" ? "is waiting for you" : "has a question"}`;
}

type JsonObject = Record<string, unknown>;

const sessionKey = (session: string) => `session ${session}`;

function callOnce(notice: Notice, key: string, again_ms = AGAIN_MS): Call | null {
  const mark = readMark();
  const now = Date.parse(notice.at);
  if (!mark || !firstToSay(key, now, again_ms)) return null;
  if (key !== sessionKey(notice.session)) firstToSay(sessionKey(notice.session), now, AGAIN_MS);
  return { notice, ...(mark.bell && { alert: formatAlert(notice) }) };
}

export const formatAlert = (notice: Notice) => `\u001b]0;${formatTitle(notice)}\u0007\u0007`;

// ── Of a loop ───────────────────────────────────────────────────────────────

type EndedLoop = Pick<LoopState, "run" | "procedure" | "outcome" | "why">;

/** Rings its own terminal at once; other channels follow. A person who interrupted it needs no notification. */
export function callAfterLoop(root: string, { run, procedure, outcome, why }: EndedLoop): void {
  const mark = readMark();
  if (!mark || outcome === "interrupted") return;
  const text = loopText(root, procedure, outcome ?? "unknown", why);
  const notice: Notice = { what: "loop", text, root, run, session: "", at: new Date().toISOString() };
  if (mark.bell && process.stderr.isTTY) process.stderr.write(formatAlert(notice));
  send({ notice });
}

// ── Sending ─────────────────────────────────────────────────────────────────

export function send({ notice }: Call): void {
  quietly(null, () => {
    put(notice);
    startSender();
  });
}

/** Any hook may look for silent runs, but not every one does: a look costs a process. */
const LOOK_MS = 60_000;

export function lookForSilence(now: number): void {
  quietly(null, () => {
    const path = statePath("notify-looked");
    const last = lookAt(path)?.mtimeMs;
    if (!readMark()?.silent || (last !== undefined && Math.abs(now - last) < LOOK_MS)) return;
    writeAtomic(path, "");
    startSender();
  });
}

/** Looks for silent runs while a loop or the dashboard works. The timer does not keep the program alive. */
export function watchBesides(): () => void {
  const timer = setInterval(() => notificationsOn() && lookForSilence(Date.now()), LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** Sends in its own process and session, without the hook's pipes; nothing waits for it. */
function startSender(): void {
  // Loaded late: most hooks start no sender, and this loads node:fs.
  const { cleanEnvironment } =
    require("../store/processes/command.ts") as typeof import("../store/processes/command.ts");
  Bun.spawn({
    cmd: ownCommand("notify", "--send"),
    cwd: "/",
    env: cleanEnvironment(process.env),
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  }).unref();
}
