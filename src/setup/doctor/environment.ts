/** Variables that change what a hook does, in the settings' `env` and in the present environment. */
import { isObject } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { clean, type Finding, type Ground, type Level, note, ok, trouble } from "./finding.ts";
import type { SettingsFile } from "./settings-files.ts";

interface Suspect {
  matches: RegExp;
  level: Exclude<Level, "ok">;
  means: string;
  /** only in settings: everybody has it in the environment */
  settingsOnly?: true;
}

const SUSPECTS: readonly Suspect[] = [
  {
    matches: /^BUN_(OPTIONS|BE_BUN)$/,
    level: "trouble",
    means: "makes the hook's program run other code, or as another program",
  },
  {
    matches: /^(LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)$/,
    level: "trouble",
    means: "loads other code into every program, the hook's too",
  },
  { matches: /^HOME$/, level: "trouble", means: "hooks look for the program below it", settingsOnly: true },
  { matches: /^BUN_(?!INSTALL)/, level: "note", means: "may change how the hook's program runs" },
  {
    matches: /^(LD_LIBRARY_PATH|DYLD_\w+)$/,
    level: "note",
    means: "may change which libraries the hook's program loads",
  },
  {
    matches: /^NODE_OPTIONS$/,
    level: "note",
    means: "reaches every node program that the agent starts, checks included",
    settingsOnly: true,
  },
  { matches: /^PATH$/, level: "note", means: "decides which git a hook asks", settingsOnly: true },
];

export function checkEnvironment({ env, home, claude }: Ground, files: SettingsFile[]): Finding[] {
  const found = [
    ...(claude === join(home, ".claude") ? [] : [elsewhere(claude)]),
    ...files.flatMap((file) => inSettings(file)),
    ...Object.entries(env).flatMap(([key, value]) => suspect(key, value, "the environment", true)),
    ...(env.HOME
      ? []
      : [trouble("env-home", "HOME is not set: a hook's shell looks for the program there", "set HOME")]),
  ];
  return found.length > 0 ? found : [ok("env", "nothing in the environment or in settings' env changes what hooks do")];
}

const elsewhere = (claude: string) =>
  note(
    "env-config-dir",
    `CLAUDE_CONFIG_DIR: Claude Code keeps your own settings in ${clean(claude)}; \`pawl init --user\` writes to ~/.claude`,
    "install per project (`pawl init`), or as a plugin",
  );

function inSettings({ name, value }: SettingsFile): Finding[] {
  const env = isObject(value.env) ? Object.entries(value.env) : [];
  return env.flatMap(([key, text]) => suspect(key, text, `${name}, env`, false));
}

function suspect(key: string, value: unknown, where: string, present: boolean): Finding[] {
  if (value === undefined || value === "") return [];
  const remedy = present
    ? `unset ${key}, or start the agent without it`
    : "take it out, unless you put it there on purpose";
  if (key === "PAWL") return switchedOff(value, where, present);
  if (key === "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP") return capped(value, where);
  const one = SUSPECTS.find(({ matches, settingsOnly }) => matches.test(key) && !(present && settingsOnly));
  if (!one) return [];
  const say = one.level === "trouble" ? trouble : note;
  return [say("env-suspicious", `${where}: ${clean(key, 40)}=${clean(String(value), 60)} ${one.means}`, remedy)];
}

function switchedOff(value: unknown, where: string, present: boolean): Finding[] {
  if (String(value) !== "0") return [];
  const remedy = present ? "unset PAWL in this shell" : "remove it to turn Pawl on again";
  return [note("env-off", `${where}: PAWL=0 turns Pawl off`, remedy)];
}

/** The client ends a turn after so many continuations without a tool call; Pawl reckons with 8. */
function capped(value: unknown, where: string): Finding[] {
  const cap = Number(value);
  if (!Number.isFinite(cap) || cap >= 8) return [];
  const what = `${where}: CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=${clean(String(value), 10)} lets the client end a turn earlier than Pawl expects`;
  return [note("env-cap", what, "take it out, or set it to 8 or more")];
}
