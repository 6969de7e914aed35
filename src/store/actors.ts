/** The sessions of this machine that are still at work, as trackers name them. */
import { attempt } from "../kernel/attempt.ts";
import { actorOf } from "../kernel/types/task.ts";
import { logError } from "./errors.ts";
import { namesOrNone, readJson, removeQuietly, writeInHome } from "./files.ts";
import { statePath } from "./home.ts";
import { isPlainName } from "./names.ts";
import { allPointers, type Pointer } from "./place.ts";
import { describeParent, type Identity, isSameProcess, ownerGone } from "./processes/owner.ts";
import { loadRun } from "./runs.ts";

/** true: at work; false: known to be gone. Of those that are not in here no one knows. */
export type Actors = ReadonlyMap<string, boolean>;

export function knownActors(): Actors {
  const known = new Map<string, boolean>();
  const note = (actor: string, isLive: boolean) => known.set(actor, isLive || known.get(actor) === true);
  for (const { session, pointer } of allPointers()) {
    const isLive = !ownerGone(pointer);
    note(actorOf(session), isLive);
    const claimant = isLive ? findClaimant(pointer) : null;
    if (claimant !== null) note(claimant, true);
  }
  for (const { session, isLive } of notedSessions()) note(actorOf(session), isLive);
  return known;
}

interface ActorNote extends Partial<Identity> {
  session: string;
  /** milliseconds since 1970 */
  at: number;
}

/** By then the claims of a dead session are free without this. */
const KEPT_MS = 3_600_000;

/**
 * A session with a run is known by its pointer; any other by this, with its process. Where the process is not known, no
 * one could ever tell that it is dead.
 */
export function noteClient(session: string, client: Partial<Identity>): void {
  if (client.pid === undefined || !isPlainName(session)) return;
  const noted: ActorNote = { session, at: Date.now(), ...client };
  try {
    // Every session is noted once: this is the time to forget those that ended long ago.
    notedSessions();
    writeInHome(statePath("actors", session), `${JSON.stringify(noted)}\n`, "unsynced");
  } catch (error) {
    // No reason to keep it from its task.
    logError(null, "actors", error);
  }
}

/** By a command below the agent. What the session's own events said counts more, as long as that process is there. */
export function noteActor(session: string, host: number): void {
  const noted = notedClient(session);
  if (noted === null || ownerGone(noted)) noteClient(session, describeParent(host));
}

/** null: no event of the session has come yet. */
export const notedClient = (session: string): Partial<Identity> | null =>
  isPlainName(session) ? readNoted(session) : null;

/** A process has one conversation at a time: the newest. */
function notedSessions(): { session: string; isLive: boolean }[] {
  const all = namesOrNone(statePath("actors")).flatMap((name) => readNoted(name) ?? []);
  return all.map((one) => {
    const isLive = !ownerGone(one) && !all.some((other) => other.at > one.at && isSameProcess(other, one));
    if (!isLive && Date.now() - one.at > KEPT_MS) removeQuietly(statePath("actors", one.session));
    return { session: one.session, isLive };
  });
}

function readNoted(name: string): ActorNote | null {
  const value = readJson(statePath("actors", name), 8 * 1024);
  return value?.session === name && typeof value.at === "number" ? (value as unknown as ActorNote) : null;
}

/** A run that went from session to session keeps the name under which its task was claimed. */
const findClaimant = ({ root, run }: Pointer): string | null =>
  attempt(() => run !== "" && loadRun(root, run)?.commit.run.work.task?.actor, null) || null;
