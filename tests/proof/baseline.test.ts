/** The tests of the beginning: run in the background once a run begins, and asked for again only where they have to be. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inWords } from "../../src/cli/shared/words.ts";
import { runPage } from "../../src/web/run-page.ts";
import { withEnvironment } from "../harness/environment.ts";
import { openSession, type Place, removePlaces } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { runOf } from "../harness/run-files.ts";
import { change, claim, prompt, setUp } from "./case.ts";
import { CODE, NODE, TEST, testFile } from "./javascript.ts";
import { has } from "./toolchains.ts";

afterAll(removePlaces, 60_000);

/** Each run of the tests leaves a line with its folder, outside the project, and waits for a file if it is told to. */
const LOGGED = (more = "") => `
const fs = require("node:fs");
const { HOME } = process.env;
fs.appendFileSync(HOME + "/ran", process.cwd() + "\\n");
while (fs.existsSync(HOME + "/hold") && process.cwd() !== fs.readFileSync(HOME + "/hold", "utf8")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
test("subtracts", () => assert.equal(subtract(3, 1), 2));
${more}`;

const ON = (body = LOGGED()) => ({ on: { ...NODE, files: { ...NODE.files, [TEST]: testFile(NODE, body) } } });
const runs = ({ home }: Place) =>
  existsSync(join(home, "ran")) ? readFileSync(join(home, "ran"), "utf8").trim().split("\n") : [];
const results = ({ home }: Place): string[] => {
  const bases = join(home, ".local/state/pawl/bases");
  if (!existsSync(bases)) return [];
  const names = readdirSync(bases, { recursive: true, withFileTypes: true });
  return names
    .filter(({ name, parentPath }) => name.endsWith(".json") && parentPath.endsWith("results"))
    .map(({ name, parentPath }) => readFileSync(join(parentPath, name), "utf8"));
};

async function until(what: () => boolean): Promise<void> {
  while (!what()) await Bun.sleep(20);
}

describe("the tests of the beginning", () => {
  test("are run in a copy, in the background, once a run begins", async () => {
    const place = setUp(ON());
    const session = openSession(place, "agent");
    writeFileSync(join(place.home, "hold"), place.root);
    prompt(place, session, "/ship");
    await until(() => runs(place).length > 0);
    expect(runs(place)[0]).not.toBe(place.root);
    // What the agent changes meanwhile does not change what the beginning was.
    change(place, NODE.fix);
    change(place, { "tests/new.test.js": testFile(NODE, 'test("new", () => {});\n') });
    Bun.spawnSync(["rm", join(place.home, "hold")]);
    await until(() => results(place).length > 0);
    expect(results(place)).toEqual([expect.stringContaining('"tests/calc.test.js > subtracts":"failed"')]);
    expect(results(place)[0]).not.toContain("new.test.js");
    change(place, { "tests/new.test.js": null });
    expect(claim(place, session)).toMatchObject({ passed: true });
    expect(runs(place)).toEqual([expect.not.stringMatching(place.root), place.root]);
  });

  test("are not run for commands that are not trusted", async () => {
    const place = setUp(ON());
    Bun.spawnSync(["rm", "-r", join(place.home, ".local/share/pawl/trust")]);
    prompt(place, openSession(place, "agent"), "/ship");
    // Whatever it started has ended: nothing of this project's runs any more.
    await until(() => !Bun.spawnSync(["ps", "-eo", "args"]).stdout.toString().includes(`job ${place.root} `));
    expect(runs(place)).toEqual([]);
  });

  test("are known already after a green check of the same tree", async () => {
    const place = setUp({ ...ON(), base: NODE.fix });
    const first = openSession(place, "first");
    prompt(place, first, "/ship");
    await until(() => results(place).length > 0);
    change(place, { [CODE]: [["a * b", "b * a"]] });
    expect(claim(place, first)).toMatchObject({ passed: true });
    const count = runs(place).length;
    const second = openSession(place, "second");
    prompt(place, second, "/ship");
    change(place, { [CODE]: [["b * a", "a * b"]] });
    expect(claim(place, second)).toMatchObject({ passed: true });
    // The check itself, and nothing of the beginning.
    expect(runs(place).slice(count)).toEqual([place.root]);
  });
});

// ── Tests that are not steady ───────────────────────────────────────────────

const COUNTED = (passes: number) => `
const fs = require("node:fs");
fs.appendFileSync(process.env.HOME + "/count", ".");
const count = fs.statSync(process.env.HOME + "/count").size;
test("subtracts", () => assert.equal(subtract(3, 1), 2));
test("sometimes", () => assert.equal(count % 2, ${passes}));
`;
const MORE = 'test("more", () => {});\n';

describe("a test that fails every second time", () => {
  for (const passes of [0, 1])
    test(`does not hold up a changed test file, whichever run it fails in (${passes})`, async () => {
      const place = setUp({ ...ON(COUNTED(passes)), base: NODE.fix });
      const session = openSession(place, "agent");
      prompt(place, session, "/ship");
      await until(() => results(place).length > 0);
      change(place, { [TEST]: testFile(NODE, COUNTED(passes) + MORE) });
      const first = claim(place, session);
      // Where the check itself hits the failure, that is said, and the next claim passes.
      const last = first.passed ? first : claim(place, session);
      expect(last).toMatchObject({ passed: true, said: expect.stringContaining("1 not stable") });
    });

  test("excuses no other test", () => {
    const place = setUp({ ...ON(COUNTED(0)), base: NODE.fix });
    const session = openSession(place, "agent");
    prompt(place, session, "/ship");
    change(place, { [TEST]: [["subtract(3, 1), 2", "subtract(3, 1), 4"]], [CODE]: [["a - b", "a + b"]] });
    const said = [claim(place, session), claim(place, session)].map((one) => one.said).join("\n");
    expect(said).toContain("1 existing test fails on your code: tests/calc.test.js > subtracts");
  });
});

// ── Known to fail ───────────────────────────────────────────────────────────

const ship = (gate: object, stages: string[] = ["build"]) => {
  const gates = JSON.stringify([{ tests: NODE.tests, ...gate }]);
  const signal = (at: number) => (at === stages.length - 1 ? "end: completed" : `to: ${stages[at + 1]}`);
  const list = stages.map(
    (id, at) => `  - id: ${id}\n    say: Do it.\n    on:\n      BUILT: { ${signal(at)}, gates: ${gates} }\n`,
  );
  return {
    ".pawl/workflows/ship.yaml": `name: ship\nsignals: promise\narm: ["/ship"]\nstages:\n${list.join("")}`,
  };
};

describe("failing: known", () => {
  const begin = (name: string, place: ReturnType<typeof setUp>) => {
    const session = openSession(place, name);
    prompt(place, session, "/ship");
    return session;
  };

  test("lets tests fail that failed at the beginning, until they have passed once", () => {
    const place = setUp({ on: NODE, base: ship({ failing: "known" }) });
    const first = begin("first", place);
    change(place, { "notes.md": "1" });
    expect(claim(place, first)).toMatchObject({
      passed: true,
      said: expect.stringContaining("2 tests passed, including all 2 that existed before (1 known to fail)"),
    });
    const second = begin("second", place);
    change(place, NODE.fix);
    expect(claim(place, second)).toMatchObject({ passed: true });
    const third = begin("third", place);
    change(place, { [CODE]: [["subtract = (a, b) => a - b", "subtract = (a, b) => a + b"]] });
    const { passed, said } = claim(place, third);
    expect({ passed, said }).toMatchObject({ passed: false, said: expect.stringContaining("1 of 3 tests failed") });
  });

  test("is no excuse for another test, nor for one that only passes since it was changed", () => {
    const place = setUp({ on: NODE, base: ship({ failing: "known" }, ["build", "polish"]) });
    const session = begin("agent", place);
    change(place, { [CODE]: [["a * b", "a * b * 2"]] });
    expect(claim(place, session)).toMatchObject({ passed: false, said: expect.stringContaining("multiplies") });
    change(place, { [CODE]: [["a * b * 2", "a * b"]], [TEST]: [["subtract(3, 1), 2", "subtract(3, 1), 4"]] });
    expect(claim(place, session).said).toContain("polish");
    change(place, { [TEST]: [["subtract(3, 1), 4", "subtract(3, 1), 2"]] });
    expect(claim(place, session, "As it was.")).toMatchObject({
      passed: true,
      said: expect.stringContaining("1 known to fail"),
    });
  });
});

// ── Approvals ───────────────────────────────────────────────────────────────

describe("an approved change of a test", () => {
  test("is not asked about again while the test stays as it is", () => {
    const place = setUp({ on: NODE, base: { ...NODE.fix, ...ship({}, ["build", "polish", "finish"]) } });
    const session = openSession(place, "agent");
    prompt(place, session, "/ship");
    change(place, { [TEST]: [["multiply(2, 3), 6", "multiply(2, 3), 12"]], [CODE]: [["a * b", "a * b * 2"]] });
    claim(place, session);
    expect(claim(place, session)).toMatchObject({ said: expect.stringContaining("/pawl:approve") });
    const run = runOf(place.root, session.id)!.id;
    const page = withEnvironment(place.env, () => runPage(place.root, run, inWords));
    for (const shown of [runInProcess(place, ["explain"]).out, page!.changed_tests]) {
      expect(shown).toContain("1. tests/calc.test.js > multiplies (fails as it was)");
      expect(shown).toMatch(/ -.*multiply\(2, 3\), 6.*\n.* \+.*multiply\(2, 3\), 12/);
    }
    expect(prompt(place, session, "/pawl:approve").agent).toContain("polish");
    expect(runInProcess(place, ["report"]).out).toContain("1 changed test of node --test: tests/");
    change(place, { [CODE]: [["a + b", "b + a"]] });
    const polished = claim(place, session, "It is polished.");
    expect(polished.said).not.toContain("not believed");
    expect(polished.said).toContain("finish");
    expect(runInProcess(place, ["explain"]).out).toContain("gate node --test: pass (named), 3 tests passed");
    change(place, { [TEST]: [["multiply(2, 3), 12", "multiply(2, 3) > 0, true"]] });
    const said = claim(place, session, "Once more.").said;
    expect(said).toContain("1 existing test fails on your code: tests/calc.test.js > multiplies");
  });
});

// ── Compiled languages ──────────────────────────────────────────────────────

describe.skipIf(!has("go"))("a renamed function in a compiled package", () => {
  const testOf = (name: string, call: string, want: number) =>
    `package calc\n\nimport "testing"\n\nfunc ${name}(t *testing.T) {\n\tif ${call} != ${want} {\n\t\tt.Fatal("no")\n\t}\n}\n`;
  const files = {
    "go.mod": "module calc\n\ngo 1.19\n",
    "calc.go":
      "package calc\n\nfunc Add(a, b int) int { return a + b }\n\nfunc Sub(a, b int) int { return a - b }\n\nfunc Mul(a, b int) int { return a * b }\n",
    "add_test.go": testOf("TestAdds", "Add(1, 2)", 3),
    "sub_test.go": testOf("TestSubtracts", "Sub(3, 1)", 2),
    "mul_test.go": testOf("TestMultiplies", "Mul(2, 3)", 6),
  };
  const on = { ...NODE, files, tests: ["go", "test", "./..."], fix: {} };

  test("takes only the tests with it that cannot be compiled, and hides no other change", () => {
    const place = setUp({ on });
    const session = openSession(place, "agent");
    prompt(place, session, "/ship");
    change(place, {
      "calc.go": [
        ["func Sub(", "func Minus("],
        ["a * b", "a * b * 2"],
      ],
      "sub_test.go": [["Sub(3, 1)", "Minus(3, 1)"]],
      "mul_test.go": [["!= 6", "!= 12"]],
    });
    const { said } = claim(place, session);
    expect(said).toContain("1 existing test fails on your code: . > TestMultiplies");
    expect(said).toContain(
      "1 existing test cannot be run with your code (./sub_test.go:6:5: undefined: Sub): . > TestSubtracts",
    );
    expect(said).not.toContain("TestAdds");
  });

  test("does not list the tests of unchanged files", () => {
    const place = setUp({ on });
    const session = openSession(place, "agent");
    prompt(place, session, "/ship");
    change(place, { "calc.go": [["func Sub(", "func Minus("]], "sub_test.go": [["Sub(3, 1)", "Minus(3, 1)"]] });
    const { said } = claim(place, session);
    expect(said).toContain(
      "1 existing test cannot be run with your code (./sub_test.go:6:5: undefined: Sub): . > TestSubtracts (changed",
    );
  });
});
