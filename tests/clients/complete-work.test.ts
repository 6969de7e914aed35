import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { complaints } from "./client.ts";
import { VERSION } from "./install.ts";
import { blocks, say, use } from "./model.ts";
import { answers, DOCUMENT, openScenario, ours, promise, told } from "./scenario.ts";

setDefaultTimeout(60_000);

/** Newer clients run sub-agents in the background. */
const BACKGROUND = VERSION !== "2.1.197";
const COMMIT = "echo more >> README.md && git add README.md && git commit -q -m 'Say more'";
const TO_CLEANUP = [promise("MEMORY_UPDATED"), promise("REVIEW_COMPLETE")];
const TO_COMMIT = [...TO_CLEANUP, promise("CLEANUP_SKIPPED")];

describe("complete-work in the real client", () => {
  test("goes from /complete-work to WORKFLOW_COMPLETE and leaves a commit", async () => {
    const commit = use("Bash", { command: `cat ${DOCUMENT}; ${COMMIT}`, description: "Commit" });
    await using scene = await openScenario({ turns: [...TO_COMMIT, commit, promise("WORKFLOW_COMPLETE")] });
    const { model, project } = scene;

    const done = await scene.print("/complete-work");

    expect(done.code).toBe(0);
    expect(done.result).toContain("<promise>WORKFLOW_COMPLETE</promise>");
    expect(complaints(done.events)).toEqual([]);
    expect(model.main()).toHaveLength(5);
    for (const [nth, awaited] of [
      "MEMORY_UPDATED",
      "REVIEW_COMPLETE",
      "CLEANUP_SKIPPED",
      "WORKFLOW_COMPLETE",
    ].entries()) {
      expect(model.news(nth)).toContain("[pawl]");
      expect(model.news(nth)).toContain(awaited);
    }
    expect(model.news(4)).toMatch(/^step: 4$/m);
    expect(model.news(4)).toMatch(/^last_promise: "CLEANUP_SKIPPED"$/m);
    expect(ours(model.news(4))).toEqual([]);

    expect(project.exists(DOCUMENT)).toBe(false);
    expect(await scene.run()).toMatchObject({ status: "ended", outcome: "completed" });
    expect((await scene.run()).commit_hash).toBe(await project.git("rev-parse", "HEAD"));
    expect(await project.git("status", "--porcelain")).toBe("");
    expect((await scene.log()).filter((line) => !line.startsWith("WORKFLOW_STARTED"))).toEqual([
      "MEMORY_UPDATED",
      "REVIEW_COMPLETE",
      "CLEANUP_SKIPPED",
      "WORKFLOW_COMPLETE",
      "✅ Workflow completed successfully",
    ]);
  });

  test("a commit that is only claimed does not complete the run, and the claiming ends", async () => {
    const edit = use("Bash", { command: "echo more >> README.md", description: "Edit" });
    const claim = (nth: number) => promise("WORKFLOW_COMPLETE", `Attempt ${nth}.`);
    await using scene = await openScenario({ turns: [...TO_COMMIT, edit], otherwise: claim });

    const done = await scene.print("/complete-work");

    expect(done.code).toBe(0);
    expect(done.result).toContain("Attempt 7.");
    expect(scene.model.main()).toHaveLength(11);
    expect(await scene.run()).toMatchObject({ stage: "commit", status: "halted" });
    expect((await scene.run()).why).toContain("sent back 6 times");
    expect(scene.project.exists(DOCUMENT)).toBe(true);
  });

  test("a tag quoted in a code fence moves nothing", async () => {
    const quoted = "I will end with this line:\n\n```\n<promise>MEMORY_UPDATED</promise>\n```\n";
    await using scene = await openScenario({ turns: [say(quoted)] });

    const done = await scene.print("/complete-work");

    expect(done.result).toContain("MEMORY_UPDATED");
    expect(scene.model.main()).toHaveLength(1);
    expect(await scene.run()).toMatchObject({ stage: "memory", status: "active", done: {} });
  });

  test("a tag counts in any text block of the last message", async () => {
    const split = blocks([
      { type: "thinking", thinking: "Am I done?" },
      { type: "text", text: "Done.\n\n<promise>MEMORY_UPDATED</promise>" },
      { type: "text", text: "That was the memory." },
    ]);
    await using scene = await openScenario({ turns: [split, say("I am still reviewing.")] });

    await scene.print("/complete-work");

    expect(scene.model.main()).toHaveLength(2);
    expect(await scene.run()).toMatchObject({ stage: "review", status: "active" });
  });

  test("a hook installed twice gives each instruction once", async () => {
    const turns = [...TO_COMMIT, promise("WORKFLOW_COMPLETE", "Nothing to commit.")];
    await using scene = await openScenario({ turns }, { hooks: ["project", "local"] });

    const done = await scene.print("/complete-work");

    expect(done.hookOutputs.filter((output) => output.event === "Stop")).toHaveLength(8);
    expect(scene.model.main()).toHaveLength(4);
    for (const nth of [0, 1, 2, 3]) {
      const lines = ours(scene.model.news(nth));
      expect(lines).not.toEqual([]);
      expect(lines).toEqual([...new Set(lines)]);
    }
    expect(await scene.run()).toMatchObject({ outcome: "completed" });
    expect((await scene.log()).filter((line) => line === "MEMORY_UPDATED")).toHaveLength(1);
  });

  test("a review is what the reviewer reported, whatever the main agent says, and when", async () => {
    const report = "Critical issues:\n- api.ts:42 empty catch\n\n<promise>REVIEW_ISSUES_FOUND</promise>";
    const task = { description: "Review", prompt: "Review the change.", subagent_type: "deep-reviewer" };
    const claim = promise("REVIEW_COMPLETE", "Nothing critical was found.");
    const turns = [promise("MEMORY_UPDATED"), use("Agent", task), claim, say("1, 2 or 3?")];
    // In the background, the reviewer works until the claim of the main agent is held.
    const isHeld = "grep -rqs '\"held\"' .pawl/runs";
    const work = `for i in $(seq 600); do ${isHeld} && exit 0; sleep 0.05; done; exit 1`;
    const review = BACKGROUND ? [use("Bash", { command: work, description: "Review" }), say(report)] : [say(report)];
    await using scene = await openScenario({ turns, agent: review, launched: claim });

    const done = await scene.print("/complete-work");

    expect(done.result).toBe("1, 2 or 3?");
    const blocks = answers(done.hookOutputs, "Stop").filter(({ decision }) => decision === "block");
    expect(blocks).toMatchObject([{ systemMessage: expect.stringContaining("api.ts:42 empty catch") }]);
    expect(await scene.run()).toMatchObject({ stage: "review", status: "waiting" });
    const waits = told(done.hookOutputs).filter((line) => line.includes("deep-reviewer is still running"));
    expect(waits).toHaveLength(BACKGROUND ? 1 : 0);
  });

  test("the report of a sub-agent is kept, and its tag alone moves nothing", async () => {
    const report =
      "# Deep Review Summary\n\nNo critical issues found in README.md.\n\n<promise>REVIEW_COMPLETE</promise>";
    const task = { description: "Review", prompt: "Review the change.", subagent_type: "deep-reviewer" };
    const turns = [promise("MEMORY_UPDATED"), use("Agent", task), say("The reviewer has reported.")];
    await using scene = await openScenario({ turns, agent: [say(report)] });

    await scene.print("/complete-work");

    const kinds = scene.model.received().map((one) => one.kind);
    expect(kinds.filter((kind) => kind !== "waiting")).toEqual(["main", "main", "agent", "main"]);
    expect(scene.model.news(2)).toContain("No critical issues found in README.md.");
    const run = await scene.run();
    expect(run).toMatchObject({ stage: "review", status: "active" });
    expect(run.reports).toMatchObject([{ agent: "deep-reviewer", stage: "review", signal: "REVIEW_COMPLETE" }]);
    expect(await readFile(join(run.folder, "reports", run.reports[0]!.file), "utf8")).toContain(report);
  });
});
