/**
 * Whose events move a session's runs: those of one process, its client, by number and start time. Names and variables are
 * the caller's to choose; what the kernel says of our parent is not.
 */
import { attempt } from "../../kernel/attempt.ts";
import type { Event } from "../../kernel/types/run.ts";
import { noteClient, notedClient } from "../actors.ts";
import { lookAt, readText, removeQuietly, writeInHome } from "../files.ts";
import { type Pointer, sessionPath, writePointer } from "../place.ts";
import { describeParent, type Identity, isSameProcess, ownerGone, pidsAbove, procText } from "./owner.ts";

export type Client = Partial<Identity>;

/** `client`: {} where it cannot be read; then the marks of agents' shells are all there is. */
export type Caller = { client: Client } | { refused: string };

interface Called {
  event: Event;
  cwd: string | null;
}

/** A session's first event binds it. Another process has it only once the recorded one is gone. */
export function identifyCaller({ event, cwd }: Called, pointer: Pointer | null): Caller {
  const { host, session, kind } = event;
  const client = describeParent();
  if (client.pid === undefined || session === "") return { client };
  if (pointer?.pid !== undefined && isSameProcess(pointer, client)) return { client };
  if (isShellOf(session, client.pid)) return refuse("the hook was called from the agent's shell", client);
  if (pointer !== null && isAnothers(pointer, client))
    return refuse(`the session belongs to process ${pointer.pid}, which is still running`, client);
  const noted = notedClient(session);
  if (noted !== null && !isSameProcess(noted, client) && !ownerGone(noted) && isBelow(noted.pid!))
    return refuse(`the hook was called from below its client (process ${noted.pid})`, client);
  if (pointer !== null) writePointer(host, session, { ...pointer, ...client });
  else if (kind === "start" && cwd !== null && lookAt(cwd) !== undefined) noteClient(session, client);
  return { client };
}

/** Bound to a process that is still there, and not to this one. */
export const isAnothers = (pointer: Pointer, client: Client): boolean =>
  client.pid !== undefined && pointer.pid !== undefined && !isSameProcess(pointer, client) && !ownerGone(pointer);

const refuse = (why: string, { pid }: Client) => ({ refused: `${why} (the caller is process ${pid})` });

/** Above our parent, that is. */
const isBelow = (pid: number) => pidsAbove().slice(1).includes(pid);

/** A client inside another's shell has that one's id in its environment; only the session's own shells have its own. */
function isShellOf(session: string, pid: number): boolean {
  const environ = `\0${procText(pid, "environ")}`;
  return environ.includes(`\0CLAUDE_CODE_SESSION_ID=${session}\0`) && environ.includes("\0CLAUDECODE=");
}

/** What the next conversation of the same process is known by; "": nothing. */
export const clientMark = ({ pid, pid_start }: Client): string => (pid === undefined ? "" : `${pid}:${pid_start}`);

// ── What was refused, for the person at the session's own client ────────────

const refusedPath = (host: string, session: string) => sessionPath("refused", host, session);

export function noteRefused(host: string, session: string, what: string): void {
  const path = refusedPath(host, session);
  if (path !== null) attempt(() => writeInHome(path, what, "unsynced"), undefined);
}

/** null: nothing since it was last asked. */
export function takeRefused(host: string, session: string): string | null {
  const path = refusedPath(host, session);
  const file = path === null ? null : readText(path, 4096);
  if (path === null || !file?.ok) return null;
  removeQuietly(path);
  return file.text;
}
