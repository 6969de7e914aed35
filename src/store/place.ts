/** Where a project begins, which run a session belongs to, and which files are ours. */
import { attempt } from "../kernel/attempt.ts";
import { realpath, stat } from "../native/disk.ts";
import { logError } from "./errors.ts";
import {
  ensureDir,
  insideRoot,
  isObject,
  lookAt,
  messageOf,
  namesOrNone,
  parseJson,
  quarantine,
  readText,
  removeIfThere,
  writeAtomic,
  writeInHome,
} from "./files.ts";
import { findGitDir } from "./git-dir.ts";
import { homeDir, PlaceError, statePath } from "./home.ts";
import { dirname, isPlainName, isRunId, join } from "./names.ts";
import type { Identity } from "./processes/owner.ts";
import { readSealed, seal } from "./seal.ts";

export { PlaceError } from "./home.ts";
export { excludeOurs, isOwned, OWNED } from "./owned.ts";

// ── Root ────────────────────────────────────────────────────────────────────

/**
 * The nearest project at or below git's top level, else that: what lies above belongs to someone else. Outside git only
 * a folder of this user's own can hold the start folder. `/` and the home folder hold everything, so they never count.
 */
export function findRoot(startDir: string): string {
  const start = realFolder(startDir);
  const dirs = upFrom(start);
  const top = dirs.findIndex((dir) => findGitDir(dir) !== null);
  if (top >= 0) return dirs.slice(0, top).find(isProject) ?? dirs[top]!;
  return dirs.find((dir) => (dir === start ? isProject(dir) : isOwnProject(dir))) ?? start;
}

function upFrom(start: string): string[] {
  const home = attempt(() => realpath(homeDir()), null);
  const dirs: string[] = [];
  for (let dir = start; dir !== "/"; dir = dirname(dir)) if (dir !== home) dirs.push(dir);
  return dirs;
}

function realFolder(dir: string): string {
  try {
    const real = realpath(dir);
    if (stat(real).isDirectory()) return real;
  } catch (error) {
    throw new PlaceError(`the folder ${dir} cannot be used: ${messageOf(error)}`);
  }
  throw new PlaceError(`${dir} is not a folder`);
}

const lookIn = (dir: string, name: string) => attempt(() => lookAt(join(dir, name)), undefined);

const isProject = (dir: string) =>
  lookIn(dir, "pawl.yaml")?.isFile() === true || lookIn(dir, ".pawl")?.isDirectory() === true;

/** Has a `.pawl` that no other user can have put there. */
const isOwnProject = (dir: string) =>
  [lookIn(dir, ".pawl"), lookIn(dir, ".")].every(
    (found) => found?.isDirectory() === true && found.uid === process.getuid?.() && !isWorldWritable(found),
  );

export const isWorldWritable = ({ mode }: { mode: number }) => (mode & 0o002) !== 0;

// ── Session pointer ─────────────────────────────────────────────────────────

/** Its process is known by more than the number: containers share the boot, not the pids. */
export interface Pointer extends Partial<Identity> {
  root: string;
  /** the run that claims and instructions are about; "" = none */
  run: string;
  /** formal workflows of this session, which only have to be remembered */
  formal?: string[];
  /** a run started in this session's shell, not yet seen in its own tool results */
  offer?: string;
  off?: true;
}

const LONGEST_POINTER_NAME = 240;

export const pointerPath = (host: string, session: string) => sessionPath("sessions", host, session);

/** A file about a session, in a folder of its kind; null: the session's name cannot be one. */
export function sessionPath(kind: string, host: string, session: string): string | null {
  const name = `${host}-${session}`;
  const isName = isPlainName(host) && isPlainName(session) && name.length <= LONGEST_POINTER_NAME;
  return isName ? statePath(kind, name) : null;
}

/** A live session stays in the project of its runs, wherever its shell has gone. */
export const sessionRoot = (host: string, session: string, cwd: string): string =>
  readPointer(host, session)?.root ?? findRoot(cwd);

/** Of all sessions that have one. */
export function allPointers(): { host: string; session: string; pointer: Pointer }[] {
  return namesOrNone(statePath("sessions")).flatMap((name) => {
    const [, host = "", session = ""] = /^([a-z]+)-(.+)$/.exec(name) ?? [];
    const pointer = session === "" ? null : readPointer(host, session);
    return pointer === null ? [] : [{ host, session, pointer }];
  });
}

export function readPointer(host: string, session: string): Pointer | null {
  const path = pointerPath(host, session);
  if (path === null) return null;
  const file = readText(path, 64 * 1024);
  if (!file.ok && file.why === "missing") return null;
  const pointer = file.ok ? asPointer(parseJson(file.text)) : null;
  if (pointer === null) putAside(path, file.ok ? "no pointer in it" : (file.detail ?? file.why));
  return pointer;
}

function putAside(path: string, why: string): void {
  try {
    logError(null, "pointer", `${path}: ${why}; kept as ${quarantine(path)}`);
  } catch (error) {
    logError(null, "pointer", error);
  }
}

function asPointer(value: unknown): Pointer | null {
  if (!isObject(value)) return null;
  const { root, run, pid, pid_start, pid_ns, boot, formal, offer, off } = value;
  if (typeof root !== "string" || !root.startsWith("/") || root.includes("\0")) return null;
  if (typeof run !== "string" || (run !== "" && !isRunId(run))) return null;
  const isId = (id: unknown): id is string => typeof id === "string" && isRunId(id);
  return {
    root,
    run,
    ...(Array.isArray(formal) && formal.some(isId) && { formal: formal.filter(isId) }),
    ...(isId(offer) && { offer }),
    ...(off === true && { off }),
    ...(typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 && { pid }),
    ...(typeof pid_start === "string" && { pid_start }),
    ...(typeof pid_ns === "string" && { pid_ns }),
    ...(typeof boot === "string" && { boot }),
  };
}

export function writePointer(host: string, session: string, pointer: Pointer): void {
  const path = pointerPath(host, session);
  if (path === null) throw new PlaceError(`no session can be kept under the name ${host}-${session}`.slice(0, 300));
  writeInHome(path, `${JSON.stringify(pointer)}\n`);
}

/** One session can have one run that moves and several formal ones; each binding leaves the others alone. */
export function bindPointer(host: string, session: string, bound: Pointer): void {
  const before = readPointer(host, session);
  const kept = before && before.root === bound.root ? before : null;
  const formal = [...new Set([...(kept?.formal ?? []), ...(bound.formal ?? [])])];
  const { offer, ...rest } = { ...kept, ...bound, run: bound.run || (kept?.run ?? "") };
  const stillOffered = offer !== undefined && offer !== bound.run && !formal.includes(offer);
  writePointer(host, session, {
    ...rest,
    ...(formal.length > 0 && { formal }),
    ...(stillOffered && { offer }),
  });
}

export function offerRun(host: string, session: string, root: string, offer: string): void {
  const before = readPointer(host, session);
  writePointer(host, session, { ...(before?.root === root ? before : { root, run: "" }), offer });
}

/** The person takes the session from its process: the one that speaks next has it. */
export function freeClient(host: string, session: string): void {
  const before = readPointer(host, session);
  if (before === null) return;
  const { pid: _pid, pid_start: _start, pid_ns: _ns, boot: _boot, ...rest } = before;
  writePointer(host, session, rest);
}

/** The run is over; what else the session has stays. */
export function releasePointer(host: string, session: string, id: string): void {
  const before = readPointer(host, session);
  if (!before) return;
  const formal = (before.formal ?? []).filter((one) => one !== id);
  const run = before.run === id ? "" : before.run;
  const { formal: _were, ...rest } = before;
  if (run === "" && formal.length === 0 && !before.offer && !before.off) removePointer(host, session);
  else writePointer(host, session, { ...rest, run, ...(formal.length > 0 && { formal }) });
}

export function removePointer(host: string, session: string): void {
  const path = pointerPath(host, session);
  if (path !== null) removeIfThere(path);
}

// ── Off switches ────────────────────────────────────────────────────────────

/** Everything, or only the shortcuts; the file is called so. */
type Switch = "off" | "shortcuts-off";

/** Said by this Pawl to this project. A file that an agent puts there, or a repository ships, switches nothing off. */
export function isOff(root: string, which: Switch = "off"): boolean {
  return attempt(() => readSealed(`${which} ${root}`, join(root, ".pawl", which), 1024) !== null, false);
}

export function setOff(root: string, off: boolean, which: Switch = "off"): void {
  const path = insideRoot(root, `.pawl/${which}`);
  if (off) {
    ensureDir(root, ".pawl");
    writeAtomic(path, seal(`${which} ${root}`, '{"off":true}'));
  } else removeIfThere(path);
}
