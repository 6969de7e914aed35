/** Where a project begins, which run a session belongs to, and which files are ours. */
import { realpath, stat, unlink } from "../native/disk.ts";
import { logError } from "./errors.ts";
import {
  ensureDir,
  errorCode,
  insideRoot,
  isObject,
  lookAt,
  makeDirs,
  messageOf,
  parseJson,
  quarantine,
  readText,
  writeAtomic,
} from "./files.ts";
import { gitDirOf, isLinkedWorktree } from "./git-dir.ts";
import { homeDir, PlaceError, statePath } from "./home.ts";
import { dirname, isPlainName, isRunId, join } from "./names.ts";
import { seal, unseal } from "./seal.ts";

export { PlaceError } from "./home.ts";
export { excludeOurs, isOwned, OWNED } from "./owned.ts";

// ── Root ────────────────────────────────────────────────────────────────────

export function findRoot(startDir: string): string {
  const start = realFolder(startDir);
  const home = realHome();
  return nearest(start, home, isProject) ?? nearest(start, home, (dir) => gitDirOf(dir) !== null) ?? start;
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

function realHome(): string | null {
  try {
    return realpath(homeDir());
  } catch {
    return null;
  }
}

function isProject(dir: string): boolean {
  return exists(join(dir, "pawl.yaml"), "file") || exists(join(dir, ".pawl"), "folder");
}

function exists(path: string, kind: "file" | "folder"): boolean {
  try {
    const found = lookAt(path);
    return kind === "folder" ? found?.isDirectory() === true : found?.isFile() === true;
  } catch {
    return false;
  }
}

/** The search stops at home, and at the top of a worktree: that is its own project, even inside the main one. */
function nearest(start: string, home: string | null, matches: (dir: string) => boolean): string | undefined {
  for (let dir = start; ; dir = dirname(dir)) {
    if (dir === home) return undefined;
    if (matches(dir)) return dir;
    if (dir === dirname(dir) || isLinkedWorktree(dir)) return undefined;
  }
}

// ── Session pointer ─────────────────────────────────────────────────────────

export interface Pointer {
  root: string;
  /** the run that claims and instructions are about; "" = none */
  run: string;
  /** formal workflows of this session, which only have to be remembered */
  formal?: string[];
  /** a run started in this session's shell, not yet seen in its own tool results */
  offer?: string;
  pid?: number;
  pid_start?: string;
  /** the pid means something only here: containers share the boot, not the pids */
  pid_ns?: string;
  boot?: string;
  off?: true;
}

const LONGEST_POINTER_NAME = 240;

export function pointerPath(host: string, session: string): string | null {
  if (!isPlainName(host) || !isPlainName(session)) return null;
  const name = `${host}-${session}`;
  return name.length > LONGEST_POINTER_NAME ? null : statePath("sessions", name);
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
  makeDirs(dirname(path), 0o700);
  writeAtomic(path, `${JSON.stringify(pointer)}\n`);
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

function removeIfThere(path: string): void {
  try {
    unlink(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

// ── Off switches ────────────────────────────────────────────────────────────

/** Everything, or only the shortcuts; the file is called so. */
type Switch = "off" | "shortcuts-off";

/** Said by this Pawl to this project. A file that an agent puts there, or a repository ships, switches nothing off. */
export function isOff(root: string, which: Switch = "off"): boolean {
  try {
    const file = readText(join(root, ".pawl", which), 1024);
    return file.ok && unseal(`${which} ${root}`, file.text) !== null;
  } catch {
    return false;
  }
}

export function setOff(root: string, off: boolean, which: Switch = "off"): void {
  const path = insideRoot(root, `.pawl/${which}`);
  if (off) {
    ensureDir(root, ".pawl");
    writeAtomic(path, seal(`${which} ${root}`, '{"off":true}'));
  } else removeIfThere(path);
}
