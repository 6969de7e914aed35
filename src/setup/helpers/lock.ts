/** One helper at a time in a project. */
import { messageOf } from "../../store/files.ts";
import { takeLock } from "../../store/lock.ts";

/** Below `.pawl`, one of the owned paths. */
export const HELPER_DIR = ".pawl/helper";
const TIMEOUT_MS = 20_000;

export function withLock<T>(root: string, work: () => T): T {
  const lock = takeHelperLock(root);
  try {
    return work();
  } finally {
    lock.close();
  }
}

function takeHelperLock(root: string) {
  try {
    return takeLock(root, `${HELPER_DIR}/lock`, TIMEOUT_MS);
  } catch (error) {
    throw new Error(`another pawl helper is running in this project (${messageOf(error)}); try again`);
  }
}
