/** What a gate's command is started with: which program, in which folder, with which environment. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { errorCode, messageOf } from "../files.ts";
import { join } from "../names.ts";
import { cleanVariables, isLoaderVariable } from "./loader-variables.ts";

export interface CommandSpec {
  /** a line for the shell comes as ["/bin/sh", "-c", line] */
  argv: string[];
  /** relative to the root; "" is the root */
  cwd: string;
  env: Record<string, string>;
}

type Environment = Record<string, string>;

export interface Prepared {
  cmd: string[];
  cwd: string;
  env: Environment;
}

/** Says why the command cannot be started; the gate is unproven then. */
export class CannotStart extends Error {}

/** `inherited` is already cleaned. */
export function prepare(root: string, spec: CommandSpec, inherited: Environment): Prepared {
  const { argv } = spec;
  if (argv.length === 0 || argv[0] === "") throw new CannotStart("the command is empty");
  if (argv.some((word) => word.includes("\0"))) throw new CannotStart("the command has a NUL byte in it");
  const cwd = resolveFolder(root, spec.cwd);
  const env: Environment = { ...inherited, ...PLAIN, PWD: cwd, ...allowed(spec.env), PAWL_GATE: "1" };
  return { cmd: [resolveProgram(argv[0]!, cwd, env.PATH ?? USUAL_PATH), ...argv.slice(1)], cwd, env };
}

// ── Environment ─────────────────────────────────────────────────────────────

const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

/**
 * No colours, no redrawing: the output is read by a program. CI is left as it is: it switches tests off, turns warnings
 * into errors and forbids writing snapshots, so that the gate would check something else than the person does.
 */
const PLAIN: Environment = { NO_COLOR: "1", FORCE_COLOR: "0", TERM: "dumb" };

/** The agent's own marks (test runners print less when they see them), and what a shell left of its own. */
const NOT_HANDED_ON = /^(CLAUDECODE|CLAUDE_.*|AI_AGENT|AGENT|PAWL.*|OLDPWD|_)$/s;

/** What the client's environment may hand on; its settings can come from the repository. */
export function cleanEnvironment(from: Record<string, string | undefined>): Environment {
  return { ...cleanVariables(from, NOT_HANDED_ON), PATH: absoluteEntries(from.PATH ?? "") };
}

/** A relative or empty entry means the current folder: the repository would choose the programs. */
function absoluteEntries(path: string): string {
  const entries = path.split(":").filter((entry) => entry.startsWith("/"));
  return entries.length > 0 ? entries.join(":") : USUAL_PATH;
}

function allowed(env: Environment): Environment {
  for (const [name, value] of Object.entries(env)) {
    if (isLoaderVariable(name))
      throw new CannotStart(`env must not set ${name}, which decides what code is loaded; write it into the command`);
    if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name) || value.includes("\0"))
      throw new CannotStart(`env cannot set ${JSON.stringify(name.slice(0, 80))}`);
  }
  return env;
}

// ── Folder ──────────────────────────────────────────────────────────────────

function resolveFolder(root: string, relative: string): string {
  const refuse = (why: string) => new CannotStart(`cwd ${JSON.stringify(relative.slice(0, 200))} ${why}`);
  if (relative.startsWith("/") || relative.includes("\0")) throw refuse("is not relative to the project");
  const [top, folder] = [real(root, refuse), real(join(root, relative), refuse)];
  if (folder !== top && !folder.startsWith(top === "/" ? top : `${top}/`)) throw refuse("leads out of the project");
  if (!statSync(folder).isDirectory()) throw refuse("is not a folder");
  return folder;
}

function real(path: string, refuse: (why: string) => Error): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw refuse(errorCode(error) === "ENOENT" ? "does not exist" : `cannot be used: ${messageOf(error)}`);
  }
}

// ── Program ─────────────────────────────────────────────────────────────────

/** Looked for here, with the cleaned PATH: then a missing program is no exit status that a command could give, too. */
export function resolveProgram(name: string, cwd: string, path: string): string {
  const places = name.includes("/")
    ? [name.startsWith("/") ? name : join(cwd, name)]
    : path.split(":").map((folder) => join(folder, name));
  const found = places.filter(isFile);
  const program = found.find(isExecutable);
  if (program !== undefined) return program;
  const named = JSON.stringify(name.slice(0, 200));
  if (found.length > 0) throw new CannotStart(`${named} is not executable: chmod +x ${found[0]}`);
  throw new CannotStart(name.includes("/") ? `${named} does not exist` : `${named} was not found in PATH (${path})`);
}

const isFile = (path: string): boolean => attempt(() => statSync(path).isFile(), false);
const isExecutable = (path: string): boolean => attempt(() => accessSync(path, constants.X_OK), "no") !== "no";
