/** What Pawl writes into a host's settings: one guarded command for each event it listens to. */
import type { Node } from "jsonc-parser";
import { isObject } from "../../store/files.ts";
import { propertiesOf, valueAt } from "./jsonc.ts";

export type Scope = "local" | "project" | "user";

/**
 * In seconds. Stop has what the host gives by default, since checks of the project may run in it; at the end of a
 * session the host waits 1.5 s for all hooks together, unless one asks for more.
 */
const TIMEOUTS: Readonly<Record<string, number>> = {
  SessionStart: 20,
  UserPromptSubmit: 30,
  UserPromptExpansion: 20,
  Stop: 600,
  SubagentStop: 60,
  StopFailure: 20,
  PreCompact: 20,
  SessionEnd: 20,
  PermissionRequest: 20,
  Notification: 20,
};

export const EVENTS: readonly string[] = Object.keys(TIMEOUTS);

export const BINARY = "$HOME/.local/share/pawl/bin/pawl";

/**
 * A colleague without Pawl sees nothing, and a deleted working folder does no harm. The two variables would make the
 * program load other code, or be another program, and a repository's settings can set them.
 */
export const guarded = (words: string) =>
  `cd /; unset BUN_OPTIONS BUN_BE_BUN; p="${BINARY}"; [ -x "$p" ] || exit 0; exec "$p" ${words}`;

export const hookCommand = (scope: Scope) => guarded(`hook claude --via ${scope}`);

/**
 * Next to the hook of a stop it waits for a check that takes longer, and wakes the agent with the result; next to that of
 * a cleared conversation it makes the first move.
 */
const REWAKE_TIMEOUT = 86_400;
const rewakeCommand = (scope: Scope) => guarded(`rewake claude --via ${scope}`);

export const groupFor = (event: string, scope: Scope) => ({
  hooks: [
    { type: "command", command: hookCommand(scope), timeout: TIMEOUTS[event] },
    ...(event === "Stop" || event === "SessionStart"
      ? [{ type: "command", command: rewakeCommand(scope), timeout: REWAKE_TIMEOUT, asyncRewake: true }]
      : []),
  ],
});

export function isOurs(entry: Node): boolean {
  const command = entry.type === "object" ? valueAt(entry, "command")?.value : undefined;
  return (
    typeof command === "string" && command.includes(".local/share/pawl/bin/pawl") && / (hook|rewake) \w+/.test(command)
  );
}

export const entriesOf = (group: Node) => (group.type === "object" ? (valueAt(group, "hooks")?.children ?? []) : []);

// ── The shape the host insists on ───────────────────────────────────────────

/** What a hook of each kind cannot be without. */
const KINDS: Readonly<Record<string, string>> = {
  command: "command",
  http: "url",
  prompt: "prompt",
  agent: "prompt",
  mcp_tool: "tool",
};

/** One wrong entry, and the host silently drops every hook of that file. */
export function wrongEntry(hooks: Node): { node: Node; why: string } | null {
  for (const { key, value } of propertiesOf(hooks)) {
    // The host drops only that key, but there is no place in it for ours.
    if (value.type !== "array") {
      if (EVENTS.includes(key)) return { node: value, why: `hooks.${key} is not a list` };
      continue;
    }
    for (const group of value.children ?? []) {
      const wrong = wrongGroup(group);
      if (wrong)
        return { node: wrong.node, why: `hooks.${key}: ${wrong.why}; Claude Code drops all hooks of such a file` };
    }
  }
  return null;
}

function wrongGroup(group: Node): { node: Node; why: string } | null {
  if (group.type !== "object") return { node: group, why: "an entry is not an object" };
  const matcher = valueAt(group, "matcher");
  if (matcher && matcher.type !== "string") return { node: matcher, why: "matcher is not a text" };
  const hooks = valueAt(group, "hooks");
  if (hooks?.type !== "array") return { node: hooks ?? group, why: 'an entry has no list "hooks"' };
  for (const entry of hooks.children ?? []) {
    const why = wrongHook(entry);
    if (why) return { node: entry, why };
  }
  return null;
}

function wrongHook(entry: Node): string | null {
  if (entry.type !== "object") return "a hook is not an object";
  const type = valueAt(entry, "type")?.value;
  const needed = typeof type === "string" && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (needed === undefined) return `a hook's type is none of ${Object.keys(KINDS).join(", ")}`;
  if (valueAt(entry, needed)?.type !== "string") return `a hook of type ${type} has no ${needed}`;
  const timeout = valueAt(entry, "timeout");
  return timeout && timeout.type !== "number" ? "a hook's timeout is not a number" : null;
}

/** Does this settings file, however it was written, call us for every event? */
export function callsUs(settings: unknown): boolean {
  const hooks = isObject(settings) && isObject(settings.hooks) ? settings.hooks : {};
  return EVENTS.every((event) => JSON.stringify(hooks[event] ?? "").includes(".local/share/pawl/bin/pawl"));
}
