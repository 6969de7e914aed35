/** What the four commands about workflows (check, list, show, graph) share. */
import { resolve } from "node:path";
import { printable, quote, renderProblem, suggest } from "../../definitions/problem.ts";
import { type Found, findByFile, findByName, problemsOf } from "../../definitions/registry.ts";
import { listSources } from "../../definitions/sources.ts";
import type { Workflow } from "../../kernel/types/run.ts";
import { findRoot } from "../../store/place.ts";

export interface Io {
  out(text: string): void;
  err(text: string): void;
  cwd: string;
  isTTY: boolean;
  /** whose workflows count besides the project's; the person's own home if left out */
  home?: string;
}

interface Args {
  flags: ReadonlySet<string>;
  names: string[];
}

/** `code`: the arguments are wrong, or help was asked for; it has been said, and this is the exit code. */
export function readArgs(args: string[], known: string[], usage: string, io: Io): Args | { code: number } {
  const flags = args.filter((arg) => arg.startsWith("-"));
  if (flags.some((flag) => flag === "--help" || flag === "-h")) {
    io.out(`${usage}\n`);
    return { code: 0 };
  }
  const unknown = flags.find((flag) => !known.includes(flag));
  if (unknown === undefined) return { flags: new Set(flags), names: args.filter((arg) => !arg.startsWith("-")) };
  return { code: misuse(io, `unknown option ${quote(unknown)}`, suggest(unknown, known, "options"), usage) };
}

export function misuse(io: Io, what: string, next: string, usage: string): number {
  io.err(`pawl: ${what}\n  hint: ${next}\n\n${usage}\n`);
  return 2;
}

/** A workflow by name, or by the path of its file. */
export function findTarget(target: string, io: Io): { found: Found } | { what: string; next: string } {
  return /[/\\]|\.ya?ml$/.test(target) ? fileTarget(target, io) : nameTarget(target, io);
}

function fileTarget(target: string, io: Io): { found: Found } | { what: string; next: string } {
  const path = resolve(io.cwd, target);
  try {
    return { found: findByFile(path, printable(target), findRoot(io.cwd)) };
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : (error as Error).message;
    const next = "give the path of a workflow's .yaml file, or a name from `pawl list`";
    return { what: `cannot read ${quote(target)}: ${why}`, next };
  }
}

function nameTarget(target: string, io: Io): { found: Found } | { what: string; next: string } {
  const root = findRoot(io.cwd);
  const found = findByName(target, root, io.home);
  if (found) return { found };
  const names = listSources(root, io.home).map((source) => source.name);
  return { what: `there is no workflow ${quote(target)}`, next: suggest(target, names, "known workflows") };
}

/** The one workflow a command is about, compiled; or the exit code after saying what is wrong. */
export function theWorkflow(
  args: Args,
  usage: string,
  io: Io,
): { workflow: Workflow; found: Found } | { code: number } {
  const [target, ...more] = args.names;
  if (target === undefined || more.length > 0) {
    const what = target === undefined ? "which workflow?" : "one workflow at a time";
    return { code: misuse(io, what, "`pawl list` shows their names", usage) };
  }
  const result = findTarget(target, io);
  if ("what" in result) return { code: misuse(io, result.what, result.next, usage) };
  const { found } = result;
  if ("workflow" in found) return { workflow: found.workflow, found };
  io.err(`${problemsOf(found).map(renderProblem).join("\n")}\n`);
  return { code: 1 };
}
