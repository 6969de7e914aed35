/** Who changes a task: the agent of a session, or the person. */
import { actorOf } from "../../kernel/types/task.ts";
import { noteActor } from "../actors.ts";
import { isPlainName } from "../names.ts";
import { readPointer } from "../place.ts";
import { isHost, ownerGone, pidsAbove } from "./owner.ts";
import { userName } from "./person.ts";

/** As trackers name it. */
export function callingActor(): string {
  const session = callingSession();
  return session === null ? personActor() : actorOf(session);
}

/** An agent that takes a task is at work on it as long as its process is there. */
export function noteCaller(): void {
  const session = callingSession();
  const host = process.platform === "linux" ? above().find(isHost) : undefined;
  if (host !== undefined && session !== null) noteActor(session, host);
}

/**
 * The variable alone proves nothing: anyone can set it. The session's own process has to be above us; of a session that
 * we never saw, some agent. Where processes cannot be seen, the variable is all there is.
 */
export function callingSession(): string | null {
  const session = process.env.CLAUDE_CODE_SESSION_ID ?? "";
  if (!isPlainName(session)) return null;
  if (process.platform !== "linux") return session;
  const pointer = readPointer("claude", session);
  // A resumed session runs in another process than the one that is on record.
  const pid = pointer && !ownerGone(pointer) ? pointer.pid : undefined;
  return (pid === undefined ? above().some(isHost) : above().includes(pid)) ? session : null;
}

/** The first process of the machine is above everything and proves nothing. */
const above = () => pidsAbove().filter((pid) => pid > 1);

const personActor = () =>
  userName()
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .slice(0, 64) || "person";
