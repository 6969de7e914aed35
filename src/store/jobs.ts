/**
 * Where a gate's command leaves what it does: `.pawl/jobs/<id>/<start>/`. A start that was lost is followed by the next
 * number; making the folder is the claim to it, so that only one process starts. Every file but the output is sealed
 * for its exact place: what someone else wrote there does not exist for us.
 */
import { FLAGS, link, mkdir, namesOf, removeAll, rename } from "../native/disk.ts";
import {
  ensureDir,
  errorCode,
  insideRoot,
  isObject,
  lookAt,
  messageOf,
  openRegular,
  parseJson,
  readTail,
  readText,
  removeQuietly,
  TEMP_PREFIX,
  withTemp,
} from "./files.ts";
import { join } from "./names.ts";
import { excludeOurs } from "./owned.ts";
import { seal, unseal } from "./seal.ts";

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

const folderOf = (root: string, id: string) => insideRoot(root, `${JOBS}/${checked(id)}`);
const startFolder = ({ root, id, start }: JobPlace) => insideRoot(root, `${JOBS}/${checked(id)}/${start}`);
const pathOf = (place: JobPlace, file: JobFile) => join(startFolder(place), `${file}.json`);
const contextOf = ({ root, id, start }: JobPlace, file: JobFile) => `job/${id}/${start}/${file}/${root}`;
const outputPath = (place: JobPlace) => join(startFolder(place), "output");

function checked(id: string): string {
  if (!ID.test(id)) throw new JobError(`no job can be called ${JSON.stringify(id.slice(0, 100))}`);
  return id;
}

/** The newest start; null: there is none. */
export function lastStart(root: string, id: string): JobPlace | null {
  const starts = namesIn(folderOf(root, id)).filter((name) => /^[1-9]\d{0,5}$/.test(name));
  return starts.length === 0 ? null : { root, id, start: Math.max(...starts.map(Number)) };
}

function namesIn(folder: string): string[] {
  try {
    return namesOf(folder);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
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
export function claimedAt(place: JobPlace): number | null {
  return lookAt(startFolder(place))?.mtimeMs ?? null;
}

/** What this Pawl wrote there; null: nothing, or nothing to be believed. */
export function readJobFile(place: JobPlace, file: JobFile): Record<string, unknown> | null {
  const read = readText(pathOf(place, file), LARGEST_FILE);
  const json = read.ok ? unseal(contextOf(place, file), read.text) : null;
  const value = json === null ? null : parseJson(json);
  return isObject(value) ? value : null;
}

export function hasJobFile(place: JobPlace, file: JobFile): boolean {
  return lookAt(pathOf(place, file)) !== undefined;
}

export function writeJobFile(place: JobPlace, file: JobFile, value: object): void {
  publish(place, file, value, rename);
}

/** false: someone else was first. */
export function writeJobFileOnce(place: JobPlace, file: JobFile, value: object): boolean {
  let won = true;
  publish(place, file, value, (temp, path) => {
    try {
      link(temp, path);
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
      won = false;
    }
  });
  return won;
}

/** Not synced: what a power cut leaves half has no seal, and the command runs again. */
function publish(place: JobPlace, file: JobFile, value: object, put: (temp: string, path: string) => void): void {
  try {
    const text = seal(contextOf(place, file), JSON.stringify(value));
    withTemp(startFolder(place), text, 0o600, (temp) => put(temp, pathOf(place, file)), "unsynced");
  } catch (error) {
    throw new JobError(`the job's ${file} cannot be written: ${messageOf(error)}`);
  }
}

export function openOutput(place: JobPlace): number {
  const { O_APPEND, O_CREAT, O_WRONLY } = FLAGS;
  return openRegular(outputPath(place), O_WRONLY | O_APPEND | O_CREAT);
}

export function outputTail(place: JobPlace, bytes: number): string {
  return readTail(outputPath(place), bytes)?.text ?? "";
}

export const dropOutput = (place: JobPlace) => removeQuietly(outputPath(place));

/** Whoever claimed a start and could not begin gives it back. */
export function dropStart(place: JobPlace): void {
  removeAll(startFolder(place));
}

export function dropEarlier({ root, id, start }: JobPlace): void {
  for (let earlier = start - 1; earlier > 0 && earlier > start - 10; earlier--) dropStart({ root, id, start: earlier });
}

/** Renamed first: no one ever sees half a job. */
export function dropJob(root: string, id: string): void {
  const folder = folderOf(root, id);
  const aside = join(insideRoot(root, JOBS), `${TEMP_PREFIX}${process.pid}-${Bun.nanoseconds()}`);
  try {
    rename(folder, aside);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return;
    throw error;
  }
  removeAll(aside);
}

/** The finished jobs of a gate, whatever tree they were about. */
export function dropFinishedJobs(root: string, gate: string): void {
  const folder = insideRoot(root, JOBS);
  for (const id of namesIn(folder).filter((name) => name.startsWith(`${gate}-`) && ID.test(name))) {
    const last = lastStart(root, id);
    if (last === null || hasJobFile(last, "result")) dropJob(root, id);
  }
}
