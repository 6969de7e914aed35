/** Finds workflows and compiles them. */
import { homedir } from "node:os";
import type { Gate } from "../kernel/types/run.ts";
import { gatesOf } from "../kernel/types/workflow.ts";
import { armKey } from "./checks.ts";
import { type CompiledWorkflow, compileWorkflow } from "./compile.ts";
import { type Problem, problemAt, quote } from "./problem.ts";
import { applyProject, readProject } from "./project.ts";
import {
  listSources,
  misnaming,
  promptReader,
  type Source,
  sourceByName,
  sourceOfFile,
  unreadable,
} from "./sources.ts";

export type FoundWorkflow = Source & CompiledWorkflow;

/** `word` is what the person typed first, e.g. "/complete-work" or "/pawl:complete-work". */
export function findByArm(word: string, root: string, home: string = homedir()): FoundWorkflow | null {
  const wanted = armKey(word);
  if (!/^\/[a-z]/.test(wanted)) return null;
  const name = wanted.slice(1);
  const candidates = listSources(root, home).filter((source) => source.name === name || source.text.includes(name));
  const project = readProject(root);
  let broken: FoundWorkflow | null = null;
  for (const candidate of candidates) {
    const found = compileSource(candidate, project);
    if ("errors" in found) broken ??= wants(candidate, wanted) ? found : null;
    else if (found.workflow.arm.some((arm) => armKey(arm) === wanted)) return found;
  }
  return broken;
}

/** A file that cannot be compiled still counts if it plainly wants the word: its author must hear of it. */
function wants(source: Source, word: string): boolean {
  const listed = source.text.split(/[\s"',[\]]+/).map(armKey);
  return source.name === word.slice(1) || listed.includes(word);
}

export function findByName(name: string, root: string, home: string = homedir()): FoundWorkflow | null {
  const source = sourceByName(name, root, home);
  return source && compileSource(source, readProject(root));
}

export function findByFile(path: string, shownAs: string, root: string): FoundWorkflow {
  return compileSource(sourceOfFile(path, shownAs), readProject(root));
}

/** All that can be armed here, each with its problems; a word that two files of one folder share is one of them. */
export function listWorkflows(root: string, home: string = homedir()): FoundWorkflow[] {
  const owners = new Map<string, string>();
  const project = readProject(root);
  return listSources(root, home).map((source) => {
    const found = compileSource(source, project);
    const arms = "workflow" in found ? found.workflow.arm : [];
    const clashes = arms.flatMap((arm) => {
      const key = `${source.origin} ${armKey(arm)}`;
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, source.file);
      return owner === undefined ? [] : [armClash(source, arm, owner)];
    });
    return clashes.length > 0 ? { ...source, errors: clashes } : found;
  });
}

export const listProblems = (found: FoundWorkflow): Problem[] => ("errors" in found ? found.errors : []);

function armClash({ file, text }: Source, arm: string, owner: string): Problem {
  const list = Math.max(0, text.search(/^arm:/m));
  const offset = Math.max(list, text.indexOf(arm, list));
  const hint = "let each workflow have its own word under arm";
  return problemAt(file, text, offset, `${quote(arm)} already starts ${owner}`, hint);
}

/** A pawl.yaml with mistakes guards nothing, so nothing that it may want to guard is started. */
function compileSource(source: Source, read: ReturnType<typeof readProject>): FoundWorkflow {
  if (source.unreadable !== undefined) return { ...source, errors: [unreadable(source)] };
  if ("errors" in read) return { ...source, errors: read.errors };
  const alone = compileWorkflow(source.text, source.file, promptReader(source.folder), read.project.gates);
  const compiled = "workflow" in alone ? applyProject(alone.workflow, read.project) : alone;
  if ("errors" in compiled || source.origin === "file") return { ...source, ...compiled };
  const misnamed = misnaming(source, "workflow", compiled.workflow.name);
  return { ...source, ...(misnamed ? { errors: [misnamed] } : compiled) };
}

/** Every gate that can be asked for here: of pawl.yaml, and of the workflows that are not ours. */
export function projectGates(root: string, home: string = homedir()): { gates: Gate[]; problems: Problem[] } {
  const read = readProject(root);
  if ("errors" in read) return { gates: [], problems: read.errors };
  const found = listWorkflows(root, home);
  const ofWorkflows = found.flatMap((one) => ("workflow" in one ? gatesOf(one.workflow) : []));
  // Only here: hooks load this file, and have no use for procedures.
  const { listProcedures } = require("./procedures.ts") as typeof import("./procedures.ts");
  const procedures = listProcedures(root, home);
  const ofProcedures = procedures.flatMap((one) => ("procedure" in one ? one.procedure.gates : []));
  const all = [...Object.values(read.project.gates), ...ofWorkflows, ...ofProcedures];
  return {
    gates: [...new Map(all.map((gate) => [gate.id, gate])).values()],
    problems: [...found.flatMap(listProblems), ...procedures.flatMap((one) => ("errors" in one ? one.errors : []))],
  };
}
