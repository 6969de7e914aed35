/** The process that runs a gate's command, bounded in time, output and children, and leaves a sealed result. */
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import type { Attempt, Ran } from "../core/verdict.ts";
import { messageOf } from "../store/files.ts";
import {
  dropEarlier,
  dropOutput,
  type JobPlace,
  lastStart,
  readJobFile,
  writeJobFile,
  writeJobFileOnce,
} from "../store/jobs.ts";
import { join } from "../store/names.ts";
import { type JobSpec, readSpec, withoutResult } from "./job.ts";
import { CannotStart, cleanEnvironment, type Prepared, prepare } from "./job-command.ts";
import { collectOutput, type Output } from "./job-output.ts";
import { asIdentity, endGroup, endOldGroup, identify } from "./process.ts";

/** The command has ended; what it left running may hold its output open. */
const OPEN_PIPE_MS = 1_000;
const LAST_WORDS_MS = 200;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export async function runJob(place: JobPlace): Promise<void> {
  const spec = readSpec(place);
  if (spec === null || lastStart(place.root, place.id)?.start !== place.start) return;
  if (!writeJobFileOnce(place, "runner", identify(process.pid))) return;
  const ended = listen();
  endEarlier(place);
  save(place, await runAll(place, spec, ended));
}

/** Also for signals a shell has set to be ignored: with a listener here the command gets them as usual. */
function listen(): Promise<string> {
  process.on("SIGHUP", () => {});
  process.on("SIGQUIT", () => {});
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => resolve(signal));
  });
}

/** The runner before may have been killed; its command's group is still known. */
function endEarlier(place: JobPlace): void {
  for (let start = place.start - 1; start > 0; start--) {
    const group = asIdentity(readJobFile({ ...place, start }, "group"));
    if (group !== null) endOldGroup(group);
  }
  dropEarlier(place);
}

/** Without room for the output, the result counts more. */
function save(place: JobPlace, ran: Ran): void {
  try {
    writeJobFile(place, "result", ran);
  } catch (error) {
    dropOutput(place);
    writeJobFile(place, "result", { ...ran, output: `[pawl] the output could not be kept: ${messageOf(error)}` });
  }
}

// ── Attempts ────────────────────────────────────────────────────────────────

interface Tried {
  attempt: Attempt;
  output: string;
  digest: string;
  /** the signal that told us to end it */
  ended?: string;
}

async function runAll(place: JobPlace, spec: JobSpec, ended: Promise<string>): Promise<Ran> {
  const ran = withoutResult("");
  const { error: _none, ...result } = ran;
  let error: string | undefined;
  try {
    const prepared = prepare(place.root, spec, cleanEnvironment(process.env));
    for (let again = true; again; ) {
      const tried = await tryOnce(place, prepared, spec.timeout_ms, ended);
      result.attempts.push(tried.attempt);
      Object.assign(result, { output: tried.output, digest: tried.digest });
      if (tried.ended !== undefined) error = `it was ended before it was done (${tried.ended})`;
      again = error === undefined && mayTryAgain(tried.attempt) && result.attempts.length <= spec.retries;
    }
  } catch (failure) {
    error = failure instanceof CannotStart ? failure.message : `it could not be started: ${messageOf(failure)}`;
  }
  return { ...result, ended_at: new Date().toISOString(), ...(error !== undefined && { error }) };
}

const mayTryAgain = ({ exit, timed_out }: Attempt) => exit !== 0 && !timed_out;

async function tryOnce(
  place: JobPlace,
  prepared: Prepared,
  timeout_ms: number,
  ended: Promise<string>,
): Promise<Tried> {
  const output = collectOutput(place);
  try {
    const began = performance.now();
    const { child, reading } = spawn(prepared, output);
    const release = watchOver(place, child.pid);
    const end = await Promise.race([
      child.exited.then(() => "exited" as const),
      after(timeout_ms, "late" as const),
      ended.then((signal) => ({ signal })),
    ]);
    const ms = Math.round(performance.now() - began);
    if (end !== "exited") await endGroup(child.pid);
    await child.exited;
    await finish(child.pid, reading);
    release();
    const exit = end === "exited" ? child.exitCode : null;
    return {
      attempt: {
        exit,
        signal: child.signalCode === null ? null : String(child.signalCode),
        timed_out: end === "late",
        ms,
      },
      output: output.text(),
      digest: output.digest(),
      ...(typeof end === "object" && { ended: end.signal }),
    };
  } finally {
    output.close();
  }
}

/** Nothing that was started stays behind, and nothing that stays behind is waited for. */
async function finish(group: number, reading: Reading): Promise<void> {
  await Promise.race([reading.done, after(OPEN_PIPE_MS)]);
  await endGroup(group);
  await Promise.race([reading.done, after(LAST_WORDS_MS)]);
  reading.stop();
}

function after<T>(ms: number, word?: T): Promise<T | undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(word), Math.min(ms, LONGEST_TIMER_MS)));
}

// ── Process ─────────────────────────────────────────────────────────────────

function spawn({ cmd, cwd, env }: Prepared, output: Output): { child: Bun.Subprocess; reading: Reading } {
  const pipe = makePipe();
  try {
    const [stdout, stderr] = [pipe.write, pipe.write];
    const child = Bun.spawn({ cmd, cwd, env, stdin: "ignore", stdout, stderr, detached: true });
    return { child, reading: read(pipe.read, output) };
  } catch (error) {
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
  const folder = mkdtempSync(join(tmpdir(), "pawl-job-"));
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

/** If we are killed, its input ends, and it ends the group: nothing runs on that nobody waits for. */
const GUARD = 'read -r _ || { kill -s TERM -- "-$1"; sleep 2; kill -s KILL -- "-$1"; }';

/** Two nets below the runner: a guard, and a name for the next start. Neither is worth losing the command for. */
function watchOver(place: JobPlace, group: number): () => void {
  try {
    writeJobFile(place, "group", identify(group));
    const cmd = ["/bin/sh", "-c", GUARD, "sh", String(group)];
    const guard = Bun.spawn({ cmd, cwd: "/", stdin: "pipe", stdout: "ignore", stderr: "ignore", detached: true });
    // Its end of the line must stay open as long as we live, so it is held here.
    const { stdin } = guard;
    return () => {
      guard.kill("SIGKILL");
      stdin.end();
    };
  } catch {
    return () => {};
  }
}

interface Reading {
  done: Promise<void>;
  stop(): void;
}

function read(fd: number, output: Output): Reading {
  const reader = Bun.file(fd).stream().getReader();
  let stopped = false;
  const all = async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || stopped) return;
      output.take(value);
    }
  };
  const stop = () => {
    stopped = true;
    reader.cancel().catch(() => {});
  };
  return { done: all().catch(() => {}), stop };
}
