/** Who waits next to a session for a check that takes long, to wake the agent with its result. */
import { ensureDir, errorCode, isObject, parseJson, readText, removeQuietly, writeAtomic } from "../files.ts";
import { homeDir, statePath } from "../home.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,160}$/;

function pathOf(host: string, session: string): string | null {
  const name = `${host}-${session}`;
  return session !== "" && NAME.test(name) ? statePath("wakers", name) : null;
}

export function stayAwake(host: string, session: string): void {
  const path = pathOf(host, session);
  if (path === null) return;
  ensureDir(homeDir(), ".local/state/pawl/wakers");
  writeAtomic(path, JSON.stringify({ pid: process.pid }));
}

export function fallAsleep(host: string, session: string): void {
  const path = pathOf(host, session);
  if (path !== null && pidIn(path) === process.pid) removeQuietly(path);
}

export function isAwake(host: string, session: string): boolean {
  const path = pathOf(host, session);
  const pid = path === null ? 0 : pidIn(path);
  return pid > 0 && isThere(pid);
}

function pidIn(path: string): number {
  const file = readText(path, 1024);
  const value = file.ok ? parseJson(file.text) : undefined;
  return isObject(value) && Number.isSafeInteger(value.pid) ? (value.pid as number) : 0;
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}
