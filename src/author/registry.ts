/** Finds workflows and compiles them. */
import { homedir } from "node:os";
import { armKey } from "./checks.ts";
import { type Compiled, compileWorkflow } from "./compile.ts";
import { type Problem, problemAt, quote } from "./problem.ts";
import { listSources, type Source, sourceByName, sourceOfFile } from "./sources.ts";

export interface Found extends Source {
  compiled: Compiled;
}

/** `word` is what the person typed first, e.g. "/complete-work" or "/pawl:complete-work". */
export function findByArm(word: string, root: string, home: string = homedir()): Found | null {
  const wanted = armKey(word);
  if (!/^\/[a-z]/.test(wanted)) return null;
  const candidates = listSources(root, home).filter((source) => source.text.includes(wanted.slice(1)));
  let broken: Found | null = null;
  for (const candidate of candidates) {
    const found = compileSource(candidate);
    if ("errors" in found.compiled) broken ??= mentions(candidate.text, wanted) ? found : null;
    else if (found.compiled.workflow.arm.some((arm) => armKey(arm) === wanted)) return found;
  }
  return broken;
}

/** A file that cannot be compiled still counts if it plainly wants the word: its author must hear of it. */
function mentions(text: string, word: string): boolean {
  const arm = text.split("\n").findIndex((line) => line.startsWith("arm:"));
  return arm >= 0 && text.split("\n").some((line, index) => index >= arm && line.includes(word));
}

export function findByName(name: string, root: string, home: string = homedir()): Found | null {
  const source = sourceByName(name, root, home);
  return source && compileSource(source);
}

export function findByFile(path: string, shownAs: string): Found {
  return compileSource(sourceOfFile(path, shownAs));
}

/** All that can be armed here, each with its problems; those between the files are added to the later file. */
export function listWorkflows(root: string, home: string = homedir()): Found[] {
  const owners = new Map<string, string>();
  return listSources(root, home).map((source) => {
    const found = compileSource(source);
    const clashes = armsOf(found).flatMap((arm) => {
      const owner = owners.get(arm);
      if (owner === undefined) owners.set(arm, source.file);
      return owner === undefined ? [] : [armClash(source, arm, owner)];
    });
    return clashes.length > 0 ? { ...found, compiled: { errors: clashes } } : found;
  });
}

export function problemsOf(found: Found): Problem[] {
  return "errors" in found.compiled ? found.compiled.errors : [];
}

function armsOf(found: Found): string[] {
  return "workflow" in found.compiled ? found.compiled.workflow.arm.map(armKey) : [];
}

function armClash(source: Source, arm: string, owner: string): Problem {
  const offset = Math.max(0, source.text.indexOf(arm));
  return problemAt(
    source.file,
    source.text,
    offset,
    `${quote(arm)} already starts ${owner}`,
    "let each workflow have its own word under arm",
  );
}

export function compileSource(source: Source): Found {
  if (source.unreadable !== undefined) return { ...source, compiled: { errors: [unreadable(source)] } };
  const compiled = compileWorkflow(source.text, source.file, source.readPrompt);
  const misnamed =
    "workflow" in compiled && source.origin !== "file" && compiled.workflow.name !== source.name
      ? misnaming(source, compiled.workflow.name)
      : null;
  return { ...source, compiled: misnamed ? { errors: [misnamed] } : compiled };
}

function unreadable(source: Source): Problem {
  const message = `the file cannot be read: ${source.unreadable}`;
  return problemAt(source.file, "", 0, message, "check the file and its permissions");
}

/** Looking a workflow up by its file's name is what keeps the look-up cheap. */
function misnaming(source: Source, name: string): Problem {
  const offset = Math.max(0, source.text.search(/^name:/m));
  const message = `the file ${source.name}.yaml calls its workflow ${quote(name)}`;
  return problemAt(source.file, source.text, offset, message, `rename the file to ${name}.yaml, or the workflow`);
}
