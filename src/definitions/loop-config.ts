/** The settings of one loop, each with where it comes from. Flag > procedure > loop level > built in. */
import { resolve } from "node:path";
import type { Procedure } from "../kernel/types/procedure.ts";
import { lookAt } from "../store/files.ts";
import { CONFIG_SHOWN, readConfig } from "./config.ts";
import { type Problem, quote } from "./problem.ts";
import { PROJECT_FILE, readProject } from "./project.ts";
import { BOUNDS, BUILT_IN, type LoopLevel, PERMISSIONS } from "./schema/loop.ts";
import { configPath } from "./shortcuts.ts";

export interface Setting<T> {
  value: T;
  /** "--max-iterations", "procedure build", "PAWL_LOOP_MAX_ITERATIONS", "pawl.yaml", "~/.config/pawl/config.yaml", "built in" */
  from: string;
}

export interface LoopSettings {
  /** null: unlimited */
  max_iterations: Setting<number | null>;
  failure_threshold: Setting<number>;
  /** of one iteration, in seconds */
  timeout: Setting<number>;
  /** of the whole loop, in seconds */
  time_limit: Setting<number>;
  /** of the whole loop, in US dollars */
  budget: Setting<number>;
  /** an agent's name, or a command line */
  ai: Setting<string>;
  /** what Claude may do without asking; never a repository's to say */
  permissions: Setting<"edits" | "settings" | "skip">;
  /** how many bytes of output are kept */
  buffer: Setting<number>;
}

/** As they were typed. */
export interface LoopFlags {
  max_iterations?: string;
  unlimited?: boolean;
  failure_threshold?: string;
  timeout?: string;
  time_limit?: string;
  budget?: string;
  ai?: string;
  ai_cmd?: string;
  permissions?: string;
  buffer?: string;
  /** a file like ~/.config/pawl/config.yaml, read in place of pawl.yaml; relative to the project's root */
  config?: string;
}

export interface SettingError {
  what: string;
  hint: string;
}

type Env = Record<string, string | undefined>;
type Name = keyof LoopSettings;
type Numeric = Exclude<Name, "ai" | "permissions">;
type Value = number | string | null;
/** One place that may say something; earlier ones count more. */
type Layer = { from: (name: Name) => string; says: Partial<Record<Name, Value>> };

const NAMES = Object.keys(BUILT_IN) as Name[];
const SECONDS = { s: 1, m: 60, h: 3600 } as const;

export function resolveSettings(
  root: string,
  home: string,
  env: Env,
  flags: LoopFlags,
  procedure: Procedure,
): { settings: LoopSettings } | { errors: SettingError[] } {
  const errors: SettingError[] = [];
  const layers: Layer[] = [
    flagLayer(flags, errors),
    { from: () => `procedure ${procedure.name}`, says: saidBy(procedure) },
    envLayer(env, errors),
    ...fileLayers(root, home, flags.config, errors),
  ];
  if (errors.length > 0) return { errors };
  const entries = NAMES.map((name) => [name, pickSetting(name, layers)]);
  return { settings: Object.fromEntries(entries) as LoopSettings };
}

function pickSetting(name: Name, layers: Layer[]): Setting<Value> {
  const layer = layers.find(({ says }) => says[name] !== undefined);
  return layer ? { value: layer.says[name]!, from: layer.from(name) } : { value: BUILT_IN[name], from: "built in" };
}

// ── Flags and the environment: texts ────────────────────────────────────────

const flagName = (name: Name) => `--${name.replaceAll("_", "-")}`;

function flagLayer(flags: LoopFlags, errors: SettingError[]): Layer {
  if (flags.unlimited && flags.max_iterations !== undefined)
    errors.push({ what: "--max-iterations and --unlimited cannot be used together", hint: "give one of the two" });
  const ai = flags.ai_cmd ?? flags.ai;
  if (flags.ai !== undefined && flags.ai_cmd !== undefined)
    errors.push({
      what: "--ai and --ai-cmd cannot be used together",
      hint: "give the agent's name, or a command line",
    });
  const says = readTexts({ ...flags, ...(ai !== undefined && { ai }) }, flagName, errors);
  const from = (name: Name) => {
    if (name === "max_iterations" && flags.unlimited) return "--unlimited";
    return name === "ai" && flags.ai_cmd !== undefined ? "--ai-cmd" : flagName(name);
  };
  return { from, says: flags.unlimited ? { ...says, max_iterations: null } : says };
}

function envLayer(env: Env, errors: SettingError[]): Layer {
  const given = {
    max_iterations: env.PAWL_LOOP_MAX_ITERATIONS,
    failure_threshold: env.PAWL_LOOP_FAILURE_THRESHOLD,
    timeout: env.PAWL_LOOP_TIMEOUT,
    time_limit: env.PAWL_LOOP_TIME_LIMIT,
    budget: env.PAWL_LOOP_BUDGET,
    ai: env.PAWL_LOOP_AI,
    permissions: env.PAWL_LOOP_PERMISSIONS,
    buffer: env.PAWL_LOOP_BUFFER,
  };
  const from = (name: Name) => `PAWL_LOOP_${name.toUpperCase()}`;
  // An empty variable is one that was switched off.
  const set = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== undefined && text !== ""));
  return { from, says: readTexts(set, from, errors) };
}

function readTexts(
  texts: Partial<Record<Name, string>>,
  called: (name: Name) => string,
  errors: SettingError[],
): Layer["says"] {
  const says: Layer["says"] = {};
  for (const name of NAMES) {
    const text = texts[name];
    if (text === undefined) continue;
    const value = readValue(name, text.trim());
    if (value === undefined || value === "") errors.push(wrong(name, called(name), text));
    else says[name] = value;
  }
  return says;
}

/** undefined: it is none. */
function readValue(name: Name, text: string): Value | undefined {
  if (name === "ai") return text;
  if (name === "permissions") return PERMISSIONS.find((word) => word === text);
  if (name === "max_iterations" && text === "unlimited") return null;
  const timed = name === "timeout" || name === "time_limit";
  const number = name === "budget" ? /^\$?(\d{1,9}(?:\.\d{1,6})?)$/ : /^(\d{1,12})$/;
  const written = (timed ? /^(\d{1,12})([smh]?)$/ : number).exec(text);
  if (!written) return undefined;
  const value = Number(written[1]) * (timed ? SECONDS[(written[2] || "s") as keyof typeof SECONDS] : 1);
  const { min, max } = BOUNDS[name];
  return value >= min && value <= max ? value : undefined;
}

function wrong(name: Name, called: string, text: string): SettingError {
  if (name === "ai") return { what: `${called} is empty`, hint: "name an agent, such as claude, or a command line" };
  if (name === "permissions")
    return { what: `${called}: ${quote(text)} is none of them`, hint: `write ${PERMISSIONS.join(", ")}` };
  const { min, max } = BOUNDS[name];
  return {
    what: `${called}: ${quote(text)} is not such a number`,
    hint: `write a number from ${min} to ${max}${UNITS[name]}`,
  };
}

const UNITS: Record<Numeric, string> = {
  max_iterations: ", or unlimited",
  timeout: " seconds, or as 90s, 30m, 2h",
  time_limit: " seconds, or as 90s, 30m, 2h",
  budget: " US dollars",
  buffer: " bytes",
  failure_threshold: "",
};

// ── Files: checked already when they were read ──────────────────────────────

function fileLayers(root: string, home: string, config: string | undefined, errors: SettingError[]): Layer[] {
  const layer = (file: string, read: { config: { loop?: LoopLevel } } | { errors: Problem[] }): Layer => {
    if ("config" in read) return { from: () => file, says: saidBy(read.config.loop ?? {}) };
    for (const { file: where, line, column, message, hint } of read.errors)
      errors.push({ what: `${where}:${line}:${column}: ${message}`, hint });
    return { from: () => file, says: {} };
  };
  const person = () => layer(CONFIG_SHOWN, readConfig(configPath(home)));
  if (config === undefined) {
    const read = readProject(root);
    return [layer(PROJECT_FILE, "errors" in read ? read : { config: read.project }), person()];
  }
  const path = resolve(root, config);
  if (lookAt(path)?.isFile()) return [layer(config, readConfig(path, config)), person()];
  errors.push({
    what: `--config: there is no file ${quote(config)}`,
    hint: "give the path of a YAML file with `loop:`",
  });
  return [person()];
}

function saidBy(level: LoopLevel | Procedure): Layer["says"] {
  const entries = NAMES.map((name) => [name, (level as LoopLevel)[name]] as const);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === "max_iterations" && value === "unlimited" ? null : value]),
  );
}
