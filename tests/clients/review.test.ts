import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { complaints } from "./client.ts";
import { say, use } from "./model.ts";
import { answers, DOCUMENT, openScenario, promise } from "./scenario.ts";

setDefaultTimeout(60_000);

const REPORT =
  "# Deep Review Summary\n\n🚨 Critical Issues (1 found)\n\n1. silent-failure-hunter: Empty catch (api.ts:42)";
const BLOCKED = [promise("MEMORY_UPDATED"), promise("REVIEW_ISSUES_FOUND", REPORT), say("1, 2 or 3?")];
const TO_THE_END = [promise("CLEANUP_SKIPPED"), promise("WORKFLOW_COMPLETE", "Nothing to commit.")];

const QUESTION = {
  question: "What should I do?",
  header: "Review",
  multiSelect: false,
  options: [
    { label: "Abort and fix", description: "End the workflow" },
    { label: "View report", description: "Show what was found" },
    { label: "Continue anyway", description: "Go on to the cleanup" },
  ],
};

describe("a review that found critical issues", () => {
  test("blocks, asks the person once, and waits", async () => {
    await using scene = await openScenario({ turns: BLOCKED });
    const session = await scene.converse();

    const blocked = await session.ask("/complete-work");

    expect(blocked.result).toBe("1, 2 or 3?");
    expect(scene.model.main()).toHaveLength(3);
    expect(scene.model.news(2)).toStartWith("Stop hook feedback:\nCritical review issues detected");
    const block = answers(blocked.hookOutputs, "Stop").find((answer) => answer.decision === "block");
    // The text for the agent is on the screen too: issues and choices are there once.
    expect(block?.reason).not.toContain("Empty catch");
    expect(block?.reason).not.toContain("1. Abort and fix");
    expect(block?.systemMessage).toStartWith("🚨 Critical Issues\n\nFix before continuing:\n");
    expect(block?.systemMessage).toContain("Empty catch (api.ts:42)");
    expect(block?.systemMessage).toContain("What should I do?\n1. Abort and fix\n2. View report\n3. Continue anyway");
    expect(await scene.run()).toMatchObject({ stage: "review", status: "waiting" });
    expect((await scene.log()).slice(-2)).toEqual(["REVIEW_ISSUES_FOUND", "BLOCKING: Critical issues"]);
  });

  test("answer 1 aborts", async () => {
    await using scene = await openScenario({ turns: [...BLOCKED, say("Aborted.")] });
    const session = await scene.converse();
    await session.ask("/complete-work");

    const aborted = await session.ask("1");

    expect(aborted.result).toBe("Aborted.");
    expect(scene.model.main()).toHaveLength(4);
    expect(await scene.run()).toMatchObject({ status: "ended", outcome: "aborted" });
    expect(scene.project.exists(DOCUMENT)).toBe(false);
    expect((await scene.log()).slice(-2)).toEqual(["WORKFLOW_ABORTED", "✅ Workflow aborted by user"]);
  });

  test("answer 2 shows the report and asks again; then 3 goes on to the end", async () => {
    const reads = use("Bash", { command: "cat .pawl/runs/*/reports/*", description: "Read the report" });
    const turns = [...BLOCKED, reads, say("That was it. 1, 2 or 3?"), ...TO_THE_END];
    await using scene = await openScenario({ turns });
    const session = await scene.converse();
    await session.ask("/complete-work");

    const viewed = await session.ask("2");
    expect(viewed.result).toBe("That was it. 1, 2 or 3?");
    expect(scene.model.news(3)).toMatch(/\.pawl\/runs\/\S+\/reports\/\S+/);
    expect(scene.model.news(4)).toContain(REPORT);
    expect(await scene.run()).toMatchObject({ stage: "review", status: "waiting" });

    await session.ask("3");
    expect(scene.model.left()).toBe(0);
    expect(await scene.run()).toMatchObject({ status: "ended", outcome: "completed" });
  });

  test("answer 3 goes on with the cleanup, in the same turn", async () => {
    await using scene = await openScenario({ turns: [...BLOCKED, ...TO_THE_END] });
    const session = await scene.converse();
    await session.ask("/complete-work");

    const done = await session.ask("3");

    expect(scene.model.news(3)).toContain("CLEANUP_SKIPPED");
    expect(scene.model.news(4)).toContain("WORKFLOW_COMPLETE");
    expect(complaints(done.events)).toEqual([]);
    expect(await scene.run()).toMatchObject({ outcome: "completed", decision: { choice: "continue" } });
    expect(await scene.log()).toContain("REVIEW_COMPLETE (override by user)");
  });

  test("a number in another session's prompt answers nothing", async () => {
    await using scene = await openScenario({ turns: [...BLOCKED, say("One what?")] });
    const session = await scene.converse();
    await session.ask("/complete-work");

    await scene.print("1");

    expect(await scene.run()).toMatchObject({ status: "waiting" });
  });

  test("on the screen, the choice made in the client's own dialog counts", async () => {
    const asks = use("AskUserQuestion", { questions: [QUESTION] });
    const turns = [...BLOCKED.slice(0, 2), asks, say("The person decided."), ...TO_THE_END];
    await using scene = await openScenario({ turns });
    const screen = await scene.look();
    await screen.waitFor(/❯/);
    await screen.submit("/complete-work");
    const asked = await screen.waitFor(/3\. Continue anyway\s+Go on to the cleanup/);
    expect(asked.split("Fix before continuing:")).toHaveLength(2);
    // The report itself, and the message to the person.
    expect(asked.split("Empty catch (api.ts:42)")).toHaveLength(3);

    await screen.choose("3", /Go on to the cleanup.*Enter to select/s);
    await screen.waitFor(/Nothing to commit\.[\s\S]*<promise>WORKFLOW_COMPLETE/);
    await screen.waitFor(/✅ Work completion workflow finished/);

    expect(scene.model.news(4)).toContain("CLEANUP_SKIPPED");
    expect(await scene.run()).toMatchObject({ outcome: "completed", decision: { choice: "continue" } });
  });
});
