/** Continuous work with the real client: two tasks of a tracker, a real suite, and an agent that forgets, lies and doubts. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { complaints } from "./client.ts";
import { ALLOWED, BROKEN_SUM, bash, openGated, suite, until } from "./gated.ts";
import { type Reply, say, startModel, use } from "./model.ts";
import type { Project } from "./project.ts";
import { told } from "./scenario.ts";

setDefaultTimeout(180_000);

const DOUBLES = resolve(import.meta.dir, "../doubles");
const STAGES = "WORKFLOW STAGES: CODING → REQUIREMENTS_REVIEW → TESTING → ORACLE_REVIEW → COMMIT_CLOSE → NEXT_TASK";
/** The client, its hooks and the agent's shell all find the tracker's program where a person's would be. */
const TRACKED = {
  ...ALLOWED,
  env: { PATH: `${DOUBLES}:/usr/local/bin:/usr/bin:/bin`, DOUBLE_BUN: process.execPath },
};

const marker = (name: string, before = "So be it.") => say(`${before}\n\n::: WORKFLOW_STAGE: ${name} :::`);
const edit = (from: string, to: string) => use("Edit", { file_path: "src/sum.mjs", old_string: from, new_string: to });
const run = bash("node --test tests/");
const commit = (message: string) => bash(`git add -A && git commit -q -m "${message}"`);
const review = use("Agent", {
  description: "Review",
  prompt: "Review the task app-10.",
  subagent_type: "oracle-reviewer",
});
/** The agent's own command lasts until the test has seen what it wants to see. */
const pause = bash('for i in $(seq 1200); do [ -e "$HOME/seen" ] && exit 0; sleep 0.05; done; exit 1');

function bd({ root, home }: Project, ...args: string[]): string {
  const env = { ...TRACKED.env, HOME: home };
  const { exitCode, stdout, stderr } = Bun.spawnSync({ cmd: [join(DOUBLES, "bd"), ...args], cwd: root, env });
  if (exitCode !== 0) throw new Error(`bd ${args.join(" ")}: ${stderr}`);
  return stdout.toString();
}

async function openTracked(turns: Reply[], agent: Reply[]) {
  const files = { ...suite(BROKEN_SUM), ".gitignore": ".beads/\n", "CLAUDE.md": "Write tests.\n" };
  const scene = await openGated({ turns, agent }, { files });
  mkdirSync(join(scene.project.root, ".beads"));
  const create = (title: string, ...more: string[]) => bd(scene.project, "create", `--title=${title}`, ...more);
  create("Mend take", "--labels=auto-workflow", "--priority=1", "--description=take(3, 1) must be 2.");
  create("Multiply", "--labels=auto-workflow", "--description=mul(2, 3) must be 6.");
  create("Nobody asked for this", "--priority=0");
  return { scene, statusOf: (id: string) => JSON.parse(bd(scene.project, "show", id, "--json"))[0].status };
}

const MEND: [string, Reply][] = [
  ["look", bash("bd show app-10")],
  ["read", use("Read", { file_path: "src/sum.mjs" })],
  ["guess", edit("b - a", "b + a")],
  ["forgotten marker", say("The implementation is complete.")],
  ["look again", bash("bd show app-10")],
  ["reviewed", marker("REQUIREMENTS_REVIEWED", "All of it is there.")],
  ["red run", run],
  ["lie", marker("TESTS_PASSING", "All 3 tests pass.")],
  ["mend", edit("b + a", "a - b")],
  ["green run", run],
  ["only prose", say("Everything is green.")],
  ["commit", commit("Mend take")],
  ["first review", review],
  ["not approved", marker("ORACLE_APPROVED", "The reviewer likes it.")],
  ["polish", edit("a - b;", "a - b; // not b - a")],
  ["green again", run],
  ["second review", review],
  ["approved", marker("ORACLE_APPROVED", "Now it does.")],
  ["commit polish", commit("Say which way round")],
  ["close", bash('bd close app-10 --reason "take is mended"')],
  ["closed", say("It is closed.")],
];

const MULTIPLY: [string, Reply][] = [
  ["ambiguous", say("There is a lot to think about here.")],
  ["look 2", bash("bd show app-11 && echo 'export const mul = (a, b) => a * b;' >> src/sum.mjs")],
  [
    "test 2",
    bash(
      `printf '%s\\n' 'import { mul } from "../src/sum.mjs";' 'test("multiplies", () => assert.equal(mul(2, 3), 6));' >> tests/sum.test.mjs`,
    ),
  ],
  ["coded 2", marker("CODING_COMPLETE")],
  ["look again 2", bash("bd show app-11")],
  ["reviewed 2", marker("REQUIREMENTS_REVIEWED", "Read again.")],
  ["pause", pause],
  ["green run 2", run],
  ["passing 2", marker("TESTS_PASSING", "4 tests pass.")],
  ["commit 2", commit("Multiply")],
  ["review 2", review],
  ["approved 2", marker("ORACLE_APPROVED", "Approved.")],
  ["not closed 2", marker("ISSUE_CLOSED", "Closed, I think.")],
  ["close 2", bash('bd close app-11 --reason "mul is there"')],
  ["closed 2", marker("ISSUE_CLOSED", "Closed.")],
];

const REVIEWS = [
  say("- src/sum.mjs:2 nothing says which way round it is\n\nCHANGES REQUESTED"),
  say("Nothing is left.\n\nAPPROVED"),
  say("Nothing found.\n\nAPPROVED"),
];

const STEPS = [...MEND, ...MULTIPLY];

/** What the model heard after a step. */
const HEARD: [string, string[]][] = [
  ["forgotten marker", ["You've completed initial coding implementation.", "description with `bd show app-10`"]],
  ["reviewed", ["Requirements review complete.", "CURRENT STAGE: TESTING"]],
  ["red run", ["fail 1"]],
  ["lie", ["TESTS_PASSING was not believed", "`node --test tests/`", "1 failed"]],
  ["green run", ["pass 3"]],
  ["only prose", ["All tests passing.", "CURRENT STAGE: ORACLE_REVIEW", "`bd label add app-10 needs-review`"]],
  ["first review", ["CHANGES REQUESTED"]],
  ["not approved", ["ORACLE_APPROVED was not believed", "the reviewer's result: refused"]],
  ["approved", ["Code review approved.", 'bd close app-10 --reason "Summary of changes"']],
  ["closed", ["Issue closed successfully.", "CURRENT STAGE: CODING", "FIRST: Read CLAUDE.md", "mul(2, 3) must be 6."]],
  ["ambiguous", ["Unable to determine current workflow stage.", "- CODING_COMPLETE (finished implementing)"]],
  ["coded 2", ["CURRENT STAGE: REQUIREMENTS_REVIEW"]],
  ["reviewed 2", ["CURRENT STAGE: TESTING"]],
  ["passing 2", ["CURRENT STAGE: ORACLE_REVIEW"]],
  ["approved 2", ["CURRENT STAGE: COMMIT_CLOSE"]],
  ["not closed 2", ["ISSUE_CLOSED was not believed", "the tracker says app-11 is claimed, not closed"]],
];

/** Each stop, in the document's own words: what was found, and what followed. */
const LOG = (
  [
    ["Inferred CODING_COMPLETE: files were edited; it says “The implementation is complete.”", "CODING_COMPLETE"],
    ["Found explicit marker: REQUIREMENTS_REVIEWED", "REQUIREMENTS_REVIEWED"],
    ["Found explicit marker: TESTS_PASSING\nNOT BELIEVED: TESTS_PASSING", ""],
    ["Inferred TESTS_PASSING: `node --test tests/`: 3 passed (node)", "TESTS_PASSING"],
    ["Found explicit marker: ORACLE_APPROVED\nNOT BELIEVED: ORACLE_APPROVED", ""],
    ["Found explicit marker: ORACLE_APPROVED", "ORACLE_APPROVED"],
    ["Inferred ISSUE_CLOSED: a tool call closed app-10", "ISSUE_CLOSED"],
    ["Stage: UNKNOWN", ""],
    ["Found explicit marker: CODING_COMPLETE", "CODING_COMPLETE"],
    ["Found explicit marker: REQUIREMENTS_REVIEWED", "REQUIREMENTS_REVIEWED"],
    ["Found explicit marker: TESTS_PASSING", "TESTS_PASSING"],
    ["Found explicit marker: ORACLE_APPROVED", "ORACLE_APPROVED"],
    ["Found explicit marker: ISSUE_CLOSED\nNOT BELIEVED: ISSUE_CLOSED", ""],
    ["Found explicit marker: ISSUE_CLOSED", "ISSUE_CLOSED"],
  ] as const
).map(([found, moved]) => [
  "Hook triggered",
  "Detecting stage from message",
  found,
  ...(moved === "" ? [] : [`Getting instruction for stage: ${moved}`, `Injecting instruction for stage: ${moved}`]),
]);

/** A stop that only waits for a reviewer in the background: nothing is found, and nothing follows. */
const WAITED = /Hook triggered\nDetecting stage from message\n(?=Hook triggered\n)/g;

/** Each stage of each task, with what proved it. */
const PROVED = [
  ["app-10", "evidence tests: `node --test tests/`: 3 passed"],
  ["app-11", "evidence tests: `node --test tests/`: 4 passed"],
].map(([task, tests]) => ({
  task,
  done: {
    coding: { signal: "CODING_COMPLETE" },
    "requirements-review": { proof: [expect.stringContaining("the task was opened again")] },
    testing: { proof: [expect.stringContaining(tests!)] },
    "oracle-review": { proof: [expect.stringContaining("a reviewer approved")] },
    "commit-close": {
      proof: [
        expect.stringContaining(`the tracker says ${task} is closed`),
        expect.stringContaining(tests!),
        expect.stringContaining("nothing is left"),
      ],
    },
  },
}));

test("two labelled tasks go through all six stages; what is forgotten is inferred, what is false is refused", async () => {
  const { scene, statusOf } = await openTracked(
    STEPS.map(([, reply]) => reply),
    REVIEWS,
  );
  await using ending = scene;
  const { model, project } = ending;
  const printing = scene.print("/auto", model, TRACKED);
  await until(async () => {
    const now = await scene.run().catch(() => null);
    return now?.work.finished?.length === 1 && now.stage === "testing";
  });
  const stranger = startModel({ turns: [marker("TESTS_PASSING", "What a nice project. Done.")] });
  const other = await scene.print("What is this?", stranger, TRACKED);
  stranger.stop();
  writeFileSync(join(project.home, "seen"), "");
  const done = await printing;

  expect(model.main()[0]!.text).toContain(STAGES);
  expect(model.main()[0]!.text).toContain("take(3, 1) must be 2.");
  for (const [step, parts] of HEARD) {
    const news = model.news(STEPS.findIndex(([name]) => name === step) + 1);
    for (const part of parts) expect(`${step}: ${news}`).toContain(part);
  }
  expect(model.main().filter((one) => one.asked.includes("Unable to determine"))).toHaveLength(1);
  expect(model.main()).toHaveLength(STEPS.length);
  expect(told(done.hookOutputs).at(-1)).toContain("All auto-workflow tasks complete");
  expect(await scene.run()).toMatchObject({ status: "ended", outcome: "completed", work: { finished: PROVED } });
  expect(["app-10", "app-11", "app-12"].map(statusOf)).toEqual(["closed", "closed", "open"]);
  expect(await project.git("status", "--porcelain")).toBe("");
  const log = await project.read(".claude/workflow_orchestrator.log");
  const stops = log.replace(/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] /gm, "").replace(WAITED, "");
  expect(stops).toBe(`${LOG.flat().join("\n")}\n`);
  expect(complaints(done.events)).toEqual([]);
  expect(done.hookOutputs.filter(({ code, stderr }) => code !== 0 || stderr !== "")).toEqual([]);

  expect(stranger.main()).toHaveLength(1);
  expect(stranger.main()[0]!.text).not.toMatch(/\[pawl\]|WORKFLOW STAGES/);
  expect(other.hookOutputs.length).toBeGreaterThan(2);
  expect(other.hookOutputs.map(({ stdout, stderr }) => stdout + stderr).join("")).toBe("");
});
