import { writeSync } from "node:fs";
import { commandOf } from "../checks/core/kinds/index.ts";
import { advanceRun, SILENT } from "../engine/advance.ts";
import { decide } from "../engine/core/decide.ts";
import { MARK } from "../engine/core/guide.ts";
import { parseEvent } from "../hosts/claude/wire.ts";
import type { Input } from "../kernel/types/input.ts";
import type { Event } from "../kernel/types/run.ts";
import { gatesOf, leavesOf } from "../kernel/types/workflow.ts";
import { notifyAbout } from "../notify/commits.ts";
import { logError } from "../store/errors.ts";
import { guardIsOn } from "../store/guard.ts";
import { type Pointer, readPointer } from "../store/place.ts";
import { isAnothers } from "../store/processes/client.ts";
import { describeParent } from "../store/processes/owner.ts";
import { fallAsleep, stayAwake } from "../store/processes/wakers.ts";
import { loadRun } from "../store/runs.ts";
import { commandEvent } from "./shared/command-event.ts";

/**
 * `pawl rewake claude`: runs next to the hook of every stop. If a check goes on longer than the stop could wait, it waits
 * for the result and wakes the agent with what follows (exit 2, text on stderr). Otherwise it leaves at once.
 */
export function rewake(input: Input): number {
  if ("failed" in input) return 0;
  const parsed = parseEvent(input.value, new Date().toISOString(), "rewake");
  if ("ignored" in parsed) return 0;
  const { event } = parsed;
  if (event.kind === "start" && event.source === "clear") return beginCleared(event);
  if (event.kind !== "stop") return 0;
  const pointer = readPointer(event.host, event.session) ?? awaitGuard(event);
  const loaded = pointer && !pointer.off && pointer.run !== "" ? loadRun(pointer.root, pointer.run) : null;
  // The hook next to us records who else calls.
  if (!pointer || isAnothers(pointer, describeParent())) return 0;
  if (!loaded || !leavesOf(gatesOf(loaded.workflow)).some(commandOf)) return 0;
  try {
    stayAwake(event.host, event.session);
    return isLeftRunning(pointer.root, pointer.run, event) ? wake(pointer.root, pointer.run, event) : 0;
  } catch (error) {
    logError(pointer.root, "rewake", error);
    return 0;
  } finally {
    fallAsleep(event.host, event.session);
  }
}

/** As long as the hook next to us may take to begin a run of the guard. */
const GUARD_MS = 10_000;

function awaitGuard({ host, session }: Event): Pointer | null {
  const until = guardIsOn() ? Bun.nanoseconds() / 1e6 + GUARD_MS : 0;
  for (; Bun.nanoseconds() / 1e6 < until; Bun.sleepSync(50)) {
    const pointer = readPointer(host, session);
    // The pointer comes before its run.
    if (pointer && (pointer.run === "" || loadRun(pointer.root, pointer.run))) return pointer;
  }
  return null;
}

/** As long as the hook next to us may take to find a run for the new conversation. */
const TAKING_UP_MS = 5_000;

/** The person typed /clear and a run goes on in the fresh conversation: someone has to make the first move. */
function beginCleared(event: Event): number {
  const until = Bun.nanoseconds() / 1e6 + TAKING_UP_MS;
  for (; Bun.nanoseconds() / 1e6 < until; Bun.sleepSync(25)) {
    const pointer = readPointer(event.host, event.session);
    const run = pointer && pointer.run !== "" ? loadRun(pointer.root, pointer.run)?.commit.run : null;
    if (!run?.work.task || !run.recent.some((seen) => seen.id === event.id)) continue;
    const { id } = run.work.task;
    writeSync(2, `${MARK} Begin with task ${id}: the instruction came with the start of this conversation.`);
    return 2;
  }
  return 0;
}

/** As long as the hook next to us may take. */
const HOOK_MS = 600_000;

/** The hook next to us decides first; then a check is running, or there is nothing to do. */
function isLeftRunning(root: string, id: string, event: Event): boolean {
  const until = Bun.nanoseconds() / 1e6 + HOOK_MS;
  for (let pause = 10; Bun.nanoseconds() / 1e6 < until; pause = Math.min(250, pause * 1.5)) {
    const run = loadRun(root, id)?.commit.run;
    if (!run) return false;
    if (run.recent.some((seen) => seen.id === event.id)) return run.checks.claim?.open === "running";
    Bun.sleepSync(pause);
  }
  return false;
}

function wake(root: string, id: string, event: Event): number {
  const checked = { ...commandEvent("checked", id, ""), host: event.host, session: event.session, via: "rewake" };
  const incoming = { event: checked, transcript: null, cwd: root, patient: true as const };
  const { answer, commits, after } = advanceRun(root, id, incoming, decide)?.reply ?? SILENT;
  after();
  notifyAbout(commits);
  const text =
    answer?.agent ?? (answer?.person ? `${MARK} Tell the person in one or two sentences:\n\n${answer.person}` : "");
  if (text === "") return 0;
  writeSync(2, text);
  return 2;
}
