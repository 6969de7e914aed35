import { CONFIG_SHOWN, readConfig } from "../../definitions/config.ts";
import { listFreeRound } from "../../definitions/graph.ts";
import { type Problem, renderProblem } from "../../definitions/problem.ts";
import { type FoundProcedure, listProcedures } from "../../definitions/procedures.ts";
import { PROJECT_FILE, readProject } from "../../definitions/project.ts";
import { type FoundWorkflow, listWorkflows } from "../../definitions/registry.ts";
import { DEFAULT_LAPS } from "../../definitions/schema/workflow.ts";
import { configPath } from "../../definitions/shortcuts.ts";
import { counted } from "../../kernel/text/counted.ts";
import { homeDir } from "../../store/home.ts";
import { findRoot } from "../../store/place.ts";
import { type Io, type Parsed, print } from "../shared/args.ts";
import { findTarget, listProblems, procedureTarget } from "./targets.ts";

export const usage = `usage: pawl check [file|name …] [--json]

Check that each stage can be reached and can end, that every signal has one meaning and that every
prompt exists; for a procedure, that its fragments exist and are filled in. Without arguments: check
pawl.yaml, your ~/.config/pawl/config.yaml and all workflows and procedures: the project's, yours and
the built-in ones.

Exit codes: 0 no errors, 1 errors found, 2 wrong usage.`;

export const options = ["--json"];
export const showsUsage = true;

export function run(parsed: Parsed, io: Io): number {
  const named = parsed.words.map((name) => procedureTarget(name, io) ?? findTarget(name, io));
  const root = findRoot(io.cwd);
  const project = readProject(root);
  // With errors in pawl.yaml nothing can be started, so they are reported once and not for each workflow.
  if ("errors" in project) return tell(parsed, io, [PROJECT_FILE], project.errors, project.errors.map(renderProblem));
  const all = named.length > 0 ? named : [...listWorkflows(root, io.home), ...listProcedures(root, io.home)];
  const config = named.length > 0 ? [] : configProblems(io);
  const files = [...(config.length > 0 ? [CONFIG_SHOWN] : []), ...all.map(({ file }) => file)];
  const lines = [...config.map(renderProblem), ...all.flatMap(renderLines)];
  return tell(parsed, io, files, [...config, ...all.flatMap(listProblems)], lines, all.flatMap(listWarnings));
}

/** Without it the shortcuts are as they were shipped; workflows go on. */
function configProblems(io: Io): Problem[] {
  const config = readConfig(configPath(io.home ?? homeDir()));
  return "errors" in config ? config.errors : [];
}

function tell(
  parsed: Parsed,
  io: Io,
  checked: string[],
  problems: Problem[],
  lines: string[],
  warnings: string[] = [],
): number {
  const ok = problems.length === 0;
  const verdict = ok ? [] : ["", counted(problems.length, "problem")];
  const text = () => `${[...lines, ...verdict].join("\n")}\n`;
  return print(io, parsed, { ok, checked, problems, warnings }, text, ok ? 0 : 1);
}

function renderLines(found: FoundWorkflow | FoundProcedure): string[] {
  if ("errors" in found) return found.errors.map(renderProblem);
  return [`${found.file}: ok, ${sumSizes(found)}`, ...listWarnings(found).map((text) => `  warning: ${text}`)];
}

/** Works as it is written, but the author may not have meant it. */
function listWarnings(found: FoundWorkflow | FoundProcedure): string[] {
  if (!("workflow" in found)) return [];
  const { laps } = found.workflow.limits;
  const round = laps > DEFAULT_LAPS ? listFreeRound(found.workflow) : [];
  if (round.length === 0) return [];
  return [`the agent can go round (${round.join(", ")}) ${laps} times unchecked; add a gate, or lower limits.laps`];
}

function sumSizes(found: Exclude<FoundWorkflow | FoundProcedure, { errors: unknown }>): string {
  if ("procedure" in found) return counted(Object.values(found.procedure.phases).flat().length, "fragment");
  const { stages, anywhere } = found.workflow;
  const signals = new Set([...stages.flatMap((stage) => Object.keys(stage.on)), ...Object.keys(anywhere)]);
  return `${counted(stages.length, "stage")}, ${counted(signals.size, "signal")}`;
}
