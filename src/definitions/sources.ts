/** Where workflows come from. Only files and names here: nothing is parsed, so that asking is cheap. */
import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { BUILTINS, builtinPrompt, builtinWorkflow } from "./builtin/workflows.ts";
import { isInside, type PromptReader } from "./template.ts";

type Origin = "project" | "user" | "builtin" | "file";

export interface Source {
  /** the file's name without .yaml: one name, one workflow */
  name: string;
  origin: Origin;
  /** for people: relative to the project, or with ~, or builtin:<name> */
  file: string;
  text: string;
  readPrompt: PromptReader;
  /** the file is there but cannot be read, and this is why */
  unreadable?: string;
}

const MAX_BYTES = 256 * 1024;
const NAME = /^[a-z][a-z0-9-]{0,47}$/;

/** Project over user over builtin, by name. */
export function listSources(root: string, home: string = homedir()): Source[] {
  const byName = new Map<string, Source>();
  for (const source of [...folderSources("project", root, home), ...folderSources("user", root, home), ...builtins()]) {
    if (!byName.has(source.name)) byName.set(source.name, source);
  }
  return [...byName.values()];
}

export function sourceByName(name: string, root: string, home: string = homedir()): Source | null {
  if (!NAME.test(name)) return null;
  return listSources(root, home).find((source) => source.name === name) ?? null;
}

/** A workflow given by its path. Throws what the file system throws. */
export function sourceOfFile(path: string, shownAs: string): Source {
  const text = readLimited(path);
  return { name: stem(path), origin: "file", file: shownAs, text, readPrompt: promptReader(dirname(path)) };
}

/** Prompts next to the workflow; what is not there at all may be one of the built-in prompts. */
export function promptReader(folder: string): PromptReader {
  return (path) => {
    if (!isInside(path)) return null;
    const target = join(folder, path);
    if (!exists(target)) return builtinPrompt(path);
    try {
      const inside = realpathSync(target).startsWith(realpathSync(folder) + sep);
      return inside ? readLimited(target) : null;
    } catch {
      return null;
    }
  };
}

function builtins(): Source[] {
  return BUILTINS.map((name) => ({
    name,
    origin: "builtin",
    file: `builtin:${name}`,
    text: builtinWorkflow(name) ?? "",
    readPrompt: builtinPrompt,
  }));
}

function folderSources(origin: "project" | "user", root: string, home: string): Source[] {
  const folder = origin === "project" ? join(root, ".pawl/workflows") : join(home, ".config/pawl/workflows");
  const shown = origin === "project" ? ".pawl/workflows" : "~/.config/pawl/workflows";
  return yamlFiles(folder).map((file) => ({
    name: stem(file),
    origin,
    file: `${shown}/${file}`,
    readPrompt: promptReader(folder),
    ...readOrWhy(join(folder, file), origin === "project" ? root : null),
  }));
}

/**
 * A file that cannot be read must not let the one that it overrides take its place. A repository's own stays inside it; in
 * the home, a link is the person's.
 */
function readOrWhy(path: string, within: string | null): { text: string; unreadable?: string } {
  try {
    if (within !== null && !realpathSync(path).startsWith(realpathSync(within) + sep))
      return { text: "", unreadable: "it is a link out of the project" };
    return { text: readLimited(path) };
  } catch (error) {
    return { text: "", unreadable: (error as Error).message };
  }
}

function yamlFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((file) => file.endsWith(".yaml") && !file.startsWith("."))
      .sort();
  } catch {
    return [];
  }
}

function readLimited(path: string): string {
  const stat = statSync(path);
  if (!stat.isFile()) throw new Error("it is not a file");
  if (stat.size > MAX_BYTES) throw new Error(`it is larger than ${MAX_BYTES / 1024} KB`);
  return readFileSync(path, "utf8");
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function stem(path: string): string {
  return basename(path).replace(/\.ya?ml$/, "");
}
