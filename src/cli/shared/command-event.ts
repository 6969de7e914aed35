import { hash } from "../../hosts/identity.ts";
import type { CommandName, EventOf } from "../../kernel/types/run.ts";

/** A command of the person's, as an event like any other. */
export function commandEvent(name: CommandName, id: string, why: string): EventOf<"command"> {
  const at = new Date().toISOString();
  const eventId = hash("cli", id, name, at, String(process.pid));
  return { id: eventId, at, host: "cli", session: "", turn: "", via: "cli", kind: "command", name, why };
}
