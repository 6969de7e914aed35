/** Notices on their way from hooks to the sender, and what was sent recently. Small files, not synced. */
import { link, removeAll, rename } from "../native/disk.ts";
import {
  errorCode,
  hashOf,
  lookAt,
  makeDirs,
  namesOrNone,
  readJson,
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
  const value = readJson(path, 64 * 1024);
  const wanted = ["what", "text", "root", "run", "session", "at"];
  return wanted.every((key) => typeof value?.[key] === "string") ? [value as unknown as Notice] : [];
}

// ── Sent recently ────────────────────────────────────────────────────────────

/**
 * true for one caller only, until `ttl_ms` have passed. Time is cut into spans of that length with a file each, which only
 * one process can create: a caller has to look at the span before and to create the file of its own.
 */
export function firstToSay(key: string, now: number, ttl_ms: number): boolean {
  const nth = Math.floor(now / ttl_ms);
  const makePath = (span: number) => join(SAID(), hashOf(`${key} ${span}`).slice(0, 32));
  if (readUntil(makePath(nth - 1)) > now) return false;
  makeDirs(SAID(), 0o700);
  try {
    withTemp(SAID(), String(now + ttl_ms), 0o600, (temp) => link(temp, makePath(nth)), "unsynced");
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** 0: never sent, or unreadable. */
function readUntil(path: string): number {
  const file = readText(path, 64);
  return file.ok ? Number(file.text) || 0 : 0;
}

// ── Cleanup ─────────────────────────────────────────────────────────────────

const OLD_MS = 3_600_000;

export function tidy(now: number): void {
  for (const name of namesOrNone(SAID())) {
    const path = join(SAID(), name);
    if (readUntil(path) < now - OLD_MS) removeQuietly(path);
  }
  for (const name of namesOrNone(statePath("notify")).filter((one) => one.startsWith("taken-"))) {
    const path = statePath("notify", name);
    if ((lookAt(path)?.mtimeMs ?? now) < now - OLD_MS) removeAll(path);
  }
}
