/** Runs one agent process: gives it the prompt, keeps its output, and ends it with everything it started. */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { makeRing } from "../checks/jobs/output.ts";
import { attempt } from "../kernel/attempt.ts";
import { messageOf } from "../store/files.ts";
import { join } from "../store/names.ts";
import { CannotStart, resolveProgram } from "../store/processes/command.ts";
import { finish, type Piped, spawnPiped, within } from "../store/processes/piped.ts";
import {
  findProcessTree,
  identify,
  type ProcessTree,
  type RootProcess,
  signalGroup,
} from "../store/processes/process.ts";
import type { Ending } from "./core/failure-class.ts";

export interface AgentRun {
  argv: string[];
  cwd: string;
  /** complete: nothing is inherited */
  env: Record<string, string | undefined>;
  stdin: string;
  timeout_ms: number;
  /** how many bytes of the output's end are kept */
  buffer: number;
  onStart?: (pid: number) => void;
  /** an error in it ends the live view, not the agent */
  onOutput?: (bytes: Uint8Array) => void;
  interrupted?: AbortSignal;
}

export interface AgentEnd extends Pick<Ending, "how" | "exit"> {
  signal: string | null;
  why: string;
  elapsed_ms: number;
  bytes: number;
  /** the beginning of what `tail` no longer holds; empty if nothing was cut */
  head: Uint8Array;
  tail: Uint8Array;
  truncated: boolean;
}

const HEAD_BYTES = 1 << 20;

/** A process that survives SIGKILL waits for a disk or a network. Pawl does not wait for it. */
const UNKILLABLE_MS = 2_000;

/** Never rejects. `now` is for tests. */
export async function runAgent(run: AgentRun, now?: () => number): Promise<AgentEnd> {
  const output = keepOutput(run);
  const timeout = startTimeout(run.timeout_ms, now);
  const ended = (how: AgentEnd["how"], why: string, code: Code = NO_CODE): AgentEnd => ({
    how,
    ...code,
    why,
    elapsed_ms: Math.round(timeout.spent_ms()),
    ...output.kept(),
  });
  try {
    if (run.interrupted?.aborted) return ended("interrupted", "interrupted before it was started");
    const piped = start(run, output.take);
    const end = await accompany(run, piped, timeout);
    return ended(...describe(end, piped.child, run));
  } catch (error) {
    return ended("not-started", messageOf(error));
  } finally {
    timeout.stop();
  }
}

// ── Output ──────────────────────────────────────────────────────────────────

function keepOutput({ buffer, onOutput }: AgentRun) {
  const size = Math.max(1, buffer);
  const head = new Uint8Array(HEAD_BYTES);
  const ring = makeRing(size);
  const show = quietly(onOutput);
  let bytes = 0;
  return {
    take(chunk: Uint8Array): void {
      if (bytes < HEAD_BYTES) head.set(chunk.subarray(0, HEAD_BYTES - bytes), bytes);
      bytes += chunk.length;
      ring.add(chunk);
      show(chunk);
    },
    kept: () => ({
      bytes,
      head: head.subarray(0, Math.max(0, bytes - size)),
      tail: ring.bytes(),
      truncated: bytes > size,
    }),
  };
}

/** The pipe must be read on or the agent would stop, so a callback that fails is no longer called. */
function quietly<T>(call: ((value: T) => void) | undefined): (value: T) => void {
  let working = call;
  return (value) => {
    try {
      working?.(value);
    } catch {
      working = undefined;
    }
  };
}

// ── Start ───────────────────────────────────────────────────────────────────

function start(run: AgentRun, take: (bytes: Uint8Array) => void): Piped {
  const [name = "", ...args] = run.argv;
  if (name === "") throw new CannotStart("the command is empty");
  if (run.argv.some((word) => word.includes("\0"))) throw new CannotStart("the command has a NUL byte in it");
  if (!statSync(run.cwd, { throwIfNoEntry: false })?.isDirectory())
    throw new CannotStart(`there is no folder ${run.cwd}`);
  const given = Object.entries(run.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const env = { ...Object.fromEntries(given), PWD: run.cwd };
  const program = resolveProgram(name, run.cwd, run.env.PATH ?? "");
  const stdin = run.stdin === "" ? "ignore" : fileWith(run.stdin);
  try {
    return spawnPiped({ cmd: [program, ...args], cwd: run.cwd, env }, stdin, take);
  } finally {
    if (stdin !== "ignore") closeSync(stdin);
  }
}

/**
 * The prompt is an unlinked file: it is complete however late the agent reads it, Pawl need not keep writing, and a
 * program may open /dev/stdin again.
 */
function fileWith(text: string): number {
  const folder = mkdtempSync(join(tmpdir(), "pawl-prompt-"));
  try {
    const path = join(folder, "prompt");
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    return openSync(path, "r");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// ── End ─────────────────────────────────────────────────────────────────────

type End = "exited" | "timeout" | "interrupted";

async function accompany(
  run: AgentRun,
  { child, reading, entry, release }: Piped,
  timeout: ReturnType<typeof startTimeout>,
): Promise<End> {
  const agent = { group: child.pid, entry, since: identify(child.pid).pid_start };
  quietly(run.onStart)(child.pid);
  const { promise: interruption, resolve: interrupt } = Promise.withResolvers<unknown>();
  run.interrupted?.addEventListener("abort", interrupt, { once: true });
  const end = await Promise.race([
    child.exited.then(() => "exited" as const),
    timeout.over.then(() => "timeout" as const),
    interruption.then(() => "interrupted" as const),
  ]);
  run.interrupted?.removeEventListener("abort", interrupt);
  timeout.stop();
  if (end !== "exited") await endAll(agent);
  await within(UNKILLABLE_MS, child.exited);
  await finish(reading, () => endAll(agent));
  release();
  return end;
}

type Code = Pick<AgentEnd, "exit" | "signal">;
const NO_CODE: Code = { exit: null, signal: null };

function describe(end: End, child: Bun.Subprocess, run: AgentRun): [AgentEnd["how"], string, Code] {
  const code = { exit: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode) };
  if (end === "timeout") return [end, `it took longer than ${run.timeout_ms / 1000} s and was ended`, code];
  if (end === "interrupted") return [end, "interrupted", code];
  if (code.signal !== null) return ["killed", `it was ended by ${code.signal}`, { ...code, exit: null }];
  return ["exited", `exit code ${code.exit}`, code];
}

// ── Timeout ─────────────────────────────────────────────────────────────────

const COUNT_MS = 1_000;
/** A machine that is awake is never this late. */
const ASLEEP_MS = 30_000;

/**
 * Counts on a clock that stops while the machine sleeps (`Bun.nanoseconds` is CLOCK_MONOTONIC on Linux). Where the clock
 * goes on, or timers come late, a long gap between two looks is sleep, not work: a suspended laptop is no timeout.
 * `now`: nanoseconds.
 */
export function startTimeout(ms: number, now: () => number = Bun.nanoseconds) {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  let last = now();
  let spent = 0;
  let timer: Timer | undefined;
  const count = () => {
    const at = now();
    const gap = (at - last) / 1e6;
    spent += gap > ASLEEP_MS ? COUNT_MS : gap;
    last = at;
    return spent;
  };
  const look = () => {
    const left = ms - count();
    if (left <= 0) resolve();
    else timer = setTimeout(look, Math.min(COUNT_MS, Math.ceil(left)));
  };
  look();
  // `over` resolves when the agent has worked that long.
  return { over, spent_ms: count, stop: () => clearTimeout(timer) };
}

// ── Ending it and everything it started ─────────────────────────────────────

/** SIGTERM, this long, SIGKILL. */
const GRACE_MS = 5_000;
/** A killed process is gone soon, unless the kernel itself holds it; then nothing more can be done. */
const GONE_MS = 2_000;
const FIRST_LOOK_MS = 5;
const LATER_LOOKS_MS = 50;

async function endAll(agent: RootProcess): Promise<void> {
  let others: ProcessTree = new Map();
  const isOver = () => {
    others = findProcessTree(agent, others);
    return others.size === 0;
  };
  if (isOver()) return;
  const killing = Bun.nanoseconds() + GRACE_MS * 1e6;
  // The agent first: if its tool ended before it, it would take that for an answer and go on. SIGCONT, because a
  // stopped process gets no SIGTERM.
  signalAll(agent, new Map(), "SIGTERM", "SIGCONT");
  await until(killing, () => isOver() || !others.has(agent.group));
  signalAll(agent, others, "SIGTERM", "SIGCONT");
  if (await until(killing, isOver)) return;
  // Repeated, because a process may fork before it is killed.
  await until(Bun.nanoseconds() + GONE_MS * 1e6, () => {
    signalAll(agent, others, "SIGKILL");
    return isOver();
  });
}

function signalAll({ group }: RootProcess, others: ProcessTree, ...signals: NodeJS.Signals[]): void {
  for (const signal of signals) {
    signalGroup(group, signal);
    // A process may be gone by now, or no longer ours.
    for (const pid of others.keys()) attempt(() => process.kill(pid, signal), false);
  }
}

async function until(end: number, isSo: () => boolean): Promise<boolean> {
  for (let pause = FIRST_LOOK_MS; !isSo(); pause = Math.min(2 * pause, LATER_LOOKS_MS)) {
    if (Bun.nanoseconds() > end) return false;
    await Bun.sleep(pause);
  }
  return true;
}
