/** A permission that was asked for: what came of it no hook is told, but the session's transcript shows the tool's result. */

import { readToolsSince } from "../hosts/claude/transcript.ts";
import type { Call, Run } from "../kernel/types/run.ts";
import { transcriptsOf } from "../notify/silence.ts";
import { lookAt } from "../store/files.ts";

/** The client asks when the call stands in its transcript, or is about to. */
const WRITTEN_MS = 2_000;
const BEFORE_MS = 600_000;

/** undefined: there is none, or it was answered and the tool is through. */
export function openCall({ call, owner }: Run): Call | undefined {
  if (call?.about !== "permission" || owner?.host !== "claude") return call;
  const key = `${owner.session} ${call.at}`;
  const isOver = over.has(key) || transcriptsOf(owner.session).some((path) => isThere(path) && wasAnswered(path, call));
  if (isOver) over.add(key);
  return isOver ? undefined : call;
}

/** What was answered once is so, and its transcript grows on. */
const over = new Set<string>();

/** Every call of the tool that may be meant has its result. What cannot be read, or is not found, is still open. */
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
