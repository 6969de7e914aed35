/** The sessions of this machine that are still at work, as trackers name them. */
import { actorOf } from "../core/auto.ts";
import { rename } from "./disk.ts";
import { logError } from "./errors.ts";
import { makeDirs, namesOrNone, readText, removeQuietly, withTemp } from "./files.ts";
import { statePath } from "./home.ts";
import { dirname } from "./names.ts";
import { describeParent, ownerGone } from "./owner.ts";
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
  for (const session of notedSessions()) live.add(actorOf(session));
  return live;
}

/**
 * A session with a run is known by its pointer. One that only has a task is noted by its process, which has one
 * conversation at a time: the newest counts. Where the process is not known, nobody could ever tell that it is dead.
 */
export function noteActor(root: string, session: string, host = process.ppid): void {
  const found = describeParent(host);
  if (found.pid === undefined) return;
  const text = `${JSON.stringify({ root, session, ...found })}\n`;
  const path = statePath("actors", `${found.pid}-${found.pid_start}`);
  try {
    makeDirs(dirname(path), 0o700);
    withTemp(dirname(path), text, 0o600, (temp) => rename(temp, path), "unsynced");
  } catch (error) {
    // No reason to keep it from its task.
    logError(root, "actors", error);
  }
}

function notedSessions(): string[] {
  return namesOrNone(statePath("actors")).flatMap((name) => {
    const path = statePath("actors", name);
    const file = readText(path, 8 * 1024);
    const noted = file.ok ? parsed(file.text) : null;
    if (noted === null) return [];
    if (!ownerGone(noted)) return [noted.session];
    removeQuietly(path);
    return [];
  });
}

function parsed(text: string): (Pointer & { session: string }) | null {
  try {
    const value = JSON.parse(text);
    return typeof value?.session === "string" ? value : null;
  } catch {
    return null;
  }
}

/** A run that went from session to session keeps the name under which its task was claimed. */
function claimantOf({ root, run }: Pointer): string | null {
  try {
    return (run === "" ? null : loadRun(root, run)?.commit.run.task?.actor) || null;
  } catch {
    return null;
  }
}
