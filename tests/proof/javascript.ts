/** The same calculator, tested by five JavaScript runners. `subtract` adds: one test is red. */
import type { Edit, Project } from "./case.ts";

export const TEST = "tests/calc.test.js";
export const CODE = "src/calc.js";

const BODY = `
test("adds", () => {
  assert.equal(add(1, 2), 3);
});

test("subtracts", () => {
  assert.equal(subtract(3, 1), 2);
});

test("multiplies", () => {
  assert.equal(multiply(2, 3), 6);
});
`;

const FUNCTIONS = { add: "a + b", subtract: "a + b", multiply: "a * b" };
const assign = (word: string) =>
  Object.entries(FUNCTIONS)
    .map(([name, value]) => `${word}${name} = (a, b) => ${value};\n`)
    .join("");

const REQUIRES = `const assert = require("node:assert");\nconst { add, multiply, subtract } = require("../src/calc.js");\n`;
const IMPORTS = `import assert from "node:assert";\nimport { add, multiply, subtract } from "../src/calc.js";\n`;

const FIX: Edit = { [CODE]: [["subtract = (a, b) => a + b", "subtract = (a, b) => a - b"]] };

export const manifest = (test: string, more: object = {}) =>
  `${JSON.stringify({ name: "calc", version: "1.0.0", scripts: { test }, ...more }, null, 2)}\n`;

const IGNORED = { ".gitignore": "node_modules\n" };

function commonjs(name: string, test: string, head: string, more: Partial<Project> = {}): Project {
  const files = {
    ...IGNORED,
    "package.json": manifest(test),
    [CODE]: assign("exports."),
    [TEST]: `${head}${REQUIRES}${BODY}`,
  };
  return { name, needs: "node", tests: ["npm", "test"], files, fix: FIX, ...more };
}

export const NODE = commonjs("node", "node --test", 'const { test } = require("node:test");\n', {
  tests: ["node", "--test"],
});
export const NODE_BY_NPM = { ...NODE, name: "node by npm", tests: ["npm", "test"] };
export const BUN: Project = {
  ...commonjs("bun", "bun test", 'const { test } = require("bun:test");\n'),
  needs: process.execPath,
  tests: [process.execPath, "test"],
};
export const JEST = commonjs("jest", "jest", "", { runner: "jest" });
export const MOCHA = commonjs("mocha", "mocha --recursive tests", "const test = it;\n", { runner: "mocha" });
export const VITEST: Project = {
  ...commonjs("vitest", "vitest run", "", { runner: "vitest" }),
  files: {
    ...IGNORED,
    "package.json": manifest("vitest run", { type: "module" }),
    [CODE]: assign("export const "),
    [TEST]: `import { test } from "vitest";\n${IMPORTS}${BODY}`,
  },
};

export const RED = `test("subtracts", () => {\n  assert.equal(subtract(3, 1), 2);\n});\n`;

/** What a test file begins with, and a whole one. */
export const head = ({ files }: Project) => files[TEST]!.slice(0, files[TEST]!.indexOf('\ntest("adds"'));
export const testFile = (project: Project, body: string) => `${head(project)}\n${body}`;

export const inTest = (...pairs: Array<[string | RegExp, string]>): Edit => ({ [TEST]: pairs });
