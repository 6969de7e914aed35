/** Where workflows and procedures come from. Only files and names here: nothing is parsed, so that asking is cheap. */
import { homedir } from "node:os";
import { basename, dirname, join, sep } from "node:path";
import { attempt } from "../kernel/attempt.ts";
import { realpath } from "../native/disk.ts";
import { lookAt, messageOf, namesOrNone, readText } from "../store/files.ts";
import { PROMPTS, WORKFLOWS } from "./builtin/workflows.ts";
import { type Problem, problemAt, quote } from "./problem.ts";
import { isInside, type PromptReader } from "./template.ts";

export interface Source {
  /** the file's name without .yaml: one name, one definition */
  name: string;
  origin: "project" | "user" | "builtin" | "file";
  /** for people: relative to the project, or with ~, or builtin:<name> */
  file: string;
  /** on disk, where it is; "" for what is built in */
  folder: string;
  text: string;
  /** the file is there but cannot be read, and this is why */
  unreadable?: string;
}

/** A kind of definitions: its folder, what is built in, and how a repository's own file is found. */
export interface Kind {
  folder: "workflows" | "procedures";
  builtin: ReadonlyMap<string, string>;
  /** throws where it would lead out of the project */
  within(root: string, relative: string): string;
}

const WORKFLOW_FILES: Kind = { folder: "workflows", builtin: WORKFLOWS, within: linkedInside };
/** No file takes the guard's place: an agent could write one. */
const OURS = "guard";
const NAME = /^[a-z][a-z0-9-]{0,47}$/;
const MAX_BYTES = 256 * 1024;

/** Project over person over built-in, by name. A file that cannot be read must not let what it overrides take its place. */
export function listSources(root: string, home: string = homedir(), kind = WORKFLOW_FILES): Source[] {
  const person = join(realOr(join(home, ".config/pawl")), kind.folder);
  const project = `.pawl/${kind.folder}`;
  const all: Source[] = [
    ...yamlFiles(join(root, project)).map((file) =>
      sourceFrom("project", join(root, project), `${project}/${file}`, () => kind.within(root, `${project}/${file}`)),
    ),
    // In the home, a link is the person's.
    ...yamlFiles(person).map((file) =>
      sourceFrom("user", person, `~/.config/pawl/${kind.folder}/${file}`, () => join(person, file)),
    ),
    ...[...kind.builtin].map(([name, text]) => ({
      name,
      origin: "builtin" as const,
      file: `builtin:${name}`,
      folder: "",
      text,
    })),
  ];
  const allowed = all.filter(({ name, origin }) => origin === "builtin" || name !== OURS);
  return allowed.filter(({ name }, index) => allowed.findIndex((other) => other.name === name) === index);
}

export function sourceByName(name: string, root: string, home?: string, kind?: Kind): Source | null {
  if (!NAME.test(name)) return null;
  return listSources(root, home, kind).find((source) => source.name === name) ?? null;
}

/** A definition given by its path. Throws what the file system throws. */
export function sourceOfFile(path: string, shownAs: string): Source {
  return { name: stem(path), origin: "file", file: shownAs, folder: dirname(path), text: readLimited(path) };
}

/** Like `sourceOfFile`, but says why it cannot be read. */
export function sourceFrom(origin: Source["origin"], folder: string, file: string, path: () => string): Source {
  const source = { name: stem(file), origin, file, folder, text: "" };
  try {
    return { ...source, text: readLimited(path()) };
  } catch (error) {
    return { ...source, unreadable: messageOf(error) };
  }
}

/** Prompts next to the workflow; what is not there at all may be one of the built-in prompts. */
export function promptReader(folder: string): PromptReader {
  return (path) => {
    if (folder === "") return PROMPTS.get(path) ?? null;
    if (!isInside(path)) return null;
    if (lookAt(join(folder, path)) === undefined) return PROMPTS.get(path) ?? null;
    return attempt(() => readLimited(linkedInside(folder, path)), null);
  };
}

/** A link is followed as long as it stays inside. */
function linkedInside(root: string, relative: string): string {
  const path = realpath(join(root, relative));
  if (!path.startsWith(realpath(root) + sep)) throw new Error("it is a link out of the project");
  return path;
}

export const realOr = (path: string) => attempt(() => realpath(path), path);

const yamlFiles = (folder: string) =>
  namesOrNone(folder)
    .filter((file) => file.endsWith(".yaml") && !file.startsWith("."))
    .sort();

function readLimited(path: string): string {
  const file = readText(realpath(path), MAX_BYTES);
  if (file.ok) return file.text;
  if (file.why === "not a regular file") throw new Error("it is not a file");
  throw new Error(file.why === "too large" ? `it is larger than ${MAX_BYTES / 1024} KB` : (file.detail ?? file.why));
}

const stem = (path: string) => basename(path).replace(/\.ya?ml$/, "");

// ── What is wrong with the file as a whole ──────────────────────────────────

export function unreadable({ file, unreadable: why }: Source): Problem {
  const hint = "check the file and its permissions; links out of the project are not followed";
  return problemAt(file, "", 0, `the file cannot be read: ${why}`, hint);
}

/** Looking a definition up by its file's name is what keeps the look-up cheap. null: it has that name. */
export function misnaming({ name, file, text }: Source, what: "workflow" | "procedure", own: string): Problem | null {
  if (own === name) return null;
  const message = `the file ${name}.yaml calls its ${what} ${quote(own)}`;
  const offset = Math.max(0, text.search(/^name:/m));
  return problemAt(file, text, offset, message, `rename the file to ${own}.yaml, or the ${what}`);
}
