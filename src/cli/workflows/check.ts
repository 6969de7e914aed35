import { CONFIG_SHOWN, readConfig } from "../../definitions/config.ts";
import { type Problem, renderProblem } from "../../definitions/problem.ts";
import { type FoundProcedure, listProcedures } from "../../definitions/procedures.ts";
import { PROJECT_FILE, readProject } from "../../definitions/project.ts";
import { type Found, listWorkflows } from "../../definitions/registry.ts";
import { configPath } from "../../definitions/shortcuts.ts";
import { homeDir } from "../../store/home.ts";
import { findRoot } from "../../store/place.ts";
import { procedureTarget } from "./procedure-target.ts";
import { findTarget, type Io, misuse, readArgs } from "./workflow-args.ts";

export const summary = "check workflows and procedures for errors";
export const usage = `usage: pawl check [file|name …] [--json]

Check that each stage can be reached and can end, that every signal has one meaning and that every
prompt exists; for a procedure, that its fragments exist and are filled in. Without arguments: check
pawl.yaml, your ~/.config/pawl/config.yaml and all workflows and procedures: the project's, yours and
the built-in ones.

Exit codes: 0 no errors, 1 errors found, 2 wrong usage.`;

export function run(args: string[], io: Io): number {
  const read = readArgs(args, ["--json"], usage, io);
  if ("code" in read) return read.code;
  const checked: Checked[] = [];
  for (const name of read.names) {
    const procedure = procedureTarget(name, io);
    const result = procedure ? { found: procedure } : findTarget(name, io);
    if ("what" in result) return misuse(io, result.what, result.next, usage);
    checked.push(result.found);
  }
  const root = findRoot(io.cwd);
  const project = readProject(root);
  // With mistakes in pawl.yaml nothing can be started; said once, not for each workflow.
  if ("errors" in project) return brokenProject(project.errors, read.flags.has("--json"), io);
  const all = read.names.length > 0 ? checked : [...listWorkflows(root, io.home), ...listProcedures(root, io.home)];
  const config = read.names.length > 0 ? [] : configProblems(io);
  if (read.flags.has("--json")) io.out(`${JSON.stringify(asJson(all, config), null, 2)}\n`);
  else io.out(`${asText(all, config)}\n`);
  return config.length > 0 || all.some((found) => problemsOf(found).length > 0) ? 1 : 0;
}

type Checked = Found | FoundProcedure;

const problemsOf = (found: Checked): Problem[] => ("errors" in found ? found.errors : []);

/** Without it the shortcuts are as they were shipped; workflows go on. */
function configProblems(io: Io): Problem[] {
  const config = readConfig(configPath(io.home ?? homeDir()));
  return "errors" in config ? config.errors : [];
}

function brokenProject(problems: Problem[], json: boolean, io: Io): number {
  const said = json
    ? JSON.stringify({ ok: false, checked: [PROJECT_FILE], problems }, null, 2)
    : [...problems.map(renderProblem), "", counted(problems.length, "problem")].join("\n");
  io.out(`${said}\n`);
  return 1;
}

function asJson(all: Checked[], config: Problem[]) {
  const problems: Problem[] = [...config, ...all.flatMap(problemsOf)];
  const checked = [...(config.length > 0 ? [CONFIG_SHOWN] : []), ...all.map((found) => found.file)];
  return { ok: problems.length === 0, checked, problems };
}

function asText(all: Checked[], config: Problem[]): string {
  const lines = all.flatMap((found) => {
    const problems = problemsOf(found);
    return problems.length > 0 ? problems.map(renderProblem) : [`${found.file}: ok, ${size(found)}`];
  });
  const count = config.length + all.flatMap(problemsOf).length;
  const verdict = count === 0 ? [] : ["", counted(count, "problem")];
  return [...config.map(renderProblem), ...lines, ...verdict].join("\n");
}

function size(found: Checked): string {
  if ("procedure" in found) return counted(Object.values(found.procedure.phases).flat().length, "fragment");
  if (!("workflow" in found)) return "";
  const { stages, anywhere } = found.workflow;
  const signals = new Set([...stages.flatMap((stage) => Object.keys(stage.on)), ...Object.keys(anywhere)]);
  return `${counted(stages.length, "stage")}, ${counted(signals.size, "signal")}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
