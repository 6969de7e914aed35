/** One of our sessions at a time. The lock is the kernel's, through SQLite: whoever dies has let go. */
import type { Database } from "bun:sqlite";
import { ensureDir, errorCode, insideRoot, messageOf } from "../store/files.ts";
import { excludeOurs } from "../store/place.ts";
import { clock } from "./ask.ts";
import { type Answer, failed } from "./types.ts";

/** Below `.pawl`, one of the owned paths. */
const LOCK_DIR = ".pawl/tracker";

export function withLock<T>(root: string, until: number, work: () => Answer<T>, name = "lock"): Answer<T> {
  let lock: Database | undefined;
  try {
    ensureDir(root, LOCK_DIR);
    excludeOurs(root);
    // Only who writes needs it.
    const sqlite = require("bun:sqlite") as typeof import("bun:sqlite");
    lock = new sqlite.Database(insideRoot(root, `${LOCK_DIR}/${name}`));
    lock.run(`PRAGMA busy_timeout = ${Math.max(1, Math.floor(until - clock()))}`);
    lock.run("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    if (errorCode(error).startsWith("SQLITE_BUSY")) return failed("busy", "the tasks are locked by another session");
    return failed("error", `${LOCK_DIR} cannot be written: ${messageOf(error)}`);
  }
  try {
    return work();
  } finally {
    lock.close();
  }
}
