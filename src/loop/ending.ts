/** The end of an agent and of everything it started: asked first, then made. */
import { type Kin, kinOf, type Stem, signalGroup } from "../store/processes/process.ts";

/** SIGTERM, this long, SIGKILL. */
const GRACE_MS = 5_000;
/** What was killed is gone soon, unless the kernel itself holds it; then nobody can do more. */
const GONE_MS = 2_000;
const FIRST_LOOK_MS = 5;
const LATER_LOOKS_MS = 50;

export async function endAll(agent: Stem): Promise<void> {
  let kin: Kin = new Map();
  const isOver = () => {
    kin = kinOf(agent, kin);
    return kin.size === 0;
  };
  if (isOver()) return;
  const killing = Bun.nanoseconds() + GRACE_MS * 1e6;
  // The agent first: one whose tool is ended before itself takes that for an answer, and goes on with it.
  ask(agent, NOBODY);
  await untilSo(killing, () => isOver() || !kin.has(agent.group));
  ask(agent, kin);
  if (await untilSo(killing, isOver)) return;
  // Again and again: who is killed may have forked meanwhile.
  await untilSo(Bun.nanoseconds() + GONE_MS * 1e6, () => {
    tell(agent, kin, "SIGKILL");
    return isOver();
  });
}

const NOBODY: Kin = new Map();

function ask(agent: Stem, others: Kin): void {
  tell(agent, others, "SIGTERM");
  // who is stopped could not hear it
  tell(agent, others, "SIGCONT");
}

function tell({ group }: Stem, kin: Kin, signal: NodeJS.Signals): void {
  signalGroup(group, signal);
  for (const pid of kin.keys()) signalOne(pid, signal);
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone meanwhile, or no longer ours
  }
}

async function untilSo(end: number, isSo: () => boolean): Promise<boolean> {
  for (let pause = FIRST_LOOK_MS; !isSo(); pause = Math.min(2 * pause, LATER_LOOKS_MS)) {
    if (Bun.nanoseconds() > end) return false;
    await Bun.sleep(pause);
  }
  return true;
}
