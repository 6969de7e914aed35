/** JavaScript runners from npm: names, their own reporters kept, and never another exit status than without us. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findRunner } from "../toolchains.ts";
import { projectWith } from "./toolchain.ts";

interface Kind {
  runner: string;
  line: string;
  file: string;
  head?: string;
  /** the function that makes a test, and what its body has to begin with: some runners count assertions */
  call?: string;
  pass?: string;
  settings?: object;
}

const ESM = { type: "module" };
const KINDS: Kind[] = [
  { runner: "vitest", line: "vitest run", file: "a.test.js", head: 'import { test } from "vitest";', settings: ESM },
  { runner: "jest", line: "jest", file: "a.test.js" },
  { runner: "mocha", line: "mocha a.test.js", file: "a.test.js", call: "it" },
  { runner: "jasmine", line: "jasmine a.spec.js", file: "a.spec.js", call: "it", pass: "expect(1).toBe(1);" },
  { runner: "ava", line: "ava", file: "test.js", head: 'import test from "ava";', pass: "t.pass();", settings: ESM },
  { runner: "tap", line: "tap run --disable-coverage --allow-empty-coverage a.test.js", file: "a.test.js", head: 'const { test } = require("tap");', pass: "t.end();" },
]; // biome-ignore format: a table

const takesArgument = ({ pass = "" }: Kind) => pass.startsWith("t.");

function projectFor(kind: Kind, bodies: string[]) {
  const { runner, file, head = "", call = "test", settings = {} } = kind;
  const tests = bodies.map((body, at) => `${call}("test ${at}", (${takesArgument(kind) ? "t" : ""}) => {${body}});`);
  const manifest = { ...settings, scripts: { test: kind.line } };
  const project = projectWith({ "package.json": JSON.stringify(manifest), [file]: [head, ...tests, ""].join("\n") });
  project.link("node_modules", findRunner(runner)!);
  return project;
}

describe.each(KINDS)("$runner", (kind) => {
  const { runner, file, pass = "" } = kind;
  const line = `node_modules/.bin/${kind.line}`;
  const isThere = findRunner(runner) !== null;
  const at = (number: number) => `${file} > test ${number}`;

  test.skipIf(!isThere)("below npm: all pass", () => {
    const { exit, named } = projectFor(kind, [pass, pass]).run("npm test");
    expect([exit, named?.ended, named?.incomplete]).toEqual([0, 1, undefined]);
    expect(named?.tests).toEqual({ [at(0)]: "passed", [at(1)]: "passed" });
  });

  test.skipIf(!isThere)("one fails: by its name, and with the exit that it has without us", () => {
    const project = projectFor(kind, [pass, 'throw new Error("no");']);
    const { exit, named } = project.run(line);
    expect([exit, exit === 0]).toEqual([project.plain(line).exit, false]);
    expect(named?.tests).toMatchObject({ [at(0)]: "passed", [at(1)]: "failed" });
  });

  test.skipIf(!isThere)("one ends the process: the same exit, and no report that is whole and green", () => {
    const project = projectFor(kind, [pass, "process.exit(0);", pass]);
    const { exit, named } = project.run(line);
    expect(exit).toBe(project.plain(line).exit);
    const isWhole = named !== null && named.incomplete === undefined && named.ended === named.runners.length;
    const isGreen = isWhole && Object.values(named.tests).every((status) => status === "passed");
    expect({ passes: isGreen && exit === 0, named }).toEqual({ passes: false, named });
  });
});

test.skipIf(findRunner("ava") === null)("ava: processes instead of threads, and what is left out", () => {
  const project = projectFor(KINDS.find(({ runner }) => runner === "ava")!, ["t.pass();"]);
  project.write(
    "b.test.js",
    'import test from "ava";\ntest.skip("left", (t) => t.pass());\ntest.todo("later");\ntest.failing("wrong", (t) => t.fail());\n',
  );
  const { exit, named } = project.run("node_modules/.bin/ava --no-worker-threads");
  expect([exit, named?.ended]).toEqual([0, 1]);
  expect(named?.tests).toEqual({
    "test.js > test 0": "passed",
    "b.test.js > left": "skipped",
    "b.test.js > later": "skipped",
    "b.test.js > wrong": "passed",
  });
});

// ── The person's own reporters ──────────────────────────────────────────────

const OWN = 'module.exports = class { onRunComplete() { require("fs").writeFileSync("own.txt", "here"); } };\n';

test.skipIf(findRunner("vitest") === null).each([
  ["in the settings", "", "reporters: ['json'], outputFile: 'own.txt'"],
  ["by a flag", "--reporter=json --outputFile=own.txt", ""],
])("vitest writes its own file: %s", (_how, flags, settings) => {
  const project = projectFor(KINDS[0]!, [""]);
  project.write("vitest.config.js", `export default { test: { ${settings} } };\n`);
  const { exit, named } = project.run(`node_modules/.bin/vitest run ${flags}`);
  expect([exit, named?.tests]).toEqual([0, { "a.test.js > test 0": "passed" }]);
  expect(existsSync(join(project.root, "own.txt"))).toBe(true);
});

test.skipIf(findRunner("jest") === null).each([
  ["in the settings", "", "module.exports = { reporters: ['default', './own.cjs'] };\n"],
  ["by a flag", "--reporters=./own.cjs", "module.exports = {};\n"],
])("jest calls its own reporter: %s", (_how, flags, settings) => {
  const project = projectFor(KINDS[1]!, [""]);
  project.write("own.cjs", OWN);
  project.write("jest.config.js", settings);
  const { exit, named } = project.run(`node_modules/.bin/jest ${flags}`);
  expect([exit, named?.tests]).toEqual([0, { "a.test.js > test 0": "passed" }]);
  expect(existsSync(join(project.root, "own.txt"))).toBe(true);
});
