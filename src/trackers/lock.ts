/** One of our sessions at a time. The lock is the kernel's, through SQLite: whoever dies has let go. */
import type { Database } from "bun:sqlite";
import { ensureDir, errorCode, insideRoot, messageOf } from "../store/files.ts";
import { excludeOurs } from "../store/place.ts";
import { clock } from "./ask.ts";
import { type Answer, failed } from "./types.ts";

/** Below `.pawl`, one of the owned paths. */
const LOCK_DIR = ".pawl/tracker";

export function withLock<T>(root: string, until: number, work: () => Answer<T>, name = "lock"): Answer<T> {
  let lock: Database;
  try {
    lock = takeLock(root, name, until - clock());
  } catch (error) {
    if (isHeld(error)) return failed("busy", "the tasks are locked by another session");
    return failed("error", `${LOCK_DIR} cannot be written: ${messageOf(error)}`);
  }
  try {
    return work();
  } finally {
    lock.close();
  }
}

/** It is let go when it is closed. */
export function takeLock(root: string, name: string, patience_ms: number): Database {
  ensureDir(root, LOCK_DIR);
  excludeOurs(root);
  // Only who writes needs it.
  const sqlite = require("bun:sqlite") as typeof import("bun:sqlite");
  const lock = new sqlite.Database(insideRoot(root, `${LOCK_DIR}/${name}`));
  try {
    lock.run(`PRAGMA busy_timeout = ${Math.max(1, Math.floor(patience_ms))}`);
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** By another, longer than we were patient. */
export const isHeld = (error: unknown): boolean => errorCode(error).startsWith("SQLITE_BUSY");
