import { listRuns } from "./runs.ts";

/** No one touched it for a week: shown by `pawl runs`, but no longer brought up. */
export const STALE_MS = 7 * 24 * 3600 * 1000;

/** One line for the person at a fresh start: what waits for someone. Other sessions' live runs are their business. */
export function waitingLine(root: string, at: string): string | null {
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
