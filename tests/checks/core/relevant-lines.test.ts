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
    expect(shown.split("\n")).toHaveLength(13 + 5 + 1 + 15);
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
