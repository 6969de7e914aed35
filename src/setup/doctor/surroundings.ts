/** What a hook meets: variables that change what it does, others that listen to stops, ways to reach the person. */
import { readConfig } from "../../definitions/config.ts";
import { notifySettings } from "../../definitions/schema/notify.ts";
import { configPath } from "../../definitions/shortcuts.ts";
import { desktopProgram, whereIs } from "../../notify/channels.ts";
import { isObject, lookAt } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { describeParent } from "../../store/processes/owner.ts";
import { clean, type DoctorContext, type Finding, note, ok, trouble } from "./finding.ts";
import { type HookEntry, hooksIn, type Plugin, readField, type SettingsFile } from "./settings-files.ts";

/** "in settings": everybody has it in the environment. */
type SuspectVariable = [matches: RegExp, say: typeof note, means: string, where?: "in settings"];

const SUSPECTS: readonly SuspectVariable[] = [
  [/^BUN_(OPTIONS|BE_BUN)$/, trouble, "makes the hook's program run other code, or as another program"],
  [/^(LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)$/, trouble, "loads other code into every program, the hook's too"],
  [/^HOME$/, trouble, "hooks look for the program below it", "in settings"],
  [/^BUN_(?!INSTALL)/, note, "may change how the hook's program runs"],
  [/^(LD_LIBRARY_PATH|DYLD_\w+)$/, note, "may change which libraries the hook's program loads"],
  [/^NODE_OPTIONS$/, note, "reaches every node program that the agent starts", "in settings"],
  [/^PATH$/, note, "decides which programs the agent starts; checks run with the recorded PATH", "in settings"],
];

export function checkEnvironment({ env, home, claude }: DoctorContext, files: SettingsFile[]): Finding[] {
  const elsewhere = `CLAUDE_CONFIG_DIR: Claude Code keeps your own settings in ${clean(claude)}; \`pawl init --user\` writes to ~/.claude`;
  const found = claude === join(home, ".claude") ? [] : note("env-config-dir", elsewhere, PER_PROJECT);
  for (const { name, value } of files)
    for (const [key, text] of Object.entries(isObject(value.env) ? value.env : {}))
      found.push(...checkVariable(key, text, `${name}, env`, false));
  for (const [key, text] of Object.entries(env)) found.push(...checkVariable(key, text, "the environment", true));
  if (!env.HOME)
    found.push(...trouble("env-home", "HOME is not set: a hook's shell looks for the program there", "set HOME"));
  return found.length > 0 ? found : ok("env", "nothing in the environment or in settings' env changes what hooks do");
}

/** Says something only where events cannot be bound to the client's process. */
export function checkCallers(): Finding[] {
  if (describeParent().pid !== undefined) return [];
  const what =
    "neither /proc nor ps tells which process calls a hook: events count by the marks of agents' shells, which can be forged";
  return note("callers", what, "mount /proc, or install ps at /bin/ps");
}

const PER_PROJECT = "install per project (`pawl init`), or as a plugin";

function checkVariable(key: string, value: unknown, where: string, present: boolean): Finding[] {
  if (value === undefined || value === "") return [];
  if (key === "PAWL") return checkSwitch(value, where, present);
  if (key === "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP") return checkCap(value, where);
  const one = SUSPECTS.find(([matches, , , only]) => matches.test(key) && !(present && only));
  if (!one) return [];
  const [, say, means] = one;
  const fix = present
    ? `unset ${key}, or start the agent without it`
    : "take it out, unless you put it there on purpose";
  return say("env-suspicious", `${where}: ${clean(key, 40)}=${clean(String(value), 60)} ${means}`, fix);
}

function checkSwitch(value: unknown, where: string, present: boolean): Finding[] {
  const fix = present ? "unset PAWL in this shell" : "remove it to turn Pawl on again";
  return String(value) === "0" ? note("env-off", `${where}: PAWL=0 turns Pawl off`, fix) : [];
}

/** The client ends a turn after so many continuations without a tool call; Pawl reckons with 8. */
function checkCap(value: unknown, where: string): Finding[] {
  const cap = Number(value);
  if (!Number.isFinite(cap) || cap >= 8) return [];
  const what = `${where}: CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=${clean(String(value), 10)} lets the client end a turn earlier than Pawl expects`;
  return note("env-cap", what, "take it out, or set it to 8 or more");
}

// ── Others that listen to stops: nothing is wrong with that, but two that keep an agent going should know of each other ─

const STOPS = ["Stop", "SubagentStop"];
const MOST = 20;

const BLOCKS =
  "it handles the same stops: if it blocks one, the agent continues although Pawl lets it end; the client waits for the slower of the two";
const JUDGES = "a model judges each stop: it may keep the agent going where Pawl lets it end";
const WATCH = "keep it if you like; `pawl explain` shows which stops Pawl itself continued";

const RALPH: [string, string] = [
  "its loop repeats one prompt at every stop: while it runs, the agent gets its text and Pawl's",
  "end the loop (/cancel-ralph) before /complete-work",
];

/** What is known of each, in one sentence, and what to do. */
const KNOWN: Readonly<Record<string, [string, string]>> = {
  "ralph-loop": RALPH,
  "ralph-wiggum": RALPH,
  superpowers: [
    "it gives the agent its own instructions at each session start; the steps of a workflow come on top of them",
    "nothing to do; Pawl checks the step that it gave",
  ],
  hookify: ["its rules may block a stop with their own text, also in the middle of a run", WATCH],
  "double-shot-latte": [
    "a second model decides at each stop whether the agent goes on, also when Pawl lets it end",
    WATCH,
  ],
  "oh-my-claudecode": [
    "its persistent modes block stops until they are cancelled",
    "cancel its mode before /complete-work",
  ],
};

export function checkBeside({ root }: DoctorContext, files: SettingsFile[], plugins: Plugin[]): Finding[] {
  const ralph = ".claude/ralph-loop.local.md";
  const runs = `${ralph} exists: a ralph loop is running in this folder, and ${RALPH[0]}`;
  const found = [
    ...files.flatMap((file) => stopsIn(file).flatMap((entry) => besideHook(file.name, entry))),
    ...plugins.filter(({ enabled, name }) => enabled && name !== "pawl").flatMap(besidePlugin),
    ...(lookAt(join(root, ralph)) ? note("beside-ralph", runs, RALPH[1]) : []),
  ];
  if (found.length === 0) return ok("alone", "no other hook or known plugin listens to stops");
  const rest = found.length - MOST;
  return rest > 0 ? [...found.slice(0, MOST), ...note("beside-more", `and ${rest} more`, WATCH)] : found;
}

/** One that runs in the background cannot hold a stop up. */
const stopsIn = (file: SettingsFile): HookEntry[] =>
  hooksIn(file).filter(({ event, node, ours }) => STOPS.includes(event) && !ours && readField(node, "async") !== true);

function besideHook(name: string, { event, node }: HookEntry): Finding[] {
  const type = String(readField(node, "type"));
  const words = ["command", "url", "prompt", "tool"]
    .map((key) => readField(node, key))
    .find((one) => one !== undefined);
  const means = type === "prompt" || type === "agent" ? JUDGES : BLOCKS;
  const hook = `another ${event} hook (${clean(type, 20)}: ${clean(String(words ?? ""), 60)})`;
  return note("beside-hook", `${name}: ${hook}: ${means}`, WATCH);
}

function besidePlugin({ name, hooks }: Plugin): Finding[] {
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  if (known) return note("beside-plugin", `the plugin ${name}: ${known[0]}`, known[1]);
  const [first] = hooks ? stopsIn(hooks) : [];
  return first ? note("beside-plugin", `the plugin ${name} has a ${first.event} hook: ${BLOCKS}`, WATCH) : [];
}

// ── Notifications ───────────────────────────────────────────────────────────

const CONFIG = "~/.config/pawl/config.yaml";

export function checkNotify({ home }: DoctorContext): Finding[] {
  const read = readConfig(configPath(home));
  if ("errors" in read)
    return note("notify-config", `${CONFIG} has errors: no notifications are sent`, "`pawl check` shows them");
  const { on, bell, desktop, command } = notifySettings(read.config.notify);
  const marked = lookAt(join(home, ".local/state/pawl/notify-on")) !== undefined;
  const changed = `${CONFIG} was changed: notifications are ${on ? "on" : "off"} there`;
  if (on !== marked) return note("notify-unmarked", changed, "`pawl notify` tells the hooks");
  if (!on) return [];
  const [program] = command ?? [];
  const name = clean(program ?? "");
  if (program !== undefined && whereIs(program) === null)
    return note("notify-command", `notifications: ${name} is not a program on the PATH`, `fix \`notify\` in ${CONFIG}`);
  const ways = [bell && "bell", desktop && desktopProgram(), program && `command ${name}`].filter(Boolean);
  const nowhere = "notifications are on, but no way leads to you here";
  if (ways.length === 0) return note("notify-nowhere", nowhere, "`pawl notify --test` sends one");
  return ok("notify", `notifications: ${ways.join(", ")}`);
}
