/** One loop at a time in a tree, from its first moment on: also while it tries its agent. */
import type { Database } from "bun:sqlite";
import { isHeld, takeLock } from "../store/lock.ts";

/** As long as this process lives. */
const held: Database[] = [];

/** false: another loop has it. */
export function takeTree(root: string): boolean {
  try {
    held.push(takeLock(root, ".pawl/tracker/loop", 0));
    return true;
  } catch (error) {
    // A disk that knows no locks is no reason not to begin.
    return !isHeld(error);
  }
}
