/** examples/github-action: its lines are run as GitHub would run them, as far as that goes without a network. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { usage as trustUsage } from "../../src/cli/trust.ts";
import { usage as verifyUsage } from "../../src/cli/verify.ts";
import { PAWL, type Place, removePlaces, run, textOf } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { ground, SUITE, sh, trust } from "./ground.ts";

afterAll(removePlaces, 60_000);

interface Step {
  name?: string;
  run?: string;
  uses?: string;
  env?: Record<string, string>;
}

const action = parse(readFileSync(resolve(import.meta.dir, "../../examples/github-action/pawl.yml"), "utf8"));
const steps: Step[] = action.jobs.verify.steps;
const ours = steps.filter((step) => step.run?.startsWith("pawl "));

test("every option of it is one that the command knows", () => {
  expect(ours.map(({ run: line }) => line!.split(" ")[1])).toEqual(["trust", "verify"]);
  for (const { run: line } of ours) {
    const options = line!.match(/--[a-z]+/g)!;
    const usage = line!.startsWith("pawl trust") ? trustUsage : verifyUsage;
    for (const option of options) expect(usage).toContain(option);
  }
});

test("an expression of GitHub stands in the environment only: nobody can write a command into it", () => {
  for (const { run: line } of steps) expect(line ?? "").not.toContain("${{");
});

/** A pull request's checkout, and what GitHub puts into the environment. */
function checkout(files: Record<string, string>): { place: Place; env: Record<string, string> } {
  const place = ground(
    { ...SUITE, "pawl.yaml": 'gates:\n  unit: { tests: [node, --test], when_changed: ["*.js"] }\n' },
    { trust: false },
  );
  sh(place, "git update-ref refs/remotes/origin/main HEAD && git checkout -q -b topic");
  for (const [path, text] of Object.entries(files)) writeFileSync(join(place.root, path), text);
  sh(place, "git add -A && git commit -q -m topic && git checkout -q --detach");
  const bin = join(place.base, "bin");
  mkdirSync(bin);
  symlinkSync(PAWL, join(bin, "pawl"));
  const env = {
    PATH: `${bin}:${place.env.PATH}`,
    RUNNER_TEMP: place.base,
    GITHUB_STEP_SUMMARY: join(place.base, "summary.md"),
    BASE: "main",
  };
  return { place, env };
}

const play = (place: Place, env: Record<string, string>, step: Step) =>
  run(place, ["/bin/bash", "-e", "-c", step.run!], { env });

test("a good pull request: trusted by its hash, verified, with summary and results", () => {
  const { place, env } = checkout({ "add.js": "export const add = (a, b) => b + a;\n" });
  const PAWL_TRUST = JSON.parse(runInProcess(place, ["trust", "--json"]).out).hash;
  const trusted = play(place, { ...env, PAWL_TRUST }, ours[0]!);
  // Where these tests are run by an agent themselves, it is refused, as it has to be.
  if (trusted.err.includes("only a person can approve")) trust(place);
  else expect(trusted.code).toBe(0);
  const { code, err } = play(place, env, ours[1]!);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(textOf(join(place.base, "summary.md"))).toContain("### Pawl: 1 of 1 gate passed\n");
  expect(textOf(join(place.base, "pawl.xml"))).toContain('failures="0"');
});

test("a red one fails, and the log says why", () => {
  const { place, env } = checkout({ "add.js": "export const add = (a, b) => a - b;\n" });
  trust(place);
  const { code, err } = play(place, env, ours[1]!);
  expect(code).toBe(1);
  expect(err).toMatch(/^✗ unit: /);
  expect(textOf(join(place.base, "summary.md"))).toContain("❌ fail");
});

test("one that changes what is run stops at the hash, and would prove nothing", () => {
  const { place, env } = checkout({ "pawl.yaml": 'gates:\n  unit: { shell: "touch $HOME/evil" }\n' });
  const refused = play(place, { ...env, PAWL_TRUST: "0".repeat(64) }, ours[0]!);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining("not approved") });
  expect(play(place, env, ours[1]!).code).toBe(3);
  expect(textOf(join(place.home, "evil"))).toBeNull();
});
