/** The process that runs a gate's command, bounded in time, output and children, and leaves a sealed result. */
import type { Attempt, Ran } from "../../kernel/types/verdict.ts";
import { messageOf } from "../../store/files.ts";
import {
  dropEarlier,
  dropOutput,
  type JobPlace,
  lastStart,
  readJobFile,
  writeJobFile,
  writeJobFileOnce,
} from "../../store/jobs.ts";
import { CannotStart, cleanEnvironment, type Prepared, prepare } from "../../store/processes/command.ts";
import { after, finish, spawnPiped } from "../../store/processes/piped.ts";
import { asIdentity, endGroup, endOldGroup, identify } from "../../store/processes/process.ts";
import { type JobSpec, readSpec, withoutResult } from "./job.ts";
import { collectOutput } from "./output.ts";

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
  /** the signal that asked this process to end the command */
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
    const { child, reading, release } = spawnPiped(prepared, "ignore", output.take);
    nameGroup(place, child.pid);
    const end = await Promise.race([
      child.exited.then(() => "exited" as const),
      after(timeout_ms, "late" as const),
      ended.then((signal) => ({ signal })),
    ]);
    const ms = Math.round(performance.now() - began);
    if (end !== "exited") await endGroup(child.pid);
    await child.exited;
    await finish(reading, () => endGroup(child.pid));
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

/** For the next start, should we and the guard be killed. It is not worth losing the command for. */
function nameGroup(place: JobPlace, group: number): void {
  try {
    writeJobFile(place, "group", identify(group));
  } catch {
    // the guard will do
  }
}
