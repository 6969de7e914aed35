/** A hook notifies the person: once for each thing, and without waiting. */
import type { Commit } from "../kernel/types/run.ts";
import { logError } from "../store/errors.ts";
import { hashOf, lookAt, writeAtomic } from "../store/files.ts";
import { statePath } from "../store/home.ts";
import { join } from "../store/names.ts";
import { findRoot, isOff, readPointer } from "../store/place.ts";
import { type Mark, readMark } from "./mark.ts";
import { type Notice, noticeOf, projectOf, titleOf } from "./notice.ts";
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

/** null: nothing worth it, already sent, or turned off. Never makes a hook fail. */
export function callFor(root: string, commit: Commit): Call | null {
  return quietly(root, (mark) => {
    const notice = noticeOf(root, commit);
    return notice && callOnce(mark, notice, `${notice.what} ${root} ${notice.run} ${notice.text}`);
  });
}

type Fields = Record<string, unknown>;
const NEEDS: readonly unknown[] = ["permission_prompt", "idle_prompt", "elicitation_dialog"];

/** The host itself asks for a permission or waits. `raw` is the hook's payload. */
export function callOfHost(raw: unknown, at: string): Call | null {
  if (typeof raw !== "object" || raw === null) return null;
  const fields = raw as Fields;
  const name = fields.hook_event_name;
  if (name !== "PermissionRequest" && !(name === "Notification" && NEEDS.includes(fields.notification_type)))
    return null;
  return quietly(null, (mark) => {
    const { cwd, session_id: session } = fields;
    if (typeof cwd !== "string" || !cwd.startsWith("/") || typeof session !== "string") return null;
    const root = findRoot(cwd);
    if (isOff(root) || readPointer("claude", session)?.off) return null;
    const notice = { what: whatOf(fields), text: wordsOf(root, fields), root, run: "", session, at };
    const asked = JSON.stringify([fields.prompt_id, fields.tool_name, fields.tool_input]);
    // The host repeats a question that was just sent, or the end of a turn, as its own notification.
    return name === "PermissionRequest"
      ? callOnce(mark, notice, `permission ${session} ${hashOf(asked)}`, DOUBLE_MS)
      : callOnce(mark, notice, sessionKey(session));
  });
}

const whatOf = ({ hook_event_name: name, notification_type: type }: Fields): Notice["what"] =>
  name === "Notification" && type === "idle_prompt" ? "idle" : "permission";

/** The tool's input is left out: it may contain anything. */
function wordsOf(root: string, { hook_event_name: name, notification_type: type, tool_name: tool }: Fields): string {
  if (name === "PermissionRequest" && typeof tool === "string")
    return `${projectOf(root)}: Claude asks for permission to use ${projectOf(tool)}`;
  return `${projectOf(root)}: Claude ${type === "idle_prompt" ? "is waiting for you" : "has a question"}`;
}

const sessionKey = (session: string) => `session ${session}`;

function callOnce(mark: Mark, notice: Notice, key: string, again_ms = AGAIN_MS): Call | null {
  const now = Date.parse(notice.at);
  if (!firstToSay(key, now, again_ms)) return null;
  if (key !== sessionKey(notice.session)) firstToSay(sessionKey(notice.session), now, AGAIN_MS);
  return { notice, ...(mark.bell && { alert: alertOf(notice) }) };
}

export const alertOf = (notice: Notice) => `\u001b]0;${titleOf(notice)}\u0007\u0007`;

function quietly(root: string | null, make: (mark: Mark) => Call | null): Call | null {
  try {
    const mark = readMark();
    return mark && make(mark);
  } catch (error) {
    logError(root, "notify", error);
    return null;
  }
}

// ── Sending ─────────────────────────────────────────────────────────────────

export function send({ notice }: Call): void {
  try {
    put(notice);
    startSender();
  } catch (error) {
    logError(null, "notify", error);
  }
}

/** Any hook may look for silent runs, but not every one does: a look costs a process. */
const LOOK_MS = 60_000;

export function lookForSilence(now: number): void {
  try {
    const mark = readMark();
    if (!mark || mark.silent === 0) return;
    const path = statePath("notify-looked");
    const last = lookAt(path)?.mtimeMs;
    if (last !== undefined && Math.abs(now - last) < LOOK_MS) return;
    writeAtomic(path, "");
    startSender();
  } catch (error) {
    logError(null, "notify", error);
  }
}

/** The compiled program is its own interpreter; from source it is bun with a file. */
const self = () => (Bun.main.includes("$bunfs") ? [] : [join(import.meta.dir, "../main.ts")]);

/** Sends in its own process and session, without the hook's pipes; nothing waits for it. */
function startSender(): void {
  // Loaded late: most hooks start no sender, and this loads node:fs.
  const { cleanEnvironment } =
    require("../store/processes/command.ts") as typeof import("../store/processes/command.ts");
  Bun.spawn({
    cmd: [process.execPath, ...self(), "notify", "--send"],
    cwd: "/",
    env: cleanEnvironment(process.env),
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  }).unref();
}
