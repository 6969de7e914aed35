/** The sessions of this machine that are still at work, as trackers name them. */
import { actorOf } from "../core/auto.ts";
import { namesOrNone } from "./files.ts";
import { statePath } from "./home.ts";
import { ownerGone } from "./owner.ts";
import { type Pointer, readPointer } from "./place.ts";
import { loadRun } from "./runs.ts";

export function liveActors(): Set<string> {
  const live = new Set<string>();
  for (const name of namesOrNone(statePath("sessions"))) {
    const [, host = "", session = ""] = /^([a-z]+)-(.+)$/.exec(name) ?? [];
    const pointer = session === "" ? null : readPointer(host, session);
    if (!pointer || ownerGone(pointer)) continue;
    live.add(actorOf(session));
    const claimant = claimantOf(pointer);
    if (claimant !== null) live.add(claimant);
  }
  return live;
}

/** A run that went from session to session keeps the name under which its task was claimed. */
function claimantOf({ root, run }: Pointer): string | null {
  try {
    return (run === "" ? null : loadRun(root, run)?.commit.run.task?.actor) || null;
  } catch {
    return null;
  }
}
