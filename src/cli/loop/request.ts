/** The request for a loop: procedure, settings with their origin, context. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { type LoopFlags, type LoopSettings, resolveSettings } from "../../definitions/loop-config.ts";
import { findProcedure, overridePhases } from "../../definitions/procedures.ts";
import { PHASES, type Procedure } from "../../kernel/types/procedure.ts";
import { UserError } from "../../kernel/user-error.ts";
import type { Context } from "../../loop/core/compose.ts";
import { homeDir } from "../../store/home.ts";
import type { Io, Parsed } from "../shared/args.ts";

export interface LoopRequest {
  procedure: Procedure;
  settings: LoopSettings;
  context: Context[];
}

export const OPTIONS = [
  "--max-iterations=",
  "--failure-threshold=",
  "--timeout=",
  "--time-limit=",
  "--budget=",
  "--ai=",
  "--ai-cmd=",
  "--config=",
  "--permissions=",
  "--context=",
  ...PHASES.map((phase) => `--${phase}=`),
  "--unlimited",
];

/** Exit code 2 means a limit here, so wrong use is 1. */
export const wrongUse = (what: string, hint: string) => new UserError(what, hint, 1);

export function readRequest(root: string, name: string, parsed: Parsed, io: Io): LoopRequest {
  const procedure = withPhases(procedureNamed(root, name), parsed, io);
  const resolved = resolveSettings(root, homeDir(), process.env, flagsOf(parsed, io.cwd), procedure);
  if ("errors" in resolved) {
    const [first] = resolved.errors;
    throw wrongUse(
      resolved.errors.map(({ what }) => what).join("; "),
      first?.hint ?? "`pawl loop --help` lists the options",
    );
  }
  const context = (parsed.lists["--context"] ?? []).map((given) => contextOf(given, io));
  return { procedure, settings: resolved.settings, context };
}

function procedureNamed(root: string, name: string): Procedure {
  const found = findProcedure(name, root);
  if (!found) throw wrongUse(`there is no procedure ${name}`, "`pawl loop` lists them");
  if ("procedure" in found) return found.procedure;
  const { file, line, column, message, hint } = found.errors[0]!;
  throw wrongUse(`${file}:${line}:${column}: ${message}`, hint || "`pawl check` shows all errors");
}

function withPhases(procedure: Procedure, { lists }: Parsed, io: Io): Procedure {
  const given = Object.fromEntries(
    PHASES.flatMap((phase) => (lists[`--${phase}`] ? [[phase, lists[`--${phase}`]!]] : [])),
  );
  const changed = overridePhases(procedure, given, io.cwd);
  if ("what" in changed) throw wrongUse(changed.what, changed.hint);
  return changed.procedure;
}

function flagsOf({ values, flags }: Parsed, cwd: string): LoopFlags {
  const named: Record<keyof LoopFlags, string | boolean | undefined> = {
    max_iterations: values["--max-iterations"],
    unlimited: flags.has("--unlimited"),
    failure_threshold: values["--failure-threshold"],
    timeout: values["--timeout"],
    time_limit: values["--time-limit"],
    budget: values["--budget"],
    ai: values["--ai"],
    ai_cmd: values["--ai-cmd"],
    permissions: values["--permissions"],
    buffer: undefined,
    config: values["--config"] === undefined ? undefined : resolve(cwd, values["--config"]),
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)) as LoopFlags;
}

const MOST_CONTEXT = 1 << 20;

/** The name of a file stands for its content; anything else is the text itself. */
function contextOf(given: string, io: Io): Context {
  const path = resolve(io.cwd, given);
  if (given.includes("\n") || given.length > 4_096 || !existsSync(path)) return { text: given };
  const stat = statSync(path);
  if (!stat.isFile()) throw wrongUse(`--context: ${given} is not a file`, "name a file, or write the text itself");
  if (stat.size > MOST_CONTEXT) throw wrongUse(`--context: ${given} is larger than 1 MB`, "give the part that matters");
  return { text: readFileSync(path, "utf8"), source: given };
}
