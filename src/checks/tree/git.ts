/** How Pawl asks git about the tree: nothing that a repository configures is run, and nothing of the person's is written. */
import { realpathSync } from "node:fs";
import { messageOf } from "../../store/files.ts";
import { findGit, findGitDir, oddGitFile } from "../../store/git-dir.ts";
import { join } from "../../store/names.ts";
import { GIT_PLACES, gitProgram, spawnGit } from "../git.ts";

const TIMEOUT_MS = 30_000;

/** One limit for a whole question, however many times git is started for it. */
export const deadline = () => performance.now() + TIMEOUT_MS;

export function timeLeft(until: number): number {
  const left = Math.floor(until - performance.now());
  if (left <= 0) throw tooLong();
  return left;
}

const tooLong = () => new Error(`the tree could not be read in ${TIMEOUT_MS / 1000} s`);

export interface Repo {
  top: string;
  gitDir: string;
  /** where the repository keeps its own objects */
  objects: string;
  /** the project below the top: "" or "packages/a/", as bytes (see toBytes) */
  prefix: string;
}

/** null: no repository, or git is not installed. Throws where git would wait for a file that is none. */
export function findRepo(root: string): Repo | null {
  const real = realpathSync(root);
  const found = findGit(real);
  const gitDir = found && findGitDir(found.top);
  if (!found || !gitDir || gitProgram() === null) return null;
  const odd = oddGitFile(found);
  if (odd !== null) throw new Error(`${odd} is not a regular file`);
  const prefix = real === found.top ? "" : toRaw(`${real.slice(found.top === "/" ? 1 : found.top.length + 1)}/`);
  return { top: found.top, gitDir, objects: join(found.common, "objects"), prefix };
}

/** File names are bytes, not text. A raw path has one character for each byte. */
export const toRaw = (text: string) => Buffer.from(text, "utf8").toString("latin1");
export const toBytes = (rawPath: string) => Buffer.from(rawPath, "latin1");
export const readable = (rawPath: string) => toBytes(rawPath).toString("utf8");

/** Hooks run nothing, no line ending is an error, sparse checkouts hide no file. */
const QUIET = ["core.hooksPath=/dev/null", "core.safecrlf=false", "core.sparseCheckout=false", "core.splitIndex=false"];
/** A changed file that was given its old times back must be found. */
const CAREFUL = ["core.trustctime=true", "core.checkStat=default", "core.ignoreStat=false"];

export interface GitCall {
  until: number;
  /** names of filters to switch off */
  filters?: string[];
  /** a private index instead of the repository's own */
  index?: string;
  /** where new objects go; without it, the command must not write any */
  objects?: string | null;
  input?: string;
  /** exit statuses besides 0 that are an answer */
  also?: number[];
}

/** What git prints, as a raw string. */
export function askGit(repo: Repo, args: string[], call: GitCall): string {
  return askGitForBytes(repo, args, call).toString("latin1");
}

export function askGitForBytes(repo: Repo, args: string[], call: GitCall): Buffer {
  const options = [...QUIET, ...CAREFUL, ...(call.filters ?? []).flatMap(switchOff)];
  // spawnGit passes these on to Bun: the environment replaces its own.
  const how = {
    timeout: timeLeft(call.until),
    maxBuffer: 256 << 20,
    env: environment(repo, call),
    stdin: call.input === undefined ? ("ignore" as const) : toBytes(call.input),
  };
  const done = start(() => spawnGit(repo.top, [...options.flatMap((option) => ["-c", option]), ...args], how));
  if (done.exitedDueToTimeout) throw tooLong();
  const errors = done.stderr.toString();
  if (done.exitCode !== 0 && !call.also?.includes(done.exitCode ?? -1)) throw new Error(whyFailed(args, errors));
  const unread = /^warning: could not open directory .*/m.exec(errors);
  if (unread) throw new Error(unread[0].slice("warning: ".length));
  return done.stdout;
}

function start<T>(spawn: () => T): T {
  try {
    return spawn();
  } catch (error) {
    throw new Error(`git could not be run: ${messageOf(error)}`);
  }
}

function whyFailed(args: string[], errors: string): string {
  const reason = /^(?:error|fatal): (.*)/m.exec(errors)?.[1] ?? errors.trim().split("\n")[0];
  return `git ${args.find((arg) => !arg.startsWith("-"))}: ${reason}`.slice(0, 300);
}

/** An empty command is no command, and then `required` must not turn its absence into a failure. */
const switchOff = (name: string) =>
  ["clean=", "process=", "smudge=", "required=false"].map((setting) => `filter.${name}.${setting}`);

/** Only these variables: the caller's GIT_DIR and the like would lead elsewhere. Nothing is fetched. */
function environment(repo: Repo, { index, objects }: GitCall): Record<string, string> {
  return {
    PATH: GIT_PLACES,
    HOME: process.env.HOME ?? "/",
    LC_ALL: "C",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_WORK_TREE: repo.top,
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: "none",
    GIT_TERMINAL_PROMPT: "0",
    ...(index && { GIT_INDEX_FILE: index }),
    ...(objects && { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: quote(repo.objects) }),
  };
}

/** As in C: git splits a list of folders at ":" unless they are quoted. */
function quote(text: string): string {
  const escaped = (char: string) =>
    char === '"' || char === "\\" ? `\\${char}` : `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
  return `"${text.replace(/["\\\x00-\x1f\x7f]/g, escaped)}"`;
}

/** In 512-byte blocks: a larger tree is compared only while the repository itself has it. */
const LARGEST_PACK = 2 << 20;
const PACK = `ulimit -f ${LARGEST_PACK}; git rev-list --objects --no-object-names "$1" | nice -n 19 git pack-objects -q --window=0 "$2/pack/pack"`;

/** Copies a whole tree into a folder of objects, in the background: then it needs no repository any more. */
export function packTree(repo: Repo, tree: string, objects: string): void {
  Bun.spawnSync({
    cmd: ["/bin/sh", "-c", `mkdir -p "$2/pack"; (${PACK}) & `, "sh", tree, objects],
    cwd: repo.top,
    env: environment(repo, { until: 0, objects }),
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  });
}

/** The object that a name means; null where there is none. */
export function resolveName(repo: Repo, name: string, call: GitCall): string | null {
  const command = ["rev-parse", "--verify", "-q", "--end-of-options", name];
  return askGit(repo, command, { ...call, also: [1, 128] }).trim() || null;
}

export const emptyTree = (repo: Repo, call: GitCall) =>
  askGit(repo, ["hash-object", "-t", "tree", "--stdin"], { ...call, input: "" }).trim();

/** The repository ignores the whole project. */
export function ignoresRoot(repo: Repo, until: number): boolean {
  if (repo.prefix === "") return false;
  const command = ["check-ignore", "--no-index", "--", `./${readable(repo.prefix.slice(0, -1))}`];
  return askGit(repo, command, { until, also: [1] }) !== "";
}

export interface Settings {
  filters: string[];
  fileMode: boolean;
  /** bytes of an object's name */
  width: 20 | 32;
}

const WANTED = String.raw`^(filter\..*|core\.filemode|extensions\.objectformat)$`;

export function readSettings(repo: Repo, until: number): Settings {
  // Exit 1: none of them is set.
  const out = askGit(repo, ["config", "-z", "--get-regexp", WANTED], { until, also: [1] });
  const settings = out.split("\0").map((line) => line.split("\n", 2) as [string, string?]);
  const last = (name: string) => settings.findLast(([key]) => key === name)?.[1]?.toLowerCase();
  const names = settings.flatMap(([key]) => /^filter\.(.*)\.[^.]*$/s.exec(key)?.[1] ?? []);
  const odd = names.find((name) => /[=\n]/.test(name));
  if (odd !== undefined) throw new Error(`the filter ${JSON.stringify(odd)} cannot be switched off`);
  return {
    filters: [...new Set(names)].map(readable),
    fileMode: !["false", "no", "off", "0"].includes(last("core.filemode") ?? ""),
    width: last("extensions.objectformat") === "sha256" ? 32 : 20,
  };
}
