/** Whose hand it is that changes a task: the agent of a session, or the person. */
import { actorOf } from "../../kernel/types/task.ts";
import { noteActor } from "../actors.ts";
import { readText } from "../files.ts";
import { isPlainName } from "../names.ts";
import { readPointer } from "../place.ts";
import { isHost } from "./owner.ts";
import { userName } from "./person.ts";

/** As trackers name it. */
export function callingActor(): string {
  const session = process.env.CLAUDE_CODE_SESSION_ID ?? "";
  return isPlainName(session) && isOurSession(session) ? actorOf(session) : personActor();
}

/** An agent that takes a task is at work on it as long as its process is there. */
export function noteCaller(root: string): void {
  const session = process.env.CLAUDE_CODE_SESSION_ID ?? "";
  const host = process.platform === "linux" ? pidsAbove().find(isHost) : undefined;
  if (host !== undefined && isPlainName(session) && isOurSession(session)) noteActor(root, session, host);
}

/**
 * The variable alone proves nothing: anybody can set it. The session's own process has to be above us; of a session that
 * we never saw, some agent. Where processes cannot be seen, the variable is all there is.
 */
function isOurSession(session: string): boolean {
  if (process.platform !== "linux") return true;
  const above = pidsAbove();
  const { pid } = readPointer("claude", session) ?? {};
  return pid === undefined ? above.some(isHost) : above.includes(pid);
}

const MOST = 200;

function pidsAbove(): number[] {
  const found: number[] = [];
  for (let pid = process.ppid; pid > 1 && found.length < MOST; pid = parentOf(pid)) found.push(pid);
  return found;
}

/** The second field is the program's name, which may hold anything, so count from its end. */
function parentOf(pid: number): number {
  const stat = readText(`/proc/${pid}/stat`);
  const parent = stat.ok ? stat.text.slice(stat.text.lastIndexOf(")") + 2).split(" ")[1] : undefined;
  return Number(parent ?? 0);
}

const personActor = () =>
  userName()
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .slice(0, 64) || "person";
