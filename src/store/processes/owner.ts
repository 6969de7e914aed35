/** What /proc says of a process, and whether it is still the same one. Loaded by every hook that has a run. */
import { attempt } from "../../kernel/attempt.ts";
import { readlink } from "../../native/disk.ts";
import { lookAt, readLossy } from "../files.ts";
import { basename } from "../names.ts";

/** A number is given again; number, start time, boot and namespace together are not. */
export interface Identity {
  pid: number;
  /** "": not known here */
  pid_start: string;
  boot: string;
  pid_ns: string;
}

export interface Status {
  start: string;
  parent: number;
  group: number;
  /** ended, and no one has asked how */
  dead: boolean;
}

/** On Linux. null: no such process; undefined: it could not be read. */
export function procStatus(pid: number): Status | null | undefined {
  const stat = readLossy(`/proc/${pid}/stat`);
  if (stat === "") return lookAt(`/proc/${pid}`) === undefined ? null : undefined;
  // The second field is the program's name, which may hold spaces and brackets: count from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group] = fields;
  const dead = state === "Z" || state === "X";
  return { start: fields[19] ?? "", parent: Number(parent), group: Number(group), dead };
}

/** Values that end with a NUL each; "" where it is not ours to see. */
export const procText = (pid: number, name: "cmdline" | "comm" | "environ") => readLossy(`/proc/${pid}/${name}`);

export const bootId = (): string => readLossy("/proc/sys/kernel/random/boot_id").trim();

export const pidNamespace = (): string => attempt(() => readlink("/proc/self/ns/pid"), "");

const MOST_ABOVE = 200;

/** The processes above this one, the nearest first. */
export function pidsAbove(): number[] {
  const found: number[] = [];
  for (let pid = process.ppid; pid > 0 && found.length < MOST_ABOVE; pid = procStatus(pid)?.parent ?? 0)
    found.push(pid);
  return found;
}

// ── The agent that owns a run ───────────────────────────────────────────────

/** What identifies the host process that called us; nothing where the caller is not known to be one. */
export function describeParent(pid = process.ppid): Partial<Identity> {
  if (process.platform !== "linux" || !isHost(pid)) return {};
  const [pid_start, boot, pid_ns] = [procStatus(pid)?.start ?? "", bootId(), pidNamespace()];
  return pid_start === "" || boot === "" || pid_ns === "" ? {} : { pid, pid_start, boot, pid_ns };
}

/** The host process that called us, by number and start time; "" where the caller is not known to be one. */
export function clientProcess(): string {
  if (process.platform !== "linux") return `${process.ppid}`;
  const { pid, pid_start } = describeParent();
  return pid === undefined ? "" : `${pid}:${pid_start}`;
}

/** Only a sure no counts as no. */
export function ownerGone({ pid, pid_start, boot, pid_ns }: Partial<Identity>): boolean {
  const bootNow = bootId();
  if (boot === undefined || bootNow === "") return false;
  if (boot !== bootNow) return true;
  if (pid === undefined || pid_start === undefined || (pid_ns !== undefined && pid_ns !== pidNamespace())) return false;
  const status = procStatus(pid);
  return status === null || (status !== undefined && status.start !== pid_start);
}

/** `--resume X --fork-session` says the id of X at its start and has another one from then on. */
export const isFork = (): boolean =>
  process.platform === "linux" && procText(process.ppid, "cmdline").split("\0").includes("--fork-session");

export function isHost(pid: number): boolean {
  if (procText(pid, "comm").trim() === "claude") return true;
  const args = procText(pid, "cmdline").split("\0").slice(0, 3);
  const program = basename(args[0] ?? "");
  return program === "claude" || (/^(node|bun)/.test(program) && args.some((arg) => arg.includes("claude")));
}
