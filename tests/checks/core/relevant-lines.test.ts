import { describe, expect, test } from "bun:test";
import { relevantLines } from "../../../src/checks/core/relevant-lines.ts";

const noise = (count: number, word = "noise") => Array.from({ length: count }, (_, at) => `${word} ${at}`);

/** What a runner prints where a test failed, long before it ends. */
const FAILURES = [
  "not ok 3 - takes",
  "    not ok 1 - inside a suite",
  "✖ takes (0.5ms)",
  " FAIL  src/sum.test.ts > takes",
  "FAILED tests/test_sum.py::test_takes - assert 1 == 2",
  "--- FAIL: TestTakes (0.00s)",
  "E       assert 1 == 2",
  "  1) takes",
  "  ● sum › takes",
  "error[E0308]: mismatched types",
  "AssertionError: expected 1 to be 2",
  "thread 'takes' panicked at src/lib.rs:3",
  "[ERROR] SumTest.takes:12 expected: <1> but was: <2>",
];

describe("of a long output is shown", () => {
  test.each(FAILURES)("%s, with what stands below it, and the last lines", (failure) => {
    const lines = [...noise(40, "ok"), failure, "  at sum.test.mjs:6", ...noise(60), "1 failed"];
    const shown = relevantLines(lines.join("\n"), 15).split("\n");
    expect(shown.slice(0, 2)).toEqual([failure, "  at sum.test.mjs:6"]);
    expect(shown).toContain("…");
    expect(shown.at(-1)).toBe("1 failed");
    expect(shown.length).toBeLessThan(35);
  });

  test("the names of some others", () => {
    const failures = Array.from({ length: 30 }, (_, at) => [`not ok ${at} - t${at}`, ...noise(20)]).flat();
    const shown = relevantLines([...failures, ...noise(15, "end")].join("\n"), 15);
    expect(shown).toContain("not ok 5 - t5");
    expect(shown).not.toContain("not ok 6 - t6");
    expect(shown.split("\n")).toHaveLength(9 + 5 + 1 + 4);
  });

  test("of a TAP report under npm the failing tests, without its frame and npm's own news", () => {
    const passed = (at: number) => [`# Subtest: t${at}`, `ok ${at} - t${at}`, "  ---", "  duration_ms: 0.1", "  ..."];
    const failed = (at: number) => [
      `# Subtest: t${at}`,
      `not ok ${at} - t${at}`,
      "  ---",
      "  duration_ms: 0.9",
      "  location: '/p/a.test.js:3:1'",
      "  failureType: 'testCodeFailure'",
      "  error: |-",
      "    Expected values to be strictly equal:",
      "    ",
      "    1 !== 2",
      "    ",
      "  code: 'ERR_ASSERTION'",
      "  name: 'AssertionError'",
      "  expected: 2",
      "  actual: 1",
      "  operator: 'strictEqual'",
      "  stack: |-",
      "    TestContext.<anonymous> (/p/a.test.js:3:25)",
      "    Test.run (node:internal/test_runner/test:796:25)",
      "  ...",
    ];
    const sums = ["1..15", "# tests 4", "# suites 0", "# pass 2", "# fail 2", "# cancelled 0", "# duration_ms 419.9"];
    const news = ["npm notice", "npm notice New major version of npm available! 10.8.2 -> 11.6.0", "npm notice"];
    const report = ["TAP version 13", ...passed(1), ...failed(2), ...failed(3), ...passed(4), ...sums, ...news];
    expect(relevantLines(report.join("\n"), 15)).toBe(`not ok 2 - t2
  location: '/p/a.test.js:3:1'
  error: |-
    Expected values to be strictly equal:
    1 !== 2
  expected: 2
  actual: 1
  stack: |-
    TestContext.<anonymous> (/p/a.test.js:3:25)
not ok 3 - t3
…
    TestContext.<anonymous> (/p/a.test.js:3:25)
# tests 4
# pass 2
# fail 2`);
  });

  test("only the end, where nothing names a failure or the end has it", () => {
    expect(relevantLines(noise(40).join("\n"), 15)).toBe(noise(40).slice(-15).join("\n"));
    const short = ["not ok 1 - a", ...noise(3)];
    expect(relevantLines(short.join("\n"), 15)).toBe(short.join("\n"));
    expect(relevantLines("", 15)).toBe("");
  });

  test("nothing wide, coloured or hidden", () => {
    const shown = relevantLines(`\u001b[31mnot ok 1 - ${"x".repeat(900)}\u202e\u001b[0m\n${noise(40).join("\n")}`, 15);
    expect(shown.split("\n")[0]).toBe(`not ok 1 - ${"x".repeat(188)}…`);
  });
});
