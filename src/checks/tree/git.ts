/** How git is asked about the tree: nothing that a repository configures is run, nothing of the person's is written. */
import { realpathSync } from "node:fs";
import { findGit, gitDirOf } from "../../store/git-dir.ts";
import { join } from "../../store/names.ts";
import { spawnGit } from "../git.ts";

/** Why the tree cannot be told. Never leaves this folder: the callers get a fact that is not ok. */
export class TreeError extends Error {
  override name = "TreeError";
}

const LONGEST_MS = 30_000;

/** All of one question together, however many times git is started for it. */
export const deadline = () => performance.now() + LONGEST_MS;

export function timeLeft(until: number): number {
  const left = Math.floor(until - performance.now());
  if (left <= 0) throw tooLong();
  return left;
}

const tooLong = () => new TreeError(`the tree could not be read in ${LONGEST_MS / 1000} s`);

export interface Repo {
  top: string;
  gitDir: string;
  /** where the repository keeps its own objects */
  objects: string;
  /** the project below the top: "" or "packages/a/", as bytes (see raw) */
  prefix: string;
}

/** null: no repository, or no git to ask. */
export function findRepo(root: string): Repo | null {
  const real = realpathSync(root);
  const found = findGit(real);
  const gitDir = found && gitDirOf(found.top);
  if (!found || !gitDir || Bun.which("git") === null) return null;
  const prefix = real === found.top ? "" : raw(`${real.slice(found.top === "/" ? 1 : found.top.length + 1)}/`);
  return { top: found.top, gitDir, objects: join(found.common, "objects"), prefix };
}

/** File names are bytes, not text: one character stands for one byte. */
export const raw = (text: string) => Buffer.from(text, "utf8").toString("latin1");
export const bytesOf = (rawPath: string) => Buffer.from(rawPath, "latin1");
export const readable = (rawPath: string) => bytesOf(rawPath).toString("utf8");

/** In front of a command: hooks and fsmonitor run nothing, no line ending is an error, sparse checkouts hide no file. */
const QUIET = ["core.hooksPath=/dev/null", "core.safecrlf=false", "core.sparseCheckout=false", "core.splitIndex=false"];
/** A file that was changed and given its old times back must be seen. */
const CAREFUL = ["core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false"];

export interface Asked {
  until: number;
  /** names of filters to switch off */
  filters?: string[];
  index?: string;
  /** where new objects go; without it git is asked nothing that writes */
  objects?: string | null;
  input?: string;
  /** exit statuses that are an answer, besides 0 */
  also?: number[];
}

/** What git prints, as bytes in a string. */
export function ask(repo: Repo, args: string[], asked: Asked): string {
  return askBytes(repo, args, asked).toString("latin1");
}

export function askBytes(repo: Repo, args: string[], asked: Asked): Buffer {
  const options = [...QUIET, ...CAREFUL, ...(asked.filters ?? []).flatMap(switchedOff)];
  // spawnGit hands these on to Bun: the environment replaces the plain one.
  const how = {
    timeout: timeLeft(asked.until),
    maxBuffer: 256 << 20,
    env: environment(repo, asked),
    stdin: asked.input === undefined ? ("ignore" as const) : bytesOf(asked.input),
  };
  const done = started(() => spawnGit(repo.top, [...options.flatMap((option) => ["-c", option]), ...args], how));
  if (done.exitedDueToTimeout) throw tooLong();
  const errors = done.stderr.toString();
  if (done.exitCode !== 0 && !asked.also?.includes(done.exitCode ?? -1)) throw new TreeError(whyFailed(args, errors));
  const unseen = /^warning: could not open directory .*/m.exec(errors);
  if (unseen) throw new TreeError(unseen[0].slice("warning: ".length));
  return done.stdout;
}

function started<T>(start: () => T): T {
  try {
    return start();
  } catch (error) {
    throw new TreeError(`git could not be run: ${error instanceof Error ? error.message : error}`);
  }
}

const whyFailed = (args: string[], errors: string) =>
  `git ${args.find((arg) => !arg.startsWith("-"))}: ${/^(?:error|fatal): (.*)/m.exec(errors)?.[1] ?? errors.trim().split("\n")[0]}`.slice(
    0,
    300,
  );

/** An empty command is no command, and a filter that does nothing is no failure then. */
const switchedOff = (name: string) =>
  ["clean=", "process=", "smudge=", "required=false"].map((setting) => `filter.${name}.${setting}`);

/** Only what is named here: GIT_DIR and the like of the caller would lead elsewhere. Nothing is fetched. */
function environment(repo: Repo, { index, objects }: Asked): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "/usr/bin:/bin",
    HOME: process.env.HOME ?? "/",
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_WORK_TREE: repo.top,
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_TERMINAL_PROMPT: "0",
    ...(index && { GIT_INDEX_FILE: index }),
    ...(objects && { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(repo.objects) }),
  };
}

/** As in C; a list of folders is cut at ":" and a list of names at line ends. */
export function quoted(text: string): string {
  const escaped = (char: string) =>
    char === '"' || char === "\\" ? `\\${char}` : `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
  return `"${text.replace(/["\\\x00-\x1f\x7f]/g, escaped)}"`;
}

export interface Settings {
  filters: string[];
  fileMode: boolean;
  /** bytes of an object's name */
  width: 20 | 32;
}

const WANTED = String.raw`^(filter\..*|core\.filemode|extensions\.objectformat)$`;

export function settingsOf(repo: Repo, until: number): Settings {
  // Exit 1: none of them is set.
  const out = ask(repo, ["config", "-z", "--get-regexp", WANTED], { until, also: [1] });
  const settings = out.split("\0").map((line) => line.split("\n", 2) as [string, string?]);
  const last = (name: string) => settings.findLast(([key]) => key === name)?.[1]?.toLowerCase();
  const names = settings.flatMap(([key]) => /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1] ?? []);
  const odd = names.find((name) => /[=\n]/.test(name));
  if (odd !== undefined) throw new TreeError(`the filter ${JSON.stringify(odd)} cannot be switched off`);
  return {
    filters: [...new Set(names)].map((name) => readable(name)),
    fileMode: !["false", "no", "off", "0"].includes(last("core.filemode") ?? ""),
    width: last("extensions.objectformat") === "sha256" ? 32 : 20,
  };
}
