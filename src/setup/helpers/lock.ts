/** One helper at a time in a project. The lock is the kernel's, through SQLite: whoever dies has let go. */
import { Database } from "bun:sqlite";
import { ensureDir, insideRoot, messageOf } from "../../store/files.ts";
import { excludeOurs } from "../../store/place.ts";

/** Below `.pawl`, one of the owned paths. */
export const HELPER_DIR = ".pawl/helper";
const PATIENCE_MS = 20_000;

export function withLock<T>(root: string, work: () => T): T {
  ensureDir(root, HELPER_DIR);
  excludeOurs(root);
  const lock = new Database(insideRoot(root, `${HELPER_DIR}/lock`));
  try {
    take(lock);
    return work();
  } finally {
    lock.close();
  }
}

function take(lock: Database): void {
  try {
    lock.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`);
    lock.run("BEGIN EXCLUSIVE");
  } catch (error) {
    throw new Error(`another pawl helper is at work in this project (${messageOf(error)}); try again`);
  }
}
