/** Finds procedures and compiles them: the project's, the person's, the built-in ones. */
import { homedir } from "node:os";
import { basename, dirname, resolve } from "node:path";
import type { Phase, Procedure } from "../kernel/types/procedure.ts";
import { realpath } from "../native/disk.ts";
import { insideRoot, messageOf, namesOrNone, type ReadResult, readText } from "../store/files.ts";
import { join } from "../store/names.ts";
import { PROCEDURES } from "./builtin/procedures.ts";
import type { NamedGates } from "./gates.ts";
import { type Problem, problemAt, quote } from "./problem.ts";
import {
  type CompiledProcedure,
  compileProcedure,
  type FragmentReader,
  withBuiltins,
  withPhase,
} from "./procedure-compile.ts";
import { readProject } from "./project.ts";

interface Source {
  /** the file's name without .yaml */
  name: string;
  origin: "project" | "user" | "builtin" | "file";
  /** for people: relative to the project, or with ~, or builtin:<name> */
  file: string;
  text: string;
  readFragment: FragmentReader;
  /** the file is there but cannot be read, and this is why */
  unreadable?: string;
}

export type FoundProcedure = Source & CompiledProcedure;

const NAME = /^[a-z][a-z0-9-]{0,47}$/;
const MAX_FILE = 256 * 1024;
const MAX_FRAGMENT = 64 * 1024;

/** null: there is none of that name. */
export function findProcedure(name: string, root: string, home: string = homedir()): FoundProcedure | null {
  if (!NAME.test(name)) return null;
  const source = sourcesOf(root, home).find((one) => one.name === name);
  return source ? compileSource(source, readProject(root)) : null;
}

/** Project over person over built-in, by name; the main ones first. */
export function listProcedures(root: string, home: string = homedir()): FoundProcedure[] {
  const project = readProject(root);
  const found = sourcesOf(root, home).map((source) => compileSource(source, project));
  const rank = (one: FoundProcedure) => ("procedure" in one && one.procedure.main ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b));
}

/** A procedure given by its path; the fragments that it names are below the folder that holds its folder. */
export function procedureOfFile(path: string, shownAs: string, root: string): FoundProcedure {
  const base = dirname(dirname(path));
  const source: Source = {
    name: basename(path).replace(/\.ya?ml$/, ""),
    origin: "file",
    file: shownAs,
    readFragment: withBuiltins(fragmentsBelow(base, "", dirname(dirname(shownAs)))),
    ...contentOf(readText(path, MAX_FILE)),
  };
  return compileSource(source, readProject(root));
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

function sourcesOf(root: string, home: string): Source[] {
  const byName = new Map<string, Source>();
  for (const source of [...projectSources(root), ...userSources(home), ...builtins()])
    if (!byName.has(source.name)) byName.set(source.name, source);
  return [...byName.values()];
}

function builtins(): Source[] {
  const none = () => ({ why: "it is not built in", hint: 'write "builtin:" before it' });
  return [...PROCEDURES].map(([name, text]) => ({
    name,
    origin: "builtin",
    file: `builtin:${name}`,
    text,
    readFragment: withBuiltins(none),
  }));
}

/** Everything in a repository is somebody else's: no link is followed, so that nothing outside of it is read. */
function projectSources(root: string): Source[] {
  const readFragment = withBuiltins(fragmentsBelow(root, ".pawl/", ".pawl"));
  return yamlFiles(join(root, ".pawl/procedures")).map((file) => ({
    name: file.replace(/\.yaml$/, ""),
    origin: "project",
    file: `.pawl/procedures/${file}`,
    readFragment,
    ...contentOf(readInside(root, `.pawl/procedures/${file}`, MAX_FILE)),
  }));
}

/** In the home, a link to the folder or to a procedure is the person's. */
function userSources(home: string): Source[] {
  const base = realOr(join(home, ".config/pawl"));
  const readFragment = withBuiltins(fragmentsBelow(base, "", "~/.config/pawl"));
  return yamlFiles(join(base, "procedures")).map((file) => ({
    name: file.replace(/\.yaml$/, ""),
    origin: "user",
    file: `~/.config/pawl/procedures/${file}`,
    readFragment,
    ...contentOf(readText(realOr(join(base, "procedures", file)), MAX_FILE)),
  }));
}

function fragmentsBelow(base: string, prefix: string, shown: string): FragmentReader {
  return (path) => {
    const file = readInside(base, `${prefix}${path}`, MAX_FRAGMENT);
    if (file.ok) return { text: file.text, file: `${shown}/${path}` };
    const why = file.why === "too large" ? `it is larger than ${MAX_FRAGMENT / 1024} KB` : (file.detail ?? file.why);
    return { why, hint: `create ${shown}/${path}, or write "builtin:" before a fragment that is built in` };
  };
}

function readInside(base: string, relative: string, max: number): ReadResult {
  try {
    return readText(insideRoot(base, relative), max);
  } catch (error) {
    return { ok: false, why: "unreadable", detail: messageOf(error) };
  }
}

function contentOf(file: ReadResult): { text: string; unreadable?: string } {
  return file.ok ? { text: file.text } : { text: "", unreadable: file.detail ?? file.why };
}

function realOr(path: string): string {
  try {
    return realpath(path);
  } catch {
    return path;
  }
}

const yamlFiles = (folder: string) =>
  namesOrNone(folder)
    .filter((file) => file.endsWith(".yaml") && !file.startsWith("."))
    .sort();

/** A pawl.yaml with mistakes guards nothing, so nothing that it may want to guard is started. */
function compileSource(source: Source, project: ReturnType<typeof readProject>): FoundProcedure {
  if (source.unreadable !== undefined) return { ...source, errors: [unreadable(source)] };
  if ("errors" in project) return { ...source, errors: project.errors };
  const named: NamedGates = project.project.gates;
  const compiled = compileProcedure(source.text, source.file, source.readFragment, named);
  const misnamed = "procedure" in compiled && compiled.procedure.name !== source.name;
  return { ...source, ...(misnamed ? { errors: [misnaming(source, compiled.procedure.name)] } : compiled) };
}

function unreadable(source: Source): Problem {
  const message = `the file cannot be read: ${source.unreadable}`;
  return problemAt(source.file, "", 0, message, "check the file and its permissions; links are not followed");
}

function misnaming(source: Source, name: string): Problem {
  const offset = Math.max(0, source.text.search(/^name:/m));
  const message = `the file ${source.name}.yaml calls its procedure ${quote(name)}`;
  return problemAt(source.file, source.text, offset, message, `rename the file to ${name}.yaml, or the procedure`);
}
