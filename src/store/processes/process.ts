/** Which process is it, is it still there, and how its whole group is ended. */
import { readdirSync, readlinkSync } from "node:fs";
import { readText } from "../files.ts";

/** A number is given again; number, start time, boot and namespace together are not. */
export interface Identity {
  pid: number;
  /** "": not known here */
  pid_start: string;
  boot: string;
  pid_ns: string;
}

/** SIGTERM, this long, SIGKILL. */
const GRACE_MS = 2_000;
/** What was killed leaves the list of processes soon, unless no one waits for it. */
const GONE_MS = 1_000;
const LOOK_AGAIN_MS = 20;

export function identify(pid: number): Identity {
  return { pid, pid_start: statusOf(pid)?.start ?? "", boot: bootId(), pid_ns: pidNamespace() };
}

export function asIdentity(value: Record<string, unknown> | null): Identity | null {
  const { pid, pid_start, boot, pid_ns } = value ?? {};
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid < 2) return null;
  if (typeof pid_start !== "string" || typeof boot !== "string" || typeof pid_ns !== "string") return null;
  return { pid, pid_start, boot, pid_ns };
}

/** "unknown": it belongs to another container, where its number means something else. */
export function whereabouts(one: Identity): "there" | "gone" | "unknown" {
  if (one.boot !== bootId()) return "gone";
  if (one.pid_ns !== pidNamespace()) return "unknown";
  const status = statusOf(one.pid);
  if (status === null || status.dead) return "gone";
  return status.start === one.pid_start ? "there" : "gone";
}

interface Status {
  start: string;
  parent: number;
  group: number;
  /** ended, and no one has asked how */
  dead: boolean;
}

/** null: no such process. */
function statusOf(pid: number): Status | null {
  if (process.platform !== "linux") return statusByPs(pid);
  const stat = readText(`/proc/${pid}/stat`);
  if (!stat.ok) return null;
  // The second field is the program's name, which may hold spaces and brackets: count from its end.
  const fields = stat.text.slice(stat.text.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group] = fields;
  return {
    start: fields[19] ?? "",
    parent: Number(parent),
    group: Number(group),
    dead: state === "Z" || state === "X",
  };
}

function statusByPs(pid: number): Status | null {
  const asked = Bun.spawnSync(["ps", "-o", "stat=,ppid=,pgid=,lstart=", "-p", String(pid)], { env: { LC_ALL: "C" } });
  const [state = "", parent, group, ...start] = asked.stdout.toString().trim().split(/\s+/);
  if (state === "") return null;
  return { start: start.join(" "), parent: Number(parent), group: Number(group), dead: state.startsWith("Z") };
}

function bootId(): string {
  const file = readText("/proc/sys/kernel/random/boot_id");
  return file.ok ? file.text.trim() : "";
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

// ── Groups ──────────────────────────────────────────────────────────────────

/** false: there is no one any more. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
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
  const status = statusOf(leader.pid);
  if (status !== null) return status.start === leader.pid_start;
  if (process.platform !== "linux" || !signalGroup(leader.pid, 0)) return false;
  return membersOf(leader.pid).some((pid) => (environmentOf(pid) ?? "").split("\0").includes("PAWL_GATE=1"));
}

/** Without those that are dead already: whoever inherits them may take a second to notice. */
function membersOf(group: number): number[] {
  return allProcesses().filter((pid) => {
    const status = statusOf(pid);
    return status?.group === group && !status.dead;
  });
}

const allProcesses = () => readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));

/** Numbers of processes with their start: a number alone is given again. */
export type Kin = ReadonlyMap<number, string>;

/** What all kin come from. */
export interface Stem {
  group: number;
  /** stands in the environment of all of them, also of those who left the group */
  entry: string;
  /** start of the first of them: who is older need not be looked at; "": not known */
  since: string;
}

/**
 * Who is alive of a group, who left it but has its entry in the environment, who was known before, and all their
 * children. Elsewhere than on Linux the group alone.
 */
export function kinOf({ group, entry, since }: Stem, known: Kin): Kin {
  if (process.platform !== "linux") return new Map(signalGroup(group, 0) ? [[group, ""]] : []);
  const kin = new Map<number, string>();
  const others: { pid: number; parent: number; start: string }[] = [];
  for (const pid of allProcesses()) {
    const status = statusOf(pid);
    if (status === null || status.dead) continue;
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

const isMarked = (pid: number, entry: string) => `\0${environmentOf(pid) ?? ""}`.includes(`\0${entry}\0`);

function isEmpty(group: number): boolean {
  if (!signalGroup(group, 0)) return true;
  return process.platform === "linux" && membersOf(group).length === 0;
}

function environmentOf(pid: number): string | null {
  const file = readText(`/proc/${pid}/environ`);
  return file.ok ? file.text : null;
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
