/** Notices on their way from hooks to the sender, and what was sent recently. Small files, not synced. */
import { link, removeAll, rename } from "../native/disk.ts";
import {
  errorCode,
  hashOf,
  isObject,
  lookAt,
  makeDirs,
  namesOrNone,
  parseJson,
  readText,
  removeQuietly,
  withTemp,
} from "../store/files.ts";
import { statePath } from "../store/home.ts";
import { join } from "../store/names.ts";
import type { Notice } from "./notice.ts";

const SPOOL = () => statePath("notify", "spool");
const SAID = () => statePath("notify", "said");
const ATTEMPTS = 20;
const MOST_NOTICES = 200;

// ── On their way ────────────────────────────────────────────────────────────

export function put(notice: Notice): void {
  const name = `${String(Date.now()).padStart(15, "0")}-${process.pid}-${Bun.nanoseconds()}.json`;
  for (let attempt = 1; ; attempt++) {
    try {
      makeDirs(SPOOL(), 0o700);
      withTemp(SPOOL(), JSON.stringify(notice), 0o600, (temp) => rename(temp, join(SPOOL(), name)), "unsynced");
      return;
    } catch (error) {
      // A sender took the whole folder.
      if (errorCode(error) !== "ENOENT" || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Takes the whole folder: of several senders one gets all of it. */
export function takeAll(): Notice[] {
  const taken = statePath("notify", `taken-${process.pid}-${Bun.nanoseconds()}`);
  try {
    rename(SPOOL(), taken);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
  const names = namesOrNone(taken).filter((name) => name.endsWith(".json"));
  const notices = names
    .sort()
    .slice(0, MOST_NOTICES)
    .flatMap((name) => readNotice(join(taken, name)));
  removeAll(taken);
  return notices;
}

function readNotice(path: string): Notice[] {
  const file = readText(path, 64 * 1024);
  const value = file.ok ? parseJson(file.text) : undefined;
  if (!isObject(value)) return [];
  const wanted = ["what", "text", "root", "run", "session", "at"] as const;
  return wanted.every((key) => typeof value[key] === "string") ? [value as unknown as Notice] : [];
}

// ── Sent recently ────────────────────────────────────────────────────────────

/** true for one caller only, until `ttl_ms` have passed. */
export function firstToSay(key: string, now: number, ttl_ms: number): boolean {
  const path = join(SAID(), hashOf(key).slice(0, 32));
  const until = untilOf(path);
  if (until !== null && until > now) return false;
  if (until !== null && !takeAway(path, now)) return false;
  return keep(path, now + ttl_ms);
}

function keep(path: string, until: number): boolean {
  makeDirs(SAID(), 0o700);
  try {
    withTemp(SAID(), String(until), 0o600, (temp) => link(temp, path), "unsynced");
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** false: another process was faster and has sent it again. */
function takeAway(path: string, now: number): boolean {
  const aside = `${path}.${process.pid}`;
  try {
    rename(path, aside);
    const mistaken = (untilOf(aside) ?? 0) > now;
    if (mistaken) link(aside, path);
    return !mistaken;
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "EEXIST") return false;
    throw error;
  } finally {
    removeQuietly(aside);
  }
}

/** null: never sent. An unreadable entry counts as expired. */
function untilOf(path: string): number | null {
  const file = readText(path, 64);
  if (!file.ok && file.why === "missing") return null;
  return file.ok ? Number(file.text) || 0 : 0;
}

// ── Cleanup ─────────────────────────────────────────────────────────────────

const OLD_MS = 3_600_000;

export function tidy(now: number): void {
  for (const name of namesOrNone(SAID())) {
    const path = join(SAID(), name);
    if ((untilOf(path) ?? 0) < now - OLD_MS) removeQuietly(path);
  }
  for (const name of namesOrNone(statePath("notify")).filter((one) => one.startsWith("taken-"))) {
    const path = statePath("notify", name);
    if ((lookAt(path)?.mtimeMs ?? now) < now - OLD_MS) removeAll(path);
  }
}
