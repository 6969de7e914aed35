/** The process that runs a gate's command, bounded in time, output and children, and leaves a sealed result. */
import { attempt } from "../../kernel/attempt.ts";
import type { Attempt, NamedReport, Ran } from "../../kernel/types/verdict.ts";
import { writeResult } from "../../store/bases.ts";
import { asEnvironment } from "../../store/environment.ts";
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
import { CannotStart, type Prepared, prepare } from "../../store/processes/command.ts";
import { after, finish, spawnPiped } from "../../store/processes/piped.ts";
import { asIdentity, endGroup, endOldGroup, identify } from "../../store/processes/process.ts";
import { openPlace, type PrivatePlace } from "../baseline/place.ts";
import { incompleteness } from "../core/compare.ts";
import { openReports } from "../reporters/reporters.ts";
import { watchTree } from "../tree/moved.ts";
import { hashSurroundings } from "../tree/surroundings.ts";
import { treeHash } from "../tree/tree.ts";
import { type JobSpec, readSpec, withoutResult } from "./job.ts";
import { collectOutput } from "./output.ts";

export async function runJob(place: JobPlace): Promise<void> {
  const spec = readSpec(place);
  if (spec === null || lastStart(place.root, place.id)?.start !== place.start) return;
  if (!writeJobFileOnce(place, "runner", identify(process.pid))) return;
  const ended = listen();
  endEarlier(place);
  const ran = await runWatched(place, spec, ended);
  if (spec.result !== undefined) keepNames(place.root, spec.result, ran);
  save(place, ran);
}

function keepNames(root: string, name: string, { attempts, named, error }: Ran): void {
  const exit = attempts.at(-1)?.exit ?? null;
  if (error !== undefined || !named || exit === null || incompleteness(named, exit, null) !== null) return;
  attempt(() => writeResult(root, name, { exit, report: named }), undefined);
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
  named?: NamedReport;
  /** the signal that asked this process to end the command */
  ended?: string;
}

/** What a check rewrites with the same content looks like a swap, so it is run once more: then it has to stay. */
async function runWatched(place: JobPlace, spec: JobSpec, ended: Promise<string>): Promise<Ran> {
  const { tree } = spec;
  if (tree === undefined) return runAll(place, spec, ended);
  for (let again = true; ; again = false) {
    const listMoved = watchTree(place.root, tree);
    const ran = await runAll(place, spec, ended);
    const moved = listMoved();
    const isGood = ran.error === undefined && ran.attempts.at(-1)?.exit === 0;
    if (again && isGood && moved.length > 0 && isTree(place.root, tree)) continue;
    const around = hashSurroundings(place.root);
    return { ...ran, ...(moved.length > 0 && { moved }), ...(around.ok && { around: around.value }) };
  }
}

function isTree(root: string, tree: string): boolean {
  const now = treeHash(root, null);
  return now.ok && now.value === tree;
}

async function runAll(place: JobPlace, spec: JobSpec, ended: Promise<string>): Promise<Ran> {
  const { error: _none, ...result } = withoutResult("");
  let error: string | undefined;
  let own: PrivatePlace | null = null;
  try {
    own = spec.place ? openPlace(place.root, spec.place) : null;
    const outside = prepare(place.root, spec, ownEnvironment(spec));
    const prepared = own?.wrap(outside) ?? outside;
    for (let again = true; again; ) {
      const once = (env: Prepared["env"]) => tryOnce(place, { ...prepared, env }, spec.timeout_ms, ended);
      const tried = await (spec.report ? tryReported(own?.root ?? place.root, prepared.env, once) : once(prepared.env));
      result.attempts.push(tried.attempt);
      Object.assign(result, { output: tried.output, digest: tried.digest, named: tried.named });
      if (tried.ended !== undefined) error = `it was ended before it was done (${tried.ended})`;
      const { exit, timed_out } = tried.attempt;
      again = error === undefined && exit !== 0 && !timed_out && result.attempts.length <= spec.retries;
    }
  } catch (failure) {
    error = failure instanceof CannotStart ? failure.message : `it could not be started: ${messageOf(failure)}`;
  } finally {
    own?.close();
  }
  const how = { ...(own?.copied && { copied: true as const }), ...(error !== undefined && { error }) };
  return { ...result, ended_at: new Date().toISOString(), ...how };
}

/** With our reporters. Should they keep the command from running, its result is the one it has without them. */
async function tryReported(
  root: string,
  env: Prepared["env"],
  once: (env: Prepared["env"]) => Promise<Tried>,
): Promise<Tried> {
  const reports = attempt(() => openReports(root, env), null);
  if (reports === null) return once(env);
  try {
    const tried = await once({ ...env, ...reports.env });
    const named = attempt(reports.read, null);
    const { exit, timed_out } = tried.attempt;
    const failed = exit !== 0 && !timed_out && tried.ended === undefined;
    if (failed && reports.isBrokenBy(tried.output)) return await once(env);
    return { ...tried, ...(named !== null && { named }) };
  } finally {
    reports.close();
  }
}

/** This process was started with what the command is to have; the shell in between added marks of its own. */
function ownEnvironment({ environment }: JobSpec): Record<string, string> {
  const { PWD: _pwd, OLDPWD: _old, SHLVL: _level, _, ...env } = process.env as Record<string, string>;
  if (asEnvironment(env).hash !== environment) throw new CannotStart("it was not started by Pawl in its environment");
  return env;
}

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
    // For the next start, should we and the guard be killed. It is not worth losing the command for.
    attempt(() => writeJobFile(place, "group", identify(child.pid)), undefined);
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
    const signal = child.signalCode === null ? null : String(child.signalCode);
    return {
      attempt: { exit, signal, timed_out: end === "late", ms },
      output: output.text(),
      digest: output.digest(),
      ...(typeof end === "object" && { ended: end.signal }),
    };
  } finally {
    output.close();
  }
}
