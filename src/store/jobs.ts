/**
 * Where a gate's command leaves what it does: `.pawl/jobs/<id>/<start>/`. A start that was lost is followed by the next
 * number; making the folder is the claim to it, so that only one process starts. Every file but the output is sealed
 * for its exact place: what someone else wrote there does not exist for us.
 */
import type { Run } from "../kernel/types/run.ts";
import { FLAGS, mkdir, readNames, removeAll, rename } from "../native/disk.ts";
import { dropBase } from "./bases.ts";
import {
  ensureDir,
  errorCode,
  insideRoot,
  linkIfFree,
  lookAt,
  messageOf,
  openRegular,
  readTail,
  removeQuietly,
  TEMP_PREFIX,
  tolerate,
  withTemp,
} from "./files.ts";
import { join } from "./names.ts";
import { excludeOurs } from "./owned.ts";
import { readSealed, seal } from "./seal.ts";

const JOBS = ".pawl/jobs";
const ID = /^[a-z0-9-]{1,80}$/;
const LARGEST_FILE = 8 << 20;

export class JobError extends Error {
  override name = "JobError";
}

/** One start of one job. */
export interface JobPlace {
  root: string;
  id: string;
  start: number;
}

/** "result" is the end of it; "runner" is who has it in hand; "group" is what it started last. */
export type JobFile = "spec" | "runner" | "group" | "result";

const jobFolder = (root: string, id: string) => insideRoot(root, `${JOBS}/${checked(id)}`);
const startFolder = ({ root, id, start }: JobPlace) => insideRoot(root, `${JOBS}/${checked(id)}/${start}`);
const jobPath = (place: JobPlace, file: JobFile) => join(startFolder(place), `${file}.json`);
const jobContext = ({ root, id, start }: JobPlace, file: JobFile) => `job/${id}/${start}/${file}/${root}`;
const outputPath = (place: JobPlace) => join(startFolder(place), "output");

function checked(id: string): string {
  if (!ID.test(id)) throw new JobError(`no job can be called ${JSON.stringify(id.slice(0, 100))}`);
  return id;
}

/** The newest start; null: there is none. */
export function lastStart(root: string, id: string): JobPlace | null {
  const starts = namesIn(jobFolder(root, id)).filter((name) => /^[1-9]\d{0,5}$/.test(name));
  return starts.length === 0 ? null : { root, id, start: Math.max(...starts.map(Number)) };
}

function namesIn(folder: string): string[] {
  try {
    return tolerate(["ENOENT"], () => readNames(folder), []);
  } catch (error) {
    throw new JobError(`${folder} cannot be read: ${messageOf(error)}`);
  }
}

/** true: this process has it and must start it. */
export function claimStart(place: JobPlace): boolean {
  try {
    ensureDir(place.root, `${JOBS}/${checked(place.id)}`);
    if (place.start === 1) excludeOurs(place.root);
    mkdir(startFolder(place), 0o700);
    return true;
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw new JobError(`the job cannot be kept in ${JOBS}: ${messageOf(error)}`);
  }
}

/** When it was claimed, by the file system's clock; null: it is gone. */
export const claimedAt = (place: JobPlace): number | null => lookAt(startFolder(place))?.mtimeMs ?? null;

/** What this Pawl wrote there; null: nothing, or nothing to be believed. */
export function readJobFile(place: JobPlace, file: JobFile): Record<string, unknown> | null {
  return readSealed(jobContext(place, file), jobPath(place, file), LARGEST_FILE);
}

export const hasJobFile = (place: JobPlace, file: JobFile): boolean => lookAt(jobPath(place, file)) !== undefined;

export function writeJobFile(place: JobPlace, file: JobFile, value: object): void {
  publish(place, file, value, rename);
}

/** false: someone else was first. */
export function writeJobFileOnce(place: JobPlace, file: JobFile, value: object): boolean {
  return publish(place, file, value, linkIfFree);
}

/** Not synced: what a power cut leaves half has no seal, and the command runs again. */
function publish<T>(place: JobPlace, file: JobFile, value: object, put: (temp: string, path: string) => T): T {
  try {
    const text = seal(jobContext(place, file), JSON.stringify(value));
    return withTemp(startFolder(place), text, 0o600, (temp) => put(temp, jobPath(place, file)), "unsynced");
  } catch (error) {
    throw new JobError(`the job's ${file} cannot be written: ${messageOf(error)}`);
  }
}

export function openOutput(place: JobPlace): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = FLAGS;
  return openRegular(outputPath(place), O_WRONLY | O_APPEND | O_CREAT);
}

export const outputTail = (place: JobPlace, bytes: number): string => readTail(outputPath(place), bytes)?.text ?? "";

export const dropOutput = (place: JobPlace) => removeQuietly(outputPath(place));

/** A process that claimed a start and could not begin gives it back. */
export function dropStart(place: JobPlace): void {
  removeAll(startFolder(place));
}

export function dropEarlier({ root, id, start }: JobPlace): void {
  for (let earlier = start - 1; earlier > 0 && earlier > start - 10; earlier--) dropStart({ root, id, start: earlier });
}

/** Renamed first: no one ever sees half a job. */
export function dropJob(root: string, id: string): void {
  const folder = jobFolder(root, id);
  const aside = join(insideRoot(root, JOBS), `${TEMP_PREFIX}${process.pid}-${Bun.nanoseconds()}`);
  tolerate(["ENOENT"], () => rename(folder, aside), undefined);
  removeAll(aside);
}

export const listJobs = (root: string) => namesIn(insideRoot(root, JOBS)).filter((name) => ID.test(name));

/** The finished jobs of a gate, whatever tree they were about. */
function dropFinishedJobs(root: string, gate: string): void {
  for (const id of listJobs(root).filter((name) => name.startsWith(`${gate}-`))) {
    const last = lastStart(root, id);
    if (last === null || hasJobFile(last, "result")) dropJob(root, id);
  }
}

/** What the checks of a run leave once it is over: trees to compare with, and results no one asks for again. */
export function dropLeftovers(root: string, run: Run): void {
  if (run.checks.base_tree !== undefined || run.checks.verdicts !== undefined) dropBase(root, run.id);
  for (const id of Object.keys(run.checks.verdicts ?? {})) dropFinishedJobs(root, id);
}
