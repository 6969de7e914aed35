/** What the person reads at a fresh start. The agent hears nothing of it. */
import { attempt } from "../kernel/attempt.ts";
import { hashOf, linkIfFree, lookAt, makeDirs, withTemp } from "./files.ts";
import { homeDir, statePath } from "./home.ts";
import { dirname, join } from "./names.ts";
import { isOff } from "./place.ts";
import { listRuns } from "./runs.ts";

/** No one touched it for a week: shown by `pawl runs`, but no longer brought up. */
export const STALE_MS = 7 * 24 * 3600 * 1000;

const GREETING =
  "Pawl is on in this project: /complete-work takes work to a checked end. `pawl off` switches it off, `pawl doctor` looks after it.";

/** At a project's first session what is on and how it goes off, then what waits for someone; "": neither. */
export function startLines(root: string, { source, via, at }: { source: string; via: string; at: string }): string {
  if (isOff(root)) return "";
  // Headless, no one would see it; it is kept for a session with a person.
  const mayGreet = source === "startup" && !process.env.CLAUDE_CODE_ENTRYPOINT?.startsWith("sdk");
  // What cannot be remembered would be said at every start.
  const greets = mayGreet && attempt(() => isNews(root, via) && remember(root), false);
  return [greets ? GREETING : null, waitingLine(root, at)].filter((line) => line !== null).join("\n");
}

/** Other sessions' live runs are their business. */
function waitingLine(root: string, at: string): string | null {
  const isFresh = (updated: string) => Date.parse(at) - Date.parse(updated) < STALE_MS;
  const waiting = listRuns(root).filter(
    ({ status, owner, owner_gone, updated_at }) =>
      status !== "ended" && (status === "halted" || owner === null || owner_gone) && isFresh(updated_at),
  );
  if (waiting.length === 0) return null;
  const names = waiting.map(
    ({ workflow, id, status }) => `${workflow} (${id}${status === "halted" ? ", stopped" : ""})`,
  );
  return `Pawl: waiting for someone here: ${names.join(", ")}. \`pawl runs\` shows more.`;
}

/** The project was set up, by this person or by a team. A person who has had a run in it knows. */
function isNews(root: string, via: string): boolean {
  const has = (name: string) => lookAt(join(root, name)) !== undefined;
  if (root === homeDir() || has(".pawl/runs")) return false;
  return via === "project" || has(".pawl") || has("pawl.yaml");
}

export const greetingPath = (root: string) => statePath("greeted", hashOf(root).slice(0, 32));

/** false: it was shown before. Of two hooks that ask at once, one gets true. */
function remember(root: string): boolean {
  const path = greetingPath(root);
  if (lookAt(path) !== undefined) return false;
  makeDirs(dirname(path), 0o700);
  return withTemp(dirname(path), `${root}\n`, 0o600, (temp) => linkIfFree(temp, path), "unsynced");
}
