/** What can be broken in a copy of the project so that a gate has to notice. The likeliest first. */
import { writeFileSync } from "node:fs";
import { closureOf } from "../checks/closure/closure.ts";
import { spawnGit } from "../checks/git.ts";
import type { Gate } from "../kernel/types/run.ts";
import { leavesOf } from "../kernel/types/workflow.ts";
import { ensureDir, insideRoot, lookAt, readText, removeQuietly } from "../store/files.ts";
import { dirname } from "../store/names.ts";
import { filesLookedAt } from "./named-files.ts";
import { appendTest, brokenText, type Edits, freshTest, isTest } from "./planted-tests.ts";
import { type Scratch, ScratchError } from "./scratch.ts";

export interface Fault {
  what: string;
  /** gives what takes it out again */
  plant(): () => void;
}

/** Each costs a run of the command. */
const MOST_FAULTS = 5;
const LARGEST = 1 << 20;
const MOST_LOOKED_AT = 300;

export function faultsFor(scratch: Scratch, gate: Gate): Fault[] {
  if (gate.fault !== undefined) return [patched(scratch, gate, gate.fault)];
  const files = filesOf(scratch, gate);
  const tests = some(scratch, files, (path) => isTest(path, () => textOf(scratch, path)));
  const run = filesRun(scratch, gate);
  const others = some(scratch, files, (path) => !tests.includes(path) && !run.has(path));
  const all = gate.tests
    ? [...ofTests(scratch, tests), ...broken(scratch, sourcesIn(others), 2)]
    : [
        ...broken(scratch, sourcesIn(others), 3),
        ...ofTests(
          scratch,
          tests.filter((path) => !run.has(path)),
        ),
      ];
  return all.slice(0, MOST_FAULTS);
}

/** The first ones that fit: a large project has more files than are worth a look. */
function some(scratch: Scratch, paths: string[], fits: (path: string) => boolean): string[] {
  const found: string[] = [];
  for (const path of paths) {
    if (found.length === MOST_LOOKED_AT) break;
    if (fits(path) && isPlain(scratch, path)) found.push(path);
  }
  return found;
}

/** Breaking these makes everything fail, which says nothing about the gate. */
function filesRun({ root }: Scratch, gate: Gate): Set<string> {
  const lookedAt = filesLookedAt(gate);
  const scripts = closureOf(root, leavesOf([gate])).items.flatMap((item) => item.scripts.map(({ path }) => path));
  return new Set(scripts.filter((path) => !lookedAt.has(path)));
}

// ── Which files ─────────────────────────────────────────────────────────────

/** Those of the gate's folder, changed ones first, then as they were committed last. */
function filesOf(scratch: Scratch, gate: Gate): string[] {
  const changed = lines(scratch, ["ls-files", "-z", "-m", "-o", "--exclude-standard"]);
  const committed = lines(scratch, ["log", "-n", "200", "--format=", "--name-only", "--relative", "-z", "--", "."]);
  const all = [...new Set([...changed, ...committed, ...lines(scratch, ["ls-files", "-z"])])];
  const folder = gate.cwd ? `${gate.cwd.replace(/\/+$/, "")}/` : "";
  const named = [...filesLookedAt(gate)];
  const isNamed = (path: string) => named.some((name) => path === name || path.startsWith(`${name}/`));
  const there = all.filter((path) => path.startsWith(folder) && !path.startsWith(".pawl/"));
  return [...there.filter(isNamed), ...there.filter((path) => !isNamed(path))];
}

function lines({ root }: Scratch, args: string[]): string[] {
  const { exitCode, stdout } = spawnGit(root, args, { timeout: 30_000, maxBuffer: 64 << 20 });
  return exitCode === 0
    ? stdout
        .toString()
        .split("\0")
        .map((path) => path.trim())
        .filter((path) => path !== "")
    : [];
}

function isPlain({ root }: Scratch, path: string): boolean {
  try {
    const found = lookAt(insideRoot(root, path));
    return found?.isFile() === true && found.size <= LARGEST;
  } catch {
    return false;
  }
}

function textOf({ root }: Scratch, path: string): string {
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

// ── Faults ──────────────────────────────────────────────────────────────────

function ofTests(scratch: Scratch, tests: string[]): Fault[] {
  const firsts = tests.slice(0, 2);
  const fresh = oncePerFolder(tests)
    .slice(0, 2)
    .map((path) => ({ path, edits: freshTest(path, textOf(scratch, path)) }));
  const appended = firsts.map((path) => ({ path, edits: appendTest(path, textOf(scratch, path)) }));
  return [
    ...fresh.flatMap(({ edits }) =>
      edits ? [edited(scratch, `a failing test (${Object.keys(edits)[0]})`, edits)] : [],
    ),
    ...appended.flatMap(({ path, edits }) => (edits ? [edited(scratch, `a failing test in ${path}`, edits)] : [])),
    ...broken(scratch, firsts, 1),
  ];
}

const oncePerFolder = (paths: string[]) =>
  paths.filter((path, at) => paths.findIndex((other) => dirname(other) === dirname(path)) === at);

/** Files of different kinds first: a command may look at one kind only. */
function broken(scratch: Scratch, paths: string[], most: number): Fault[] {
  const code = paths.filter((path) => CODE.test(path));
  const endOf = (path: string) => path.slice(path.lastIndexOf("."));
  const firsts = code.filter((path, at) => code.findIndex((other) => endOf(other) === endOf(path)) === at);
  const data = paths.filter((path) => !CODE.test(path));
  const all = [...new Set([...firsts, ...code.slice(0, most), ...data])].slice(0, most);
  return all.map((path) => edited(scratch, `a syntax error in ${path}`, { [path]: brokenText(textOf(scratch, path)) }));
}

function edited({ root }: Scratch, what: string, edits: Edits): Fault {
  const plant = () => {
    const before = Object.keys(edits).map(
      (path) => [insideRoot(root, path), readText(insideRoot(root, path))] as const,
    );
    for (const [path, text] of Object.entries(edits)) {
      if (path.includes("/")) ensureDir(root, dirname(path));
      writeFileSync(insideRoot(root, path), text);
    }
    return () => {
      for (const [path, file] of before) file.ok ? writeFileSync(path, file.text) : removeQuietly(path);
    };
  };
  return { what, plant };
}

// ── The gate's own patch ────────────────────────────────────────────────────

function patched(scratch: Scratch, gate: Gate, path: string): Fault {
  const plant = () => {
    const before = closureOf(scratch.root, [gate]).hash;
    const where = apply(scratch, path, []);
    // The person approved what runs as it is without the patch.
    if (closureOf(scratch.root, [gate]).hash !== before)
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
