/**
 * The host calls the person: it asks for a permission, or waits. No hook hears what came of it; the next event of the
 * session shows that it went on.
 */

import type { Call, EventOf, Run } from "../../kernel/types/run.ts";

/** What the host's own notifications are about; others are no call. */
const NOTIFIED: Readonly<Record<string, Call["about"]>> = {
  permission_prompt: "permission",
  idle_prompt: "idle",
  elicitation_dialog: "question",
};

export function noteCall(run: Run, { what, detail, at }: EventOf<"noticed">): void {
  if (what === "permission") run.call = { about: "permission", tool: detail, at };
  else if (what !== "notification") delete run.call;
  else if (Object.hasOwn(NOTIFIED, detail)) noteNotified(run, NOTIFIED[detail]!, at);
}

/** The host asks for a permission twice: first with the tool's name, some seconds later by a notification without it. */
function noteNotified(run: Run, about: Call["about"], at: string): void {
  if (about !== "permission" || run.call?.about !== "permission") run.call = { about, tool: "", at };
}
