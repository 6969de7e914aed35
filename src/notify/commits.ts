import type { Commit } from "../kernel/types/run.ts";
import { notificationsOn } from "./mark.ts";

/** Calls the person for what was saved outside a hook. Unless notifications are on, nothing else of this room is loaded. */
export function notifyAbout(commits: { root: string; commit: Commit }[]): void {
  if (commits.length === 0 || !notificationsOn()) return;
  const { callFor, send } = require("./call.ts") as typeof import("./call.ts");
  for (const { root, commit } of commits) {
    const call = callFor(root, commit);
    if (call) send(call);
  }
}
