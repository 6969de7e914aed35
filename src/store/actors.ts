/** The sessions of this machine that are still at work, as trackers name them. */
import { actorOf } from "../core/auto.ts";
import { namesOrNone } from "./files.ts";
import { statePath } from "./home.ts";
import { ownerGone } from "./owner.ts";
import { readPointer } from "./place.ts";

export function liveActors(): Set<string> {
  const live = new Set<string>();
  for (const name of namesOrNone(statePath("sessions"))) {
    const [, host = "", session = ""] = /^([a-z]+)-(.+)$/.exec(name) ?? [];
    const pointer = session === "" ? null : readPointer(host, session);
    if (pointer && !ownerGone(pointer)) live.add(actorOf(session));
  }
  return live;
}
