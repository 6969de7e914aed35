import { afterEach, expect, test } from "bun:test";
import { compileProject } from "../../../src/definitions/project.ts";
import { configText, detectChecks } from "../../../src/setup/install/checks.ts";
import { removeTemps, tempRoot } from "../../store/samples.ts";
import { put } from "./ground.ts";

afterEach(removeTemps);

const scripts = (names: Record<string, string>) => JSON.stringify({ scripts: names });

const CASES: [string, Record<string, string>, Record<string, string>][] = [
  ["nothing", { "README.md": "npm test" }, {}],
  [
    "npm",
    { "package.json": scripts({ test: "x", lint: "y", typecheck: "z", build: "b" }) },
    { tests: "npm test", lint: "npm run lint", typecheck: "npm run typecheck" },
  ],
  ["npm's placeholder", { "package.json": scripts({ test: 'echo "Error: no test specified" && exit 1' }) }, {}],
  [
    "pnpm, another name",
    { "package.json": scripts({ "type-check": "z" }), "pnpm-lock.yaml": "" },
    { typecheck: "pnpm run type-check" },
  ],
  ["yarn", { "package.json": scripts({ test: "x" }), "yarn.lock": "" }, { tests: "yarn test" }],
  [
    "bun, whose own test command is another",
    { "package.json": scripts({ test: "x" }), "bun.lock": "" },
    { tests: "bun run test" },
  ],
  ["a broken package.json", { "package.json": "{" }, {}],
  ["scripts of a wrong shape", { "package.json": '{"scripts":{"test":5,"lint":["x"]}}' }, {}],
  [
    "pytest, ruff, mypy",
    { "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n[tool.mypy]\n" },
    { tests: "python3 -m pytest", lint: "ruff check .", typecheck: "mypy ." },
  ],
  [
    "pytest as a dependency",
    { "pyproject.toml": '[project]\ndependencies = ["pytest>=8"]\n' },
    { tests: "python3 -m pytest" },
  ],
  ["tox", { "tox.ini": "", "pyproject.toml": "[tool.pytest]\n" }, { tests: "tox" }],
  ["cargo", { "Cargo.toml": "" }, { tests: "cargo test", lint: "cargo clippy -- -D warnings" }],
  ["go", { "go.mod": "module x\n" }, { tests: "go test ./...", lint: "go vet ./..." }],
  ["make", { Makefile: "test: all\n\tx\ncheck:\n\ty\nlint := no\n" }, { tests: "make test", check: "make check" }],
  ["composer", { "composer.json": '{"scripts":{"test":"phpunit"}}' }, { tests: "composer test" }],
  [
    "rspec",
    { Gemfile: "gem 'rspec'\ngem 'rubocop'\n", ".rspec": "" },
    { tests: "bundle exec rspec", lint: "bundle exec rubocop" },
  ],
  ["maven", { "pom.xml": "<project/>" }, { tests: "mvn -q test" }],
  ["gradle", { "build.gradle.kts": "" }, { tests: "gradle test" }],
  ["gradle with its wrapper", { "build.gradle": "", gradlew: "" }, { tests: "./gradlew test" }],
  ["deno", { "deno.json": '{"tasks":{"test":"x"}}' }, { tests: "deno task test", lint: "deno lint" }],
  ["pre-commit", { ".pre-commit-config.yaml": "" }, { lint: "pre-commit run --all-files" }],
  [
    "two of a kind",
    { "go.mod": "", Makefile: "test:\n" },
    { tests: "go test ./...", lint: "go vet ./...", "tests-2": "make test" },
  ],
];

for (const [name, files, expected] of CASES) {
  test(name, () => {
    const root = tempRoot();
    for (const [path, text] of Object.entries(files)) put(root, path, text);
    const checks = detectChecks(root);
    expect(Object.fromEntries(checks.map(({ name: check, command }) => [check, command]))).toEqual(expected);
    const compiled = compileProject(configText(checks));
    if ("errors" in compiled) throw new Error(JSON.stringify(compiled.errors));
    const argvs = (compiled.project.gates.done?.all ?? []).map(({ run, tests }) => (run ?? tests)!.join(" "));
    expect(argvs).toEqual(Object.values(expected));
    expect(compiled.project.guard).toBe(checks.length > 0 ? "send-back" : undefined);
  });
}

test("packages of a repository without checks of its own: each in its folder, when it changed", () => {
  const root = tempRoot();
  put(root, "packages/a/package.json", '{"scripts":{"test":"x"}}');
  put(root, "web/package.json", '{"scripts":{"test":"x","lint":"y"}}');
  put(root, "node_modules/b/package.json", '{"scripts":{"test":"x"}}');
  const compiled = compileProject(configText(detectChecks(root)));
  if ("errors" in compiled) throw new Error(JSON.stringify(compiled.errors));
  expect(
    compiled.project.gates.done?.all?.map(({ tests, cwd, when_changed }) => ({ tests, cwd, when_changed })),
  ).toEqual([
    { tests: ["npm", "test"], cwd: "packages/a", when_changed: ["packages/a/**"] },
    { tests: ["npm", "test"], cwd: "web", when_changed: ["web/**"] },
  ]);
});

test("a check that was red at the beginning is a comment with its reason; known failures stay live", () => {
  const checks = [
    { name: "tests", command: "npm test", from: "package.json" },
    { name: "lint", command: "npm run lint", from: "package.json" },
  ];
  const text = configText(checks, [{ known: true }, { off: "red when Pawl was set up: exit 1" }]);
  expect(text).toContain(
    "  - { tests: [npm, test], failing: known }\n#  - run: [npm, run, lint] # red when Pawl was set up",
  );
  expect("errors" in compileProject(text)).toBe(false);
  const none = configText(checks.slice(1), [{ off: "exit 127" }]);
  expect(none).toContain("# done:\n#  - run: [npm, run, lint] # exit 127\n# guard: send-back");
  expect(compileProject(none)).toMatchObject({ project: { gates: {} } });
});
