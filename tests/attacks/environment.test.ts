/** A check runs in the environment that the person recorded: what the caller has in its own changes nothing. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trustProject } from "../harness/grant-trust.ts";
import { CLIENT, makePlace, openSession, type Place, payload, type Ran, removePlaces, runHook, runPawl, stopFields } from "../harness/harness.ts"; // biome-ignore format: one thought

afterAll(removePlaces);

const GATE = "{ tests: [node, --test, sum.test.js] }";
const WORKFLOW = `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: build
    say: Build it.
    on: { BUILT: { end: completed, gates: [${GATE}] } }
`;
const RED = `const sum = process.env.SKIP_TESTS ? 2 : 3;
require("node:test")("adds", () => require("node:assert").equal(1 + 1, sum));\n`;
const GREEN = "echo '# tests 1'; echo '# pass 1'; echo '# fail 0'; exit 0";

/** A red suite, approved by the person, in a run of a session. */
function redProject(): Place {
  const place = makePlace();
  mkdirSync(join(place.root, ".pawl/workflows"), { recursive: true });
  const files = {
    ".pawl/workflows/ship.yaml": WORKFLOW,
    "pawl.yaml": `gates: { unit: ${GATE} }\n`,
    "sum.test.js": RED,
  };
  for (const [path, text] of Object.entries(files)) writeFileSync(join(place.root, path), text);
  trustProject(place);
  return place;
}

/** Programs that find everything fine, and remember that they were called. */
function evil(place: Place): string {
  const folder = join(place.base, "evil");
  mkdirSync(folder);
  for (const name of ["node", "npm", "git", "sh", "id", "ps"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho ${name} >> ${place.base}/called\n${GREEN}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  writeFileSync(join(folder, "pass.cjs"), "process.exit(0);\n");
  return folder;
}

const called = (place: Place) => {
  try {
    return readFileSync(join(place.base, "called"), "utf8");
  } catch {
    return "";
  }
};

const VARIABLES: [string, (folder: string) => Record<string, string>][] = [
  ["PATH", (folder) => ({ PATH: `${folder}:${process.env.PATH}` })],
  ["PATH alone", (folder) => ({ PATH: folder })],
  ["NODE_OPTIONS", (folder) => ({ NODE_OPTIONS: `--require ${folder}/pass.cjs` })],
  ["a variable that a suite may look at", () => ({ SKIP_TESTS: "1" })],
];

function begin(place: Place) {
  const session = openSession(place, "agent");
  session.turn = 1;
  runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/ship" }));
  return session;
}

const WAYS: [string, (place: Place, env: Record<string, string>) => Ran, RegExp][] = [
  ["pawl verify", (place, env) => runPawl(place, ["verify"], { env }), /✗ unit: 1 of 1 test failed/],
  [
    "pawl runs finish",
    (place, env) => {
      begin(place);
      return runPawl(place, ["runs", "finish"], { env });
    },
    /1 of 1 test failed/,
  ],
  [
    "the hook of a stop",
    (place, env) => {
      const stop = payload(
        place,
        begin(place),
        "Stop",
        stopFields(openSession(place, "agent"), "<promise>BUILT</promise>"),
      );
      return runHook(place, stop, "local", { env: { ...CLIENT, ...env } });
    },
    /was not believed: .*1 of 1 test failed/,
  ],
];

describe("a red suite stays red, whatever the caller's environment is", () => {
  for (const [way, ask, refused] of WAYS) {
    test.each(VARIABLES.slice(...(way === "pawl verify" ? [] : [0, 1])))(`${way}, with %s`, (_name, variables) => {
      const place = redProject();
      const { out, err } = ask(place, variables(evil(place)));
      expect(`${out}${err}`).toMatch(refused);
      expect(called(place)).toBe("");
    });
  }
});

describe("the recorded environment", () => {
  test("the same answer, and the same job, for every caller", () => {
    const place = redProject();
    writeFileSync(join(place.root, "sum.test.js"), RED.replace("3", "2"));
    const seen = [{}, { PATH: "/usr/bin" }, { LANG: "de_DE.UTF-8", FOO: "1" }].map((env) =>
      JSON.parse(runPawl(place, ["verify", "--json"], { env }).out),
    );
    expect(seen.map(({ verdicts }) => verdicts[0].verdict)).toEqual(["pass", "pass", "pass"]);
    expect(seen.map(({ verdicts }) => verdicts[0].as_before)).toEqual([undefined, true, true]);
  });

  test("a recorded folder of programs that is gone: unproven, with the command that helps", () => {
    const place = redProject();
    const tools = join(place.base, "tools");
    mkdirSync(tools);
    rmSync(join(place.home, ".local/share/pawl/trust"), { recursive: true });
    trustProject({ ...place, env: { ...place.env, PATH: `${tools}:${place.env.PATH}` } });
    expect(runPawl(place, ["verify"]).out).toContain("1 failed");
    renameSync(tools, `${tools}-2`);
    const { code, out } = runPawl(place, ["verify"]);
    expect(out).toContain(
      `${tools} is in the recorded environment and is gone: \`pawl trust --refresh\` records it again`,
    );
    expect(code).toBe(3);
  });
});

test("a person runs again what an agent's call has passed", () => {
  const place = redProject();
  writeFileSync(join(place.root, "sum.test.js"), RED.replace("3", "2"));
  const verify = (env: Record<string, string>) => JSON.parse(runPawl(place, ["verify", "--json"], { env }).out);
  const byAgent = { CLAUDECODE: "1" };
  expect(verify(byAgent)).toMatchObject({ by_agent: true, verdicts: [{ verdict: "pass" }] });
  expect(verify(byAgent).verdicts[0].as_before).toBe(true);
  const person = verify({});
  expect(person.by_agent).toBeUndefined();
  expect(person.verdicts[0].as_before).toBeUndefined();
  expect(verify({}).verdicts[0].as_before).toBe(true);
  expect(verify(byAgent).verdicts[0].as_before).toBe(true);
});
