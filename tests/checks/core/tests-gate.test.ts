/** What a tests gate says: the verdict, how far it reaches, and the words for agent and person. */
import { describe, expect, test } from "bun:test";
import { judge } from "../../../src/checks/core/gate.ts";
import type { Background } from "../../../src/checks/core/kinds/kind.ts";
import type { BaselineFact, GateFact, NamedReport, TestStatus, Verdict } from "../../../src/kernel/types/verdict.ts";
import type { Gate } from "../../../src/kernel/types/workflow.ts";

const report = (tests: Record<string, TestStatus>, rest: Partial<NamedReport> = {}): NamedReport => ({
  runners: ["node 20"],
  ended: 1,
  tests,
  files: ["a.test.js"],
  ...rest,
});
const baseline = (rest: Partial<BaselineFact>): BaselineFact => ({
  base: null,
  old: null,
  changed: [],
  files: {},
  unstable: [],
  known: [],
  ...rest,
});

interface Given {
  gate?: Partial<Gate>;
  exit?: number;
  named?: NamedReport;
  suite?: Extract<GateFact, { kind: "ran" }>["suite"];
  baseline?: BaselineFact;
  background?: Partial<Background>;
}

function verdict(given: Given) {
  const { exit = 0, named, suite = null } = given;
  const ran = {
    attempts: [{ exit, signal: null, timed_out: false, ms: 1 }],
    output: "",
    digest: "",
    started_at: "",
    ended_at: "",
    ...(named && { named }),
  };
  const fact: GateFact = {
    kind: "ran",
    tree: "t",
    ran,
    suite,
    weakened: [],
    wrote: [],
    ...(given.baseline && { baseline: given.baseline }),
  };
  const gate: Gate = { id: "g", name: "npm test", tests: ["npm", "test"], ...given.gate };
  const background = { at: "", base: null, entered_at: "", most_tests: {}, ...given.background };
  return judge(gate, background, { gates: { g: fact } });
}

const A = "a.test.js > adds";
const B = "a.test.js > rounds down";
const GREEN = report({ [A]: "passed", [B]: "passed" });
const OLD_FAILS = baseline({
  base: GREEN,
  old: { exit: 1, report: report({ [A]: "passed", [B]: "failed" }), tail: "expected 2, got 3" },
  changed: ["a.test.js"],
  files: { "a.test.js": { sign: "1..2", diff: "-toBe(2)\n+toBe(3)" } },
});
const summary = {
  verdict: "pass" as const,
  why: "2 passed (node)",
  tally: { runner: "node", passed: 2, failed: 0, skipped: 0 },
};

const SAYS: Record<string, [Given, string, string | RegExp]> = {
  "all pass, nothing to compare with": [{ named: GREEN }, "pass named", "2 tests passed"],
  "all pass, and all of the beginning": [
    { named: GREEN, baseline: baseline({ base: GREEN }) },
    "pass named",
    "2 tests passed, including all 2 that existed before",
  ],
  "one was renamed and still holds": [
    {
      named: report({ [A]: "passed", x: "passed", y: "passed" }),
      baseline: baseline({ base: GREEN, old: { exit: 0, report: GREEN }, changed: ["a.test.js"] }),
    },
    "pass named",
    "3 tests passed, including all 2 that existed before (1 renamed or removed)",
  ],
  "a failed name at exit 0": [
    { named: report({ [A]: "passed", [B]: "failed" }) },
    "fail named",
    "1 of 2 tests failed: a.test.js > rounds down",
  ],
  "no name failed at exit 1": [
    { named: GREEN, exit: 1 },
    "fail named",
    "exit 1, although 2 tests passed and none failed",
  ],
  "a second runner failed, unheard": [
    {
      named: GREEN,
      suite: { verdict: "fail", why: "1 failed (go)", tally: { runner: "go", passed: 0, failed: 1, skipped: 0 } },
    },
    "fail named",
    "1 failed (go)",
  ],
  "the runner did not end": [
    { named: report({ [A]: "passed" }, { ended: 0 }), baseline: baseline({ base: GREEN }) },
    "unproven named",
    "it ended with exit 0 before the runner was done: 1 of 2 tests reported. Something calls exit",
  ],
  "no test at all": [{ named: report({}) }, "unproven named", "no test passed"],
  "only skipped ones": [{ named: report({ [A]: "skipped" }) }, "unproven named", "no test passed"],
  "a test is lost, no test file changed": [
    { named: report({ [A]: "passed" }), baseline: baseline({ base: GREEN }) },
    "fail named",
    "1 test that ran at the beginning is not run any more: a.test.js > rounds down (1 of 2 run), and no test file was changed",
  ],
  "an old test fails on the new code": [
    { named: GREEN, baseline: OLD_FAILS },
    "fail named",
    "1 existing test fails on your code: a.test.js > rounds down (changed test files: a.test.js)",
  ],
  "the same with old_tests: fail": [
    { named: GREEN, baseline: OLD_FAILS, gate: { old_tests: "fail" } },
    "fail named",
    "1 existing test fails on your code: a.test.js > rounds down (changed test files: a.test.js)",
  ],
  "accepted by the person before": [
    { named: GREEN, baseline: OLD_FAILS, background: { accepted: [`${B}\n1..2`] } },
    "pass named",
    "2 tests passed, including the one that existed before (1 changed, as approved)",
  ],
  "accepted, but the file was changed again": [
    { named: GREEN, baseline: OLD_FAILS, background: { accepted: [`${B}\n1..9`] } },
    "fail named",
    /^1 existing test fails/,
  ],
  "the old settings fail": [
    { named: GREEN, baseline: { ...OLD_FAILS, old: { exit: 1, report: GREEN } } },
    "fail named",
    /^with the test settings of the beginning the command ends with exit 1, although every test passes \(changed test files: a.test.js\)/,
  ],
  "what cannot be compared": [
    { named: GREEN, baseline: baseline({ why: "the tree of the beginning is gone" }) },
    "unproven named",
    "2 tests passed, but not compared with the beginning: the tree of the beginning is gone",
  ],
  "known failures fail, and the command with them": [
    { named: report({ [A]: "passed", [B]: "failed" }), exit: 1, baseline: baseline({ base: GREEN, known: [B] }) },
    "pass named",
    "1 test passed, including the one that existed before (1 known to fail)",
  ],
  "a known failure, and another one": [
    { named: report({ [A]: "failed", [B]: "failed", c: "passed" }), exit: 1, baseline: baseline({ known: [B] }) },
    "fail named",
    "1 of 3 tests failed: a.test.js > adds",
  ],
  "names at the beginning, a summary now": [
    { suite: summary, baseline: baseline({ base: GREEN }) },
    "unproven",
    "2 passed (node), but not compared with the beginning: it named its tests at the beginning and does not now",
  ],
  "a summary only": [{ suite: summary, baseline: baseline({}) }, "pass counted", "2 passed (node)"],
  "a summary, and changed tests": [
    { suite: summary, baseline: baseline({ changed: ["a_test.x"] }) },
    "pass counted",
    "2 passed (node); changed tests were not compared by name",
  ],
  "exit 0 without a summary": [
    { suite: { verdict: "none", why: "no summary", tally: null } },
    "unproven",
    "no summary",
  ],
  "the same where the person wrote proof: exit": [
    { suite: { verdict: "none", why: "no summary", tally: null }, gate: { proof: "exit" } },
    "pass green",
    "exit 0, tests not counted",
  ],
  "fewer tests than before, with nothing to compare with": [
    { named: GREEN, background: { most_tests: { g: 3 } } },
    "fail named",
    "2 tests (3 before)",
  ],
};

describe("verdict, proof, words", () => {
  test.each(Object.entries(SAYS))("%s", (_title, [given, word, why]) => {
    const found = verdict(given);
    expect([found.verdict, found.proof].filter(Boolean).join(" ")).toBe(word);
    if (typeof why === "string") expect(found.why).toBe(why);
    else expect(found.why).toMatch(why);
  });

  test("the failing output is that of the old tests", () => {
    expect(verdict({ named: GREEN, baseline: OLD_FAILS }).tail).toBe("expected 2, got 3");
  });
});

describe("the second claim with the same list", () => {
  const first = verdict({ named: GREEN, baseline: OLD_FAILS });
  const earlier: Record<string, Verdict> = { g: first };

  test("is put to the person, with each test and its diff", () => {
    const second = verdict({ named: GREEN, baseline: OLD_FAILS, background: { earlier } });
    expect(second).toMatchObject({ verdict: "unproven", open: "person" });
    expect(second.ask).toBe(
      [
        "npm test passes, but the agent changed what 1 test demands:",
        "  1. a.test.js > rounds down (fails as it was)",
        "a.test.js",
        "    -toBe(2)",
        "    +toBe(3)",
        "Accept this?",
      ].join("\n"),
    );
  });

  test("goes back if one more is listed", () => {
    const old = { exit: 1, report: report({ [A]: "failed", [B]: "failed" }) };
    const second = verdict({ named: GREEN, baseline: { ...OLD_FAILS, old }, background: { earlier } });
    expect(second.verdict).toBe("fail");
  });

  test("goes back where no test file was changed: there is nothing to accept", () => {
    const given = { named: report({ [A]: "passed" }), baseline: baseline({ base: GREEN }) };
    expect(verdict({ ...given, background: { earlier: { g: verdict(given) } } }).verdict).toBe("fail");
  });
});

describe("an old test that does not pass", () => {
  const files = { "a.test.js": { sign: "1..2", diff: "-  is(2)\n+  is(3) \u202e\u001b[31m" } };
  const cannot = baseline({
    ...{ base: GREEN, changed: ["a.test.js"], files },
    old: { exit: 1, report: report({ [A]: "passed" }), reason: "./a.go:3:9: undefined: Sub" },
  });

  test("is sent back in three lines: which, how it was run, what to do", () => {
    const { why, ways } = verdict({ named: GREEN, baseline: OLD_FAILS });
    expect([why, ...ways!]).toEqual([
      expect.stringMatching(/^1 existing test fails on your code: a\.test\.js > rounds down/),
      expect.stringMatching(/^They were run as they were at the beginning.*fix it\.$/),
      expect.stringMatching(/^If the behavior was meant to change.*a person decides\.$/),
    ]);
  });

  test("comes with the compiler's reason where it cannot be run", () => {
    const { why } = verdict({ named: GREEN, baseline: cannot });
    expect(why).toStartWith(`1 existing test cannot be run with your code (./a.go:3:9: undefined: Sub): ${B}`);
  });

  test("is shown to the person with all that is in its diff", () => {
    const earlier = { g: verdict({ named: GREEN, baseline: cannot }) as Verdict };
    const { ask } = verdict({ named: GREEN, baseline: cannot, background: { earlier } });
    expect(ask).toContain("    +  is(3) \\u{202e}\\u{1b}[31m");
  });
});
