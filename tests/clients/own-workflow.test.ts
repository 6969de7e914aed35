import { expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { complaints } from "./client.ts";
import { openScenario, promise, told } from "./scenario.ts";

setDefaultTimeout(60_000);

const EXAMPLE = resolve(import.meta.dir, "../../examples/review-gate");

test("/ship of examples/review-gate: the question is for the person, and the agent answers in vain", async () => {
  await using scene = await openScenario({ turns: [promise("REVIEW_DOUBTS", "- a doubt"), promise("REVIEW_CLEAN")] });
  cpSync(EXAMPLE, scene.project.root, { recursive: true });

  const done = await scene.print("/ship");

  expect(complaints(done.events)).toHaveLength(1);
  expect(told(done.hookOutputs)[0]).toContain("ship begins");
  expect(told(done.hookOutputs)[1]).toContain("2. Ship it anyway");
  expect(scene.model.news(1)).toContain("The review has doubts");
  expect(await scene.run()).toMatchObject({ workflow: "ship", status: "waiting", stage: "review" });
});

test("without a command of that name the run begins just if the client passes the word on", async () => {
  await using scene = await openScenario({ turns: [] });
  cpSync(EXAMPLE, scene.project.root, { recursive: true });
  rmSync(join(scene.project.root, ".claude/commands/ship.md"));

  const { hookOutputs } = await scene.print("/ship");

  const passedOn = hookOutputs.some(({ event }) => event === "UserPromptSubmit");
  expect(await scene.project.list(".pawl/runs")).toHaveLength(passedOn ? 1 : 0);
});
