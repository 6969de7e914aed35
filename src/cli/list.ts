import { type Found, listWorkflows, problemsOf } from "../author/registry.ts";
import { findRoot } from "../store/place.ts";
import { type Io, misuse, readArgs } from "./workflow-args.ts";

export const summary = "list the workflows that can be started here";
export const usage = `usage: pawl list [--json]

A project's own workflows (.pawl/workflows/) come before yours (~/.config/pawl/workflows/), and yours before the
built-in ones of the same name.`;

export function run(args: string[], io: Io): number {
  const read = readArgs(args, ["--json"], usage, io);
  if ("code" in read) return read.code;
  if (read.names.length > 0) return misuse(io, "list takes no names", "`pawl show <name>` shows one workflow", usage);
  const entries = listWorkflows(findRoot(io.cwd), io.home).map(entryOf);
  io.out(read.flags.has("--json") ? `${JSON.stringify({ workflows: entries }, null, 2)}\n` : `${asTable(entries)}\n`);
  return 0;
}

interface Entry {
  name: string;
  title: string;
  origin: string;
  file: string;
  arm: string[];
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

function asTable(entries: Entry[]): string {
  const rows = entries.map((entry) => [
    entry.name,
    entry.origin,
    entry.arm.join(" "),
    entry.problems > 0
      ? `${entry.problems} problem${entry.problems === 1 ? "" : "s"}: see pawl check ${entry.name}`
      : entry.title,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
