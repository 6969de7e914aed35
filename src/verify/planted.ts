/**
 * Tests that have to fail, in the language and the manner of the tests that are there. They load what those load and fail
 * in the same ways: code that changes the assertions or the runner would let them pass.
 */
import type { NamedReport } from "../kernel/types/verdict.ts";
import { basename } from "../store/names.ts";

export interface Family {
  /** how its test files are called */
  file: RegExp;
  /** what a new one next to this one would be called; none: tests are in the sources */
  name?(sibling: string): string;
  /** the tests themselves, as the text of their neighbors has it; all of them are named after the fault */
  tests(text: string): string;
  /** what a whole file needs before it */
  head?(text: string): string;
  /** they cannot be appended to this text */
  apart?(text: string): boolean;
}

export const WORDS = "planted by pawl verify --prove";

/** The planted tests that were reported with this status. */
export function plantedTests({ tests }: NamedReport, status: string): string[] {
  const isPlanted = (name: string) =>
    name
      .toLowerCase()
      .replace(/[^a-z]/g, "")
      .includes("pawlplantedfault");
  return Object.keys(tests).filter((name) => tests[name] === status && isPlanted(name));
}

const allMatches = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map(([, one]) => one!))];
const lines = (all: string[]) => all.map((line) => `${line}\n`).join("");

// ── JavaScript ──────────────────────────────────────────────────────────────

const MODULES = /["'](node:test|bun:test|vitest|@jest\/globals|@playwright\/test)["']/;
const ASSERT = /["']((?:node:)?assert(?:\/strict)?)["']/;
/** The project's own files, also by the usual short names for them. */
const OWN_FILES = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["']((?:\.{1,2}\/|[#~]|@\/)[^"']*)["']/g;
const ASSERTIONS = [
  "equal(1, 2)",
  "strictEqual(1, 2)",
  "deepEqual([1], [2])",
  "deepStrictEqual([1], [2])",
  "ok(false)",
];
const EXPECTATIONS = ["toBe(2)", "toEqual(2)", "toStrictEqual(2)"];

const isModule = (text: string) => /^\s*(import|export)\s/m.test(text);
const load = (text: string, names: string, from: string) =>
  isModule(text) ? `import ${names} from "${from}";` : `const ${names.replace(" as ", ": ")} = require("${from}");`;
const loadOwn = (text: string) =>
  lines(allMatches(text, OWN_FILES).map((path) => (isModule(text) ? `import "${path}";` : `require("${path}");`)));

/** With imports, requires or globals, as the other tests have it. */
function scripts(text: string): string {
  const from = MODULES.exec(text)?.[1];
  const assert = ASSERT.exec(text)?.[1];
  const test = from === undefined ? "(globalThis.test ?? globalThis.it)" : "pawlTest";
  const usesExpect = from !== "node:test" && /\bexpect\s*\(/.test(text);
  const expect = from === undefined ? "globalThis.expect" : "pawlExpect";
  const call = (how: string, body: string) => `${test}("pawl planted fault (${how})", () => { ${body}; });`;
  return lines([
    ...(from === undefined ? [] : [load(text, "{ test as pawlTest }", from)]),
    ...(usesExpect && from !== undefined ? [load(text, "{ expect as pawlExpect }", from)] : []),
    ...(assert === undefined ? [] : [load(text, "pawlAssert", assert)]),
    call("throw", `throw new Error("${WORDS}")`),
    ...(assert === undefined ? [] : ASSERTIONS.map((one) => call(one.split("(")[0]!, `pawlAssert.${one}`))),
    ...(usesExpect ? EXPECTATIONS.map((one) => call(one.split("(")[0]!, `${expect}(1).${one}`)) : []),
  ]);
}

const JAVASCRIPT: Family = {
  file: /(^|\/)(__tests__\/.*|tests?\/.*|.*[._-](test|spec)|test[._-].*)\.[cm]?[jt]sx?$/,
  name: (path) => {
    const [, end = ""] = /((?:[._-](?:test|spec))?\.[cm]?[jt]sx?)$/.exec(path) ?? [];
    const start = /^test[._-]/.exec(basename(path))?.[0] ?? "";
    return `${start}pawl-planted-fault${end}`;
  },
  head: loadOwn,
  tests: scripts,
};

// ── Python ──────────────────────────────────────────────────────────────────

const isUnittest = (text: string) => /\bunittest\b/.test(text);
const PYTHON_FUNCTIONS = `def test_pawl_planted_fault_raise():
    raise AssertionError("${WORDS}")


def test_pawl_planted_fault_assert():
    assert 1 == 2, "${WORDS}"
`;
const PYTHON_CLASS = `import unittest


class PawlPlantedFault(unittest.TestCase):
    def test_pawl_planted_fault_fail(self):
        self.fail("${WORDS}")

    def test_pawl_planted_fault_equal(self):
        self.assertEqual(1, 2)

    def test_pawl_planted_fault_true(self):
        self.assertTrue(False)
`;

const PYTHON: Family = {
  file: /(^|\/)(test_[^/]*|[^/]*_test)\.py$/,
  name: (path) => (path.endsWith("_test.py") ? "pawl_planted_fault_test.py" : "test_pawl_planted_fault.py"),
  head: (text) => {
    const modules = allMatches(text, /^(?:from|import)[ \t]+(\.*[\w.]+)/gm);
    return lines(modules.map((one) => (one.startsWith(".") ? `from ${one} import *` : `import ${one}`)));
  },
  tests: (text) => `\n\n${isUnittest(text) ? PYTHON_CLASS : PYTHON_FUNCTIONS}`,
  apart: isUnittest,
};

// ── Others ──────────────────────────────────────────────────────────────────

const RUST_FUNCTION = `#[test]\nfn pawl_planted_fault() { panic!("${WORDS}"); }\n`;
const requires = (text: string) => lines(allMatches(text, /^\s*(require.*)$/gm));

const FAMILIES: Family[] = [
  JAVASCRIPT,
  PYTHON,
  {
    file: /_test\.go$/,
    name: () => "pawl_planted_fault_test.go",
    head: (text) => `${/^package .*$/m.exec(text)?.[0] ?? "package main"}\n\nimport "testing"\n\n`,
    tests: () => `func TestPawlPlantedFault(t *testing.T) { t.Fatal("${WORDS}") }\n`,
  },
  {
    file: /(^|\/)tests\/[^/]*\.rs$/,
    name: () => "pawl_planted_fault.rs",
    tests: () => RUST_FUNCTION,
  },
  {
    file: /Test\.php$/,
    name: () => "PawlPlantedFaultTest.php",
    head: (text) => `<?php\n${requires(text)}`,
    tests: () => `final class PawlPlantedFaultTest extends \\PHPUnit\\Framework\\TestCase
{
    public function testFail(): void { $this->fail("${WORDS}"); }
    public function testSame(): void { $this->assertSame(1, 2); }
}
`,
    apart: () => true,
  },
  {
    file: /_spec\.rb$/,
    name: () => "pawl_planted_fault_spec.rb",
    head: requires,
    tests: () =>
      `RSpec.describe("pawl planted fault") do\n  it("raises") { raise "${WORDS}" }\n  it("expects") { expect(1).to eq(2) }\nend\n`,
  },
  {
    file: /_test\.rb$/,
    name: () => "pawl_planted_fault_test.rb",
    head: requires,
    tests: () =>
      `class PawlPlantedFault < Minitest::Test\n  def test_flunk; flunk "${WORDS}"; end\n  def test_equal; assert_equal 1, 2; end\nend\n`,
  },
  // Rust's unit tests are in the file they are about: a new file would belong to no module.
  { file: /\.rs$/, tests: () => `#[cfg(test)]\nmod pawl_planted_fault { ${RUST_FUNCTION} }\n` },
];

export const findFamily = (path: string) => FAMILIES.find(({ file }) => file.test(path));
