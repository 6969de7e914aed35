/** What reporters wrote, folded into one report: keys, doubles, statuses, and what is missing. */
import { expect, test } from "bun:test";
import { foldReports, parseReport, toStatus } from "../../../src/checks/core/named.ts";

const start = (runner = "r", cwd = "/p") => ({ ev: "start", runner, version: "1.0", cwd });
const one = (name: string | string[], status = "passed", more: object = { file: "a.test.js" }) => ({
  ev: "test",
  name: [name].flat(),
  status,
  ...more,
});
const END = { ev: "end" };

const fold = (...processes: object[][]) =>
  foldReports(
    processes.map((lines) => parseReport(lines.map((line) => `${JSON.stringify(line)}\n`).join(""))),
    ["/p", "/real/p"],
  );
const tests = (...lines: object[]) => fold([start(), ...lines, END])!.tests;

test.each<[what: string, lines: object[], expected: Record<string, string>]>([
  ["file and name path", [one(["suite", "adds"])], { "a.test.js > suite > adds": "passed" }],
  ["a name that comes twice", [one("x"), one("x", "failed"), one("x")],
    { "a.test.js > x": "passed", "a.test.js > x #2": "failed", "a.test.js > x #3": "passed" }],
  ["one more line about the same test: the worst counts", [one("x"), one("x", "error", { file: "a.test.js", again: true })],
    { "a.test.js > x": "failed" }],
  ["and a good one does not make it better", [one("x", "failed"), one("x", "passed", { file: "a.test.js", again: true })],
    { "a.test.js > x": "failed" }],
  ["… of the second of that name", [one("x"), one("x"), one("x", "error", { file: "a.test.js", again: true })],
    { "a.test.js > x": "passed", "a.test.js > x #2": "failed" }],
  ["an absolute file, also where links lead", [one("x", "passed", { file: "/real/p/t/a.js" })], { "t/a.js > x": "passed" }],
  ["the project's path inside a name", [one("/p/t/a.js reads /p", "passed")], { "a.test.js > t/a.js reads .": "passed" }],
  ["no file: the folder counts", [one("TestAdd", "passed", {})], { ". > TestAdd": "passed" }],
  ["outside the project", [one("x", "passed", { file: "../q/a.js" })], { "/q/a.js > x": "passed" }],
])("%s", (_what, lines, expected) => {
  expect(tests(...lines)).toEqual(expected as never);
}); // biome-ignore format: a table

test("two packages with the same file and name", () => {
  const report = fold([start("jest", "/p/a"), one("x"), END], [start("jest", "/p/b"), one("x", "failed"), END]);
  expect(report).toEqual({
    runners: ["jest 1.0", "jest 1.0"],
    ended: 2,
    tests: { "a/a.test.js > x": "passed", "b/a.test.js > x": "failed" },
    files: ["a/a.test.js", "b/a.test.js"],
  });
});

test("very long names are cut, and still told apart", () => {
  const long = "x".repeat(5000);
  const keys = Object.keys(tests(one(`${long}1`), one(`${long}2`)));
  expect(new Set(keys).size).toBe(2);
  expect(Math.max(...keys.map(({ length }) => length))).toBeLessThan(500);
});

test.each([
  ["passed", ["passed", "pass", "ok", "flaky", "xpass"]],
  ["skipped", ["skipped", "pending", "todo", "xfail", "deselected", "disabled"]],
  ["failed", ["failed", "error", "timedOut", "interrupted", "", "something new"]],
] as const)("%s", (status, words) => {
  expect(words.map(toStatus)).toEqual(words.map(() => status));
});

test.each<[what: string, lines: object[], ended: number, incomplete: string | undefined]>([
  ["complete", [start(), one("x"), { ev: "end", total: 1 }], 1, undefined],
  ["no end", [start(), one("x")], 0, undefined],
  ["more collected than reported", [start(), one("x"), one("x"), { ev: "end", total: 4 }], 1, "2 of 4 tests reported"],
  ["a second line about a test is no test", [start(), one("x"), one("x", "error", { file: "a.test.js", again: true }),
    { ev: "end", total: 2 }], 1, "1 of 2 tests reported"],
  ["nothing ran", [start(), END], 1, undefined],
])("%s: how many ended, what is missing", (_what, lines, ended, incomplete) => {
  const report = fold(lines)!;
  expect([report.runners, report.ended, report.incomplete]).toEqual([["r 1.0"], ended, incomplete]);
}); // biome-ignore format: a table

test("no runner was heard", () => expect(fold()).toBeNull());

test("half a last line is not there; a broken one makes the report incomplete", () => {
  const text = `${JSON.stringify(start())}\n${JSON.stringify(one("x"))}\n{"ev":"te`;
  expect(parseReport(text)).toEqual({ lines: [start(), one("x")] as never });
  for (const broken of [
    "{",
    "null",
    '{"ev":"test","name":"x","status":"passed"}',
    '{"ev":"test","name":[1],"status":""}',
  ])
    expect(parseReport(`${broken}\n`).flaw ?? broken).toBe(
      broken === "null" ? broken : "a line of a report cannot be read",
    );
});
