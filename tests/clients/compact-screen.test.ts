/** What a compaction puts on the person's screen. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { say } from "./model.ts";
import { PAWL } from "./project.ts";
import { openScenario } from "./scenario.ts";

setDefaultTimeout(60_000);

test("the hook's command line is short", async () => {
  await using scene = await openScenario(
    { turns: [say("One."), say("Two.")], otherwise: () => say("Three.") },
    { bare: true },
  );
  const { root, home } = scene.project;
  Bun.spawnSync([PAWL, "init", "--with", "all", "--yes"], { cwd: root, env: { HOME: home, PATH: "/usr/bin:/bin" } });
  const screen = await scene.look();
  await screen.waitFor(/❯/);
  await screen.submit("/complete-work");
  await screen.waitFor(/One\./);
  await screen.submit("Good morning");
  await screen.waitFor(/Two\./);
  await screen.submit("/compact");
  const shown = await screen.waitFor(/PreCompact \[.*hook claude --via local/s);
  expect(shown).not.toContain("BUN_OPTIONS");
});
