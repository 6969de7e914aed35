/** One agent, one process: its prompt, what it says, how it ends, and that nothing of it is left. */
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { makeRing } from "../checks/jobs/output.ts";
import { messageOf } from "../store/files.ts";
import { join } from "../store/names.ts";
import { CannotStart, programOf } from "../store/processes/command.ts";
import { finish, type Piped, spawnPiped, within } from "../store/processes/piped.ts";
import { identify } from "../store/processes/process.ts";
import { endAll } from "./ending.ts";
import { type Patience, startPatience } from "./patience.ts";

export interface AgentRun {
  argv: string[];
  cwd: string;
  /** all of it: nothing is inherited */
  env: Record<string, string | undefined>;
  stdin: string;
  timeout_ms: number;
  /** bytes of the output's end that are kept */
  buffer: number;
  onStart?: (pid: number) => void;
  /** what it throws ends the live view, not the agent */
  onOutput?: (bytes: Uint8Array) => void;
  interrupted?: AbortSignal;
}

export interface Ended {
  /** "killed": by a signal that was not ours */
  how: "exited" | "killed" | "timeout" | "interrupted" | "not-started";
  exit: number | null;
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

/** A process that even SIGKILL does not end waits for a disk or a network; we do not. */
const UNKILLABLE_MS = 2_000;

/** Never rejects. `now` is for tests. */
export async function runAgent(run: AgentRun, now?: () => number): Promise<Ended> {
  const output = keepOutput(run);
  const patience = startPatience(run.timeout_ms, now);
  const ended = (how: Ended["how"], why: string, code: Code = NO_CODE): Ended => ({
    how,
    ...code,
    why,
    elapsed_ms: Math.round(patience.spent_ms()),
    ...output.kept(),
  });
  try {
    if (run.interrupted?.aborted) return ended("interrupted", "interrupted before it was started");
    const piped = start(run, output.take);
    const end = await accompany(run, piped, patience);
    return ended(...describe(end, piped.child, run));
  } catch (error) {
    return ended("not-started", messageOf(error));
  } finally {
    patience.stop();
  }
}

// ── Output ──────────────────────────────────────────────────────────────────

interface Output {
  take(bytes: Uint8Array): void;
  kept(): Pick<Ended, "bytes" | "head" | "tail" | "truncated">;
}

function keepOutput({ buffer, onOutput }: AgentRun): Output {
  const size = Math.max(1, buffer);
  const head = new Uint8Array(HEAD_BYTES);
  const ring = makeRing(size);
  const show = quietly(onOutput);
  let bytes = 0;
  return {
    take(chunk) {
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

/** A pipe that is no longer read would stop the agent; so a reader that fails is only left out. */
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
  checkFolder(run.cwd);
  const env = { ...given(run.env), PWD: run.cwd };
  const program = programOf(name, run.cwd, run.env.PATH ?? "");
  const stdin = run.stdin === "" ? "ignore" : fileWith(run.stdin);
  try {
    return spawnPiped({ cmd: [program, ...args], cwd: run.cwd, env }, stdin, take);
  } finally {
    if (stdin !== "ignore") closeSync(stdin);
  }
}

function checkFolder(cwd: string): void {
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new CannotStart(`there is no folder ${cwd}`);
}

const given = (env: AgentRun["env"]) =>
  Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined));

/**
 * The prompt is a file without a name: it is whole however late the agent reads, nobody has to write while it does
 * not, and a program may open /dev/stdin again.
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

async function accompany(run: AgentRun, { child, reading, entry, release }: Piped, patience: Patience): Promise<End> {
  const agent = { group: child.pid, entry, since: identify(child.pid).pid_start };
  quietly(run.onStart)(child.pid);
  const interruption = listenTo(run.interrupted);
  const end = await Promise.race([
    child.exited.then(() => "exited" as const),
    patience.over.then(() => "timeout" as const),
    interruption.came.then(() => "interrupted" as const),
  ]);
  interruption.forget();
  patience.stop();
  if (end !== "exited") await endAll(agent);
  await within(UNKILLABLE_MS, child.exited);
  await finish(reading, () => endAll(agent));
  release();
  return end;
}

function listenTo(signal: AbortSignal | undefined): { came: Promise<void>; forget(): void } {
  const { promise: came, resolve } = Promise.withResolvers<void>();
  const listener = () => resolve();
  signal?.addEventListener("abort", listener, { once: true });
  return { came, forget: () => signal?.removeEventListener("abort", listener) };
}

type Code = Pick<Ended, "exit" | "signal">;
const NO_CODE: Code = { exit: null, signal: null };

function describe(end: End, child: Bun.Subprocess, run: AgentRun): [Ended["how"], string, Code] {
  const code = { exit: child.exitCode, signal: child.signalCode === null ? null : String(child.signalCode) };
  if (end === "timeout") return [end, `it took longer than ${run.timeout_ms / 1000} s and was ended`, code];
  if (end === "interrupted") return [end, "interrupted", code];
  if (code.signal !== null) return ["killed", `it was ended by ${code.signal}`, { ...code, exit: null }];
  return ["exited", `exit code ${code.exit}`, code];
}
