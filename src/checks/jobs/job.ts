/**
 * A gate's command runs in a process of its own, which outlives the hook: the hook waits for it as long as it
 * may, and a later process finds the result. The id names what is run and on which tree; a result is good for that
 * id and nothing else.
 */
import { accessSync, constants } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import type { Ran } from "../../kernel/types/verdict.ts";
import { type Environment, environmentFor } from "../../store/environment.ts";
import { hashOf, messageOf } from "../../store/files.ts";
import {
  claimedAt,
  claimStart,
  dropJob,
  dropStart,
  hasJobFile,
  JobError,
  type JobPlace,
  lastStart,
  outputTail,
  readJobFile,
  writeJobFile,
  writeJobFileOnce,
} from "../../store/jobs.ts";
import { join } from "../../store/names.ts";
import type { CommandSpec } from "../../store/processes/command.ts";
import { asIdentity, endOldGroup, type Identity, processState } from "../../store/processes/process.ts";
import type { PlaceSpec } from "../baseline/place.ts";

export interface JobSpec extends CommandSpec {
  /** for each attempt */
  timeout_ms: number;
  /** further attempts if it fails; none after a timeout */
  retries: number;
  /** it is about this tree, which must not move meanwhile */
  tree?: string;
  /** runs in a private place, with files as they were at the beginning */
  place?: PlaceSpec;
  /** it runs tests: ask their runners for the result of each */
  report?: true;
  /** the hash of the environment it runs in */
  environment?: string;
  /** the names that it reports are kept under this one, outside the project */
  result?: string;
}

export type JobWord = "running" | "done" | "lost";

/** A process that was started and has not said so by now will not be waited for. */
const SLOWEST_BEGINNING_MS = 15_000;
/** A waiting process starts a lost job again, but not forever: a full disk loses every one of them. */
const MOST_STARTS = 3;
const LOOK_FOR_RUNNER_MS = 250;
const RUNNER_TIMEOUT_MS = 6_000;
const TAIL_BYTES = 4096;
const TAIL_LINES = 20;

// ── Start ───────────────────────────────────────────────────────────────────

/**
 * However many processes ask, it is started once; a job whose process ended without a result is started again. In a copy
 * of a project, `environment` is that of the project.
 */
export function startJob(root: string, id: string, asked: JobSpec, environment = environmentFor(root)): void {
  const spec = { ...asked, environment: environment.hash };
  const last = lastStart(root, id);
  const known = last && readSpec(last);
  // No result of another command is taken for this one's, whatever the id says.
  if (known !== null && whatRuns(known) !== whatRuns(spec)) endJob(root, id);
  else if (last !== null && readWord(last) !== "lost") return;
  begin({ root, id, start: (last?.start ?? 0) + 1 }, spec, environment);
}

const whatRuns = ({ argv, cwd, env, environment, place }: JobSpec) =>
  JSON.stringify([argv, cwd, Object.entries(env).sort(), environment, place]);

function begin(place: JobPlace, spec: JobSpec, environment: Environment): void {
  if (!claimStart(place)) return;
  try {
    writeJobFileOnce(place, "spec", { ...spec, since: new Date().toISOString() });
    spawnRunner(place, environment);
  } catch (error) {
    dropStart(place);
    throw error instanceof JobError ? error : new JobError(`the job cannot be started: ${messageOf(error)}`);
  }
}

const spawnRunner = ({ root, id, start }: JobPlace, { env }: Environment) =>
  spawnSelf(["job", root, id, String(start)], env);

/**
 * Through a shell that ends at once: in a session of its own it is beyond the hook's process group, and without a
 * parent it is beyond those who end a process by the tree of its children. It holds none of the hook's pipes.
 */
export function spawnSelf(words: string[], env: Record<string, string>, through: string[] = []): void {
  accessSync(process.execPath, constants.X_OK);
  // Compiled, this program is its own interpreter; from source it is bun with a file.
  const self = Bun.main.includes("$bunfs") ? [] : [join(import.meta.dir, "../../main.ts")];
  const { exitCode } = Bun.spawnSync({
    cmd: ["/bin/sh", "-c", '"$@" &', "sh", ...through, process.execPath, ...self, ...words],
    cwd: "/",
    env,
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  });
  if (exitCode !== 0) throw new JobError(`the job cannot be started: /bin/sh gave ${exitCode}`);
}

// ── Look ────────────────────────────────────────────────────────────────────

export function readSpec(place: JobPlace): (JobSpec & { since: string }) | null {
  return readJobFile(place, "spec") as unknown as (JobSpec & { since: string }) | null;
}

const readResult = (place: JobPlace) => readJobFile(place, "result") as unknown as Ran | null;
const readRunner = (place: JobPlace) => asIdentity(readJobFile(place, "runner"));

function readWord(place: JobPlace): JobWord {
  if (readResult(place) !== null) return "done";
  const runner = readRunner(place);
  if (runner !== null ? isAtWork(place, runner) : isBeginning(place)) return "running";
  // Its result may be the last thing it did since the first look.
  return readResult(place) === null ? "lost" : "done";
}

function isAtWork(place: JobPlace, runner: Identity): boolean {
  const where = processState(runner);
  return where === "there" || (where === "unknown" && !isOverdue(place));
}

/** For processes of another container: whether they are running cannot be known, only how long they may take. */
function isOverdue(place: JobPlace): boolean {
  const spec = readSpec(place);
  if (spec === null) return true;
  const attempts = (spec.retries + 1) * (spec.report ? 2 : 1);
  const longest = (spec.timeout_ms + 10_000) * attempts + 60_000;
  return Date.now() - Date.parse(spec.since) > longest;
}

/** No process has taken the job yet. Taking the runner's place makes sure that a late one finds it taken, and leaves. */
function isBeginning(place: JobPlace): boolean {
  if (hasJobFile(place, "runner")) return readRunner(place) !== null;
  const claimed = claimedAt(place);
  if (claimed === null) return false;
  if (Math.abs(Date.now() - claimed) < SLOWEST_BEGINNING_MS) return true;
  return !takeRunnersPlace(place);
}

const takeRunnersPlace = (place: JobPlace) => writeJobFileOnce(place, "runner", { nobody: true });

/** null: no such job. */
export function jobState(root: string, id: string): { state: JobWord; since: string; tail: string } | null {
  const place = lastStart(root, id);
  if (place === null) return null;
  const since = readSpec(place)?.since ?? new Date(claimedAt(place) ?? Date.now()).toISOString();
  return { state: readWord(place), since, tail: plainLines(outputTail(place, TAIL_BYTES)) };
}

/** For a terminal: the output must not be able to move the cursor or rename the window. */
function plainLines(text: string): string {
  const plain = Bun.stripANSI(text)
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{C}\n\t]/gu, "");
  return plain.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
}

// ── Wait ────────────────────────────────────────────────────────────────────

/** null: still running after `ms`, or there is no such job. A lost one is started again, a few times. */
export function awaitJob(root: string, id: string, ms: number): Ran | null {
  const began = now();
  let looked = Number.NEGATIVE_INFINITY;
  for (;;) {
    const place = lastStart(root, id);
    const ran = place && readResult(place);
    if (place === null || ran !== null) return ran;
    if (now() - looked > LOOK_FOR_RUNNER_MS) {
      looked = now();
      if (readWord(place) === "lost" && !startAgain(place))
        return withoutResult(`it was started ${place.start} times and its process ended without leaving a result`);
    }
    const [gone, left] = [now() - began, began + ms - now()];
    if (left <= 0) return null;
    Bun.sleepSync(Math.min(left, Math.max(2, Math.min(100, gone / 20))));
  }
}

const now = () => Bun.nanoseconds() / 1e6;

function startAgain(place: JobPlace): boolean {
  const spec = readSpec(place);
  if (spec === null || place.start >= MOST_STARTS) return false;
  const environment = environmentFor(place.root);
  if (environment.hash !== spec.environment) return false;
  const { since: _since, ...same } = spec;
  begin({ ...place, start: place.start + 1 }, same, environment);
  return true;
}

export function withoutResult(error: string): Ran {
  const at = new Date().toISOString();
  return { attempts: [], output: "", digest: hashOf(""), started_at: at, ended_at: at, error };
}

// ── End ─────────────────────────────────────────────────────────────────────

/** Removes a finished job's files; called once its verdict is committed. */
export function forgetJob(root: string, id: string): void {
  const place = lastStart(root, id);
  if (place !== null && readWord(place) !== "running") dropJob(root, id);
}

/** Ends a running job and its whole process group; its result says so. */
export function endJob(root: string, id: string): void {
  const place = lastStart(root, id);
  if (place === null || readResult(place) !== null) return;
  // Where no process has taken the job yet, none may take it later.
  if (!hasJobFile(place, "runner")) takeRunnersPlace(place);
  const runner = readRunner(place);
  if (runner !== null) endRunner(place, runner);
  const group = asIdentity(readJobFile(place, "group"));
  if (group !== null) endOldGroup(group);
  if (readResult(place) === null) writeJobFile(place, "result", withoutResult("it was ended before it was done"));
}

function endRunner(place: JobPlace, runner: Identity): void {
  const until = now() + RUNNER_TIMEOUT_MS;
  for (let signal: NodeJS.Signals | 0 = "SIGTERM"; processState(runner) === "there"; signal = 0) {
    // It may end by itself before the signal comes.
    attempt(() => process.kill(runner.pid, now() < until ? signal : "SIGKILL"), false);
    Bun.sleepSync(5);
    if (readResult(place) !== null) return;
  }
}
