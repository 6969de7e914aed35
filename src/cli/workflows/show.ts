import { renderText } from "../../definitions/graph.ts";
import { printable } from "../../definitions/problem.ts";
import type { Workflow } from "../../kernel/types/run.ts";
import { procedureTarget } from "./procedure-target.ts";
import { showProcedure } from "./show-procedure.ts";
import { type Io, misuse, readArgs, theWorkflow } from "./workflow-args.ts";

export const summary = "show one workflow or procedure";
export const usage = `usage: pawl show <name|file> [--json | --prompts | --source]

<name> is a workflow, or a procedure of \`pawl loop\`.

--json     the compiled workflow, as it is pinned to a run
--prompts  every text the agent is given
--source   its YAML as it was written; also of a built-in one, to begin your own with

exit code: 0 shown, 1 the workflow has problems, 2 wrong usage`;

export function run(args: string[], io: Io): number {
  const read = readArgs(args, ["--json", "--prompts", "--source"], usage, io);
  if ("code" in read) return read.code;
  if (read.flags.size > 1) {
    return misuse(io, `${[...read.flags].join(" or ")}, not both`, "--json holds the prompts too", usage);
  }
  const procedure = read.names.length === 1 ? procedureTarget(read.names[0]!, io) : null;
  if (procedure) return showProcedure(procedure, read.flags, io);
  const result = theWorkflow(read, usage, io);
  if ("code" in result) return result.code;
  if (read.flags.has("--source")) {
    io.out(result.found.text);
    return 0;
  }
  io.out(`${view(result.workflow, read.flags)}\n`);
  return 0;
}

function view(workflow: Workflow, flags: ReadonlySet<string>): string {
  if (flags.has("--json")) return JSON.stringify(workflow, null, 2);
  return flags.has("--prompts") ? prompts(workflow) : overview(workflow);
}

function overview(workflow: Workflow): string {
  const facts = [
    ["source", workflow.source],
    ["document", workflow.document?.path ?? "none"],
    ...(workflow.reading === undefined ? [] : [["reading", workflow.reading]]),
    ["log", workflow.log ?? "none"],
    ["limits", `${workflow.limits.idle} continues without progress, then the run stalls`],
  ];
  return [renderText(workflow), "", ...facts.map(([name, value]) => `${name!.padEnd(9)} ${printable(value!)}`)].join(
    "\n",
  );
}

function prompts(workflow: Workflow): string {
  const texts: [string, string][] = [
    ["intro", workflow.intro],
    ...workflow.stages.map((stage): [string, string] => [`stage ${stage.id}`, stage.say]),
    ...Object.entries(workflow.asks).map(([name, ask]): [string, string] => [`ask ${name}`, ask.text]),
  ];
  const filled = texts.filter(([, text]) => text !== "");
  return filled
    .map(([name, text]) => `── ${name} ──\n\n${printable(text)}\n`)
    .join("\n")
    .trimEnd();
}
