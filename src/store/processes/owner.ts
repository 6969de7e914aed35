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

/** Where the kernel tells of processes. Tests of machines without it name a folder that is not there. */
export const proc = { root: "/proc" };

export const hasProc = (): boolean =>
  process.platform === "linux" && lookAt(`${proc.root}/${process.pid}`) !== undefined;

/** null: no such process; undefined: it could not be read. */
export const readStatus = (pid: number): Status | null | undefined => (hasProc() ? procStatus(pid) : statusByPs(pid));

/** On Linux. */
export function procStatus(pid: number): Status | null | undefined {
  const stat = readLossy(`${proc.root}/${pid}/stat`);
  if (stat === "") return lookAt(`${proc.root}/${pid}`) === undefined ? null : undefined;
  // The second field is the program's name, which may hold spaces and brackets: count from its end.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parent, group] = fields;
  const dead = state === "Z" || state === "X";
  return { start: fields[19] ?? "", parent: Number(parent), group: Number(group), dead };
}

/** By its full path: what the caller has in its PATH must not answer for the system. */
export const PS = "/bin/ps";

function statusByPs(pid: number): Status | null | undefined {
  const cmd = [PS, "-o", "stat=,ppid=,pgid=,lstart=", "-p", String(pid)];
  const asked = attempt(() => Bun.spawnSync(cmd, { env: { LC_ALL: "C" }, timeout: 5_000 }), null);
  if (asked === null) return undefined;
  const [state = "", parent, group, ...start] = asked.stdout.toString().trim().split(/\s+/);
  // ps says nothing and fails where there is no such process; an error in words means that it cannot tell.
  if (state === "") return asked.stderr.length > 0 ? undefined : null;
  return { start: start.join(" "), parent: Number(parent), group: Number(group), dead: state.startsWith("Z") };
}

/** Values that end with a NUL each; "" where it is not ours to see. */
export const procText = (pid: number, name: "cmdline" | "comm" | "environ") => readLossy(`${proc.root}/${pid}/${name}`);

export const bootId = (): string => readLossy(`${proc.root}/sys/kernel/random/boot_id`).trim();

export const pidNamespace = (): string => attempt(() => readlink(`${proc.root}/self/ns/pid`), "");

const MOST_ABOVE = 200;

/** The processes from this one upwards, the nearest first; by default those above us. */
export function pidsAbove(from = process.ppid): number[] {
  const found: number[] = [];
  for (let pid = from; pid > 0 && found.length < MOST_ABOVE; pid = readStatus(pid)?.parent ?? 0) found.push(pid);
  return found;
}

// ── The client that a session belongs to ────────────────────────────────────

/** The process that called us, whatever its name: a hook's command execs Pawl, so it is the client. {}: it cannot be read. */
export function describeParent(pid = process.ppid): Partial<Identity> {
  const pid_start = readStatus(pid)?.start ?? "";
  return pid_start === "" ? {} : { pid, pid_start, boot: bootId(), pid_ns: pidNamespace() };
}

export const isSameProcess = (a: Partial<Identity>, b: Partial<Identity>): boolean =>
  a.pid === b.pid && a.pid_start === b.pid_start && a.boot === b.boot && a.pid_ns === b.pid_ns;

/** Only a sure no counts as no. */
export function ownerGone({ pid, pid_start, boot, pid_ns }: Partial<Identity>): boolean {
  if (boot === undefined) return false;
  const bootNow = bootId();
  if (boot !== bootNow) return boot !== "" && bootNow !== "";
  if (pid === undefined || pid_start === undefined || (pid_ns !== undefined && pid_ns !== pidNamespace())) return false;
  const status = readStatus(pid);
  return status === null || (status !== undefined && (status.dead || status.start !== pid_start));
}

/** `--resume X --fork-session` says the id of X at its start and has another one from then on. */
export const isFork = (): boolean => procText(process.ppid, "cmdline").split("\0").includes("--fork-session");

export function isHost(pid: number): boolean {
  if (procText(pid, "comm").trim() === "claude") return true;
  const args = procText(pid, "cmdline").split("\0").slice(0, 3);
  const program = basename(args[0] ?? "");
  return program === "claude" || (/^(node|bun)/.test(program) && args.some((arg) => arg.includes("claude")));
}
