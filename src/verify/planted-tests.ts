/** A test that fails, in the language and the manner of the tests that are there. */
import { basename, dirname, join } from "../store/names.ts";

/** Files to write, by their path. */
export type Edits = Record<string, string>;

interface Family {
  /** how its test files are called */
  file: RegExp;
  /** what a new one next to this one would be called */
  name(sibling: string): string;
  /** a whole file */
  fresh(text: string): string;
  /** the same, appended to the text that is there; null: not possible */
  append(text: string): string | null;
}

const WORDS = "planted by pawl verify --prove";
const MODULES = /["'](node:test|bun:test|vitest|@jest\/globals|@playwright\/test)["']/;

/** With imports, requires or globals, as the other tests have it. */
function script(text: string): string {
  const call = `("pawl: a planted fault", () => { throw new Error("${WORDS}"); });\n`;
  const from = MODULES.exec(text)?.[1];
  if (from === undefined) return `(globalThis.test ?? globalThis.it)${call}`;
  const isModule = /^\s*(import|export)\s/m.test(text);
  const load = isModule
    ? `import { test as pawlTest } from "${from}";`
    : `const { test: pawlTest } = require("${from}");`;
  return `${load}\npawlTest${call}`;
}

const pythonClass = `import unittest\n\n\nclass PawlPlantedFault(unittest.TestCase):\n    def test_pawl_planted_fault(self):\n        self.fail("${WORDS}")\n`;
const pythonFunction = `def test_pawl_planted_fault():\n    assert False, "${WORDS}"\n`;
const goFunction = `func TestPawlPlantedFault(t *testing.T) { t.Fatal("${WORDS}") }\n`;
const rustFunction = `#[test]\nfn pawl_planted_fault() { panic!("${WORDS}"); }\n`;
const spec = `RSpec.describe("pawl") { it("has a planted fault") { raise "${WORDS}" } }\n`;
const minitest = `class PawlPlantedFault < Minitest::Test\n  def test_fault; flunk "${WORDS}"; end\nend\n`;

const requires = (text: string) => [...text.matchAll(/^\s*require.*$/gm)].map(([line]) => `${line}\n`).join("");

const FAMILIES: Family[] = [
  {
    file: /(^|\/)(__tests__\/.*|tests?\/.*|.*[._-](test|spec)|test[._-].*)\.[cm]?[jt]sx?$/,
    name: (path) => {
      const [, end = ""] = /((?:[._-](?:test|spec))?\.[cm]?[jt]sx?)$/.exec(path) ?? [];
      const start = /^test[._-]/.exec(basename(path))?.[0] ?? "";
      return `${start}pawl-planted-fault${end}`;
    },
    fresh: script,
    append: (text) => `${text}\n${script(text)}`,
  },
  {
    file: /(^|\/)(test_[^/]*|[^/]*_test)\.py$/,
    name: (path) => (/_test\.py$/.test(path) ? "pawl_planted_fault_test.py" : "test_pawl_planted_fault.py"),
    fresh: (text) => (/\bunittest\b/.test(text) ? pythonClass : pythonFunction),
    append: (text) => (/\bunittest\b/.test(text) ? null : `${text}\n\n${pythonFunction}`),
  },
  {
    file: /_test\.go$/,
    name: () => "pawl_planted_fault_test.go",
    fresh: (text) => `${/^package .*$/m.exec(text)?.[0] ?? "package main"}\n\nimport "testing"\n\n${goFunction}`,
    append: (text) => `${text}\n${goFunction}`,
  },
  {
    file: /(^|\/)tests\/[^/]*\.rs$/,
    name: () => "pawl_planted_fault.rs",
    fresh: () => rustFunction,
    append: (text) => `${text}\n${rustFunction}`,
  },
  {
    file: /Test\.php$/,
    name: () => "PawlPlantedFaultTest.php",
    fresh: () =>
      `<?php\nclass PawlPlantedFaultTest extends \\PHPUnit\\Framework\\TestCase\n{\n    public function testFault(): void { $this->fail("${WORDS}"); }\n}\n`,
    append: () => null,
  },
  {
    file: /_spec\.rb$/,
    name: () => "pawl_planted_fault_spec.rb",
    fresh: () => spec,
    append: (text) => `${text}\n${spec}`,
  },
  {
    file: /_test\.rb$/,
    name: () => "pawl_planted_fault_test.rb",
    fresh: (text) => `${requires(text)}${minitest}`,
    append: (text) => `${text}\n${minitest}`,
  },
];

const familyOf = (path: string) => FAMILIES.find(({ file }) => file.test(path));
/** Tests of Rust mostly stand in the file they are about. */
const isRust = (path: string) => path.endsWith(".rs");

export const isTest = (path: string, text: () => string) =>
  familyOf(path) !== undefined || (isRust(path) && text().includes("#[test]"));

export function freshTest(sibling: string, text: string): Edits | null {
  const family = familyOf(sibling);
  if (!family) return null;
  const folder = dirname(sibling);
  return { [folder === "." ? family.name(sibling) : join(folder, family.name(sibling))]: family.fresh(text) };
}

export function appendTest(path: string, text: string): Edits | null {
  const more = isRust(path) ? `${text}\n#[cfg(test)]\nmod pawl_planted_fault { ${rustFunction} }\n` : undefined;
  const all = familyOf(path)?.append(text) ?? more ?? null;
  return all === null ? null : { [path]: all };
}

/** No language takes this; early in the file, so that no `exit` comes before it. */
export function brokenText(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const fault = `<<<<<<< ({[ ${WORDS}`;
  return /^(#!|<\?)/.test(first) ? [first, fault, ...rest].join("\n") : [fault, first, ...rest].join("\n");
}
