/** Which claims of a session's present turn were already answered: one line each, so that two hooks never both speak. */

import { mkdirSync } from "node:fs";
import { appendLine, hashOf, readText, writeAtomic } from "./files.ts";
import { statePath } from "./home.ts";
import { dirname } from "./names.ts";

const LARGEST = 16 * 1024;

export interface Noted {
  /** how often this way has answered in this turn before */
  before: number;
  /** nothing was ever noted for this session */
  first: boolean;
}

/** null: the hook is installed twice, and another one answers in this turn. */
export function noteClaim(host: string, session: string, turn: string, via: string): Noted | null {
  const path = statePath("guard", `${host}-${session}`);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const known = readText(path, LARGEST);
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
