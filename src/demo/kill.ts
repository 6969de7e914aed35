/** kill -9 in the middle of a hook, at a point that does not depend on luck. */
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { readCommits } from "../store/archive.ts";
import { hasJournal } from "../store/journal.ts";
import { hookCommand, hookInput, type Payload } from "./host.ts";
import { DemoFailed, runToEnd, start } from "./place.ts";
import { news, type Play } from "./play.ts";

export interface Killed {
  /** how much of its answer got out */
  spoken: number;
  /** whether the journal already knew */
  journalled: boolean;
}

const WAIT_MS = 5_000;

/**
 * Pawl saves, then speaks. Its stdout is a pipe that is already full, so it stands still between the two:
 * there it is killed.
 */
export async function killBeforeItSpeaks(play: Play, payload: Payload): Promise<Killed> {
  const { place } = play;
  const fifo = join(place.home, "full-pipe");
  const made = await runToEnd(place, ["mkfifo", fifo]);
  if (made.code !== 0) throw new DemoFailed(`expected: mkfifo makes a pipe. It said: ${made.err.trim()}`);
  // Two ends of its own: a child that makes its stdout blocking must not make our reading so.
  const read = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const write = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    const filled = fillUp(write);
    const child = start(place, hookCommand(), { ...hookInput(place, payload), stdout: write });
    play.events++;
    await waitForSave(play, child);
    child.kill("SIGKILL");
    await child.exited;
    if (child.signalCode !== "SIGKILL") throw new DemoFailed("expected: the hook is killed before it ends by itself");
    play.kills++;
    return inspect(play, drain(read) - filled);
  } finally {
    closeSync(read);
    closeSync(write);
  }
}

function inspect(play: Play, spoken: number): Killed {
  const commit = readCommits(play.place.root, play.run).at(-1)!;
  const journalled = hasJournal(play.place.root, commit);
  news(play);
  return { spoken, journalled };
}

async function waitForSave(play: Play, child: Bun.Subprocess): Promise<void> {
  const deadline = performance.now() + WAIT_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    const last = readCommits(play.place.root, play.run).at(-1);
    if (last && last.run.seq > play.seq) return;
    await Bun.sleep(1);
  }
  child.kill("SIGKILL");
  throw new DemoFailed("expected: the hook saves before it answers. Nothing was saved");
}

/** Page by page, then byte by byte: not one more fits. */
function fillUp(fd: number): number {
  return [4096, 1].reduce((sum, size) => sum + whileItGoes(() => writeSync(fd, new Uint8Array(size))), 0);
}

const drain = (fd: number) => {
  const page = new Uint8Array(4096);
  return whileItGoes(() => readSync(fd, page));
};

function whileItGoes(step: () => number): number {
  for (let sum = 0; ; ) {
    try {
      const moved = step();
      if (moved === 0) return sum;
      sum += moved;
    } catch (error) {
      if ((error as { code?: string }).code === "EAGAIN") return sum;
      throw error;
    }
  }
}
