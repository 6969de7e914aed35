/** Which claims and shortcuts of a session were already answered: one line each, so that two hooks never both speak. */

import { lstat, readNames } from "../native/disk.ts";
import {
  appendLine,
  hashOf,
  linkIfFree,
  lookAt,
  makeDirs,
  namesOrNone,
  readText,
  removeQuietly,
  withTemp,
  writeAtomic,
} from "./files.ts";
import { homeDir, statePath } from "./home.ts";
import { dirname, join } from "./names.ts";
import { readSealed, seal } from "./seal.ts";

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

// ── Where a session began ───────────────────────────────────────────────────

/** Nothing runs before the person trusted something. The fast path asks the same. */
export const guardIsOn = () => lookAt(join(homeDir(), ".local/share/pawl/trust")) !== undefined;

const startContext = (host: string, session: string, root: string) => `start/${host}-${session}/${root}`;
const startPath = (host: string, session: string, root: string) =>
  statePath("guard", `${host}-${session}.${hashOf(root).slice(0, 16)}.json`);

/** The commit that a session began with. The first one counts: later ones may be the agent's own. */
export function noteStartOf(host: string, session: string, root: string, head: string): void {
  const path = startPath(host, session, root);
  makeDirs(dirname(path), 0o700);
  const text = seal(startContext(host, session, root), JSON.stringify({ root, head }));
  withTemp(dirname(path), text, 0o600, (temp) => linkIfFree(temp, path), "unsynced");
}

/** The sessions that began in this project, as far as it is known. */
export function sessionsBegun(host: string, root: string): string[] {
  const [head, tail] = [`${host}-`, `.${hashOf(root).slice(0, 16)}.json`];
  const names = namesOrNone(statePath("guard")).filter((name) => name.startsWith(head) && name.endsWith(tail));
  return names.map((name) => name.slice(head.length, -tail.length));
}

/** null: it was not seen to begin. */
export function startOfSession(host: string, session: string, root: string): string | null {
  const head = readSealed(startContext(host, session, root), startPath(host, session, root), LARGEST)?.head;
  return typeof head === "string" ? head : null;
}
