/** Is the agent that owns a run still there? Only a sure no counts as no. */
import { readlink } from "../../native/disk.ts";
import { readText } from "../files.ts";
import { basename } from "../names.ts";
import type { Pointer } from "../place.ts";

/** What tells one process from all others of this machine. */
export type Process = Pick<Pointer, "pid" | "pid_start" | "boot" | "pid_ns">;

/** What identifies the host process that called us; nothing where the caller is not known to be one. */
export function describeParent(pid = process.ppid): Process {
  if (process.platform !== "linux" || !isHost(pid)) return {};
  const [pid_start, boot, pid_ns] = [startTime(pid), bootId(), pidNamespace()];
  if (pid_start === null || boot === null || pid_ns === null) return {};
  return { pid, pid_start, boot, pid_ns };
}

export function ownerGone({ pid, pid_start, boot, pid_ns }: Process): boolean {
  const bootNow = bootId();
  if (boot === undefined || bootNow === null) return false;
  if (boot !== bootNow) return true;
  if (pid === undefined || pid_start === undefined || (pid_ns !== undefined && pid_ns !== pidNamespace())) return false;
  const stat = readText(`/proc/${pid}/stat`);
  if (!stat.ok) return stat.why === "missing";
  const start = startOf(stat.text);
  return start !== null && start !== pid_start;
}

/** `--resume X --fork-session` says the id of X at its start and has another one from then on. */
export function isFork(): boolean {
  if (process.platform !== "linux") return false;
  return (proc(process.ppid, "cmdline") ?? "").split("\0").includes("--fork-session");
}

export function isHost(pid: number): boolean {
  if (proc(pid, "comm")?.trim() === "claude") return true;
  const args = (proc(pid, "cmdline") ?? "").split("\0").slice(0, 3);
  const program = basename(args[0] ?? "");
  if (program === "claude") return true;
  return /^(node|bun)/.test(program) && args.some((arg) => arg.includes("claude"));
}

function proc(pid: number, name: string): string | null {
  const file = readText(`/proc/${pid}/${name}`);
  return file.ok ? file.text : null;
}

function startTime(pid: number): string | null {
  return startOf(proc(pid, "stat") ?? "");
}

/** Field 22. The second one is the program's name, which may hold spaces and brackets, so count from its end. */
function startOf(stat: string): string | null {
  const start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return start !== undefined && /^\d+$/.test(start) ? start : null;
}

function bootId(): string | null {
  const file = readText("/proc/sys/kernel/random/boot_id");
  return file.ok ? file.text.trim() : null;
}

function pidNamespace(): string | null {
  try {
    return readlink("/proc/self/ns/pid");
  } catch {
    return null;
  }
}
