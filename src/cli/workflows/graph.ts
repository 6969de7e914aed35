import { renderMermaid, renderText } from "../../definitions/graph.ts";
import { type Io, readArgs, theWorkflow } from "./workflow-args.ts";

export const summary = "draw a workflow";
export const usage = `usage: pawl graph <name|file> [--mermaid]

A picture for the terminal: stages from top to bottom, with every signal and where it leads.

--mermaid  a Mermaid flowchart instead, for Markdown files and documentation

exit code: 0 drawn, 1 the workflow has problems, 2 wrong usage`;

export function run(args: string[], io: Io): number {
  const read = readArgs(args, ["--mermaid"], usage, io);
  if ("code" in read) return read.code;
  const result = theWorkflow(read, usage, io);
  if ("code" in result) return result.code;
  io.out(`${read.flags.has("--mermaid") ? renderMermaid(result.workflow) : renderText(result.workflow)}\n`);
  return 0;
}
