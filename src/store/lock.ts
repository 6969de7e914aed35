/** One process at a time. The lock is the kernel's, through SQLite: a process that dies has released it. */
import type { Database } from "bun:sqlite";
import { ensureDir, errorCode, insideRoot } from "./files.ts";
import { dirname } from "./names.ts";
import { excludeOurs } from "./owned.ts";

export interface Lock {
  close(): void;
}

/** A caller may never close its lock: without this, the garbage collector would, and release it. */
const held = new Set<Database>();

/** `path`: below the root, in a folder that Pawl owns. Closing the result releases the lock; so does the process's end. */
export function takeLock(root: string, path: string, timeout_ms: number): Lock {
  ensureDir(root, dirname(path));
  excludeOurs(root);
  // Loaded here, because few hooks write.
  const sqlite = require("bun:sqlite") as typeof import("bun:sqlite");
  const lock = new sqlite.Database(insideRoot(root, path));
  const close = () => {
    held.delete(lock);
    lock.close();
  };
  held.add(lock);
  try {
    lock.run(`PRAGMA busy_timeout = ${Math.max(1, Math.floor(timeout_ms))}`);
    lock.run("BEGIN EXCLUSIVE");
    return { close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Another process had it until the timeout. */
export const isHeld = (error: unknown): boolean => errorCode(error).startsWith("SQLITE_BUSY");
