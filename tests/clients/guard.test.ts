/** A session of the real client without a run: it edits, it claims, and the person hears whether anything proves it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { complaints } from "./client.ts";
import { ALLOWED, bash, openGated, put, SUM, suite, until } from "./gated.ts";
import { say, use } from "./model.ts";
import { PAWL, type Project } from "./project.ts";
import { ours, told } from "./scenario.ts";
import { terminal } from "./terminal.ts";

setDefaultTimeout(120_000);

const READ = use("Read", { file_path: "src/sum.mjs" });
const EDIT = use("Edit", { file_path: "src/sum.mjs", old_string: "(a, b) => a + b", new_string: "(x, y) => x + y" });
const RUN = bash("node --test tests/");
const CLAIM = say("Done. I've renamed the parameters, and all tests pass.");
const TOLD = /^Pawl: src\/sum\.mjs was edited, and no test run followed\. Nothing proves the claim\./;

/** What `pawl history` makes of the very transcript that the client wrote. */
function history(project: Project): unknown {
  const env = { HOME: project.home, PATH: "/usr/bin:/bin" };
  const { stdout } = Bun.spawnSync([PAWL, "history", "--json"], { cwd: project.root, env });
  return JSON.parse(stdout.toString()).total;
}

describe("an agent that edits and claims", () => {
  test("without a run of the tests: the person is told, the agent hears nothing", async () => {
    await using scene = await openGated({ turns: [READ, EDIT, CLAIM] }, { files: suite(SUM) });

    const done = await scene.print("Rename the parameters", scene.model, ALLOWED);

    expect(told(done.hookOutputs).filter((line) => line.includes("Nothing proves"))).toEqual([
      expect.stringMatching(TOLD),
    ]);
    expect(scene.model.main()).toHaveLength(3);
    expect(scene.model.main().flatMap(({ text }) => ours(text))).toEqual([]);
    expect(complaints(done.events)).toEqual([]);
    expect(history(scene.project)).toEqual({ verified: 0, stale: 0, failed: 0, never: 1 });
  });

  test("by a sub-agent, whose work goes on after the turn: the person is told once", async () => {
    const task = use("Agent", { description: "Rename", prompt: "Rename them.", subagent_type: "general-purpose" });
    const script = { turns: [task, CLAIM], agent: [READ, EDIT, say("Renamed.")] };
    await using scene = await openGated(script, { files: suite(SUM) });

    const done = await scene.print("Rename the parameters", scene.model, ALLOWED);

    const lines = told(done.hookOutputs).filter((line) => line.includes("Nothing proves"));
    expect(lines).toEqual([expect.stringMatching(TOLD)]);
  });

  test("with a green run after the edit: nobody hears anything", async () => {
    await using scene = await openGated({ turns: [READ, EDIT, RUN, CLAIM] }, { files: suite(SUM) });

    const done = await scene.print("Rename the parameters", scene.model, ALLOWED);

    expect(scene.model.main()).toHaveLength(4);
    expect(told(done.hookOutputs).join("")).not.toContain("proves");
    expect(history(scene.project)).toEqual({ verified: 1, stale: 0, failed: 0, never: 0 });
  });

  test("with a run before the last edit, a turn after another: told of the turn that it is about", async () => {
    const back = use("Edit", {
      file_path: "src/sum.mjs",
      old_string: "(x, y) => x + y",
      new_string: "(a, b) => a + b",
    });
    const turns = [READ, EDIT, RUN, CLAIM, say("It adds two numbers."), RUN, back, CLAIM];
    await using scene = await openGated({ turns }, { files: suite(SUM) });
    const session = await scene.converse(scene.model, ALLOWED);

    const quiet = [await session.ask("Rename the parameters"), await session.ask("What does it do?")];
    const last = await session.ask("Back, please");

    for (const { hookOutputs } of quiet) expect(told(hookOutputs).join("")).not.toContain("proves");
    expect(told(last.hookOutputs)).toEqual([
      expect.stringMatching(
        /^Pawl: src\/sum\.mjs was edited after the last green run \(node --test tests\/, \d\d:\d\d\)\./,
      ),
    ]);
    await session.close();
    expect(history(scene.project)).toEqual({ verified: 1, stale: 1, failed: 0, never: 0 });
  });

  test("on the person's screen", async () => {
    await using scene = await openGated({ turns: [READ, EDIT, CLAIM] }, { files: suite(SUM) });
    const screen = await terminal(scene.project, scene.model, [], ALLOWED.allow);
    try {
      await screen.waitFor(/❯/);
      await screen.submit("Rename the parameters");
      await screen.waitFor(/was edited, and no test run followed/);
      expect(screen.frames().filter((frame) => /hook error/i.test(frame))).toEqual([]);
    } finally {
      await screen.close();
    }
  });

  test("guard: send-back: the agent is sent back, runs the tests, and ends", async () => {
    await using scene = await openGated({ turns: [READ, EDIT, CLAIM, RUN, CLAIM] }, { files: suite(SUM) });
    put(scene.project, "pawl.yaml", "guard: send-back\n");

    const done = await scene.print("Rename the parameters", scene.model, ALLOWED);

    expect(scene.model.main()).toHaveLength(5);
    expect(scene.model.news(3)).toContain("You said that the work is done, but src/sum.mjs was edited");
    expect(told(done.hookOutputs).join("")).not.toContain("proves");
    expect(complaints(done.events)).toEqual([]);
  });
});

describe("a project with a definition of done", () => {
  const SPOIL = use("Edit", { file_path: "src/sum.mjs", old_string: "a - b", new_string: "b - a" });
  const REPAIR = use("Edit", { file_path: "src/sum.mjs", old_string: "b - a", new_string: "a - b" });
  const project = (gate: string) => ({
    files: { ...suite(SUM), "pawl.yaml": `done: [${gate}]\nguard: send-back\n` },
  });
  const TESTS = "{ tests: [node, --test, tests/] }";

  test("red: back with the failing test, whatever the language; green: one line", async () => {
    const turns = [READ, SPOIL, say("Fertig, das ist jetzt einfacher."), REPAIR, say("Fertig.")];
    await using scene = await openGated({ turns }, project(TESTS));

    const done = await scene.print("Simplify it", scene.model, ALLOWED);

    expect(scene.model.news(3)).toContain(
      "Not done: node --test tests/: 1 of 3 tests failed: tests/sum.test.mjs > takes",
    );
    expect(scene.model.main()).toHaveLength(5);
    expect(told(done.hookOutputs)).toEqual([
      "Pawl: node --test tests/: 3 tests passed, including all 3 that existed before.",
    ]);
    expect(complaints(done.events)).toEqual([]);
  });

  test("an answer to a question, without an edit: nothing runs, nobody hears anything", async () => {
    await using scene = await openGated({ turns: [READ, say("It adds two numbers. All done.")] }, project(TESTS));

    const done = await scene.print("What does it do?", scene.model, ALLOWED);

    expect(told(done.hookOutputs)).toEqual([]);
    expect(scene.model.main()).toHaveLength(2);
  });

  test("on the person's screen: what fails, and that the agent said so", async () => {
    const turns = [READ, SPOIL, say("Done!"), say("I could not fix it: the test `takes` still fails.")];
    await using scene = await openGated({ turns }, project(TESTS));
    const screen = await terminal(scene.project, scene.model, [], ALLOWED.allow);
    try {
      await screen.waitFor(/❯/);
      await screen.submit("Simplify it");
      await screen.waitFor(/takes, as the agent said/);
      expect(screen.frames().filter((frame) => /hook error/i.test(frame))).toEqual([]);
    } finally {
      await screen.close();
    }
  });

  test("a suite that takes longer than a stop waits: the turn ends, and a late failure wakes the agent", async () => {
    const slow = "sh -c 'while [ ! -e \"$HOME/go-on\" ]; do sleep 0.05; done; exec node --test tests/'";
    const files = { ...project("{ tests: [sh, slow.sh], wait: 1 }").files, "slow.sh": `${slow}\n` };
    await using scene = await openGated(
      { turns: [READ, SPOIL, say("Done!"), REPAIR, say("Now it works.")] },
      { files },
    );
    const screen = await terminal(scene.project, scene.model, [], ALLOWED.allow);
    try {
      await screen.waitFor(/❯/);
      await screen.submit("Simplify it");
      await until(async () => (await scene.run().catch(() => null))?.checks.claim?.open === "running");
      writeFileSync(join(scene.project.home, "go-on"), "");
      await screen.waitFor(/3 tests passed/);
      expect(scene.model.main()).toHaveLength(5);
      expect(scene.model.news(3)).toContain("1 of 3 tests failed");
    } finally {
      await screen.close();
    }
  });
});
