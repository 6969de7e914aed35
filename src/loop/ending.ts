/** The end of an agent and of everything it started: asked first, then made. */
import { membersAndMarked, signalGroup } from "../gather/process.ts";

/** SIGTERM, this long, SIGKILL. */
const GRACE_MS = 5_000;
/** What was killed is gone soon, unless the kernel itself holds it; then nobody can do more. */
const GONE_MS = 2_000;
const FIRST_LOOK_MS = 5;
const LATER_LOOKS_MS = 50;

/** `entry` stands in the environment of all who come from the agent, also of those who left its group. */
export async function endAll(group: number, entry: string): Promise<void> {
  if (!tell(group, entry, "SIGTERM")) return;
  // who is stopped could not hear it
  tell(group, entry, "SIGCONT");
  if (await untilNone(GRACE_MS, () => membersAndMarked(group, entry).length === 0)) return;
  // Again and again: who is killed may have forked meanwhile.
  await untilNone(GONE_MS, () => !tell(group, entry, "SIGKILL"));
}

/** false: there is nobody. */
function tell(group: number, entry: string, signal: NodeJS.Signals): boolean {
  const pids = membersAndMarked(group, entry);
  if (pids.length === 0) return false;
  signalGroup(group, signal);
  for (const pid of pids) signalOne(pid, signal);
  return true;
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone meanwhile, or no longer ours
  }
}

async function untilNone(ms: number, isOver: () => boolean): Promise<boolean> {
  const until = Bun.nanoseconds() + ms * 1e6;
  for (let pause = FIRST_LOOK_MS; !isOver(); pause = Math.min(2 * pause, LATER_LOOKS_MS)) {
    if (Bun.nanoseconds() > until) return false;
    await Bun.sleep(pause);
  }
  return true;
}
