/** Which process is it, is it still there, and how its whole group is ended. */
import { readNames } from "../../native/disk.ts";
import { errorCode } from "../files.ts";
import { bootId, type Identity, pidNamespace, procText, readStatus } from "./owner.ts";

export type { Identity } from "./owner.ts";

/** SIGTERM, this long, SIGKILL. */
const GRACE_MS = 2_000;
/** What was killed leaves the list of processes soon, unless no one waits for it. */
const GONE_MS = 1_000;
const LOOK_AGAIN_MS = 20;

export function identify(pid: number): Identity {
  return { pid, pid_start: readStatus(pid)?.start ?? "", boot: bootId(), pid_ns: pidNamespace() };
}

export function asIdentity(value: Record<string, unknown> | null): Identity | null {
  const { pid, pid_start, boot, pid_ns } = value ?? {};
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 2) return null;
  if (typeof pid_start !== "string" || typeof boot !== "string" || typeof pid_ns !== "string") return null;
  return { pid, pid_start, boot, pid_ns };
}

/** "unknown": it belongs to another container, where its number means something else. */
export function processState(one: Identity): "there" | "gone" | "unknown" {
  if (one.boot !== bootId()) return "gone";
  if (one.pid_ns !== pidNamespace()) return "unknown";
  const status = readStatus(one.pid);
  if (status === undefined) return "unknown";
  return status !== null && !status.dead && status.start === one.pid_start ? "there" : "gone";
}

// ── Groups ──────────────────────────────────────────────────────────────────

/** false: there is no one any more. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** A group named by the process that led it, perhaps long ago. Only what is surely that group is ended. */
export function endOldGroup(leader: Identity): void {
  if (leader.boot !== bootId() || leader.pid_ns !== pidNamespace() || !isStillThat(leader)) return;
  signalGroup(leader.pid, "SIGTERM");
  if (!waitUntilGone(leader.pid, GRACE_MS)) signalGroup(leader.pid, "SIGKILL");
  waitUntilGone(leader.pid, GONE_MS);
}

/** The leader may be gone while its children go on; those carry the mark of a gate in their environment. */
function isStillThat(leader: Identity): boolean {
  const status = readStatus(leader.pid);
  if (status !== null) return status?.start === leader.pid_start;
  if (process.platform !== "linux" || !signalGroup(leader.pid, 0)) return false;
  return listMembers(leader.pid).some((pid) => procText(pid, "environ").split("\0").includes("PAWL_GATE=1"));
}

/** Without dead ones: the process that inherits them may take a second to notice. */
function listMembers(group: number): number[] {
  return allProcesses().filter((pid) => {
    const status = readStatus(pid);
    return status?.group === group && !status.dead;
  });
}

const allProcesses = () => readNames("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));

/** Numbers of processes with their start: a number alone is given again. */
export type ProcessTree = ReadonlyMap<number, string>;

/** The root of a process tree. */
export interface RootProcess {
  group: number;
  /** in the environment of all of them, also of those who left the group */
  entry: string;
  /** start of the first of them: who is older need not be looked at; "": not known */
  since: string;
}

/**
 * Who is alive of a group, who left it but has its entry in the environment, who was known before, and all their
 * children. Elsewhere than on Linux the group alone.
 */
export function findProcessTree({ group, entry, since }: RootProcess, known: ProcessTree): ProcessTree {
  if (process.platform !== "linux") return new Map(signalGroup(group, 0) ? [[group, ""]] : []);
  const kin = new Map<number, string>();
  const others: { pid: number; parent: number; start: string }[] = [];
  for (const pid of allProcesses()) {
    const status = readStatus(pid);
    if (!status || status.dead) continue;
    const { parent, start } = status;
    const mayBeMarked = Number(start) >= Number(since);
    if (status.group === group || known.get(pid) === start || (mayBeMarked && isMarked(pid, entry)))
      kin.set(pid, start);
    else others.push({ pid, parent, start });
  }
  for (let before = -1; before !== kin.size; ) {
    before = kin.size;
    for (const { pid, parent, start } of others) if (kin.has(parent)) kin.set(pid, start);
  }
  return kin;
}

const isMarked = (pid: number, entry: string) => `\0${procText(pid, "environ")}`.includes(`\0${entry}\0`);

function isEmpty(group: number): boolean {
  if (!signalGroup(group, 0)) return true;
  return process.platform === "linux" && listMembers(group).length === 0;
}

function waitUntilGone(group: number, ms: number): boolean {
  const until = Bun.nanoseconds() + ms * 1e6;
  while (!isEmpty(group)) {
    if (Bun.nanoseconds() > until) return false;
    Bun.sleepSync(LOOK_AGAIN_MS);
  }
  return true;
}

/** The same without standing still: meanwhile the group's output has to be read, or it could not end. */
export async function endGroup(group: number): Promise<void> {
  if (!signalGroup(group, "SIGTERM")) return;
  if (!(await untilGone(group, GRACE_MS))) signalGroup(group, "SIGKILL");
  await untilGone(group, GONE_MS);
}

async function untilGone(group: number, ms: number): Promise<boolean> {
  const until = Bun.nanoseconds() + ms * 1e6;
  while (!isEmpty(group)) {
    if (Bun.nanoseconds() > until) return false;
    await Bun.sleep(LOOK_AGAIN_MS);
  }
  return true;
}
