/** Product code that newly has to do with its own tests is named to the person at the pass, and nothing else is. */
import { afterAll, describe, expect, test } from "bun:test";
import { findWords, renderMention } from "../../src/checks/core/mentions.ts";
import { openSession, removePlaces } from "../harness/harness.ts";
import { change, claim, type Edit, type Project, prompt, setUp } from "../proof/case.ts";

afterAll(removePlaces, 60_000);

const PROJECT: Project = {
  name: "node",
  needs: "node",
  tests: ["node", "--test"],
  files: {
    "package.json": '{"name":"calc"}\n',
    "src/calc.js": "exports.add = (a, b) => a + b;\n",
    "src/cli.js": 'if (process.argv[2] === "x") process.exit(1);\n',
    "test/calc.test.js":
      'const test = require("node:test");\nconst assert = require("node:assert");\nconst { add } = require("../src/calc.js");\ntest("adds", () => assert.equal(add(1, 2), 3));\n',
  },
  fix: {},
};

function passWith(edit: Edit): string {
  const place = setUp({ on: PROJECT });
  const session = openSession(place, "agent");
  prompt(place, session, "/ship");
  change(place, edit);
  const { passed, said } = claim(place, session);
  expect({ passed, said }).toEqual({ passed: true, said });
  return said;
}

describe("at the pass", () => {
  test("the runner and an exit in product code are named", () => {
    const said = passWith({
      "src/calc.js": [[/^/, 'const assert = require("node:assert");\n']],
      "src/late.js": "exports.end = () => process.exit(0);\n",
    });
    expect(said).toContain("src/calc.js now mentions the test runner (node:assert)");
    expect(said).toContain("src/late.js now mentions process.exit");
  });

  test("a test helper, and a program that always had its exit, are not", () => {
    const said = passWith({
      "src/calc.js": [["a + b", "b + a"]],
      "src/cli.js": [[/^/, "// more\nif (process.argv[3]) process.exit(2);\n"]],
      "test/helper.js": 'exports.same = require("node:assert").equal;\n',
    });
    expect(said).toContain("1 test passed");
    expect(said).not.toContain("mentions");
  });
});

describe("words", () => {
  test.each([
    ["a.ts", 'import assert from "assert/strict";', ["assert"]],
    ["a.js", 'if (process.env.NODE_TEST_CONTEXT) require("vitest");', ["NODE_TEST_CONTEXT", "vitest"]],
    ["a.py", "import _pytest.runner", ["_pytest"]],
    ["a.py", "from unittest import mock", ["unittest"]],
    ["a.go", 'import "testing"', ["testing"]],
    ["a.go", "os.Exit(0)", ["os.Exit"]],
    ["a.rs", "std::process::exit(0);", ["process::exit"]],
    ["a.rb", "exit!(0)", ["exit!"]],
    ["a.js", "fs.rmSync(process.env.PAWL_REPORT_DIR)", ["PAWL_REPORT_DIR"]],
    ["a.js", "console.assert(x); expect(jest); subprocess.exit;", []],
    ["a.go", "// load testing", []],
    ["a.py", "pytester = latest", []],
  ])("%s: %s", (path, text, words) => expect(findWords(path, text)).toEqual(words));

  test("one line for a file", () => {
    expect(renderMention("a.py", ["_pytest", "os._exit"])).toBe(
      "a.py now mentions the test runner (_pytest) and os._exit",
    );
  });
});
