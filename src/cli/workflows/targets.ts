/** What the commands about workflows (check, show, graph, detect) are given: a name, or the path of a file. */
import { basename, dirname, resolve } from "node:path";
import { didYouMean, type Problem, quote, renderProblem, suggest } from "../../definitions/problem.ts";
import { type FoundProcedure, findProcedure, listProcedures, procedureOfFile } from "../../definitions/procedures.ts";
import { PROJECT_FILE } from "../../definitions/project.ts";
import { type FoundWorkflow, findByFile, findByName } from "../../definitions/registry.ts";
import { listSources, sourceByName } from "../../definitions/sources.ts";
import { counted } from "../../kernel/text/counted.ts";
import { safeText } from "../../kernel/text/safe-text.ts";
import { UserError } from "../../kernel/user-error.ts";
import { errorCode, lookAt, messageOf } from "../../store/files.ts";
import { findRoot } from "../../store/place.ts";
import type { Io } from "../shared/args.ts";

const isPath = (target: string) => /[/\\]|\.ya?ml$/.test(target);

export function findTarget(target: string, io: Io): FoundWorkflow {
  const root = findRoot(io.cwd);
  if (isPath(target)) return fileTarget(target, root, io.cwd);
  const found = findByName(target, root, io.home);
  if (found) return found;
  if (findProcedure(target, root, io.home))
    throw new UserError(
      `${quote(target)} is a procedure, not a workflow`,
      `\`pawl show ${target}\` shows it, \`pawl loop ${target}\` runs it`,
    );
  const names = listSources(root, io.home).map((source) => source.name);
  const procedures = listProcedures(root, io.home).map((one) => one.name);
  const hint = didYouMean(target, [...names, ...procedures], suggest(target, names, "known workflows"));
  throw new UserError(`there is no workflow ${quote(target)}`, hint);
}

function fileTarget(target: string, root: string, cwd: string): FoundWorkflow {
  try {
    return findByFile(resolve(cwd, target), safeText(target), root);
  } catch (error) {
    const why = errorCode(error) === "ENOENT" ? "there is no such file" : messageOf(error);
    const hint = "give the path of a workflow's .yaml file, or a name from `pawl list`";
    throw new UserError(`cannot read ${quote(target)}: ${why}`, hint);
  }
}

/** A workflow goes first, should both have the name. A file is a procedure by its folder: procedures/<name>.yaml. */
export function procedureTarget(target: string, io: Io): FoundProcedure | null {
  const root = findRoot(io.cwd);
  if (!isPath(target)) return sourceByName(target, root, io.home) ? null : findProcedure(target, root, io.home);
  const path = resolve(io.cwd, target);
  const isOne = basename(dirname(path)) === "procedures" && lookAt(path)?.isFile();
  return isOne ? procedureOfFile(path, safeText(target), root) : null;
}

/** The one workflow that a command is about; null: it has problems. */
export function compiledTarget([target, ...more]: string[], io: Io) {
  if (target === undefined) throw new UserError("which workflow?", "`pawl list` shows their names");
  if (more.length > 0) throw new UserError("one workflow at a time", "`pawl list` shows their names");
  return compiled(findTarget(target, io), io);
}

/** null: it has problems, which are printed. */
export function compiled<T extends FoundWorkflow | FoundProcedure>(
  found: T,
  io: Io,
): Exclude<T, { errors: unknown }> | null {
  if (!("errors" in found)) return found as Exclude<T, { errors: unknown }>;
  io.err(`${found.errors.map(renderProblem).join("\n")}\n`);
  return null;
}

/** In pawl.yaml, whose mistakes keep every definition from being used: each once. */
export function projectProblems(found: (FoundWorkflow | FoundProcedure)[]): string[] {
  const all = found.flatMap(listProblems).filter(({ file }) => file === PROJECT_FILE);
  return [...new Set(all.map(renderProblem))];
}

/** What is listed in place of a definition's title. */
export const troubleText = (found: FoundWorkflow | FoundProcedure): string => {
  const problems = listProblems(found);
  if (problems.every(({ file }) => file === PROJECT_FILE)) return "once pawl.yaml is fixed";
  return `${counted(problems.length, "problem")}: see pawl check ${found.name}`;
};

export const listProblems = (found: FoundWorkflow | FoundProcedure): Problem[] =>
  "errors" in found ? found.errors : [];
