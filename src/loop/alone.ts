/** One loop at a time in a tree, from its first moment on: also while it tries its agent. */
import { Database } from "bun:sqlite";
import { ensureDir, errorCode, insideRoot } from "../store/files.ts";
import { excludeOurs } from "../store/place.ts";

/** Where the other locks of a project are. */
const LOCK_DIR = ".pawl/tracker";
/** Held as long as this process lives. The lock is the kernel's, through SQLite: whoever dies has let go. */
const held: Database[] = [];

/** false: another loop has it. */
export function takeTree(root: string): boolean {
  ensureDir(root, LOCK_DIR);
  excludeOurs(root);
  const lock = new Database(insideRoot(root, `${LOCK_DIR}/loop`));
  held.push(lock);
  try {
    lock.run("BEGIN EXCLUSIVE");
  } catch (error) {
    // A disk that knows no locks is no reason not to begin.
    return errorCode(error) !== "SQLITE_BUSY";
  }
  return true;
}
