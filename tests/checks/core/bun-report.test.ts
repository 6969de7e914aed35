/** What bun's processes write into one pipe: each piece finds its process, and nothing is lost without a word. */
import { expect, test } from "bun:test";
import { readBunPipe } from "../../../src/checks/core/bun-report.ts";
import { foldReports } from "../../../src/checks/core/named.ts";

const start = (id: number, cwd: string, more = {}) => `${JSON.stringify({ id, version: "1", cwd, ...more })}\n`;
const xml = (file: string, names: string[], total = names.length) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="bun test" tests="${total}">\n<testsuite name="${file}" file="${file}">\n${names
    .map((name) => `<testcase name="${name}" file="${file}" time="0" />\n`)
    .join("")}</testsuite>\n</testsuites>\n`;

const read = (text: string, files: Record<string, string> = {}) =>
  foldReports(readBunPipe(text, { read: (path) => files[path] ?? null, readReport: (path) => files[path] ?? null }), [
    "/p",
  ]);

test("one process", () => {
  const named = read(start(1, "/p") + xml("a.test.js", ["one"]));
  expect(named).toEqual({ runners: ["bun 1"], ended: 1, tests: { "a.test.js > one": "passed" }, files: ["a.test.js"] });
});

test("two at the same time, with files of the same name: the files tell whose it is", () => {
  const text = start(1, "/p/a") + start(2, "/p/b") + xml("x.test.js", ["of b"]) + xml("x.test.js", ["of a"]);
  const files = { "/p/a/x.test.js": 'test("of a")', "/p/b/x.test.js": 'test("of b")' };
  expect(read(text, files)).toMatchObject({
    ended: 2,
    tests: { "a/x.test.js > of a": "passed", "b/x.test.js > of b": "passed" },
  });
});

test("one starts while another one writes", () => {
  const whole = xml("x.test.js", ["one", "two"]);
  const text = start(1, "/p") + whole.slice(0, 150) + start(2, "/p/b") + whole.slice(150);
  expect(read(text)).toMatchObject({ ended: 1, runners: ["bun 1", "bun 1"], tests: { "x.test.js > two": "passed" } });
});

test("the project's own file", () => {
  const text = start(1, "/p", { xml: "/p/own.xml" });
  expect(read(text, { "/p/own.xml": xml("x.test.js", ["one"]) })).toMatchObject({ ended: 1 });
  expect(read(text)).toMatchObject({ ended: 0 });
});

test("fewer tests than the runner counted are no end", () => {
  expect(read(start(1, "/p") + xml("x.test.js", ["one"], 2))).toMatchObject({ ended: 0 });
});

test("a report that nobody announced, and what is no report", () => {
  const forged = start(1, "/p") + xml("x.test.js", ["one"]) + xml("x.test.js", ["one"]);
  expect(read(forged)).toMatchObject({ incomplete: "a report that no runner announced" });
  expect(read(`${start(1, "/p")}anything`)).toMatchObject({ incomplete: "what bun wrote cannot be read" });
});

test("a runner inside a test is that test's business, whether it ended or not", () => {
  const text = start(1, "/p") + start(2, "/p", { nested: true });
  expect(read(text + xml("in.js", ["inner"]) + xml("x.test.js", ["one"]))).toMatchObject({
    runners: ["bun 1"],
    tests: { "x.test.js > one": "passed" },
  });
  expect(read(text)).toMatchObject({ runners: ["bun 1"], ended: 0 });
});
