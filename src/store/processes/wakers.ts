/** Who waits next to a session for a check that takes long, to wake the agent with its result. */
import { errorCode, readJson, removeQuietly, writeInHome } from "../files.ts";
import { sessionPath } from "../place.ts";

const wakerPath = (host: string, session: string) => sessionPath("wakers", host, session);

export function stayAwake(host: string, session: string): void {
  const path = wakerPath(host, session);
  if (path !== null) writeInHome(path, JSON.stringify({ pid: process.pid }));
}

export function fallAsleep(host: string, session: string): void {
  const path = wakerPath(host, session);
  if (path !== null && pidIn(path) === process.pid) removeQuietly(path);
}

export function isAwake(host: string, session: string): boolean {
  const path = wakerPath(host, session);
  const pid = path === null ? 0 : pidIn(path);
  return pid > 0 && isThere(pid);
}

function pidIn(path: string): number {
  const pid = readJson(path, 1024)?.pid;
  return Number.isSafeInteger(pid) ? (pid as number) : 0;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}
