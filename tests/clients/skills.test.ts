/** The skills in the real client: the person's words reach them, and a tail-call is stopped by no question. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { say, use } from "./model.ts";
import { installPlugin, installProgram, PLUGIN } from "./plugin.ts";
import { openScenario } from "./scenario.ts";

setDefaultTimeout(60_000);

const PROGRAM = "~/.local/share/pawl/bin/pawl";
const tail = (prefix: string) => [
  use("Skill", { skill: `${prefix}handoff`, args: "--commit" }),
  use("Bash", { command: `${PROGRAM} task add "Set the trap"` }),
  use("Skill", { skill: `${prefix}commit` }),
  use("Bash", { command: 'git add session.md && git commit -qm "Tasks" -- session.md' }),
  use("Bash", { command: `${PROGRAM} status` }),
  say("Committed.\n\nNext: Set the trap\n  Model: sonnet | Restart: no"),
];

describe.each([
  ["from the plugin", "pawl:"],
  ["as init copies them", ""],
])("the skills %s", (_, prefix) => {
  test.each(["design", "plan-adhoc", "plan-tdd"])("/%s → handoff → commit → STATUS", async (name) => {
    await using scene = await openScenario({ turns: tail(prefix) }, { hooks: [] });
    await installProgram(scene.project);
    if (prefix !== "") await installPlugin(scene.project);
    else cpSync(join(PLUGIN, "skills"), join(scene.project.root, ".claude/skills"), { recursive: true });

    await scene.print(`/${prefix}${name} a better mousetrap`);

    expect(scene.model.main()[0]!.text).toContain("ARGUMENTS: a better mousetrap");
    expect(scene.model.news(1)).toContain(`Launching skill: ${prefix}handoff`);
    expect(scene.model.news(1)).toContain("ARGUMENTS: --commit");
    expect(scene.model.news(3)).toContain(`Launching skill: ${prefix}commit`);
    expect(scene.model.news(5)).toContain("Next: Set the trap");
    // a chain that came to its end is not sent on
    expect(scene.model.main()).toHaveLength(6);
    expect(await scene.project.git("status", "--short")).toBe("");
  });
});
