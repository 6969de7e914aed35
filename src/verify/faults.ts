/** What can be broken in a copy of the project so that a gate has to notice. The likeliest first. */
import { writeFileSync } from "node:fs";
import { computeClosure } from "../checks/closure/closure.ts";
import { commandOf } from "../checks/core/kinds/index.ts";
import { spawnGit } from "../checks/git.ts";
import { attempt } from "../kernel/attempt.ts";
import { commandsIn } from "../kernel/text/command-line.ts";
import { matchesGlob } from "../kernel/text/glob.ts";
import type { Gate } from "../kernel/types/run.ts";
import { ensureDir, insideRoot, lookAt, readText, removeQuietly } from "../store/files.ts";
import { basename, dirname, join } from "../store/names.ts";
import { isOwned } from "../store/owned.ts";
import { findFamily, WORDS } from "./planted.ts";
import { gitPaths, type Scratch, ScratchError } from "./scratch.ts";

export interface Fault {
  what: string;
  /** gives what takes it out again */
  plant(): () => void;
  /** where the runner names its tests, these have to come back as failed */
  isTest?: true;
}

/** Each costs a run of the command. */
const MOST_FAULTS = 5;
const LARGEST = 1 << 20;
const MOST_LOOKED_AT = 300;

export function faultsFor(scratch: Scratch, gate: Gate): Fault[] {
  if (gate.fault !== undefined) return [patched(scratch, gate, gate.fault)];
  const files = listFiles(scratch, gate);
  const tests = some(scratch, files, (path) => isTest(scratch, path));
  const run = filesRun(scratch, gate);
  const others = sourcesIn(some(scratch, files, (path) => !tests.includes(path) && !run.has(path)));
  if (gate.tests) return [...ofTests(scratch, tests), ...broken(scratch, others, 2)].slice(0, MOST_FAULTS);
  const notRun = tests.filter((path) => !run.has(path));
  return [...broken(scratch, others, 3), ...ofTests(scratch, notRun)].slice(0, MOST_FAULTS);
}

/** The first ones that fit: a large project has more files than are worth a look. */
const some = (scratch: Scratch, paths: string[], fits: (path: string) => boolean) =>
  paths
    .values()
    .filter((path) => fits(path) && isPlain(scratch, path))
    .take(MOST_LOOKED_AT)
    .toArray();

/** Breaking these makes everything fail, which says nothing about the gate. */
function filesRun({ root }: Scratch, gate: Gate): Set<string> {
  const scripts = computeClosure(root, [gate]).items.flatMap((item) => item.scripts.map(({ path }) => path));
  return new Set(scripts).difference(filesLookedAt(gate));
}

// ── Which files ─────────────────────────────────────────────────────────────

/** No gate is about these. */
const OURS = /^(\.pawl\/|\.claude\/|pawl\.ya?ml$)/;

/** Those the gate is about, of its folder; changed ones first, then as they were committed last. */
function listFiles({ root }: Scratch, gate: Gate): string[] {
  const list = (...args: [string, ...string[]]) => attempt(() => gitPaths(root, ...args), []);
  const changed = list("ls-files", "-m", "-o", "--exclude-standard");
  const committed = list("log", "-n", "200", "--format=", "--name-only", "--relative", "--", ".");
  const all = new Set([...changed, ...committed.map((path) => path.trim()), ...list("ls-files")]);
  const folder = gate.cwd ? `${gate.cwd.replace(/\/+$/, "")}/` : "";
  const named = [...filesLookedAt(gate)];
  const isNamed = (path: string) => named.some((name) => path === name || path.startsWith(`${name}/`));
  const there = [...all].filter((path) => path.startsWith(folder) && !OURS.test(path) && !isOwned(path));
  const about = there.filter((path) => gate.when_changed?.some((glob) => matchesGlob(path, glob)) ?? true);
  const files = about.length > 0 ? about : there;
  return [...files.filter(isNamed), ...files.filter((path) => !isNamed(path))];
}

const isPlain = ({ root }: Scratch, path: string) =>
  attempt(() => {
    const found = lookAt(insideRoot(root, path));
    return found?.isFile() === true && found.size <= LARGEST;
  }, false);

function readScratch({ root }: Scratch, path: string): string {
  const file = readText(insideRoot(root, path), LARGEST);
  return file.ok ? file.text : "";
}

const CODE = /\.([cm]?[jt]sx?|py|go|rs|rb|php|java|kts?|c|h|cc|cpp|hpp|cs|swift|scala|exs?|erl|lua|sh|vue|svelte|zig)$/;
const DATA = /\.(css|scss|less|json|ya?ml|toml|xml|html|sql|graphql|proto|tf)$/;
const PROSE = /\.(md|mdx|rst|adoc|txt)$/;
/** Without these most programs do not even start: that they fail then says nothing about the gate. */
const SETTINGS =
  /(^|\/)(package\.json|.*lock(\.json|\.yaml|b)?|[tj]sconfig.*|.*\.config\.\w+|\.[^/]*|pawl\.yaml|pyproject\.toml|Cargo\.toml|composer\.json|conftest\.py|__init__\.py)$|^\.(github|vscode|idea)\//;

/** Texts have no syntax; they are broken only where there is nothing else. */
function sourcesIn(paths: string[]): string[] {
  const all = paths.filter((path) => !SETTINGS.test(path));
  const sources = all.filter((path) => CODE.test(path) || DATA.test(path));
  return sources.length > 0 ? sources : all.filter((path) => PROSE.test(path));
}

// ── What the command names ──────────────────────────────────────────────────

const SHELL = /^(sh|bash|dash|zsh|ksh)$/;
const INTERPRETER = /^(node|nodejs|bun|deno|python[\d.]*|ruby|perl|php|lua|tsx|ts-node)$/;
/** With one of these an interpreter looks at a file instead of running it. */
const ONLY_LOOKS = /^(--check|--test|-c|-n|-l|--lint|-m|test|lint|check)$/;

/** Which files a command is told to look at, relative to the project. Breaking one of these is fair; breaking the command itself would prove nothing. */
export function filesLookedAt(gate: Gate): Set<string> {
  const command = commandOf(gate) ?? { argv: [] };
  const commands = "shell" in command ? commandsIn(command.shell) : [command.argv];
  const words = commands.flatMap((words) => listArguments(words));
  const clean = words.map((word) => word.replace(/^(\.\/)+/, "").replace(/\/+$/, ""));
  return new Set(clean.map((word) => (gate.cwd ? join(gate.cwd, word) : word)));
}

/** Without the program, and without the script that an interpreter runs. */
function listArguments(words: string[]): string[] {
  const [first = "", ...rest] = words;
  const program = basename(first);
  const line = SHELL.test(program) ? rest.findIndex((word) => /^-[a-z]*c$/.test(word)) : -1;
  if (line >= 0) return commandsIn(rest[line + 1] ?? "").flatMap((inner) => listArguments(inner));
  if (!SHELL.test(program) && !INTERPRETER.test(program)) return rest;
  const script = rest.findIndex((word) => !word.startsWith("-"));
  return rest.slice(0, script + 1).some((word) => ONLY_LOOKS.test(word)) ? rest : rest.slice(script + 1);
}

// ── Faults ──────────────────────────────────────────────────────────────────

function ofTests(scratch: Scratch, tests: string[]): Fault[] {
  const firsts = tests.slice(0, 2);
  return [
    ...firstOfEach(tests, dirname)
      .slice(0, 2)
      .flatMap((path) => freshTest(scratch, path)),
    ...firsts.flatMap((path) => appendedTest(scratch, path)),
    ...broken(scratch, firsts, 1),
  ];
}

const firstOfEach = (paths: string[], group: (path: string) => string) =>
  [...Map.groupBy(paths, group).values()].map(([first]) => first!);

/** Files of different kinds first: a command may look at one kind only. */
function broken(scratch: Scratch, paths: string[], most: number): Fault[] {
  const code = paths.filter((path) => CODE.test(path));
  const firsts = firstOfEach(code, (path) => path.slice(path.lastIndexOf(".")));
  const data = paths.filter((path) => !CODE.test(path));
  const all = [...new Set([...firsts, ...code.slice(0, most), ...data])].slice(0, most);
  return all.map((path) => edited(scratch, `a syntax error in ${path}`, path, brokenText(readScratch(scratch, path))));
}

/** No language takes this; early in the file, so that no `exit` comes before it. */
function brokenText(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const fault = `<<<<<<< ({[ ${WORDS}`;
  return /^(#!|<\?)/.test(first) ? [first, fault, ...rest].join("\n") : [fault, first, ...rest].join("\n");
}

function edited({ root }: Scratch, what: string, path: string, text: string): Fault {
  const plant = () => {
    const file = insideRoot(root, path);
    const before = readText(file);
    if (path.includes("/")) ensureDir(root, dirname(path));
    writeFileSync(file, text);
    return () => (before.ok ? writeFileSync(file, before.text) : removeQuietly(file));
  };
  return { what, plant };
}

// ── Tests that fail ─────────────────────────────────────────────────────────

function isTest(scratch: Scratch, path: string): boolean {
  const family = findFamily(path);
  return family !== undefined && (family.name !== undefined || readScratch(scratch, path).includes("#[test]"));
}

function freshTest(scratch: Scratch, sibling: string): Fault[] {
  const { name, head, tests } = findFamily(sibling)!;
  if (!name) return [];
  const folder = dirname(sibling);
  const path = folder === "." ? name(sibling) : join(folder, name(sibling));
  const text = readScratch(scratch, sibling);
  return [planted(scratch, `a failing test (${path})`, path, `${head?.(text) ?? ""}${tests(text)}`)];
}

function appendedTest(scratch: Scratch, path: string): Fault[] {
  const { apart, tests } = findFamily(path)!;
  const text = readScratch(scratch, path);
  return apart?.(text) ? [] : [planted(scratch, `a failing test in ${path}`, path, `${text}\n${tests(text)}`)];
}

const planted = (scratch: Scratch, what: string, path: string, text: string): Fault => ({
  ...edited(scratch, what, path, text),
  isTest: true,
});

// ── The gate's own patch ────────────────────────────────────────────────────

function patched(scratch: Scratch, gate: Gate, path: string): Fault {
  const plant = () => {
    const before = computeClosure(scratch.root, [gate]).hash;
    const where = apply(scratch, path, []);
    // The person approved what runs as it is without the patch.
    if (computeClosure(scratch.root, [gate]).hash !== before)
      throw new ScratchError(`the patch ${path} changes what the gate runs; let it change something else`);
    return () => void apply(scratch, path, ["-R"], where);
  };
  return { what: `the patch ${path}`, plant };
}

/** Paths of a patch are seen from the repository's top, or from the project. Says which it was. */
function apply({ root, top }: Scratch, path: string, more: string[], known?: string[]): string[] {
  const file = insideRoot(root, path);
  if (!lookAt(file)?.isFile()) throw new ScratchError(`there is no patch ${path}`);
  const below = root === top ? [] : [[`--directory=${root.slice(top.length + 1)}`]];
  const ways = known ? [known] : [[], ...below];
  let why = "";
  for (const way of ways) {
    const { exitCode, stderr } = spawnGit(top, ["apply", "--whitespace=nowarn", ...more, ...way, "--", file]);
    if (exitCode === 0) return way;
    why ||= stderr.toString().trim().split("\n")[0]!;
  }
  throw new ScratchError(`the patch ${path} does not apply (${why})`);
}
