/** Procedures where a command is also about workflows: those go first, should both have the name. */
import { basename, dirname, resolve } from "node:path";
import { printable } from "../../definitions/problem.ts";
import { type FoundProcedure, findProcedure, procedureOfFile } from "../../definitions/procedures.ts";
import { sourceByName } from "../../definitions/sources.ts";
import { lookAt } from "../../store/files.ts";
import { findRoot } from "../../store/place.ts";
import type { Io } from "./workflow-args.ts";

/** A file is one by its folder: procedures/<name>.yaml. null: it is not about a procedure. */
export function procedureTarget(target: string, io: Io): FoundProcedure | null {
  const root = findRoot(io.cwd);
  if (!/[/\\]|\.ya?ml$/.test(target))
    return sourceByName(target, root, io.home) ? null : findProcedure(target, root, io.home);
  const path = resolve(io.cwd, target);
  const isOne = basename(dirname(path)) === "procedures" && lookAt(path)?.isFile();
  return isOne ? procedureOfFile(path, printable(target), root) : null;
}
