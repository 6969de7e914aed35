/** A command in a group of its own, with one pipe for all it says, and a guard that ends it if we are killed. */
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { attempt } from "../../kernel/attempt.ts";
import { messageOf } from "../files.ts";
import { join } from "../names.ts";
import { CannotStart, type Prepared } from "./command.ts";

/** The command has ended; what it left running may hold its output open. */
const OPEN_PIPE_MS = 1_000;
const LAST_WORDS_MS = 200;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface Piped {
  child: Bun.Subprocess;
  reading: Reading;
  /** in the environment of all that come from the command, whatever group they are in */
  entry: string;
  /** lets it go from the guard */
  release(): void;
}

export interface Reading {
  /** all who could write have closed it */
  done: Promise<void>;
  stop(): Promise<void>;
}

/** `stdin`: a file to read from; it stays open here. */
export function spawnPiped(
  { cmd, cwd, env }: Prepared,
  stdin: number | "ignore",
  take: (bytes: Uint8Array) => void,
): Piped {
  const pipe = makePipe();
  const mark = crypto.randomUUID();
  const entry = `${MARK}=${mark}`;
  const guard = startGuard(entry);
  try {
    const [stdout, stderr] = [pipe.write, pipe.write];
    const child = Bun.spawn({ cmd, cwd, env: { ...env, [MARK]: mark }, stdin, stdout, stderr, detached: true });
    guard.watch(child.pid);
    return { child, reading: read(pipe.read, take), entry, release: guard.release };
  } catch (error) {
    guard.release();
    closeSync(pipe.read);
    throw new CannotStart(`${cmd[0]} could not be started: ${messageOf(error)}`);
  } finally {
    closeSync(pipe.write);
  }
}

/**
 * One real pipe for both: what comes stays in its order. (Bun's own pipes are sockets, which a command cannot open
 * again as /dev/stderr.) It has a name for a moment only.
 */
function makePipe(): { read: number; write: number } {
  const folder = mkdtempSync(join(tmpdir(), "pawl-pipe-"));
  try {
    const path = join(folder, "pipe");
    const made = Bun.spawnSync(["mkfifo", "-m", "600", path]);
    if (made.exitCode !== 0) throw new CannotStart(`mkfifo made no pipe: ${made.stderr.toString().trim()}`);
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return { read: reader, write: openSync(path, constants.O_WRONLY) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function read(fd: number, take: (bytes: Uint8Array) => void): Reading {
  const reader = Bun.file(fd).stream().getReader();
  let stopped = false;
  const all = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || stopped) return;
      take(value);
    }
  };
  const pipe = fstatSync(fd).ino;
  const stop = async () => {
    stopped = true;
    await within(LAST_WORDS_MS, reader.cancel().catch(() => {})); // biome-ignore format: one thought
    // The stream leaves its descriptor open; should it ever close it, the number may mean something else by now.
    attempt(() => fstatSync(fd).ino === pipe && closeSync(fd), undefined);
  };
  return { done: all().catch(() => {}), stop };
}

/** Nothing that was started stays behind, and nothing that stays behind is waited for. */
export async function finish(reading: Reading, end: () => Promise<void>): Promise<void> {
  await within(OPEN_PIPE_MS, reading.done);
  await end();
  await within(LAST_WORDS_MS, reading.done);
  await reading.stop();
}

/** Clears its timer, which would keep the process alive. */
export async function within(ms: number, done: Promise<unknown>): Promise<void> {
  let timer: Timer | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([done, late]);
  clearTimeout(timer);
}

export function after<T>(ms: number, word?: T): Promise<T | undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(word), Math.min(ms, LONGEST_TIMER_MS)));
}

// ── Guard ───────────────────────────────────────────────────────────────────

const MARK = "PAWL_GROUP";

/**
 * If we are killed, its input ends, and it ends the group: nothing runs on that no one waits for. It is started
 * before the command, and finds by its mark (where there is a /proc) what it was not told of any more, and at last what
 * left the group. Not sooner: an agent whose tool is ended before itself takes that for an answer, and goes on with it.
 */
const GUARD = `
  group=; read -r group && read -r _
  tell_group() { kill -s "$1" -- "-$group"; }
  tell_marked() {
    for path in $(grep -Flsxz -e "$entry" /proc/[0-9]*/environ); do path=\${path%/environ}; kill -s "$1" "\${path#/proc/}"; done
  }
  entry=$1
  if [ "$group" ]; then tell_group TERM; else tell_marked TERM; fi
  sleep 2
  if [ "$group" ]; then tell_group KILL; fi
  tell_marked KILL`;

interface Guard {
  watch(group: number): void;
  release(): void;
}

/** It is not worth losing the command for. */
function startGuard(entry: string): Guard {
  try {
    const cmd = ["/bin/sh", "-c", GUARD, "sh", entry];
    const guard = Bun.spawn({ cmd, cwd: "/", stdin: "pipe", stdout: "ignore", stderr: "ignore", detached: true });
    // Its end of the line must stay open as long as we live, so it is held here.
    const { stdin } = guard;
    return {
      watch(group) {
        stdin.write(`${group}\n`);
        stdin.flush();
      },
      release() {
        guard.kill("SIGKILL");
        stdin.end();
      },
    };
  } catch {
    return { watch: () => {}, release: () => {} };
  }
}
