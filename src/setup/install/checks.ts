/** The checks a project already has, as a person would type them. Files are looked at, nothing is run. */
import { isObject, lookAt, namesIn, parseJson, readText } from "../../store/files.ts";
import { join } from "../../store/names.ts";

export interface Check {
  name: string;
  command: string;
  /** the file that told us */
  from: string;
  /** of one package in a repository of several */
  cwd?: string;
}

type Look = (name: string) => string | null;

/** Those of the whole project; where it has none, those of its packages. */
export function detectChecks(root: string): Check[] {
  const whole = checksIn(root);
  if (whole.length > 0) return whole;
  const packages = packageFolders(root).flatMap((cwd) => checksIn(join(root, cwd)).map((check) => ({ ...check, cwd })));
  return packages.filter(({ name }) => name === TESTS).slice(0, MOST_PACKAGES);
}

const MOST_PACKAGES = 8;
const GROUPS = ["packages", "apps", "services", "libs", "modules"];

function packageFolders(root: string): string[] {
  const below = (folder: string) =>
    (namesIn(join(root, folder)) ?? [])
      .filter((name) => /^[A-Za-z0-9][\w.-]*$/.test(name) && name !== "node_modules")
      .map((name) => (folder === "" ? name : `${folder}/${name}`))
      .filter((name) => lookAt(join(root, name))?.isDirectory());
  return [...GROUPS.flatMap(below), ...below("").filter((name) => !GROUPS.includes(name))].slice(0, 200);
}

function checksIn(root: string): Check[] {
  const look: Look = (name) => {
    const file = readText(join(root, name), 1024 * 1024);
    return file.ok ? file.text : null;
  };
  const has = (name: string) => lookAt(join(root, name)) !== undefined;
  const all = [
    ...nodeChecks(look, has),
    ...denoChecks(look),
    ...pythonChecks(look),
    ...fileChecks(look, has),
    ...makeChecks(look),
  ];
  return all.map((check, at) => {
    const count = all.slice(0, at + 1).filter(({ name }) => name === check.name).length;
    const name = check.name === "test" ? TESTS : check.name;
    return { ...check, name: count === 1 ? name : `${name}-${count}` };
  });
}

/** What the gate that runs the tests is called, wherever Pawl suggests one. */
export const TESTS = "tests";

const readable = (look: Look, names: string[]) => names.find((name) => look(name) !== null);

const NAMES = ["test", "lint", "typecheck"];
const ALIASES: Record<string, string> = { "type-check": "typecheck", "check-types": "typecheck", types: "typecheck" };
const RUNNERS = { "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun" };

function nodeChecks(look: Look, has: (name: string) => boolean): Check[] {
  const runner = Object.entries(RUNNERS).find(([lock]) => has(lock))?.[1] ?? "npm";
  return Object.entries(readScripts(look("package.json"), "scripts")).flatMap(([script, body]) => {
    const name = ALIASES[script] ?? script;
    if (!NAMES.includes(name) || body.includes("no test specified")) return [];
    const command = script === "test" && runner !== "bun" ? `${runner} test` : `${runner} run ${script}`;
    return [{ name, command, from: "package.json" }];
  });
}

function readScripts(text: string | null, key: string): Record<string, string> {
  const value = text === null ? undefined : parseJson(text.replace(/^\uFEFF/, ""));
  const scripts = isObject(value) && isObject(value[key]) ? value[key] : {};
  // Only names that need no quoting get into a command.
  const plain = Object.entries(scripts).filter(([name, body]) => /^[\w:.-]+$/.test(name) && typeof body === "string");
  return Object.fromEntries(plain) as Record<string, string>;
}

function denoChecks(look: Look): Check[] {
  const from = readable(look, ["deno.json", "deno.jsonc"]);
  if (!from) return [];
  const tasks = readScripts(look(from), "tasks");
  const command = (name: string) => (tasks[name] === undefined ? `deno ${name}` : `deno task ${name}`);
  return ["test", "lint"].map((name) => ({ name, command: command(name), from }));
}

function pythonChecks(look: Look): Check[] {
  const project = look("pyproject.toml") ?? "";
  const named = (pattern: RegExp) => (pattern.test(project) ? "pyproject.toml" : undefined);
  const tox = readable(look, ["tox.ini"]);
  const pytest = named(/^\[tool\.pytest|["'\s]pytest\b/m) ?? readable(look, ["pytest.ini", "conftest.py"]);
  const ruff = named(/^\[tool\.ruff/m) ?? readable(look, ["ruff.toml", ".ruff.toml"]);
  const found: [name: string, command: string, from: string | undefined][] = [
    tox ? ["test", "tox", tox] : ["test", "python3 -m pytest", pytest],
    ["lint", "ruff check .", ruff],
    ["typecheck", "mypy .", named(/^\[tool\.mypy/m)],
  ];
  return found.flatMap(([name, command, from]) => (from === undefined ? [] : [{ name, command, from }]));
}

/** A file whose mere presence says what to type. */
const BY_FILE: readonly (Check & { when?: RegExp })[] = [
  { from: "Cargo.toml", name: "test", command: "cargo test" },
  { from: "Cargo.toml", name: "lint", command: "cargo clippy -- -D warnings" },
  { from: "go.mod", name: "test", command: "go test ./..." },
  { from: "go.mod", name: "lint", command: "go vet ./..." },
  { from: "composer.json", name: "test", command: "composer test", when: /"test"\s*:/ },
  { from: ".rspec", name: "test", command: "bundle exec rspec" },
  { from: "Gemfile", name: "test", command: "bundle exec rspec", when: /["']rspec/ },
  { from: "Gemfile", name: "lint", command: "bundle exec rubocop", when: /["']rubocop/ },
  { from: "pom.xml", name: "test", command: "mvn -q test" },
  { from: ".pre-commit-config.yaml", name: "lint", command: "pre-commit run --all-files" },
];

function fileChecks(look: Look, has: (name: string) => boolean): Check[] {
  const plain = BY_FILE.flatMap(({ when, ...check }) => {
    const text = look(check.from);
    return text !== null && (when?.test(text) ?? true) ? [check] : [];
  });
  const gradle = ["build.gradle", "build.gradle.kts"].find(has);
  const command = has("gradlew") ? "./gradlew test" : "gradle test";
  const all = gradle ? [...plain, { name: "test", command, from: gradle }] : plain;
  return all.filter((check, at) => all.findIndex((other) => other.command === check.command) === at);
}

function makeChecks(look: Look): Check[] {
  const from = readable(look, ["GNUmakefile", "makefile", "Makefile"]);
  if (!from) return [];
  const has = (name: string) => new RegExp(`^${name}\\s*:(?!=)`, "m").test(look(from) ?? "");
  return [...NAMES, "check"].filter(has).map((name) => ({ name, command: `make ${name}`, from }));
}

// ── As a definition of done ─────────────────────────────────────────────────

/** What became of a check when it was run for the first time. */
export interface FirstRun {
  /** red before Pawl came: these tests may fail until they have passed once */
  known?: true;
  /** why it cannot be part of the definition of done yet */
  off?: string;
}

/** The live pawl.yaml of a project that has none. */
export function configText(checks: Check[], runs: FirstRun[] = [], team = false): string {
  const lines = checks.map((check, at) => checkLine(check, runs[at] ?? {}));
  const body = lines.length > 0 ? lines : ["#  - tests: [the, command, that, tests, this, project]"];
  const mark = body.some((line) => !line.startsWith("#")) ? "" : "# ";
  return `# yaml-language-server: $schema=${SCHEMA}
# What must hold before "done" counts here, in every session. \`pawl verify\` checks it now.
# Change it as you like; \`pawl trust\` then shows the difference and asks.
${mark}done:
${body.join("\n")}
${mark}guard: send-back # at the end of a turn that changed code; or: tell, off
${team ? "shortcuts: off # for everyone here; take this line out to allow them\n" : ""}`;
}

/** For editors; `pawl init` puts it there, `pawl schema project` prints it. */
export const SCHEMA = ".pawl/schema/project.json";

function checkLine({ name, command, cwd }: Check, { known, off }: FirstRun): string {
  const where = cwd === undefined ? "" : `, cwd: ${cwd}, when_changed: ["${cwd}/**"]`;
  const inner = gateText(name, command).slice(2, -2) + where + (known ? ", failing: known" : "");
  const gate = where || known ? `{ ${inner} }` : inner;
  return off === undefined ? `  - ${gate}` : `#  - ${gate} # ${off}`;
}

/** Of tests the summary is read; of everything else the exit status. */
export function gateText(name: string, command: string): string {
  const kind = /^tests(-\d+)?$/.test(name) ? "tests" : "run";
  const words = command
    .split(" ")
    .map((word) => (/^[\w./@:=-]+$/.test(word) && !/^[-\d]/.test(word) ? word : JSON.stringify(word)));
  return `{ ${kind}: [${words.join(", ")}] }`;
}
