/** The tests of the beginning: run in the background once a run begins, and asked for again only where they have to be. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSession, type Place, removePlaces } from "../harness/harness.ts";
import { change, claim, prompt, setUp } from "./case.ts";
import { CODE, NODE, TEST, testFile } from "./javascript.ts";

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
