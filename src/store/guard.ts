/** Which claims and shortcuts of a session were already answered: one line each, so that two hooks never both speak. */

import { lstat, readNames } from "../native/disk.ts";
import { appendLine, hashOf, makeDirs, readText, removeQuietly, writeAtomic } from "./files.ts";
import { statePath } from "./home.ts";
import { dirname, join } from "./names.ts";

const LARGEST = 16 * 1024;
const KEPT_MS = 30 * 24 * 3600 * 1000;
const MOST_LOOKED_AT = 500;

export interface AnswerNote {
  /** how often this way has answered in this turn before */
  before: number;
  /** nothing was ever noted for this session */
  first: boolean;
}

/** null: the hook is installed twice, and another one answers in this turn. */
export function noteClaim(
  host: string,
  session: string,
  turn: string,
  via: string,
  kept: "guard" | "shortcuts" = "guard",
): AnswerNote | null {
  const path = statePath(kept, `${host}-${session}`);
  makeDirs(dirname(path), 0o700);
  const known = readText(path, LARGEST);
  if (!known.ok && known.why === "missing") forgetOld(dirname(path));
  if (!known.ok && known.why === "too large") writeAtomic(path, "");
  const mark = hashOf(turn).slice(0, 16);
  appendLine(path, `${mark} ${via}`);
  const after = readText(path, 2 * LARGEST);
  const lines = after.ok ? after.text.split("\n").filter((line) => line !== "") : [];
  const ways = lines.filter((line) => line.startsWith(`${mark} `)).map((line) => line.slice(mark.length + 1));
  if (ways[0] !== via) return null;
  return {
    before: ways.filter((way) => way === via).length - 1,
    first: lines[0] === `${mark} ${via}` && ways.length === 1,
  };
}

/** Abandoned sessions leave their files; a new session removes them. */
function forgetOld(folder: string): void {
  for (const name of readNames(folder).slice(0, MOST_LOOKED_AT)) {
    const path = join(folder, name);
    if (Date.now() - (lstat(path)?.mtimeMs ?? Number.POSITIVE_INFINITY) > KEPT_MS) removeQuietly(path);
  }
}
