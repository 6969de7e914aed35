/** A run that a session belongs to, and that nobody ended: its files were removed. */
import { lookAt, namesOrNone } from "./files.ts";
import { join } from "./names.ts";

/** Neither live, nor archived, nor put aside by us; in a project that is still there. */
export function isGone(root: string, id: string): boolean {
  if (!lookAt(root)?.isDirectory() || lookAt(join(root, ".pawl/archive", id))) return false;
  return !namesOrNone(join(root, ".pawl/runs")).some((name) => name === id || name.startsWith(`${id}.corrupt`));
}
