/** The request for a loop: procedure, settings with their origin, context. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type LoopFlags, type LoopSettings, resolveSettings } from "../../definitions/loop-config.ts";
import { didYouMean } from "../../definitions/problem.ts";
import { findProcedure, listProcedures, overridePhases } from "../../definitions/procedures.ts";
import { PHASES, type Procedure } from "../../kernel/types/procedure.ts";
import { UserError } from "../../kernel/user-error.ts";
import type { Context } from "../../loop/core/compose.ts";
import { homeDir } from "../../store/home.ts";
import type { Io, Parsed } from "../shared/args.ts";
import { hooksToBring } from "../shared/doctor-context.ts";

export interface LoopRequest {
  procedure: Procedure;
  settings: LoopSettings;
  context: Context[];
  /** what the agent's client is started with, so that Pawl's hooks run; null: it has them, or cannot have them */
  hooks: string | null;
}

const SETTINGS = [
  "max_iterations",
  "failure_threshold",
  "timeout",
  "time_limit",
  "budget",
  "ai",
  "ai_cmd",
  "permissions",
];
const optionName = (setting: string) => `--${setting.replaceAll("_", "-")}`;

const WITH_VALUE = [...SETTINGS.map(optionName), "--config", "--context", ...PHASES.map(optionName)];
export const OPTIONS = [...WITH_VALUE.map((option) => `${option}=`), "--unlimited"];

/** Exit code 2 means a limit here, so wrong use is 1. */
export const wrongUse = (what: string, hint: string) => new UserError(what, hint, 1);

export async function readRequest(root: string, name: string, parsed: Parsed, io: Io): Promise<LoopRequest> {
  const procedure = withPhases(procedureNamed(root, name), parsed, io);
  const resolved = resolveSettings(root, homeDir(), process.env, parseFlags(parsed, io.cwd), procedure);
  if ("errors" in resolved) {
    const [first] = resolved.errors;
    const what = resolved.errors.map((error) => error.what).join("; ");
    throw wrongUse(what, first?.hint ?? "`pawl loop --help` lists the options");
  }
  const context = (parsed.lists["--context"] ?? []).map((given) => readContext(given, io));
  return { procedure, settings: resolved.settings, context, hooks: await hooksToBring(root, process.env) };
}

function procedureNamed(root: string, name: string): Procedure {
  const found = findProcedure(name, root);
  if (!found) {
    const names = listProcedures(root).map((one) => one.name);
    throw wrongUse(`there is no procedure ${name}`, didYouMean(name, names, "`pawl loop` lists them"));
  }
  if ("procedure" in found) return found.procedure;
  const { file, line, column, message, hint } = found.errors[0]!;
  throw wrongUse(`${file}:${line}:${column}: ${message}`, hint || "`pawl check` shows all errors");
}

function withPhases(procedure: Procedure, { lists }: Parsed, io: Io): Procedure {
  const named = PHASES.filter((phase) => lists[`--${phase}`]);
  const given = Object.fromEntries(named.map((phase) => [phase, lists[`--${phase}`]!]));
  const changed = overridePhases(procedure, given, io.cwd);
  if ("what" in changed) throw wrongUse(changed.what, changed.hint);
  return changed.procedure;
}

function parseFlags({ values, flags }: Parsed, cwd: string): LoopFlags {
  const config = values["--config"];
  const named = SETTINGS.flatMap((name) => (optionName(name) in values ? [[name, values[optionName(name)]]] : []));
  return {
    ...Object.fromEntries(named),
    unlimited: flags.has("--unlimited"),
    ...(config !== undefined && { config: resolve(cwd, config) }),
  };
}

const MOST_CONTEXT = 1 << 20;

/** The name of a file means its content; anything else is the text itself. */
function readContext(given: string, io: Io): Context {
  const path = resolve(io.cwd, given);
  if (given.includes("\n") || given.length > 4_096 || !existsSync(path)) return { text: given };
  const stat = statSync(path);
  if (!stat.isFile()) throw wrongUse(`--context: ${given} is not a file`, "name a file, or write the text itself");
  if (stat.size > MOST_CONTEXT) throw wrongUse(`--context: ${given} is larger than 1 MB`, "give the part that matters");
  return { text: readFileSync(path, "utf8"), source: given };
}
