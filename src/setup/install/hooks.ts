/** What Pawl writes into a host's settings: one guarded command for each event it listens to. */
import type { Node } from "jsonc-parser";
import { isObject } from "../../store/files.ts";
import { listProperties, valueAt } from "./jsonc.ts";

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

/** Below the person's home: the program, and the script that hooks start it with. */
export const PROGRAM = ".local/share/pawl/bin/pawl";
export const SCRIPT = ".local/share/pawl/hook";
export const BINARY = `$HOME/${PROGRAM}`;

/**
 * A colleague without Pawl sees nothing, and a deleted working folder does no harm. The two variables would make the
 * program load other code, or be another program, and a repository's settings can set them.
 */
export const guarded = (words: string) =>
  `cd /; unset BUN_OPTIONS BUN_BE_BUN; p="${BINARY}"; [ -x "$p" ] || exit 0; exec "$p" ${words}`;

/** The client shows a hook's whole command at times, so the guards are in a script. */
export const throughScript = (words: string) => `h="$HOME/${SCRIPT}"; [ -x "$h" ] || exit 0; exec "$h" ${words}`;

export const hookCommand = (scope: Scope) => throughScript(`hook claude --via ${scope}`);

/**
 * Next to the hook of a stop it waits for a check that takes longer, and wakes the agent with the result; next to that of
 * a cleared conversation it makes the first move.
 */
const REWAKE_TIMEOUT = 86_400;
/** What the person reads when it wakes the agent. */
const REWAKE_SUMMARY: Readonly<Record<string, string>> = {
  Stop: "Pawl: a check has finished",
  SessionStart: "Pawl: the work goes on",
};

export const groupFor = (event: string, scope: Scope) => ({
  hooks: [
    {
      type: "command",
      command: hookCommand(scope),
      timeout: TIMEOUTS[event],
      ...(event === "Stop" && { statusMessage: "Pawl is checking…" }),
    },
    ...(event in REWAKE_SUMMARY
      ? [
          {
            type: "command",
            command: throughScript(`rewake claude --via ${scope}`),
            timeout: REWAKE_TIMEOUT,
            asyncRewake: true,
            rewakeSummary: REWAKE_SUMMARY[event],
          },
        ]
      : []),
  ],
});

export const namesUs = (text: string) => text.includes(PROGRAM) || text.includes(SCRIPT);

/** Also of a whole settings file: does anything in it call us as a hook? */
export const isOurCommand = (text: string) => namesUs(text) && / (hook|rewake) \w/.test(text);

export function isOurs(entry: Node): boolean {
  const command = entry.type === "object" ? valueAt(entry, "command")?.value : undefined;
  return typeof command === "string" && isOurCommand(command);
}

export const hookEntries = (group: Node) => (group.type === "object" ? (valueAt(group, "hooks")?.children ?? []) : []);

// ── The shape the host insists on ───────────────────────────────────────────

/** What a hook of each kind cannot be without. */
const KINDS: Readonly<Record<string, string>> = {
  command: "command",
  http: "url",
  prompt: "prompt",
  agent: "prompt",
  mcp_tool: "tool",
};

/** `entry`: a single hook, which newer clients leave out alone. */
type HookProblem = { node: Node; why: string; entry?: true } | null;

/** One wrong entry, and older clients silently drop every hook of that file. */
export function wrongEntry(hooks: Node): HookProblem {
  for (const { key, value } of listProperties(hooks)) {
    const list = value.type === "array";
    // The host drops only that key, but there is no place in it for ours.
    if (!list && EVENTS.includes(key)) return { node: value, why: `hooks.${key} is not a list` };
    const wrong = list ? value.children?.map(wrongGroup).find((one) => one !== null) : null;
    if (wrong) return { ...wrong, why: `hooks.${key}: ${wrong.why}` };
  }
  return null;
}

function wrongGroup(group: Node): HookProblem {
  if (group.type !== "object") return { node: group, why: "an entry is not an object" };
  const matcher = valueAt(group, "matcher");
  if (matcher && matcher.type !== "string") return { node: matcher, why: "matcher is not a text" };
  const hooks = valueAt(group, "hooks");
  if (hooks?.type !== "array") return { node: hooks ?? group, why: 'an entry has no list "hooks"' };
  const wrong = (hooks.children ?? []).map((node) => ({ node, why: wrongHook(node), entry: true as const }));
  return (wrong.find((one) => one.why !== null) as HookProblem) ?? null;
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
  return EVENTS.every((event) => namesUs(JSON.stringify(hooks[event] ?? "")));
}
