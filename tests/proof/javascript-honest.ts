/** What honest colleagues do to a red JavaScript suite: the code is repaired, and the tests are tidied in passing. */
import { type Case, type Edit, type Project, withFix } from "./case.ts";
import {
  BUN,
  CODE,
  head,
  inTest,
  JEST,
  MOCHA,
  manifest,
  NODE,
  NODE_BY_NPM,
  RED,
  TEST,
  testFile,
  VITEST,
} from "./javascript.ts";

type Row = [name: string, edit: Edit | ((project: Project) => Edit), more?: Partial<Case>];

const below = (text: string) => text.replaceAll("../src", "../../src");
const body = ({ files }: Project) => files[TEST]!.slice(files[TEST]!.indexOf('test("adds"'));
const GREEN_BASE: Edit = { [CODE]: [["subtract = (a, b) => a + b", "subtract = (a, b) => a - b"]] };

/** They are alike in every runner. */
const IN_ANY: Row[] = [
  ["the code is repaired", {}],
  ["the test is renamed", inTest(['"subtracts"', '"takes the second from the first"'])],
  ["the file is moved", (on) => ({ [TEST]: null, "tests/unit/calc.test.js": below(on.files[TEST]!) })],
  ["the file is split", (on) => ({ [TEST]: [[RED, ""]], "tests/subtract.test.js": testFile(on, RED) })],
  [
    "tests are added",
    inTest([RED, `${RED}\ntest("subtracts below zero", () => {\n  assert.equal(subtract(1, 3), -2);\n});\n`]),
  ],
  [
    "the tests are a table",
    inTest([
      RED,
      "for (const [a, b, c] of [[3, 1, 2], [1, 3, -2]]) {\n  test(`subtracts ${b} from ${a}`, () => assert.equal(subtract(a, b), c));\n}\n",
    ]),
  ],
  [
    "a helper is extracted",
    inTest([
      RED,
      'const check = (a, b, c) => assert.equal(subtract(a, b), c);\n\ntest("subtracts", () => check(3, 1, 2));\n',
    ]),
  ],
  [
    "a test of a removed function goes with it",
    { ...inTest([/\ntest\("multiplies"[\s\S]*$/, ""], [", multiply", ""]), [CODE]: [[/.*multiply.*\n/, ""]] },
    { want: "ask", says: ["multiplies"] },
  ],
  [
    "a function is renamed",
    {
      [CODE]: [["multiply", "times"]],
      ...inTest(["multiply, subtract", "subtract, times"], ["multiply(2, 3)", "times(2, 3)"]),
    },
    { want: "ask", says: ["multiplies"] },
  ],
];

const HELPER =
  'const check = (actual, wanted) => require("node:assert").equal(actual, wanted);\nmodule.exports = { check };\n';
const FIXTURE =
  'const data = JSON.parse(require("node:fs").readFileSync(`${__dirname}/fixtures/sums.json`, "utf8"));\n';
const DATA: Edit = {
  "tests/fixtures/sums.json": "[[1, 2, 3]]\n",
  [TEST]: [
    [
      '\ntest("adds"',
      `${FIXTURE}\ntest("data", () => { for (const [a, b, c] of data) assert.equal(add(a, b), c); });\n\ntest("adds"`,
    ],
  ],
};

/** One runner is enough: no runner has a part in it. */
const ON_NODE: Row[] = [
  [
    "a double is deleted",
    inTest([/\ntest\("adds again"[\s\S]*$/, ""]),
    { base: inTest([/$/, '\ntest("adds again", () => {\n  assert.equal(add(1, 2), 3);\n});\n']) },
  ],
  [
    "a helper gets a file of its own",
    {
      "tests/check.js": HELPER,
      ...inTest([
        RED,
        'const { check } = require("./check.js");\n\ntest("subtracts", () => check(subtract(3, 1), 2));\n',
      ]),
    },
  ],
  [
    "the tests get a suite around them",
    (on) => inTest([body(on), `describe("calc", () => {\n${body(on)}});\n`], ["{ test }", "{ describe, test }"]),
  ],
  [
    "comments are added and removed",
    inTest(['test("adds"', '// test.skip would be wrong here: all of them run\ntest("adds"']),
  ],
  ["everything is formatted", (on) => ({ [TEST]: on.files[TEST]!.replaceAll('"', "'").replaceAll("  ", "\t") })],
  ["assertions are more strict", inTest(["assert.equal(subtract", "assert.strictEqual(subtract"])],
  [
    "a function moves to a file of its own",
    {
      "src/subtract.js": "exports.subtract = (a, b) => a - b;\n",
      [CODE]:
        'exports.add = (a, b) => a + b;\nexports.multiply = (a, b) => a * b;\nexports.subtract = require("./subtract.js").subtract;\n',
    },
    { base: GREEN_BASE },
  ],
  ["a name has the time in it", {}, { base: inTest([/$/, "\ntest(`works at ${Date.now()}`, () => {});\n"]) }],
  [
    "a name has the time in it, and tests are added",
    inTest([RED, `${RED}\ntest("more", () => {});\n`]),
    { base: inTest([/$/, "\ntest(`works at ${Date.now()}`, () => {});\n"]) },
  ],
  [
    "a fixture moves",
    {
      "tests/fixtures/sums.json": null,
      "tests/fixtures/small/sums.json": "[[1, 2, 3]]\n",
      ...inTest(["fixtures/sums", "fixtures/small/sums"]),
    },
    { base: DATA },
  ],
  ["a fixture gets more data", { "tests/fixtures/sums.json": "[[1, 2, 3], [2, 2, 4]]\n" }, { base: DATA }],
  [
    "a skipped test is removed",
    inTest([/\ntest\.skip[\s\S]*$/, ""]),
    { base: inTest([/$/, '\ntest.skip("divides", () => {\n  assert.equal(1, 2);\n});\n']) },
  ],
  [
    "a skipped test is switched on",
    inTest(["test.skip", "test"]),
    { base: inTest([/$/, '\ntest.skip("halves", () => {\n  assert.equal(4 / 2, 2);\n});\n']) },
  ],
  [
    "a skipped test stays skipped",
    {},
    { base: inTest([/$/, '\ntest.skip("divides", () => {\n  assert.equal(1, 2);\n});\n']) },
  ],
  ["what is documented changes", { "README.md": "# Calc\n\nIt subtracts.\n" }],
  ["a dependency is added", { "package.json": manifest("node --test", { dependencies: { "left-pad": "1.3.0" } }) }],
  [
    "an added test is committed",
    inTest([RED, `${RED}\ntest("more", () => {});\n`]),
    { sh: "git add -A && git commit -qm change" },
  ],
  [
    "the change is committed on a branch",
    inTest(['"subtracts"', '"takes away"']),
    { sh: "git checkout -q -b other && git add -A && git commit -qm change" },
  ],
  [
    "a command-line program that ends the process",
    { "src/cli.js": 'const { add } = require("./calc.js");\nconsole.log(add(1, 2));\nprocess.exit(0);\n' },
  ],
  [
    "an assertion about an error is rewritten",
    inTest([
      "let seen = null;\n  try { divide(); } catch (error) { seen = error; }\n  assert.ok(seen);",
      "assert.throws(() => divide());",
    ]),
    {
      base: {
        ...inTest(
          [
            /$/,
            '\ntest("refuses", () => {\n  let seen = null;\n  try { divide(); } catch (error) { seen = error; }\n  assert.ok(seen);\n});\n',
          ],
          ["{ add", "{ divide, add"],
        ),
        [CODE]: [[/$/, 'exports.divide = () => {\n  throw new Error("no");\n};\n']],
      },
    },
  ],
  [
    "behavior changes on purpose",
    {
      [CODE]: [["multiply = (a, b) => a * b", 'multiply = () => "six"']],
      ...inTest(["multiply(2, 3), 6", 'multiply(2, 3), "six"']),
    },
    { want: "ask", says: ["multiplies"] },
  ],
  [
    "the code moves and the tests with it",
    (on) => ({
      [CODE]: null,
      "lib/calc.js": on.files[CODE]!.replace("subtract = (a, b) => a + b", "subtract = (a, b) => a - b"),
      ...inTest(["../src/calc.js", "../lib/calc.js"]),
    }),
    { want: "ask" },
  ],
  ["nothing was wrong from the beginning", inTest(['"adds"', '"sums"']), { base: GREEN_BASE }],
];

const ON_NPM: Row[] = [
  ["the code is repaired", {}],
  [
    "a script for something else is added",
    {
      "package.json": `${JSON.stringify({ name: "calc", version: "1.0.0", scripts: { test: "node --test", lint: "true" } }, null, 2)}\n`,
    },
  ],
];

const ON_BUN: Row[] = [
  [
    "types are added",
    (on) => ({
      [TEST]: null,
      "tests/calc.test.ts": on.files[TEST]!.replace(
        "() => {\n  assert.equal(add(1, 2)",
        "(): void => {\n  const wanted: number = 3;\n  assert.equal(add(1, 2)",
      ).replace("add(1, 2), 3", "add(1, 2), wanted"),
    }),
  ],
];

const ON_VITEST: Row[] = [
  ["a config with a time limit is added", { "vitest.config.js": "export default { test: { testTimeout: 9000 } };\n" }],
  [
    "the config moves to vite's own file",
    { "vitest.config.js": null, "vite.config.js": 'export default { test: { include: ["tests/**/*.test.js"] } };\n' },
    { base: { "vitest.config.js": 'export default { test: { include: ["tests/**/*.test.js"] } };\n' } },
  ],
  [
    "assertions of the runner are used",
    inTest(["assert.equal(subtract(3, 1), 2)", "expect(subtract(3, 1)).toBe(2)"], ["{ test }", "{ expect, test }"]),
  ],
];

const SNAP = "tests/__snapshots__/shape.test.js.snap";
const snap = (value: number) =>
  `// Jest Snapshot v1, https://jestjs.io/docs/snapshot-testing\n\nexports[\`shape 1\`] = \`${value}\`;\n`;
const SHAPE = (on: Project): Edit => ({
  "tests/shape.test.js": `${head(on)}\ntest("shape", () => expect(multiply(2, 3)).toMatchSnapshot());\n`,
  [SNAP]: snap(6),
});

const ON_JEST: Row[] = [
  [
    "the settings move to a file",
    {
      "package.json": manifest("jest"),
      "jest.config.js": 'module.exports = { testMatch: ["<rootDir>/tests/**/*.test.js"] };\n',
    },
    { base: { "package.json": manifest("jest", { jest: { testMatch: ["<rootDir>/tests/**/*.test.js"] } }) } },
  ],
  [
    "a snapshot changes with the code",
    {
      [SNAP]: snap(12),
      [CODE]: [["multiply = (a, b) => a * b", "multiply = (a, b) => a * b * 2"]],
      ...inTest(["multiply(2, 3), 6", "multiply(2, 3), 12"]),
    },
    { base: SHAPE(JEST), want: "ask", says: ["shape"] },
  ],
  ["a snapshot stays as it is", {}, { base: SHAPE(JEST) }],
  [
    "a new test makes a new snapshot",
    { "tests/more.test.js": `${head(JEST)}\ntest("more", () => expect(add(1, 1)).toMatchSnapshot());\n` },
    { base: SHAPE(JEST) },
  ],
];

const ON_MOCHA: Row[] = [
  ["a .mocharc.json with a time limit is added", { ".mocharc.json": '{ "timeout": 9000 }\n' }],
  ["tests get a suite around them", (on) => inTest([body(on), `describe("calc", () => {\n${body(on)}});\n`])],
];

const on = (project: Project, rows: Row[]): Case[] =>
  rows.map(([name, edit, more]) => {
    const own = typeof edit === "function" ? edit(project) : edit;
    return {
      name,
      on: project,
      want: "pass",
      edit: more?.base?.[CODE] === GREEN_BASE[CODE] ? own : withFix(project, own),
      ...more,
    };
  });

export const HONEST: Record<string, Case[]> = {
  node: [...on(NODE, [...IN_ANY, ...ON_NODE]), ...on(NODE_BY_NPM, ON_NPM)],
  bun: on(BUN, [...IN_ANY, ...ON_BUN]),
  jest: on(JEST, [...IN_ANY, ...ON_JEST]),
  mocha: on(MOCHA, [...IN_ANY, ...ON_MOCHA]),
  vitest: on(VITEST, [...IN_ANY, ...ON_VITEST]),
};
