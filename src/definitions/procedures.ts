/** Finds procedures and compiles them: the project's, the person's, the built-in ones. */
import { homedir } from "node:os";
import { dirname, resolve } from "node:path";
import type { Phase, Procedure } from "../kernel/types/procedure.ts";
import { insideRoot, messageOf, type ReadResult, readText } from "../store/files.ts";
import { PROCEDURES } from "./builtin/procedures.ts";
import { quote } from "./problem.ts";
import {
  type CompiledProcedure,
  compileProcedure,
  type FragmentReader,
  withBuiltins,
  withPhase,
} from "./procedure-compile.ts";
import { readProject } from "./project.ts";
import { type Kind, listSources, misnaming, type Source, sourceByName, sourceFrom, unreadable } from "./sources.ts";

export type FoundProcedure = Source & CompiledProcedure;

/** Everything in a repository is somebody else's: no link is followed, so that nothing outside of it is read. */
const PROCEDURE_FILES: Kind = { folder: "procedures", builtin: PROCEDURES, within: insideRoot };
const MAX_FRAGMENT = 64 * 1024;

/** null: there is none of that name. */
export function findProcedure(name: string, root: string, home: string = homedir()): FoundProcedure | null {
  const source = sourceByName(name, root, home, PROCEDURE_FILES);
  return source && compileSource(source, root, readProject(root));
}

/** Project over person over built-in, by name; the main ones first. */
export function listProcedures(root: string, home: string = homedir()): FoundProcedure[] {
  const project = readProject(root);
  const found = listSources(root, home, PROCEDURE_FILES).map((source) => compileSource(source, root, project));
  const rank = (one: FoundProcedure) => ("procedure" in one && one.procedure.main ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b));
}

export function procedureOfFile(path: string, shownAs: string, root: string): FoundProcedure {
  const source = sourceFrom("file", dirname(path), shownAs, () => path);
  return compileSource(source, root, readProject(root));
}

/** --observe, --orient, --decide, --act: each value is a fragment (builtin: or the path of a file), or a text. */
export function overridePhases(
  procedure: Procedure,
  given: Partial<Record<Phase, string[]>>,
  cwd: string,
): { procedure: Procedure } | { what: string; hint: string } {
  let changed = procedure;
  for (const [phase, values] of Object.entries(given) as [Phase, string[]][]) {
    const texts = values.map((value) => phaseText(value, cwd));
    for (const [at, one] of texts.entries())
      if ("why" in one) return { what: `--${phase}: ${quote(values[at]!)}: ${one.why}`, hint: one.hint };
    const fragments = texts.flatMap((one) => ("text" in one ? [{ text: one.text, source: one.file }] : []));
    const result = withPhase(changed, phase, fragments);
    if ("what" in result) return result;
    changed = result.procedure;
  }
  return { procedure: changed };
}

/** The person types it: any file that may be read will do. */
function phaseText(value: string, cwd: string): ReturnType<FragmentReader> {
  const named = /^\S+\.md$/.test(value);
  if (!named) return { text: value, file: "content" };
  return withBuiltins((path) => {
    const file = readText(resolve(cwd, path), MAX_FRAGMENT);
    return file.ok
      ? { text: file.text, file: path }
      : { why: file.detail ?? file.why, hint: "give the path of a .md file, or the text itself" };
  })(value);
}

/** The fragments that a procedure names are below the folder that holds its folder. */
function fragmentReader({ origin, folder, file }: Source, root: string): FragmentReader {
  const shown = dirname(dirname(file));
  if (origin === "builtin") return () => ({ why: "it is not built in", hint: 'write "builtin:" before it' });
  return origin === "project" ? fragmentsBelow(root, ".pawl/", shown) : fragmentsBelow(dirname(folder), "", shown);
}

function fragmentsBelow(base: string, prefix: string, shown: string): FragmentReader {
  return (path) => {
    const file = readInside(base, `${prefix}${path}`);
    if (file.ok) return { text: file.text, file: `${shown}/${path}` };
    const why = file.why === "too large" ? `it is larger than ${MAX_FRAGMENT / 1024} KB` : (file.detail ?? file.why);
    return { why, hint: `create ${shown}/${path}, or write "builtin:" before a fragment that is built in` };
  };
}

function readInside(base: string, relative: string): ReadResult {
  try {
    return readText(insideRoot(base, relative), MAX_FRAGMENT);
  } catch (error) {
    return { ok: false, why: "unreadable", detail: messageOf(error) };
  }
}

/** A pawl.yaml with mistakes guards nothing, so nothing that it may want to guard is started. */
function compileSource(source: Source, root: string, project: ReturnType<typeof readProject>): FoundProcedure {
  if (source.unreadable !== undefined) return { ...source, errors: [unreadable(source)] };
  if ("errors" in project) return { ...source, errors: project.errors };
  const readFragment = withBuiltins(fragmentReader(source, root));
  const compiled = compileProcedure(source.text, source.file, readFragment, project.project.gates);
  const misnamed = "procedure" in compiled && misnaming(source, "procedure", compiled.procedure.name);
  return { ...source, ...(misnamed ? { errors: [misnamed] } : compiled) };
}
