import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { complaints } from "./client.ts";
import { say, use } from "./model.ts";
import { claude, installPlugin, installProgram, PLUGIN, REPOSITORY } from "./plugin.ts";
import { answers, openScenario, ours, promise } from "./scenario.ts";

setDefaultTimeout(60_000);

const TURNS = [
  promise("MEMORY_UPDATED"),
  promise("REVIEW_COMPLETE"),
  promise("CLEANUP_SKIPPED"),
  promise("WORKFLOW_COMPLETE", "Nothing to commit."),
];

describe("the plugin in the real client", () => {
  test("is valid, and so is the marketplace; a wrong one is not", async () => {
    await using scene = await openScenario({ turns: [] }, { hooks: [] });
    const validate = (path: string) => claude(scene.project, "plugin", "validate", path, "--strict");
    expect(await validate(PLUGIN)).toMatchObject({ code: 0, text: expect.stringContaining("Validation passed") });
    expect(await validate(REPOSITORY)).toMatchObject({ code: 0, text: expect.stringContaining("Validation passed") });

    const copy = join(scene.project.home, "copy");
    cpSync(PLUGIN, copy, { recursive: true });
    const hooks = join(copy, "hooks/hooks.json");
    writeFileSync(hooks, readFileSync(hooks, "utf8").replace('"StopFailure"', '"StopFailed"'));
    expect((await validate(copy)).code).toBe(1);
  });

  test("from a local marketplace: its commands, agents and hooks carry a run to its end, and it goes without a trace", async () => {
    const task = { description: "Remember", prompt: "The facts.", subagent_type: "pawl:memory-updater" };
    const turns = [use("Agent", task), ...TURNS];
    await using scene = await openScenario({ turns, agent: [say("Remembered.")] }, { hooks: [] });
    await installProgram(scene.project);
    await installPlugin(scene.project);

    const done = await scene.print("/pawl:complete-work");

    const init = done.events.find((event) => event.subtype === "init") as unknown as Record<string, string[]>;
    for (const name of ["memory-updater", "deep-reviewer", "file-cleaner", "commit-manager"])
      expect(init.agents).toContain(`pawl:${name}`);
    for (const name of ["complete-work", "go"]) expect(init.slash_commands).toContain(`pawl:${name}`);
    expect(complaints(done.events)).toEqual([]);
    expect(done.hookOutputs.filter((output) => output.code !== 0 || output.stderr !== "")).toEqual([]);
    expect(await scene.run()).toMatchObject({
      outcome: "completed",
      reports: [{ agent: "pawl:memory-updater", stage: "memory" }],
    });

    expect((await claude(scene.project, "plugin", "uninstall", "pawl@pawl")).code).toBe(0);
    const after = await scene.print("Hello.");
    expect(after.hookOutputs).toEqual([]);
  });

  test("beside hooks in the settings: one decision per event, each instruction once", async () => {
    await using scene = await openScenario({ turns: TURNS }, { hooks: ["local"] });
    await installProgram(scene.project);
    await installPlugin(scene.project);

    const done = await scene.print("/complete-work");

    // four stops, each with the hook of the settings, that of the plugin, and the plugin's waker next to it
    expect(done.hookOutputs.filter((output) => output.event === "Stop")).toHaveLength(12);
    expect(answers(done.hookOutputs, "Stop")).toHaveLength(4);
    expect(answers(done.hookOutputs, "UserPromptSubmit")).toHaveLength(1);
    expect(scene.model.main()).toHaveLength(4);
    for (const nth of [0, 1, 2, 3]) {
      const lines = ours(scene.model.news(nth));
      expect(lines).not.toEqual([]);
      expect(lines).toEqual([...new Set(lines)]);
    }
    expect(await scene.run()).toMatchObject({ outcome: "completed" });
    expect((await scene.log()).filter((line) => line === "MEMORY_UPDATED")).toHaveLength(1);
  });

  test("without the program: one line at the start of how to get it, and silence", async () => {
    await using scene = await openScenario({ turns: [say("Hello.")] }, { hooks: [] });
    await installPlugin(scene.project);

    const done = await scene.print("/pawl:complete-work");

    expect(done.code).toBe(0);
    expect(complaints(done.events)).toEqual([]);
    expect(answers(done.hookOutputs)).toEqual([
      { event: "SessionStart", systemMessage: expect.stringContaining("npm install -g") },
    ]);
    expect(done.hookOutputs.filter((output) => output.code !== 0 || output.stderr !== "")).toEqual([]);
    expect(scene.model.main()[0]?.asked).toContain("`pawl doctor` shows why");
    expect(scene.project.exists(".pawl")).toBe(false);
  });
});
