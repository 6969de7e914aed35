/** Which files decide what tests prove, and which part of a shared file does. */
import { describe, expect, test } from "bun:test";
import { isTestClass } from "../../../src/checks/core/test-class.ts";
import { withOldPart } from "../../../src/checks/core/test-parts.ts";

const NONE = new Set<string>();

describe("files of test class", () => {
  test.each([
    "src/sum.test.js",
    "src/__tests__/sum.js",
    "src/__snapshots__/sum.test.js.snap",
    "tests/data/expected.json",
    "test/helper.sh",
    "pkg/s_test.go",
    "testdata/golden.txt",
    "tests/test_sum.py",
    "conftest.py",
    "app/conftest.py",
    "sitecustomize.py",
    "pytest.ini",
    "setup.cfg",
    "vitest.config.ts",
    "vite.config.mts",
    "jest.config.cjs",
    "packages/a/jest.setup.ts",
    ".mocharc.yml",
    "playwright.config.ts",
    "bunfig.toml",
    ".config/nextest.toml",
    ".rspec",
    "spec/sum_spec.rb",
    "phpunit.xml.dist",
    "src/SumTest.php",
    "src/test/java/SumTest.java",
    "e2e/login.ts",
  ])("%s", (path) => expect(isTestClass(path, NONE)).toBe(true));

  test.each([
    "src/sum.js",
    "src/contest.py",
    "lib/latest.js",
    "README.md",
    "src/attest/x.go",
    "src/lib.rs",
    "src/testing.ts",
    "package.json",
  ])("not %s", (path) => expect(isTestClass(path, NONE)).toBe(false));

  test("what a runner named is, except Rust's code", () => {
    const named = new Set(["checks/sum.js", "src/lib.rs"]);
    expect(["checks/sum.js", "src/lib.rs"].map((path) => isTestClass(path, named))).toEqual([true, false]);
  });
});

describe("parts of shared files", () => {
  test("package.json: the runners' keys of the beginning, all else of now", () => {
    const before = JSON.stringify({ name: "a", jest: { testMatch: ["**"] } });
    const now = JSON.stringify({ name: "b", mocha: { spec: "x" }, jest: { testMatch: ["one"] } });
    expect(JSON.parse(withOldPart("package.json", before, now)!)).toEqual({ name: "b", jest: { testMatch: ["**"] } });
    expect(JSON.parse(withOldPart("a/package.json", "", now)!)).toEqual({ name: "b" });
    expect(withOldPart("package.json", before, before.replace('"a"', '"c"'))).toBe(before.replace('"a"', '"c"'));
  });

  test("pyproject.toml: the tables of pytest and coverage", () => {
    const before = '[project]\nname = "a"\n[tool.pytest.ini_options]\naddopts = "-q"\n[tool.ruff]\nx = 1\n';
    const now = '[project]\nname = "b"\n[tool.pytest.ini_options]\naddopts = "-k sum"\n[tool.ruff]\nx = 2\n';
    const swapped = withOldPart("pyproject.toml", before, now)!;
    expect(swapped).toContain('name = "b"');
    expect(swapped).toContain("x = 2");
    expect(swapped).toContain('addopts = "-q"');
    expect(swapped).not.toContain("-k sum");
    expect(withOldPart("pyproject.toml", before, before.replace('"a"', '"c"'))).toBe(before.replace('"a"', '"c"'));
    expect(withOldPart("pyproject.toml", "", now)).not.toContain("addopts");
  });

  test("Cargo.toml: tables of tests and the lines that switch tests off", () => {
    const before = '[package]\nname = "a"\n[lib]\npath = "src/lib.rs"\n[[test]]\nname = "it"\n';
    const now = '[package]\nname = "b"\nautotests = false\n[lib]\ntest = false\npath = "src/lib.rs"\n';
    const swapped = withOldPart("Cargo.toml", before, now)!;
    expect(swapped).toContain('name = "b"');
    expect(swapped).toContain('[[test]]\nname = "it"');
    expect(swapped).not.toMatch(/autotests|test = false/);
    const more = `${before}[dependencies]\nserde = "1"\n`;
    expect(withOldPart("Cargo.toml", before, more)).toBe(more);
  });

  test("Rust: modules for tests, not the code around them", () => {
    const file = (code: string, expected: string) =>
      `${code}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn adds() { assert_eq!(add(1, 1), ${expected}, "{{"); }\n}\n\npub fn last() {}\n`;
    const before = file("pub fn add(a: i32, b: i32) -> i32 { a + b }", "2");
    const now = file("pub fn add(a: i32, b: i32) -> i32 { a - b }", "0");
    const swapped = withOldPart("src/lib.rs", before, now)!;
    expect(swapped).toContain("a - b");
    expect(swapped).toContain("assert_eq!(add(1, 1), 2");
    expect(swapped).not.toContain("add(1, 1), 0");
    expect(swapped).toContain("pub fn last() {}");
    expect(withOldPart("src/lib.rs", before, before.replace("a + b", "b + a"))).toBe(before.replace("a + b", "b + a"));
    expect(withOldPart("src/lib.rs", before, "pub fn add() {}\n")).toContain("fn adds()");
    expect(withOldPart("src/lib.rs", "pub fn add() {}\n", now)).not.toContain("fn adds()");
  });

  test("others have no such part", () => expect(withOldPart("src/sum.js", "a", "b")).toBeNull());
});
