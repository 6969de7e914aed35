/** One line to the person at a project's first session: what is on, and how it goes off. The agent hears nothing. */
import { link } from "../native/disk.ts";
import { errorCode, hashOf, lookAt, makeDirs, withTemp } from "./files.ts";
import { homeDir, statePath } from "./home.ts";
import { dirname, join } from "./names.ts";
import { findRoot, isOff } from "./place.ts";

const GREETING =
  "Pawl is on in this project: /complete-work takes work to a checked end. `pawl off` switches it off, `pawl doctor` looks after it.";

export const greetingPath = (root: string) => statePath("greeted", hashOf(root).slice(0, 32));

/** null: nothing to say here, or it was said before. Of two hooks that ask at once one gets the text. */
export function greetingFor(cwd: string | null, via: string): string | null {
  // Headless, no one would see it; it is kept for a session with a person.
  if (cwd === null || process.env.CLAUDE_CODE_ENTRYPOINT?.startsWith("sdk")) return null;
  try {
    const root = findRoot(cwd);
    return isNews(root, via) && remember(root) ? GREETING : null;
  } catch {
    // What cannot be remembered would be said at every start.
    return null;
  }
}

/** The project was set up, by this person or by a team. Whoever has had a run in it knows. */
function isNews(root: string, via: string): boolean {
  if (root === homeDir() || isOff(root) || has(root, ".pawl/runs")) return false;
  return via === "project" || has(root, ".pawl") || has(root, "pawl.yaml");
}

const has = (root: string, name: string) => lookAt(join(root, name)) !== undefined;

function remember(root: string): boolean {
  const path = greetingPath(root);
  if (lookAt(path) !== undefined) return false;
  makeDirs(dirname(path), 0o700);
  try {
    withTemp(dirname(path), `${root}\n`, 0o600, (temp) => link(temp, path), "unsynced");
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
}
