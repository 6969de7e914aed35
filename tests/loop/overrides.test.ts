/** Other fragments for a phase, given on the command line: they stand in the prompt that the agent gets. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LoopWorld, openWorld } from "./world.ts";

const PHASES = ["observe", "orient", "decide", "act"] as const;
const OWN = `name: own
title: Own
about: Says something.
success: It is done.
again: It is not.
failure: It cannot be done.
phases:
${PHASES.map((phase) => `  ${phase}: [{ content: "The procedure's own ${phase}." }]`).join("\n")}
`;
const SUCCESS = "printf '\\n<promise>SUCCESS</promise>\\n'";
const BUILTIN = "builtin:observe/read_agents_md.md";
const builtin = readFileSync(join(import.meta.dir, "../../fragments/observe/read_agents_md.md"), "utf8").trim();

let world: LoopWorld;
beforeEach(() => {
  world = openWorld();
  mkdirSync(join(world.root, ".pawl/procedures"), { recursive: true });
  writeFileSync(join(world.root, ".pawl/procedures/own.yaml"), OWN);
  for (const name of ["first", "second"]) writeFileSync(join(world.root, `${name}.md`), `From the ${name} file.\n`);
  world.steps(SUCCESS);
});
afterEach(() => world.clear());

const own = (phase: string) => `The procedure's own ${phase}.`;
/** Which of these are in the prompt, in the order in which they stand there. */
function found(prompt: string): string[] {
  const texts = [...PHASES.map(own), "From the first file.", "From the second file.", "Just a text.", builtin];
  const there = texts.filter((text) => prompt.includes(text));
  return there.toSorted((a, b) => prompt.indexOf(a) - prompt.indexOf(b));
}

test.each<[string, string[], string[]]>([
  ["none", [], PHASES.map(own)],
  ["a file", ["--act", "first.md"], [own("observe"), own("orient"), own("decide"), "From the first file."]],
  [
    "two for one phase, in their order",
    ["--orient", "second.md", "--orient", "first.md"],
    [own("observe"), "From the second file.", "From the first file.", own("decide"), own("act")],
  ],
  [
    "one that is built in, and a text",
    ["--observe", BUILTIN, "--decide", "Just a text."],
    [builtin, own("orient"), "Just a text.", own("act")],
  ],
])("%s", (_, args, wanted) => {
  expect(world.loop("own", ...args).code).toBe(0);
  expect(found(world.prompt(1))).toEqual(wanted);
});

test("--dry-run shows the prompt with them, and starts nothing", () => {
  const { code, out } = world.loop("own", "--dry-run", "--act", "first.md");
  expect([code, world.started()]).toEqual([0, 0]);
  expect(found(out)).toEqual([own("observe"), own("orient"), own("decide"), "From the first file."]);
});

test("they hold for all iterations, also after a limit was raised", () => {
  world.steps("echo 1 > a.txt; echo working", SUCCESS);
  expect(world.loop("own", "-n", "1", "--act", "first.md").code).toBe(2);
  expect(world.loop("--resume", "-n", "3").code).toBe(0);
  expect(found(world.prompt(2))).toEqual(found(world.prompt(1)));
  expect(found(world.prompt(2))).toContain("From the first file.");
});

test.each<[string, string[], string]>([
  ["a file that is not there", ["--act", "nowhere.md"], "--act: nowhere.md: "],
  [
    "a fragment that is not built in",
    ["--act", "builtin:act/nothing.md"],
    "--act: builtin:act/nothing.md: it is not built in",
  ],
])("%s: said, and nothing is started", (_, args, said) => {
  const { code, err } = world.loop("own", ...args);
  expect([code, world.started()]).toEqual([1, 0]);
  expect(err.replaceAll('"', "")).toContain(said);
  expect(err).toContain("hint:");
});
