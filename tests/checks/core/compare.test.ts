/** Tests of now against tests of the beginning, by name: what is demanded, and what is said to be missing. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { compareTests, incompleteness } from "../../../src/checks/core/compare.ts";
import type { BaselineFact, NamedReport, TestStatus } from "../../../src/kernel/types/verdict.ts";

const report = (tests: Record<string, TestStatus>, rest: Partial<NamedReport> = {}): NamedReport => ({
  runners: ["node 20"],
  ended: 1,
  tests,
  files: [...new Set(Object.keys(tests).map((name) => name.split(" > ")[0]!))],
  ...rest,
});
const from = (rest: Partial<BaselineFact>): BaselineFact => ({
  base: null,
  old: null,
  changed: [],
  files: {},
  unstable: [],
  known: [],
  ...rest,
});
const A = "a.test.js > adds";
const B = "a.test.js > rounds";
const C = "a.test.js > halves";

/** base, now, old, and what is listed */
const CASES: Record<string, [Partial<BaselineFact>, NamedReport, string[]]> = {
  "the same names pass": [
    { base: report({ [A]: "passed", [B]: "passed" }) },
    report({ [A]: "passed", [B]: "passed" }),
    [],
  ],
  "a test is not run any more and no test file was changed": [
    { base: report({ [A]: "passed", [B]: "passed" }) },
    report({ [A]: "passed" }),
    [`not run ${B}`],
  ],
  "a test is skipped and no test file was changed": [
    { base: report({ [A]: "passed", [B]: "passed" }) },
    report({ [A]: "passed", [B]: "skipped" }),
    [`not run ${B}`],
  ],
  "a red test of the beginning was deleted": [
    {
      base: report({ [A]: "passed", [B]: "failed" }),
      old: { exit: 1, report: report({ [A]: "passed", [B]: "failed" }) },
    },
    report({ [A]: "passed" }),
    [`fails ${B}`],
  ],
  "a red test of the beginning is green, as it was": [
    {
      base: report({ [A]: "passed", [B]: "failed" }),
      old: { exit: 0, report: report({ [A]: "passed", [B]: "passed" }) },
    },
    report({ [A]: "passed", [C]: "passed" }),
    [],
  ],
  "what was skipped at the beginning proved nothing": [
    { base: report({ [A]: "passed", [B]: "skipped" }) },
    report({ [A]: "passed" }),
    [],
  ],
  "a test cannot be run on the code of now": [
    { base: report({ [A]: "passed", [B]: "passed" }), old: { exit: 1, report: report({ [A]: "passed" }) } },
    report({ [A]: "passed", [B]: "passed" }),
    [`cannot run ${B}`],
  ],
  "the code skips it": [
    { base: report({ [A]: "passed" }), old: { exit: 0, report: report({ [A]: "skipped" }) } },
    report({ [A]: "passed" }),
    [`not run ${A}`],
  ],
  "the beginning could not be run at all, and its tests fail now": [
    { base: null, old: { exit: 1, report: report({ [A]: "failed" }) } },
    report({ [A]: "passed" }),
    [`fails ${A}`],
  ],
  "unstable names drop out": [
    {
      base: report({ [A]: "passed", [B]: "passed" }),
      old: { exit: 1, report: report({ [A]: "passed", [B]: "failed" }) },
      unstable: [B],
    },
    report({ [A]: "passed", [B]: "passed" }),
    [],
  ],
  "known failures may fail": [
    { base: report({ [A]: "passed", [B]: "failed" }), known: [B] },
    report({ [A]: "passed", [B]: "failed" }),
    [],
  ],
};

describe("which old tests are listed", () => {
  test.each(Object.entries(CASES))("%s", (_title, [baseline, now, listed]) => {
    const found = compareTests(now, from(baseline));
    expect(found.listed.map(({ what, name }) => `${what} ${name}`)).toEqual(listed);
    expect(found.why).toBeNull();
  });

  test("a listed test has its file, how that was changed, and a sign for both", () => {
    const files = { "a.test.js": { sign: "1..2", diff: "-toBe(2)\n+toBe(3)" } };
    const old = { exit: 1, report: report({ [A]: "failed" }) };
    const [listed] = compareTests(
      report({ [A]: "passed" }),
      from({ base: report({ [A]: "passed" }), old, changed: ["a.test.js"], files }),
    ).listed;
    expect(listed).toEqual({
      name: A,
      what: "fails",
      file: "a.test.js",
      sign: `${A}\n1..2`,
      diff: "-toBe(2)\n+toBe(3)",
    });
  });

  test("without its file, the sign is about all changed test files", () => {
    const files = { "x.txt": { sign: "1..2", diff: "" }, "y.txt": { sign: "3..4", diff: "" } };
    const old = { exit: 1, report: report({ [A]: "failed" }) };
    const [listed] = compareTests(report({ [A]: "passed" }), from({ old, changed: ["x.txt", "y.txt"], files })).listed;
    expect(listed).toMatchObject({ sign: `${A}\n1..2 3..4` });
    expect(listed).not.toContainKey("file");
  });
});

describe("the rest", () => {
  test("renamed and removed tests that still hold are counted", () => {
    const base = report({ [A]: "passed", [B]: "passed" });
    const found = compareTests(
      report({ [A]: "passed", [C]: "passed" }),
      from({ base, old: { exit: 0, report: base } }),
    );
    expect(found).toMatchObject({ before: 2, gone: 1, listed: [] });
  });

  test("all old tests pass and the command does not: the settings", () => {
    const base = report({ [A]: "passed" });
    expect(compareTests(base, from({ base, old: { exit: 1, report: base } }))).toMatchObject({
      listed: [{ name: "", what: "settings" }],
    });
  });

  test.each([
    ["names at the beginning, none now", null, { base: report({ [A]: "passed" }) }, "does not now"],
    ["no report of the old tests", report({}), { old: { exit: 0, report: null } }, "could not be read"],
    [
      "the old tests end early",
      report({}),
      { old: { exit: 0, report: report({}, { ended: 0 }) } },
      "Something calls exit",
    ],
    ["nothing to compare with", report({}), { why: "the base is gone" }, "the base is gone"],
  ])("%s: nothing follows", (_title, now, baseline, why) => {
    expect(compareTests(now, from(baseline)).why).toContain(why);
  });

  test("a runner that did not end is told with the count of the beginning", () => {
    const base = report({ [A]: "passed", [B]: "passed" });
    expect(incompleteness(report({ [A]: "passed" }, { ended: 0 }), 0, base)).toBe(
      "it ended with exit 0 before the runner was done: 1 of 2 tests reported. Something calls exit",
    );
    expect(incompleteness(base, 0, base)).toBeNull();
    expect(incompleteness(report({}, { incomplete: "3 collected, 2 reported" }), 0, null)).toBe(
      "3 collected, 2 reported",
    );
  });
});

describe("laws", () => {
  const status = fc.constantFrom<TestStatus>("passed", "failed", "skipped");
  const tests = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), status);
  const maybe = fc.option(
    tests.map((one) => report(one)),
    { nil: null },
  );
  const exit = fc.constantFrom(0, 1);

  test("nothing is listed only if every test that ran at the beginning passes where it is demanded", () => {
    fc.assert(
      fc.property(maybe, tests, maybe, exit, (base, nowTests, oldReport, code) => {
        const now = report(nowTests);
        const old = oldReport && { exit: code, report: oldReport };
        const { listed, why } = compareTests(now, from({ base, old }));
        const where = (old ? oldReport! : now).tests;
        const demanded = Object.entries(base?.tests ?? {}).filter(([, one]) => one !== "skipped");
        const holds = demanded.every(([name]) => where[name] === "passed");
        const fails = old !== null && Object.values(where).includes("failed");
        expect(why).toBeNull();
        expect(listed.length === 0).toBe(holds && !fails && (old === null || code === 0));
      }),
    );
  });

  test("more failing tests never list less", () => {
    fc.assert(
      fc.property(tests, tests, fc.constantFrom("a", "b", "c"), (base, old, name) => {
        const list = (one: Record<string, TestStatus>) =>
          compareTests(report(base), from({ base: report(base), old: { exit: 0, report: report(one) } })).listed;
        const names = list({ ...old, [name]: "failed" }).map((one) => one.name);
        for (const one of list({ ...old, [name]: "passed" })) expect(names).toContain(one.name);
      }),
    );
  });

  test("each test is listed once", () => {
    fc.assert(
      fc.property(maybe, tests, maybe, (base, now, old) => {
        const { listed } = compareTests(report(now), from({ base, old: old && { exit: 1, report: old } }));
        expect(new Set(listed.map(({ name }) => name)).size).toBe(listed.length);
      }),
    );
  });
});
