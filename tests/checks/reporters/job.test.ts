/** A job that runs tests asks their runners for names, and never changes what the command does. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type JobGround, makeGround, removeGrounds, run, shell } from "../jobs/job-place.ts";

setDefaultTimeout(60_000);

let ground: JobGround;
beforeEach(() => {
  ground = makeGround();
});
afterEach(removeGrounds);

const reported = (line: string, more = {}) => run(ground, shell(line, { report: true, ...more }));
const write = (name: string, text: string) => {
  mkdirSync(join(ground.root, name, ".."), { recursive: true });
  writeFileSync(join(ground.root, name), text);
};

const START = `{"ev":"start","runner":"own","version":"1","cwd":"'$PWD'"}`;
const line = (status: string, name = "x") => `{"ev":"test","file":"a","name":["${name}"],"status":"${status}"}`;
const say = (...lines: string[]) =>
  lines.map((one) => `echo '${one}' >> "$PAWL_REPORT_DIR/own-$$-1.ndjson"`).join("; ");
const END = `{"ev":"end"}`;

test("a job that runs no tests has no variables of ours", () => {
  const ran = run(ground, shell('echo "[$NODE_OPTIONS$PAWL_REPORT_DIR]"'));
  expect(ran).toMatchObject({ output: "[]\n", attempts: [{ exit: 0 }] });
  expect(ran.named).toBeUndefined();
});

test("the variables of ours are set after those of the caller were taken out", () => {
  const env = { NODE_OPTIONS: "--require=/evil.cjs", PAWL_REPORT_DIR: "/evil" };
  const ran = run(ground, shell('echo "$NODE_OPTIONS $PAWL_REPORT_DIR"', { report: true }), { env });
  expect(ran.output).toMatch(/^--require=\/\S+\/hooks\/preload.cjs \/\S+\/reports\n$/);
  expect(ran.output).not.toContain("evil");
});

test("no runner was heard: no names", () => expect(reported("echo hello")).not.toHaveProperty("named"));

test("names of the last attempt only", () => {
  const ran = reported(`${say(START)}; if [ -e second ]; then ${say(line("passed"), END)}; exit 0; fi
    touch second; ${say(line("failed"))}; exit 1`, { retries: 1 }); // biome-ignore format: one thought
  expect(ran.attempts.map(({ exit }) => exit)).toEqual([1, 0]);
  expect(ran.named).toEqual({ runners: ["own 1"], ended: 1, tests: { "a > x": "passed" }, files: ["a"] });
});

describe("the report is tampered with", () => {
  /** Long enough for the job to look: it does so every 50 ms. */
  const later = "sleep 1";
  test.each([
    ["removed", 'rm "$PAWL_REPORT_DIR"/*'],
    ["emptied", ': > "$PAWL_REPORT_DIR"/own-$$-1.ndjson'],
    [
      "replaced",
      `cd "$PAWL_REPORT_DIR"; f=$(ls *.ndjson); ${say(START, END)}; sed s/failed/passed/ "$f" > n; mv n "$f"`,
    ],
  ])("%s: what was read counts, and it says so", (_what, cheat) => {
    const { named } = reported(`${say(START, line("failed"))}; ${later}; ${cheat}; exit 0`);
    expect(named).toMatchObject({
      tests: { "a > x": "failed" },
      incomplete: "a report was changed while the command ran",
    });
  });

  test("a pipe or a link in place of a report neither hangs nor is read", () => {
    write("forged", `${START.replace("'$PWD'", "/")}\n${line("passed")}\n${END}\n`);
    const ran = reported(`cd "$PAWL_REPORT_DIR"; mkfifo a-1-1.ndjson; ln -s "${ground.root}/forged" b-1-1.ndjson`);
    expect(ran).toMatchObject({ attempts: [{ exit: 0 }] });
    expect(ran).not.toHaveProperty("named");
  });
});

describe("our files keep the command from running", () => {
  const REFUSES = 'if [ "$NODE_OPTIONS" ]; then echo "$NODE_OPTIONS is not allowed"; exit 9; fi; echo went';
  test("it runs once more without them, as one attempt", () => {
    const ran = reported(`${REFUSES}; exit 3`);
    expect(ran).toMatchObject({ output: "went\n", attempts: [{ exit: 3 }] });
    expect(ran.attempts).toHaveLength(1);
  });
  test("a command that fails for its own reasons does not run twice", () => {
    expect(reported("echo x >> count; cat count; exit 1")).toMatchObject({ output: "x\n", attempts: [{ exit: 1 }] });
  });
});
