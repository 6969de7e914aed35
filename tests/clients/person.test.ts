import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { complaints } from "./client.ts";
import { type Reply, say } from "./model.ts";
import { DOCUMENT, openScenario, ours, promise, told } from "./scenario.ts";

setDefaultTimeout(60_000);

describe("the person comes first", () => {
  test("a free prompt ends its turn and says how to go on; /pawl:go goes on", async () => {
    const rest = [promise("REVIEW_COMPLETE"), promise("CLEANUP_SKIPPED"), promise("WORKFLOW_COMPLETE")];
    await using scene = await openScenario({
      turns: [promise("MEMORY_UPDATED"), say("I am still reviewing."), say("It is noon."), ...rest],
    });
    const { model } = scene;
    const session = await scene.converse();
    await session.ask("/complete-work");

    const aside = await session.ask("What time is it?");
    expect(aside.result).toBe("It is noon.");
    expect(model.main()).toHaveLength(3);
    expect(ours(model.news(2))).toEqual([]);
    const lines = told(aside.hookOutputs).join("\n").split("\n");
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("/pawl:go");
    expect(await scene.run()).toMatchObject({ stage: "review", status: "active" });

    const done = await session.ask("/pawl:go");
    expect(ours(model.news(3))).not.toEqual([]);
    expect(model.news(3)).toContain("REVIEW_COMPLETE");
    expect(complaints(done.events)).toEqual([]);
    expect(await scene.run()).toMatchObject({ outcome: "completed" });
  });

  const stubborn: [string, (nth: number) => Reply][] = [
    ["the same signal out of order", () => promise("CLEANUP_SKIPPED")],
    ["a signal out of order, in ever new words", (nth) => promise("CLEANUP_SKIPPED", `Attempt ${nth}.`)],
    ["a malformed signal, in ever new words", (nth) => say(`Attempt ${nth}.\n\n<promise>memory updated</promise>`)],
  ];
  test.each(stubborn)("a model that keeps saying %s is let go", async (_, otherwise) => {
    await using scene = await openScenario({ turns: [], otherwise });

    const done = await scene.print("/complete-work");

    expect(done.code).toBe(0);
    expect(scene.model.main().length).toBeGreaterThan(1);
    expect(scene.model.main().length).toBeLessThanOrEqual(7);
    expect(await scene.run()).toMatchObject({ stage: "memory", done: {} });
    expect(scene.project.exists(DOCUMENT)).toBe(true);
  });

  test("on the screen, ordinary progress never looks like an error", async () => {
    const rest = [promise("REVIEW_COMPLETE"), promise("CLEANUP_SKIPPED"), promise("WORKFLOW_COMPLETE")];
    await using scene = await openScenario({ turns: [promise("MEMORY_UPDATED"), ...rest] });
    const screen = await scene.look();
    await screen.waitFor(/❯/);

    await screen.submit("/complete-work");
    await screen.waitFor(/✅ Work completion workflow finished/);

    expect(screen.frames().filter((frame) => /stop hook error|hook error/i.test(frame))).toEqual([]);
    // 2.1.326 writes "Stop hook says".
    expect(screen.screen()).toMatch(/Stop hook (?:feedback|says): \[pawl\]/);
    expect(await scene.run()).toMatchObject({ outcome: "completed" });
  });

  test("a session without a run costs nobody a word", async () => {
    await using scene = await openScenario({ turns: [promise("MEMORY_UPDATED")] });

    const done = await scene.print("Say the tag");

    expect(done.hookOutputs.length).toBeGreaterThan(2);
    expect(done.hookOutputs.map((output) => output.stdout + output.stderr).join("")).toBe("");
    expect(ours(scene.model.main()[0]!.text)).toEqual([]);
    expect(scene.project.exists(".pawl")).toBe(false);
  });
});
