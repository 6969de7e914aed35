/** Is a permission still open? No hook says how it was answered, but the session's transcript shows the tool's result. */

import type { Call, Run } from "../../kernel/types/run.ts";
import { lookAt, namesOrNone } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import { readToolsSince } from "./transcript.ts";

/** The client asks when it has just written the call to its transcript, or is about to. */
const WRITTEN_MS = 2_000;
const BEFORE_MS = 600_000;

/** undefined: there is none, or it was answered and the tool has finished. */
export function openCall({ call, owner }: Run): Call | undefined {
  if (call?.about !== "permission" || owner?.host !== "claude") return call;
  const key = `${owner.session} ${call.at}`;
  const isOver = over.has(key) || transcriptsOf(owner.session).some((path) => isThere(path) && wasAnswered(path, call));
  if (isOver) over.add(key);
  return isOver ? undefined : call;
}

/** An answered call stays answered: its transcript need not be read again. */
const over = new Set<string>();

/** True if every call that it may be about has a result. A transcript that cannot be read leaves the call open. */
function wasAnswered(path: string, { tool, at }: Call): boolean {
  const asked = Date.parse(at);
  if (Date.now() - asked < WRITTEN_MS) return false;
  const read = readToolsSince(path, new Date(asked - BEFORE_MS).toISOString(), 0);
  if (!read.ok) return false;
  const meant = read.value.filter((use) => (tool === "" || use.name === tool) && Date.parse(use.at) <= asked);
  return meant.length > 0 && meant.every(({ result }) => result !== null);
}

function isThere(path: string): boolean {
  try {
    return lookAt(path) !== undefined;
  } catch {
    return false;
  }
}

/** Where a session's transcript may be: the client has a folder for each project. */
export function transcriptsOf(session: string): string[] {
  const folder = join(process.env.CLAUDE_CONFIG_DIR || join(homeDir(), ".claude"), "projects");
  return namesOrNone(folder).map((project) => join(folder, project, `${session}.jsonl`));
}
