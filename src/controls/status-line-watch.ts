/** What a line depends on, gathered while it is made: everything is noted before it is read, so that no change is missed. */
import { lookAt } from "../store/files.ts";

export interface Watch {
  stampOf: (path: string) => string;
  seen: [string, string][];
  /** false: it must not be remembered */
  sure: boolean;
}

/** Written so lately that a second writing may bear the same time. */
const FRESH_MS = 1_000;

export function noteFile(watch: Watch, path: string, now: number): void {
  watch.seen.push([path, watch.stampOf(path)]);
  const found = lookAt(path);
  if (found !== undefined && now - found.mtimeMs < FRESH_MS) watch.sure = false;
}

export const noteFolder = (watch: Watch, path: string) => void watch.seen.push([path, watch.stampOf(path)]);
export const noteAbsence = (watch: Watch, path: string) => void watch.seen.push([path, ""]);

export function noteCommit(watch: Watch, path: string, next: string): void {
  noteFolder(watch, path);
  noteAbsence(watch, next);
}
