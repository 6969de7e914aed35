/** Is a permission still open? No hook says how it was answered, but the session's transcript shows the tool's result. */

import { attempt } from "../../kernel/attempt.ts";
import type { Call, Run } from "../../kernel/types/run.ts";
import { lookAt } from "../../store/files.ts";
import { listTranscripts } from "./folders.ts";
import { readToolsSince } from "./transcript.ts";

/** The client asks when it has just written the call to its transcript, or is about to. */
const WRITTEN_MS = 2_000;
const BEFORE_MS = 600_000;

/** An answered call stays answered: its transcript need not be read again. */
const over = new Set<string>();

/** undefined: there is none, or it was answered and the tool has finished. */
export function openCall({ call, owner }: Run): Call | undefined {
  if (call?.about !== "permission" || owner?.host !== "claude") return call;
  const key = `${owner.session} ${call.at}`;
  const isThere = (path: string) => attempt(() => lookAt(path) !== undefined, false);
  const isOver =
    over.has(key) || listTranscripts(owner.session).some((path) => isThere(path) && wasAnswered(path, call));
  if (isOver) over.add(key);
  return isOver ? undefined : call;
}

/** True if every call that it may be about has a result. A transcript that cannot be read leaves the call open. */
function wasAnswered(path: string, { tool, at }: Call): boolean {
  const asked = Date.parse(at);
  if (Date.now() - asked < WRITTEN_MS) return false;
  const read = readToolsSince(path, new Date(asked - BEFORE_MS).toISOString(), 0);
  if (!read.ok) return false;
  const meant = read.value.filter((use) => (tool === "" || use.name === tool) && Date.parse(use.at) <= asked);
  return meant.length > 0 && meant.every(({ result }) => result !== null);
}
