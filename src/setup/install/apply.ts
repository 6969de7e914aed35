/**
 * Changes several files or none. Everything new is written next to its place first, so that a full disk shows before
 * anything is touched; old files keep a second name until all is done, so that putting them back needs no space.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  unlinkSync,
} from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { UserError } from "../../kernel/user-error.ts";
import {
  errorCode,
  lookAt,
  messageOf,
  openRegular,
  readText,
  removeQuietly,
  syncDir,
  TEMP_PREFIX,
  writeAll,
} from "../../store/files.ts";
import { dirname, join } from "../../store/names.ts";
import { seal } from "../../store/seal.ts";
import { type Change, refusal } from "./target.ts";

interface Work {
  undo: (() => void)[];
  /** that we made, outermost first */
  folders: string[];
  /** names no one needs afterwards, however it ended */
  spare: string[];
}

export function applyChanges(changes: Change[]): void {
  const work: Work = { undo: [], folders: [], spare: [] };
  try {
    const staged = changes.map((change) => ({ change, ...stage(change, work) }));
    for (const { change, fresh, old } of staged) publish(change, fresh, old, work);
    // The files themselves are synced; their names follow with the file system's next turn.
    for (const folder of new Set(changes.map(({ path }) => dirname(path)))) attempt(() => syncDir(folder), null);
  } catch (error) {
    throw rolledBack(error, work);
  } finally {
    for (const path of work.spare) removeQuietly(path);
  }
}

function stage(change: Change, work: Work): { fresh: string; old: string } {
  const folder = dirname(change.path);
  const fresh = spareName(folder, work);
  const old = spareName(folder, work);
  if (change.after !== null) {
    makeFolders(folder, change.mode, work);
    const { after, sealed } = change;
    writeFresh(fresh, sealed === undefined ? after : seal(sealed, after), change.mode);
    if (change.before !== null) chmodSync(fresh, change.mode);
  }
  if (change.before !== null) link(change.path, old, change.path);
  return { fresh, old };
}

export const tempName = (folder: string) =>
  join(folder, `${TEMP_PREFIX}${process.pid}-${Math.random().toString(36).slice(2, 12)}`);

function spareName(folder: string, work: Work): string {
  const path = tempName(folder);
  work.spare.push(path);
  return path;
}

function makeFolders(folder: string, mode: number, work: Work): void {
  if (lookAt(folder)?.isDirectory()) return;
  makeFolders(dirname(folder), mode, work);
  mkdirSync(folder, { mode: mode & 0o044 ? 0o777 : 0o700 });
  work.folders.push(folder);
}

function writeFresh(path: string, text: string, mode: number): void {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  const fd = openRegular(path, O_WRONLY | O_CREAT | O_EXCL, mode);
  try {
    writeAll(fd, Buffer.from(text));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function publish(change: Change, fresh: string, old: string, work: Work): void {
  const { path, before, after } = change;
  const now = readText(path);
  if (!now.ok && now.why === "unreadable")
    throw refusal(`${path} cannot be read (${now.detail})`, "fix that and try again; nothing was changed");
  const same = now.ok ? now.text === before : now.why === "missing" && before === null;
  if (!same) throw changedMeanwhile(path);
  if (after === null) unlinkSync(path);
  else if (before === null) link(fresh, path, path);
  else renameSync(fresh, path);
  work.undo.push(() => (before === null ? unlinkSync(path) : renameSync(old, path)));
}

/** What came or went since the plan was made is someone else's change. */
function link(from: string, to: string, path: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    throw ["ENOENT", "EEXIST"].includes(errorCode(error)) ? changedMeanwhile(path) : error;
  }
}

const changedMeanwhile = (path: string) =>
  refusal(`${path} was changed by someone else meanwhile`, "try again; nothing was changed");

/** The error to throw once everything is as it was; it tells what could not be put back. */
function rolledBack(error: unknown, work: Work): UserError {
  const stuck = work.undo.toReversed().flatMap(failure);
  for (const path of work.spare) removeQuietly(path);
  stuck.push(...work.folders.toReversed().flatMap((folder) => failure(() => rmdirSync(folder))));
  if (stuck.length > 0) {
    const hint = `put back by hand what could not be: ${stuck.join("; ")}`;
    return refusal(`${messageOf(error)}; undoing it failed in part`, hint);
  }
  if (error instanceof UserError) return error;
  return refusal(messageOf(error), `${remedy(errorCode(error))}; nothing was changed`);
}

/** Why it failed; nothing where it did not. */
export function failure(step: () => void): string[] {
  try {
    step();
    return [];
  } catch (problem) {
    return [messageOf(problem)];
  }
}

function remedy(code: string): string {
  if (code === "ENOSPC" || code === "EDQUOT") return "make room on the disk and try again";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS")
    return "you have no write permission there; fix that or choose another target";
  return "fix that and try again";
}
