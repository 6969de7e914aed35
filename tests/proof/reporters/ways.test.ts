/** The ways in which people start a runner, and folders of several packages: the names come through each of them. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { findRunner, has } from "../toolchains.ts";
import { projectWith } from "./toolchain.ts";

const suite = (name: string) => `const test = require("node:test");\ntest("of ${name}", () => {});\n`;
const manifest = (name: string, more: object = {}) =>
  JSON.stringify({ name, version: "1.0.0", private: true, scripts: { test: "node --test" }, ...more });
const PACKAGES = {
  "package.json": manifest("all", { workspaces: ["packages/*"], scripts: { each: "true" } }),
  "pnpm-workspace.yaml": "packages:\n  - packages/*\n",
  "packages/a/package.json": manifest("a"),
  "packages/a/a.test.js": suite("a"),
  "packages/b/package.json": manifest("b"),
  "packages/b/b.test.js": suite("b"),
};
const NAMES = { "packages/a/a.test.js > of a": "passed", "packages/b/b.test.js > of b": "passed" } as const;
const tool = (name: string, script: string) => `node ${join(findRunner(name) ?? "", name, "bin", script)}`;

const WAYS: [how: string, line: string, needs?: boolean][] = [
  ["npm workspaces", "npm test --workspaces"],
  ["pnpm", `${tool("pnpm", "pnpm.cjs")} -r --config.verify-deps-before-run=false test`, findRunner("pnpm") !== null],
  ["yarn", `${tool("yarn", "yarn.js")} -s workspaces run test`, findRunner("yarn") !== null],
  ["make", "make -s", has("make")],
  ["a script that calls a script", "sh all.sh"],
  ["at the same time", "(cd packages/a && node --test) & (cd packages/b && node --test) & wait"],
];

for (const [how, line, isThere = true] of WAYS)
  test.skipIf(!isThere)(how, () => {
    const project = projectWith({
      ...PACKAGES,
      Makefile: "all:\n\tcd packages/a && npm test\n\tcd packages/b && node --test\n",
      "all.sh": "for one in packages/*; do sh each.sh $one || exit 1; done\n",
      "each.sh": 'cd "$1" && npm test\n',
    });
    const { exit, named, output } = project.run(line);
    expect({ exit, tests: named?.tests, ended: named?.ended, output }).toEqual({
      exit: 0,
      tests: NAMES,
      ended: 2,
      output,
    });
  });
