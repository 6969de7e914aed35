/** The checks a project already has, as a person would type them. Files are looked at, nothing is run. */
import { isObject, lookAt, parseJson, readText } from "../../store/files.ts";
import { join } from "../../store/names.ts";

export interface Check {
  name: string;
  command: string;
  /** the file that told us */
  from: string;
}

type Look = (name: string) => string | null;

export function detectChecks(root: string): Check[] {
  const look: Look = (name) => {
    const file = readText(join(root, name), 1024 * 1024);
    return file.ok ? file.text : null;
  };
  const has = (name: string) => lookAt(join(root, name)) !== undefined;
  const all = [...ofNode(look, has), ...ofDeno(look), ...ofPython(look), ...ofFiles(look, has), ...ofMake(look)];
  const seen = new Map<string, number>();
  return all.map((check) => {
    const count = (seen.get(check.name) ?? 0) + 1;
    seen.set(check.name, count);
    return count === 1 ? check : { ...check, name: `${check.name}-${count}` };
  });
}

const NAMES = ["test", "lint", "typecheck"] as const;
const ALIASES: Record<string, string> = { "type-check": "typecheck", "check-types": "typecheck", types: "typecheck" };

function ofNode(look: Look, has: (name: string) => boolean): Check[] {
  const scripts = scriptsOf(look("package.json"), "scripts");
  const lock = (["pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"] as const).find(has);
  const runner = lock
    ? { "pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun" }[lock]
    : "npm";
  return Object.entries(scripts).flatMap(([script, body]) => {
    const name = NAMES.find((known) => known === (ALIASES[script] ?? script));
    if (!name || body.includes("no test specified")) return [];
    return [
      {
        name,
        command: script === "test" && runner !== "bun" ? `${runner} test` : `${runner} run ${script}`,
        from: "package.json",
      },
    ];
  });
}

function scriptsOf(text: string | null, key: string): Record<string, string> {
  const value = text === null ? undefined : parseJson(text.replace(/^\uFEFF/, ""));
  const scripts = isObject(value) && isObject(value[key]) ? value[key] : {};
  // Only names that need no quoting get into a command.
  const plain = Object.entries(scripts).filter(([name, body]) => /^[\w:.-]+$/.test(name) && typeof body === "string");
  return Object.fromEntries(plain) as Record<string, string>;
}

function ofDeno(look: Look): Check[] {
  const from = ["deno.json", "deno.jsonc"].find((name) => look(name) !== null);
  if (!from) return [];
  const tasks = scriptsOf(look(from), "tasks");
  const command = (name: string) => (tasks[name] === undefined ? `deno ${name}` : `deno task ${name}`);
  return ["test", "lint"].map((name) => ({ name, command: command(name), from }));
}

function ofPython(look: Look): Check[] {
  const project = look("pyproject.toml") ?? "";
  const found: Check[] = [];
  const add = (name: string, command: string, from: string) => void found.push({ name, command, from });
  const pytest = /^\[tool\.pytest/m.test(project) || /["'\s]pytest\b/.test(project) ? "pyproject.toml" : null;
  const ini = ["pytest.ini", "conftest.py"].find((name) => look(name) !== null);
  if (look("tox.ini") !== null) add("test", "tox", "tox.ini");
  else if (pytest ?? ini) add("test", "python3 -m pytest", (pytest ?? ini) as string);
  const ruff = /^\[tool\.ruff/m.test(project)
    ? "pyproject.toml"
    : ["ruff.toml", ".ruff.toml"].find((name) => look(name) !== null);
  if (ruff) add("lint", "ruff check .", ruff);
  if (/^\[tool\.mypy/m.test(project)) add("typecheck", "mypy .", "pyproject.toml");
  return found;
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

function ofFiles(look: Look, has: (name: string) => boolean): Check[] {
  const plain = BY_FILE.flatMap(({ when, ...check }) => {
    const text = look(check.from);
    return text !== null && (when?.test(text) ?? true) ? [check] : [];
  });
  const gradle = ["build.gradle", "build.gradle.kts"].find(has);
  const command = has("gradlew") ? "./gradlew test" : "gradle test";
  const all = gradle ? [...plain, { name: "test", command, from: gradle }] : plain;
  return all.filter((check, at) => all.findIndex((other) => other.command === check.command) === at);
}

function ofMake(look: Look): Check[] {
  const from = ["GNUmakefile", "makefile", "Makefile"].find((name) => look(name) !== null);
  if (!from) return [];
  const text = look(from) ?? "";
  const targets = ["test", "lint", "typecheck", "check"].filter((name) =>
    new RegExp(`^${name}\\s*:(?!=)`, "m").test(text),
  );
  return targets.map((name) => ({ name, command: `make ${name}`, from }));
}

/** A pawl.yaml that changes nothing until the person takes a "#" away. */
export function configText(checks: Check[]): string {
  const lines = checks.map(({ name, command, from }) => `#   ${name}: ${gateText(name, command)}  # from ${from}`);
  const found = lines.length > 0 ? lines : ["#   test: { tests: [the, command, that, tests, this, project] }"];
  const first = checks[0]?.name ?? "test";
  return `# Pawl's configuration of this project. Everything in it is optional.
#
# Checks that Pawl makes itself before it believes "done"; \`pawl verify\` makes them all. Take the first "# " of these
# lines away to use them, and approve them with \`pawl trust\`:
#
# gates:
${found.join("\n")}
# workflows:
#   complete-work:
#     gates: { REVIEW_COMPLETE: [{ use: ${first} }] }
`;
}

/** Of tests the summary is read; of everything else the exit status. */
function gateText(name: string, command: string): string {
  const kind = /^test(-\d+)?$/.test(name) ? "tests" : "run";
  const words = command
    .split(" ")
    .map((word) => (/^[\w./@:=-]+$/.test(word) && !/^[-\d]/.test(word) ? word : JSON.stringify(word)));
  return `{ ${kind}: [${words.join(", ")}] }`;
}
