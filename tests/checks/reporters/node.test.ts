/** node --test: names as they are, its own reporters kept, its exit status unchanged. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { makeRunnerProject, type RunnerProject, removeProjects } from "./runner-project.ts";

setDefaultTimeout(60_000);

let project: RunnerProject;
beforeEach(() => {
  project = makeRunnerProject();
});
afterEach(removeProjects);

const HEAD = "import { test, describe, it, before } from 'node:test'; import assert from 'node:assert';\n";

const ALL = `${HEAD}
  test("passes", () => {});
  test("fails", () => assert.equal(1, 2));
  test("twice", () => {});
  test("twice", () => assert.fail());
  test.skip("skipped", () => {});
  test.todo("to do");
  test("parent", async (t) => { await t.test("child", () => {}); });
  describe("outer", () => { describe("inner", () => { it("deep", () => {}); it("deep fails", () => assert.fail()); }); });
  describe("hook", () => { before(() => { throw new Error("no"); }); it("never", () => {}); });
`;

test("all kinds of tests", () => {
  project.write("test/a.test.mjs", ALL);
  const { named, exit, output } = project.run("node --test");
  expect(exit).toBe(1);
  expect(named).toEqual({
    runners: [expect.stringMatching(/^node \d+\.\d+\.\d+$/)],
    ended: 1,
    tests: {
      "test/a.test.mjs > passes": "passed",
      "test/a.test.mjs > fails": "failed",
      "test/a.test.mjs > twice": "passed",
      "test/a.test.mjs > twice #2": "failed",
      "test/a.test.mjs > skipped": "skipped",
      "test/a.test.mjs > to do": "skipped",
      "test/a.test.mjs > parent > child": "passed",
      "test/a.test.mjs > parent": "passed",
      "test/a.test.mjs > outer > inner > deep": "passed",
      "test/a.test.mjs > outer > inner > deep fails": "failed",
      "test/a.test.mjs > hook > never": "failed",
      "test/a.test.mjs > hook": "failed",
    },
    files: ["test/a.test.mjs"],
  });
  expect(output).toBe(project.plain("node --test").output);
});

test("only the outermost runner reports: a test may start one of its own", () => {
  project.write("inner/a.mjs", "import { test } from 'node:test'; test('inner', () => { throw 1; });\n");
  project.write(
    "a.test.mjs",
    `${HEAD}import { spawnSync } from "node:child_process";
    test("outer", () => {
      const { NODE_TEST_CONTEXT, ...env } = process.env;
      const { status } = spawnSync(process.execPath, ["--test", "inner/a.mjs"], { env });
      assert.equal(status, 1);
      assert.deepEqual(Object.keys(process.env).filter((name) => name === "NODE_OPTIONS" || name === "PAWL_REPORT_DIR"), []);
    });`,
  );
  const { exit, named } = project.run("node --test a.test.mjs");
  expect([exit, named?.runners.length, named?.tests]).toEqual([0, 1, { "a.test.mjs > outer": "passed" }]);
});

test("a file without tests, or that ends before them, is no test", () => {
  project.write("empty.test.mjs", "");
  project.write("exits.test.mjs", `${HEAD}process.exit(0); test("never", () => {});`);
  project.write("has.test.mjs", `${HEAD}test("one", () => {});`);
  const { exit, named } = project.run("node --test");
  expect([exit, named?.tests]).toEqual([0, { "has.test.mjs > one": "passed" }]);
});
