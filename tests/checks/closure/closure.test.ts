import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { computeClosure } from "../../../src/checks/closure/closure.ts";
import { commandsIn } from "../../../src/kernel/text/command-line.ts";
import type { Gate } from "../../../src/kernel/types/workflow.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "pawl-closure-")));
const root = join(base, "project");

const FILES: Record<string, string> = {
  "package.json": JSON.stringify({
    scripts: {
      test: "npm run build && node --test tests/run.mjs",
      build: "sh ./build.sh",
      prebuild: "cp a b",
      loop: "npm run loop",
      constructor: "true",
      install: "node native.cjs",
    },
  }),
  "build.sh": "x",
  "tests/run.mjs": "x",
  "native.cjs": "x",
  "tool.js": "x",
  "lib/index.js": "x",
  "run.py": "x",
  ".env": "SECRET=1",
  "bunfig.toml": "preload = []",
  Makefile: "include mk/rules.mk\nall:\n\ttrue\n",
  "mk/rules.mk": "x",
  "other.mk": "x",
  justfile: "x",
  "composer.json": JSON.stringify({ scripts: { qa: ["@style", "@php bin/stan.php"], style: "cs fix" } }),
  "bin/stan.php": "x",
  "packages/a/package.json": JSON.stringify({ scripts: { test: "node a.mjs" } }),
  "packages/a/a.mjs": "x",
  "packages/b/b.sh": "x",
  "huge.sh": "x".repeat(1024 * 1024 + 1),
  "../outside.sh": "x",
};

beforeAll(() => {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  symlinkSync("../outside.sh", join(root, "link.sh"));
  symlinkSync("packages/a", join(root, "alias"));
});
afterAll(() => rmSync(base, { recursive: true }));

const gate = (part: Partial<Gate>): Gate => ({ name: "g", id: "g", ...part });
const named = (part: Partial<Gate>) =>
  computeClosure(root, [gate(part)]).items.flatMap(({ scripts }) =>
    scripts.map(({ path, what }) =>
      what === "file"
        ? path
        : what.startsWith("package.json")
          ? `${path} ${what.split(".").at(-1)}`
          : `${path}: ${what}`,
    ),
  );

const TESTS = ["package.json test", "package.json build", "build.sh", "package.json prebuild", "tests/run.mjs"];
const TABLE: [Partial<Gate>, string[]][] = [
  [{ run: ["true"] }, []],
  [{ run: ["./build.sh", "x"] }, ["build.sh"]],
  [{ run: ["build.sh"] }, []],
  [{ run: [join(root, "build.sh")] }, ["build.sh"]],
  [{ tests: ["node", "tests/run.mjs"] }, ["tests/run.mjs"]],
  [{ run: ["node", "tool"] }, ["tool.js"]],
  [{ run: ["node", "lib"] }, ["lib/index.js"]],
  [{ run: ["python3", "-m", "run"] }, ["run.py"]],
  [{ run: ["python3", "-m", "pytest"] }, []],
  [{ run: ["python3", "gone.py"] }, ["gone.py: missing"]],
  [{ run: ["npm", "test"] }, TESTS],
  [{ run: ["npm", "t"] }, TESTS],
  [{ run: ["npm", "--silent", "run", "test"] }, TESTS],
  [{ run: ["pnpm", "-w", "test"] }, TESTS],
  [{ run: ["env", "A=1", "timeout", "5", "yarn", "test"] }, TESTS],
  [{ run: ["npm", "run", "loop"] }, ["package.json loop"]],
  [{ run: ["npm", "run", "constructor"] }, ["package.json constructor"]],
  [{ run: ["npm", "run", "toString"] }, ["package.json toString: missing"]],
  [{ run: ["npm", "ci"] }, ["package.json install", "native.cjs"]],
  [
    { run: ["bun", "run", "build"] },
    ["bunfig.toml", ".env", "package.json build", "build.sh", "package.json prebuild"],
  ],
  [{ run: ["npm", "test"], cwd: "packages/a" }, ["packages/a/package.json test", "packages/a/a.mjs"]],
  [{ run: ["npm", "test"], cwd: "alias/" }, ["packages/a/package.json test", "packages/a/a.mjs"]],
  [{ run: ["npm", "run", "build"], cwd: "packages/b" }, ["package.json build", "build.sh", "package.json prebuild"]],
  [{ run: ["../../build.sh"], cwd: "packages/b" }, ["build.sh"]],
  [{ run: ["make", "all"] }, ["Makefile", "mk/rules.mk"]],
  [{ run: ["make", "-fother.mk"] }, ["Makefile", "mk/rules.mk", "other.mk"]],
  [{ run: ["just", "x"], cwd: "packages/a" }, ["justfile"]],
  [
    { run: ["composer", "qa"] },
    ["composer.json: composer.json scripts.qa", "bin/stan.php", "composer.json: composer.json scripts.style"],
  ],
  [{ shell: "cd packages/b && ./b.sh | tail -5" }, ["packages/b/b.sh"]],
  [{ shell: "bash -euc 'cd packages/b; sh \"b.sh\"'" }, ["packages/b/b.sh"]],
  [{ shell: "X=$(./build.sh) && cat <run.py" }, ["build.sh", "run.py"]],
  [{ shell: "./build.sh >tool.js 2>> native.cjs" }, ["build.sh"]],
  [{ run: ["sh", "././gone.sh"], cwd: "lib" }, ["lib/gone.sh: missing"]],
  [{ run: ["bash", "-lc", "cd packages/b; ./b.sh"] }, ["packages/b/b.sh"]],
  [{ run: ["concurrently", "node tool.js", "sh build.sh"] }, ["tool.js", "build.sh"]],
  [{ shell: "NODE_OPTIONS='--require ./tool.js' node tests/run.mjs" }, ["tool.js", "tests/run.mjs"]],
  [{ run: ["pytest", "run.py::test_x"] }, ["run.py"]],
  [{ run: ["lint", "--files=build.sh,tool.js"] }, ["build.sh", "tool.js"]],
  [{ run: ["sh", "-c", `${"cd . ; ".repeat(40)}./build.sh`] }, ["build.sh"]],
  [
    { run: ["sh", "link.sh"] },
    [`link.sh: a link out of the project, to ${base}/outside.sh: its content is not covered`],
  ],
  [{ run: ["sh", "../outside.sh"] }, []],
  [{ run: ["sh", "alias/../b/b.sh"] }, ["packages/b/b.sh"]],
  [{ run: ["sh", "huge.sh"] }, ["huge.sh: file, larger than 1 MB: only its first MB and its size are covered"]],
  [{ any: [gate({ all: [gate({ run: ["./build.sh"] })] }), gate({ shell: "./tool.js" })] }, ["build.sh", "tool.js"]],
  [{ typed: true }, []],
  [{ git: "clean" }, []],
];

test.each(TABLE)("%j", (part, expected) => {
  expect(named(part)).toEqual(expected);
});

test("secrets are hashed and never shown", () => {
  const [item] = computeClosure(root, [gate({ run: ["bun", "test"] })]).items;
  const env = item!.scripts.find(({ path }) => path === ".env");
  expect(env).toEqual({ path: ".env", what: "file", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

test("more files than can be looked at are said", () => {
  mkdirSync(join(root, "many"));
  const names = Array.from({ length: 201 }, (_, at) => `many/${at}.sh`);
  for (const name of names) writeFileSync(join(root, name), name);
  expect(named({ run: ["cat", ...names] }).at(-1)).toBe("many/200.sh: not covered: more than 200 files are named");
});

test.each([
  ["true ".repeat(3000), "1000 words"],
  [`npm ${"x ".repeat(60)} run build`, "50 words behind one program"],
  [`lint ${"x,".repeat(200)}build.sh`, "100 names in one word"],
])("what is too much to look at is said: %#", (line, much) => {
  expect(named({ shell: line })).toContain(`.: not covered: more than ${much}`);
});

test("the hash knows neither order nor names of gates", () => {
  const [a, b] = [gate({ run: ["./build.sh"] }), gate({ shell: "./tool.js" })];
  const { hash } = computeClosure(root, [a, b]);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(computeClosure(root, [{ ...b, name: "other" }, a, b]).hash).toBe(hash);
  expect(computeClosure(root, [a]).hash).not.toBe(hash);
});

test.each([
  ["a b", [["a", "b"]]],
  ['a \'b c\' "d \\"e" f\\ g', [["a", "b c", 'd "e', "f g"]]],
  ["a&&b||c;d|e&f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]],
  ["a $(b `c`) <d >e 2>&1 f >>g;h", [["a", "$"], ["b"], ["c"], ["d", "2", "f"], ["h"]]],
  ["a \\\nb '' 'unended", [["a", "b", "", "unended"]]],
  ["  ", []],
])("words of %j", (line, commands) => {
  expect(commandsIn(line)).toEqual(commands);
});

/** Each command with what it is about; a change of `covered` needs a new approval, one of `work` does not. */
const COVERED: [line: string, covered: string][] = [
  ["./run-test.sh", "run-test.sh"],
  ["sh run-test.sh", "run-test.sh"],
  ["sh -e run-test.sh", "run-test.sh"],
  ["sh -c ./run-test.sh", "run-test.sh"],
  ["env A=1 timeout 60 bash -x run-test.sh", "run-test.sh"],
  ["python3 test_runner.py", "test_runner.py"],
  ["python3 -m test_runner", "test_runner.py"],
  ["python3 -m checks.main_test", "checks/main_test.py"],
  ["python3 -m pytest", "pytest.py"],
  ["node all.spec.js", "all.spec.js"],
  ["node all.spec", "all.spec.js"],
  ["node --require ./setup.test.js --test", "setup.test.js"],
  ["node --import=./setup.test.js --test", "setup.test.js"],
  ["cargo test", ".cargo/config.toml"],
  ["cargo test", ".cargo/config"],
  ["cargo test", "rust-toolchain.toml"],
  ["go test ./...", "go.work"],
  ["npm test", ".npmrc"],
  ["npx vitest run", ".npmrc"],
  ["yarn test", ".yarnrc.yml"],
  ["pnpm test", ".pnpmfile.cjs"],
  ["pip check", "pip.conf"],
  ["./gradlew test", "gradle/wrapper/gradle-wrapper.properties"],
  ["mvn test", ".mvn/maven.config"],
  ["./mvnw test", ".mvn/wrapper/maven-wrapper.properties"],
  ["make test", "mk/rules.mk"],
];
const WORK: [line: string, work: string][] = [
  ["node --test all.spec.js", "all.spec.js"],
  ["node --test --test-reporter=spec all.spec.js", "all.spec.js"],
  ["bun test all.spec.js", "all.spec.js"],
  ["python3 -m pytest test_runner.py", "test_runner.py"],
  ["pytest test_runner.py", "test_runner.py"],
  ["npx vitest run all.spec.js", "all.spec.js"],
  ["env CI=1 npx jest all.spec.js", "all.spec.js"],
  ["cargo test", "src/lib.rs"],
  ["go test ./...", "sum_test.go"],
  ["make test", "src/lib.rs"],
];

function changes(line: string, path: string): boolean {
  const other = join(base, "edited");
  rmSync(other, { recursive: true, force: true });
  const put = (file: string, text: string) => {
    mkdirSync(dirname(join(other, file)), { recursive: true });
    writeFileSync(join(other, file), text);
  };
  for (const file of ["Makefile", "gradlew", "mvnw", "package.json"]) put(file, FILES[file] ?? "x");
  const hash = () => computeClosure(other, [gate({ tests: line.split(" ") })]).hash;
  put(path, "before");
  const before = hash();
  put(path, "after");
  return hash() !== before;
}

test.each(COVERED)("%s: a changed %s is approved again", (line, path) => expect(changes(line, path)).toBe(true));
test.each(WORK)("%s: a changed %s is the work", (line, path) => expect(changes(line, path)).toBe(false));
