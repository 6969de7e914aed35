/** bun test: names as they are, its own reporters kept, its exit status unchanged. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeRunnerProject, type RunnerProject, removeProjects } from "./runner-project.ts";

setDefaultTimeout(120_000);

let project: RunnerProject;
beforeEach(() => {
  project = makeRunnerProject();
});
afterEach(removeProjects);

const BUN = `${process.execPath} test`;
const HEAD = 'import { beforeAll, describe, expect, test } from "bun:test";\n';

const ALL = `${HEAD}
test("passes", () => {});
test("fails", () => expect(1).toBe(2));
test("twice", () => {});
test("twice", () => expect(1).toBe(2));
test.skip("skipped", () => {});
test.todo("to do");
test.failing("fails as expected", () => expect(1).toBe(2));
describe("outer", () => describe("in & \\"ner\\" <x>", () => test.each([1, 2])("deep %d", () => {})));
describe("hook", () => { beforeAll(() => { throw new Error("no"); }); test("never", () => {}); });
test("nothing of ours is left", () => {
  const ours = Object.keys(process.env).filter((name) => /^PAWL_|^BUN_OPTIONS$|^NODE_OPTIONS$/.test(name));
  expect([...ours, ...process.execArgv]).toEqual([]);
});
test("nested", () => {
  const inner = Bun.spawnSync([process.execPath, "test", "./inner/x.js"], { cwd: import.meta.dir });
  expect(inner.exitCode).toBe(1);
});
`;

test("all kinds of tests", () => {
  project.write("a.test.js", ALL);
  project.write("inner/x.js", 'require("bun:test").test("inner", () => { throw 1; });\n');
  const { exit, named, output } = project.run(BUN);
  expect(named).toEqual({
    runners: [`bun ${Bun.version}`],
    ended: 1,
    tests: {
      "a.test.js > passes": "passed",
      "a.test.js > fails": "failed",
      "a.test.js > twice": "passed",
      "a.test.js > twice #2": "failed",
      "a.test.js > skipped": "skipped",
      "a.test.js > to do": "skipped",
      "a.test.js > fails as expected": "passed",
      'a.test.js > outer > in & "ner" <x> > deep 1': "passed",
      'a.test.js > outer > in & "ner" <x> > deep 2': "passed",
      "a.test.js > hook > (unnamed)": "failed",
      "a.test.js > nothing of ours is left": "passed",
      "a.test.js > nested": "passed",
    },
    files: ["a.test.js"],
  });
  const plain = project.plain(BUN);
  // Times are left out where they are too short.
  const timeless = (text: string) => text.replaceAll(" [T]", "");
  expect([exit, timeless(output)]).toEqual([plain.exit, timeless(plain.output)]);
});

const one = (name: string, body = "") => `${HEAD}test("${name}", () => {${body}});\n`;

test("several in one command, one after the other and at the same time, with files of the same name", () => {
  for (const name of ["one", "two", "three"]) project.write(`${name}/src/a.test.js`, one(`it is ${name}`));
  const tests = {
    "one/src/a.test.js > it is one": "passed",
    "two/src/a.test.js > it is two": "passed",
    "three/src/a.test.js > it is three": "passed",
  };
  const each = (end: string) => ["one", "two", "three"].map((name) => `(cd ${name} && ${BUN}) ${end}`).join(" ");
  for (const line of [`${each("&&")} true`, `${each("&")} wait`])
    expect(project.run(line)).toMatchObject({ exit: 0, named: { ended: 3, tests } });
});

test.each(["--parallel", "--isolate", "--dots"])("%s", (flag) => {
  project.write("a.test.js", one("a"));
  project.write("b.test.js", one("b"));
  project.write("c.test.js", one("c"));
  const { exit, named } = project.run(`${BUN} ${flag}`);
  expect([exit, named?.runners.length, named?.ended]).toEqual([0, 1, 1]);
  expect(Object.keys(named?.tests ?? {}).sort()).toEqual(["a.test.js > a", "b.test.js > b", "c.test.js > c"]);
});

test.each(["process.exit(0);", "process.kill(process.pid, 9);"])("no end: %s", (body) => {
  project.write("a.test.js", `${one("a")}test("b", () => { ${body} });\n`);
  const { exit, named } = project.run(BUN);
  expect([exit, named?.runners.length, named?.ended]).toEqual([project.plain(BUN).exit, 1, 0]);
});

test("a file that cannot be read fails, as it does without us", () => {
  project.write("a.test.js", "test(;\n");
  project.write("b.test.js", one("b"));
  const { exit, named } = project.run(BUN);
  expect([exit, named?.tests]).toEqual([1, { "b.test.js > b": "passed" }]);
});

test.each([
  ["by a flag", "--reporter=junit --reporter-outfile=own.xml", ""],
  ["by two words", "--reporter=junit --reporter-outfile own.xml", ""],
  ["in bunfig.toml", "", '[test.reporter]\njunit = "own.xml"\n'],
])("the project's own report is written and read: %s", (_how, flags, settings) => {
  project.write("a.test.js", one("a"));
  if (settings) project.write("bunfig.toml", settings);
  const { exit, named } = project.run(`${BUN} ${flags}`);
  expect([exit, named?.ended, named?.tests]).toEqual([0, 1, { "a.test.js > a": "passed" }]);
  expect(existsSync(join(project.root, "own.xml"))).toBe(true);
});

test("what is no runner says nothing and does what it did", () => {
  project.write("a.js", "console.log(process.argv.slice(2), process.execArgv.length);\n");
  const line = `NODE_ENV=test ${process.execPath} a.js one`;
  const { exit, named } = project.run(line);
  expect([exit, named]).toEqual([0, null]);
});
