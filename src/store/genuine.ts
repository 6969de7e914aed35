/**
 * Did the person type this prompt? A client calls its hooks itself, and marks the shells that it makes for its agent. An
 * agent can call a hook too, with a prompt of its own making. Who forges the marks as well gets through: a lock, no jail.
 */

import type { Pointer } from "./place.ts";
import { isHost, ownerGone } from "./processes/owner.ts";
import { environOf } from "./processes/person.ts";

/** Why it cannot be the person's own; null: nothing speaks against it. `weighty`: it would decide something for them. */
export function forgedBy(pointer: Pointer, weighty: boolean): string | null {
  if (isAgentShell(process.env)) return "the hook was called from the agent's shell";
  if (process.platform !== "linux") return null;
  if (isHost(process.ppid))
    return weighty && isAgentShell(environOf(process.ppid)) ? "its client was started by an agent" : null;
  return pointer.pid !== undefined && !ownerGone(pointer) ? "the hook was not called by its client" : null;
}

/** `claude-code_2-1-197_agent`; its hooks have `…_harness`. */
const isAgentShell = (env: Record<string, string | undefined>) => /_agent$/.test(env.AI_AGENT ?? "");
