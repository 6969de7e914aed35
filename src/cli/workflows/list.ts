import { type FoundProcedure, listProcedures } from "../../definitions/procedures.ts";
import { type FoundWorkflow, listWorkflows } from "../../definitions/registry.ts";
import { UserError } from "../../kernel/user-error.ts";
import { findRoot } from "../../store/place.ts";
import { type Io, type Parsed, print } from "../shared/args.ts";
import { table } from "../shared/screen.ts";
import { listProblems, projectProblems, troubleText } from "./targets.ts";

export const usage = `usage: pawl list [--json]

Workflows first, then the procedures of \`pawl loop\`, the main ones before the others.
A project's own (.pawl/workflows/, .pawl/procedures/) come before yours (~/.config/pawl/workflows/,
~/.config/pawl/procedures/), and yours before the built-in ones of the same name.`;

export const options = ["--json"];
export const showsUsage = true;

export function run(parsed: Parsed, io: Io): number {
  if (parsed.words.length > 0) throw new UserError("list takes no names", "`pawl show <name>` shows one workflow");
  const root = findRoot(io.cwd);
  const workflows = listWorkflows(root, io.home);
  const procedures = listProcedures(root, io.home);
  const text = () => {
    const parts = [workflowRows(workflows), `Procedures, for pawl loop:\n${procedureRows(procedures)}`];
    return `${[...parts, ...projectProblems([...workflows, ...procedures])].join("\n\n")}\n`;
  };
  const data = { workflows: workflows.map(workflowEntry), procedures: procedures.map(procedureEntry) };
  return print(io, parsed, data, text);
}

function workflowEntry(found: FoundWorkflow) {
  const { name, origin, file } = found;
  const { title, arm } = "workflow" in found ? found.workflow : { title: "", arm: [] };
  return { name, title, origin, file, arm, problems: listProblems(found).length };
}

function procedureEntry(found: FoundProcedure) {
  const { name, origin, file } = found;
  const { title, main = false } = "procedure" in found ? found.procedure : { title: "", main: false };
  return { name, title, origin, file, main, problems: listProblems(found).length };
}

const MOST_WORDS = 2;
const shortly = (words: string[]) =>
  [...words.slice(0, MOST_WORDS), ...(words.length > MOST_WORDS ? ["…"] : [])].join(" ");

const workflowRows = (all: FoundWorkflow[]) =>
  table(
    all.map((found) => {
      const { arm, title } = "workflow" in found ? found.workflow : { arm: [], title: troubleText(found) };
      return [found.name, found.origin, shortly(arm), title];
    }),
  );

const procedureRows = (all: FoundProcedure[]) =>
  table(
    all.map((found) => [found.name, found.origin, "procedure" in found ? found.procedure.title : troubleText(found)]),
  );
