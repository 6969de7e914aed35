import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { complaints } from "./client.ts";
import { fail, say, startModel, use } from "./model.ts";
import { answers, DOCUMENT, openScenario, ours, promise } from "./scenario.ts";

setDefaultTimeout(60_000);

const TO_COMMIT = [promise("MEMORY_UPDATED"), promise("REVIEW_COMPLETE"), promise("CLEANUP_SKIPPED")];

describe("runs and sessions", () => {
  test("a failed commit is resumed by a new process, from its step", async () => {
    const commit = use("Bash", { command: "git commit -q --allow-empty -m Again", description: "Commit" });
    const first = [...TO_COMMIT, promise("COMMIT_FAILED", "The pre-commit hook failed."), say("Please fix it.")];
    await using scene = await openScenario({ turns: [...first, commit, promise("WORKFLOW_COMPLETE")] });
    const { model, project } = scene;

    const failed = await scene.print("/complete-work");
    expect(failed.result).toBe("Please fix it.");
    expect(model.news(4)).toStartWith("Stop hook feedback:\nGit commit failed");
    const block = answers(failed.hookOutputs, "Stop").find((answer) => answer.decision === "block");
    expect(block?.systemMessage).toStartWith("❌ Commit Failed\n\nMost steps completed:\n");
    expect(await project.read(DOCUMENT)).toMatch(/^step: 4$/m);
    expect(await project.read(DOCUMENT)).toMatch(/^last_promise: "COMMIT_FAILED"$/m);

    const resumed = await scene.print("/complete-work");
    expect(resumed.session).not.toBe(failed.session);
    expect(model.main()[5]?.text).toContain("Resuming workflow from Step 4 (commit)...");
    expect(model.main()[5]?.text).not.toContain("MEMORY_UPDATED");
    expect(model.main()).toHaveLength(7);
    expect(project.exists(DOCUMENT)).toBe(false);
    expect(await scene.run()).toMatchObject({ outcome: "completed" });
  });

  test("a second session in the project sees and moves nothing", async () => {
    await using scene = await openScenario({ turns: [promise("MEMORY_UPDATED"), say("I am still reviewing.")] });
    const session = await scene.converse();
    await session.ask("/complete-work");
    const before = await scene.run();
    const stranger = startModel({ turns: [promise("REVIEW_COMPLETE")] });

    const other = await scene.print("Say something", stranger);
    stranger.stop();

    expect(stranger.main()).toHaveLength(1);
    expect(ours(stranger.main()[0]!.text)).toEqual([]);
    expect(other.hookOutputs.map((output) => output.stdout).join("")).toBe("");
    expect(complaints(other.events)).toEqual([]);
    expect(await scene.run()).toEqual(before);
  });

  test("an instruction that a failing API swallowed is given again", async () => {
    const rest = [...TO_COMMIT.slice(1), promise("WORKFLOW_COMPLETE")];
    await using scene = await openScenario({ turns: [promise("MEMORY_UPDATED"), fail(500), ...rest] });
    const session = await scene.converse();

    await session.ask("/complete-work");
    expect(await scene.run()).toMatchObject({ stage: "review", status: "active" });

    await session.ask("/pawl:go");
    expect(ours(scene.model.news(2))).not.toEqual([]);
    expect(scene.model.news(2)).toContain("REVIEW_COMPLETE");
    expect(await scene.run()).toMatchObject({ outcome: "completed" });
  });

  test("a compaction in the middle loses nothing", async () => {
    const turns = [
      say("Good morning."),
      promise("MEMORY_UPDATED"),
      say("I am still reviewing."),
      ...TO_COMMIT.slice(1),
      promise("WORKFLOW_COMPLETE"),
    ];
    await using scene = await openScenario({ turns });
    const session = await scene.converse();
    await session.ask("Good morning"); // the client refuses to compact a single turn
    await session.ask("/complete-work");
    const before = await scene.run();

    await session.ask("/compact");
    const summary = scene.model.received().find((one) => one.kind === "summary");
    expect(ours(summary?.asked ?? "").join()).toContain(before.id);
    expect(await scene.run()).toMatchObject({ id: before.id, stage: "review", status: "active", reports: [] });

    await session.ask("/pawl:go");
    const restored = scene.model.main()[3]!;
    expect(restored.text).toContain("THE-SUMMARY");
    expect(restored.text).toContain("SessionStart hook additional context: [pawl]");
    expect(restored.text).toContain("<promise>REVIEW_COMPLETE</promise>");
    expect(scene.model.left()).toBe(0);
    expect(await scene.run()).toMatchObject({ id: before.id, outcome: "completed" });
  });
});
