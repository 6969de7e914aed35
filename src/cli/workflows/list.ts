import { type FoundProcedure, listProcedures } from "../../definitions/procedures.ts";
import { type Found, listWorkflows, problemsOf } from "../../definitions/registry.ts";
import { findRoot } from "../../store/place.ts";
import { type Io, misuse, readArgs } from "./workflow-args.ts";

export const summary = "list the workflows and procedures that can be started here";
export const usage = `usage: pawl list [--json]

Workflows first, then the procedures of \`pawl loop\`, the main ones before the others.
A project's own (.pawl/workflows/, .pawl/procedures/) come before yours (~/.config/pawl/workflows/,
~/.config/pawl/procedures/), and yours before the built-in ones of the same name.`;

export function run(args: string[], io: Io): number {
  const read = readArgs(args, ["--json"], usage, io);
  if ("code" in read) return read.code;
  if (read.names.length > 0) return misuse(io, "list takes no names", "`pawl show <name>` shows one workflow", usage);
  const root = findRoot(io.cwd);
  const workflows = listWorkflows(root, io.home).map(entryOf);
  const procedures = listProcedures(root, io.home).map(procedureEntry);
  const text = `${asTable(workflows)}\n\nProcedures, for pawl loop:\n${asTable(procedures)}`;
  io.out(`${read.flags.has("--json") ? JSON.stringify({ workflows, procedures }, null, 2) : text}\n`);
  return 0;
}

interface Entry {
  name: string;
  title: string;
  origin: string;
  file: string;
  /** of workflows */
  arm?: string[];
  /** of procedures */
  main?: boolean;
  problems: number;
}

function entryOf(found: Found): Entry {
  const { name, origin, file } = found;
  const workflow = "workflow" in found ? found.workflow : null;
  return {
    name,
    title: workflow?.title ?? "",
    origin,
    file,
    arm: workflow?.arm ?? [],
    problems: problemsOf(found).length,
  };
}

function procedureEntry(found: FoundProcedure): Entry {
  const { name, origin, file } = found;
  const procedure = "procedure" in found ? found.procedure : null;
  const problems = "errors" in found ? found.errors.length : 0;
  return { name, title: procedure?.title ?? "", origin, file, main: procedure?.main ?? false, problems };
}

const MOST_WORDS = 2;
const shortly = (words: string[]) =>
  [...words.slice(0, MOST_WORDS), ...(words.length > MOST_WORDS ? ["…"] : [])].join(" ");

function asTable(entries: Entry[]): string {
  const rows = entries.map((entry) => [
    entry.name,
    entry.origin,
    ...(entry.arm ? [shortly(entry.arm)] : []),
    entry.problems > 0
      ? `${entry.problems} problem${entry.problems === 1 ? "" : "s"}: see pawl check ${entry.name}`
      : entry.title,
  ]);
  const widths = (rows[0] ?? []).slice(0, -1).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
