/** Runs another program: without a shell, with a clean environment, for a bounded time and output; and one at a time. */
import { attempt } from "../kernel/attempt.ts";
import { messageOf } from "../store/files.ts";
import { inMainCheckout } from "../store/git-dir.ts";
import { isHeld, type Lock, takeLock } from "../store/lock.ts";
import { cleanVariables } from "../store/processes/loader-variables.ts";
import { type Answer, absent, answering, fail, NoAnswer, unwrap } from "./tracker.ts";

export interface ToolOutput {
  stdout: string;
  stderr: string;
  exit: number;
}

/** All calls of one operation share it. */
export interface ToolContext {
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

export function ask({ root, until }: ToolContext, program: string, args: string[]): ToolOutput {
  const path = findProgram(program, root);
  if (path === null) return absent(`${program} is not installed (not found in PATH)`);
  const timeout = Math.floor(until - clock());
  const late = () => fail("deadline", `${program} ${args[0]} did not answer in time`);
  if (timeout <= 0) return late();
  const options = { stdin: "ignore", stdout: "pipe", stderr: "pipe", killSignal: "SIGKILL", detached: true } as const;
  const start = () =>
    Bun.spawnSync([path, ...args], { ...options, cwd: root, env: environment(root), timeout, maxBuffer: MOST_BYTES });
  const said = unwrap(answering(start, `${program} could not be run: `));
  if (said.exitedDueToTimeout || said.exitCode === null) attempt(() => process.kill(-said.pid, "SIGKILL"), null);
  if (said.stdout.length >= MOST_BYTES || said.stderr.length >= MOST_BYTES)
    return fail("too-large", `${program} ${args[0]} answered more than ${MOST_BYTES >> 20} MB`);
  // Ended in time, with something left behind that held its output open: what it said is whole.
  if (said.exitCode === null)
    return said.exitedDueToTimeout ? late() : fail("error", `${program} was ended by ${said.signalCode}`);
  return { stdout: said.stdout.toString(), stderr: said.stderr.toString(), exit: said.exitCode };
}

/** Below `.pawl`, one of the owned paths. */
const LOCK_DIR = ".pawl/tracker";

/** One session at a time on this machine, in all worktrees of the project. */
export function locked<T>(root: string, until: number, work: () => T, name = "lock"): T {
  let lock: Lock;
  try {
    lock = takeLock(inMainCheckout(root), `${LOCK_DIR}/${name}`, until - clock());
  } catch (error) {
    if (isHeld(error)) return fail("busy", "the tasks are locked by another session; try again");
    return fail("error", `${LOCK_DIR} cannot be written: ${messageOf(error)}`);
  }
  try {
    return work();
  } finally {
    lock.close();
  }
}

/** For callers that work with answers. */
export function withLock<T>(root: string, until: number, work: () => Answer<T>, name?: string): Answer<T> {
  try {
    return locked(root, until, work, name);
  } catch (error) {
    if (error instanceof NoAnswer) return error.answer;
    throw error;
  }
}

// ── Program and environment ─────────────────────────────────────────────────

/** A relative entry of PATH, or one inside the project, would let the repository choose the program. */
function searchPath(root: string): string[] {
  const entries = (process.env.PATH ?? USUAL_PATH).split(":");
  return entries.filter((entry) => entry.startsWith("/") && entry !== root && !entry.startsWith(`${root}/`));
}

export const findProgram = (name: string, root: string): string | null =>
  Bun.which(name, { PATH: searchPath(root).join(":") });

const environment = (root: string): Record<string, string> => ({
  ...cleanVariables(process.env, NOT_HANDED_ON),
  ...PLAIN,
  PATH: searchPath(root).join(":"),
  PWD: root,
});
