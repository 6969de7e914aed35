/** Runs another program: without a shell, with a clean environment, for a bounded time and output; and one at a time. */
import type { Database } from "bun:sqlite";
import { messageOf } from "../store/files.ts";
import { isHeld, takeLock } from "../store/lock.ts";
import { join } from "../store/names.ts";
import { isLoaderVariable } from "../store/processes/loader-variables.ts";
import { type Answer, absent, failed, ok } from "./types.ts";

export interface Said {
  stdout: string;
  stderr: string;
  exit: number;
}

/** All calls of one operation share it. */
export interface Asking {
  root: string;
  /** a time of `clock` */
  until: number;
}

export const clock = () => Bun.nanoseconds() / 1e6;

const MOST_BYTES = 8 << 20;
const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * The agent's marks (bd shows less when it sees them), what would name another actor, repository or output than we do,
 * and whatever loads code no one named.
 */
const NOT_HANDED_ON =
  /^(CLAUDE.*|AI_AGENT|AGENT|PAWL.*|OLDPWD|_|BEADS_ACTOR|BD_(ACTOR|JSON_ENVELOPE|AGENT_MODE|DEBUG.*)|GH_(REPO|HOST|DEBUG|FORCE_TTY|PATH|EDITOR|BROWSER|PAGER)|DEBUG|PAGER|EDITOR|VISUAL|BROWSER|GLAMOUR_STYLE|CLICOLOR.*)$/s;

/** No questions, no colours, no pager, and no daemon that would stay behind in our name. */
const PLAIN = {
  NO_COLOR: "1",
  TERM: "dumb",
  GH_PROMPT_DISABLED: "1",
  GH_NO_UPDATE_NOTIFIER: "1",
  GH_SPINNER_DISABLED: "1",
  GIT_TERMINAL_PROMPT: "0",
  BEADS_AUTO_START_DAEMON: "false",
};

export function ask({ root, until }: Asking, program: string, args: string[]): Answer<Said> {
  const path = findProgram(program, root);
  if (path === null) return absent(`${program} is not installed (not found in PATH)`);
  const timeout = Math.floor(until - clock());
  const late = failed("deadline", `${program} ${args[0]} did not answer in time`);
  if (timeout <= 0) return late;
  try {
    const said = Bun.spawnSync({
      cmd: [path, ...args],
      cwd: root,
      env: environment(root),
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      timeout,
      maxBuffer: MOST_BYTES,
      killSignal: "SIGKILL",
      detached: true,
    });
    if (said.exitedDueToTimeout || said.exitCode === null) endGroup(said.pid);
    if (said.stdout.length >= MOST_BYTES || said.stderr.length >= MOST_BYTES)
      return failed("too-large", `${program} ${args[0]} answered more than ${MOST_BYTES >> 20} MB`);
    // Ended in time, with something left behind that held its output open: what it said is whole.
    if (said.exitCode === null)
      return said.exitedDueToTimeout ? late : failed("error", `${program} was ended by ${said.signalCode}`);
    return ok({ stdout: said.stdout.toString(), stderr: said.stderr.toString(), exit: said.exitCode });
  } catch (error) {
    return failed("error", `${program} could not be run: ${messageOf(error)}`);
  }
}

/** Below `.pawl`, one of the owned paths. */
const LOCK_DIR = ".pawl/tracker";

/** One session at a time on this machine. */
export function withLock<T>(root: string, until: number, work: () => Answer<T>, name = "lock"): Answer<T> {
  let lock: Database;
  try {
    lock = takeLock(root, `${LOCK_DIR}/${name}`, until - clock());
  } catch (error) {
    if (isHeld(error)) return failed("busy", "the tasks are locked by another session; try again");
    return failed("error", `${LOCK_DIR} cannot be written: ${messageOf(error)}`);
  }
  try {
    return work();
  } finally {
    lock.close();
  }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // no one left
  }
}

// ── Program and environment ─────────────────────────────────────────────────

/** A relative entry of PATH, or one inside the project, would let the repository choose the program. */
function searchPath(root: string): string[] {
  const entries = (process.env.PATH ?? USUAL_PATH).split(":");
  return entries.filter((entry) => entry.startsWith("/") && entry !== root && !entry.startsWith(`${root}/`));
}

export function findProgram(name: string, root: string): string | null {
  return (
    searchPath(root)
      .map((folder) => join(folder, name))
      .find(isExecutable) ?? null
  );
}

function isExecutable(path: string): boolean {
  // Tasks in session.md need no program, and a hook does without node:fs.
  const { accessSync, constants, statSync } = require("node:fs") as typeof import("node:fs");
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function environment(root: string): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !NOT_HANDED_ON.test(entry[0]) && !isLoaderVariable(entry[0]),
  );
  return { ...Object.fromEntries(kept), ...PLAIN, PATH: searchPath(root).join(":"), PWD: root };
}
