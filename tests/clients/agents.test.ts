import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { complaints, conversation } from "./client.ts";
import { type Reply, say, use } from "./model.ts";
import { installPlugin, installProgram, PLUGIN } from "./plugin.ts";
import type { Project } from "./project.ts";
import { openScenario, promise } from "./scenario.ts";
import { terminal } from "./terminal.ts";

setDefaultTimeout(90_000);

const PROGRAM = "~/.local/share/pawl/bin/pawl";
const bash = (command: string) => use("Bash", { command, description: "Step" });

/** What each sub-agent does, with the helpers its text names. */
const MEMORY = [
  bash(`${PROGRAM} helper memory list`),
  bash(
    `${PROGRAM} helper memory add decision --title "Say more" <<'END'\nREADME says more, since "less" was $less.\nEND`,
  ),
  bash(`${PROGRAM} helper memory add progress --text "README is done."`),
  promise("MEMORY_UPDATED", "# Memory Update Complete\n\n- decisions.md: +1 entry\n- progress.md: +1 entry"),
];
const REVIEW = [
  bash("git diff HEAD"),
  promise(
    "REVIEW_COMPLETE",
    "# Deep Review Summary\n\n## Critical Issues\nNone.\n\n## Important Issues\n- README.md:2: short",
  ),
];
const CLEANUP = [
  bash(`${PROGRAM} helper archive plan`),
  bash(`${PROGRAM} helper archive apply 0123456789ab`),
  say("Safe to archive: 1 and 2. To be kept: none."),
];
const COMMIT = [
  bash("git add README.md && git commit -q -m 'Say more'"),
  promise("WORKFLOW_COMPLETE", "# Git Commit Complete"),
];

const ways: [string, string, (project: Project) => Promise<void> | void][] = [
  ["from the plugin", "pawl:", installPlugin],
  ["copied into the project", "", copyTexts],
];

describe("the four agents in the real client", () => {
  test.each(ways)("carry the work to a commit and an archive: %s", async (_how, prefix, install) => {
    let project: Project | null = null;
    const spawn = (name: string) =>
      use("Agent", { description: name, prompt: "The facts.", subagent_type: `${prefix}${name}` });
    const asked = say("I would archive debug.log and scratch.py. Shall I?");
    const turns = [
      spawn("memory-updater"),
      promise("MEMORY_UPDATED"),
      spawn("deep-reviewer"),
      promise("REVIEW_COMPLETE", "No critical issues."),
      spawn("file-cleaner"),
      asked,
    ];
    /** After the person's yes; the plan's id is known only now. */
    const afterwards = (nth: number): Reply => {
      const plan = readdirSync(join(project!.root, ".pawl/helper/plans"))[0]!.replace(".json", "");
      const apply = bash(`${PROGRAM} helper archive apply ${plan} --only 1,2`);
      const rest = [apply, promise("CLEANUP_APPROVED"), spawn("commit-manager"), promise("WORKFLOW_COMPLETE")];
      return rest[nth - 1] ?? say("The script is over.");
    };
    const script = { turns, agent: [...MEMORY, ...REVIEW, ...CLEANUP, ...COMMIT], otherwise: afterwards };
    await using scene = await openScenario(script, { hooks: prefix === "" ? ["local"] : [] });
    project = scene.project;
    await installProgram(project);
    await install(project);
    for (const [name, text] of [
      ["README.md", "# A project\nmore\n"],
      ["debug.log", "12345"],
      ["scratch.py", "1"],
    ] as const)
      writeFileSync(join(project.root, name), text);

    // Memory and planning are allowed by the command itself, archiving only by the person. What a command allows ends with
    // its turn, and where sub-agents run in the background the cleanup is in a later one.
    const allow = ["Agent", "Bash(git:*)", `Bash(${PROGRAM} helper archive plan:*)`];
    const first = await conversation(project, scene.model, { allow });
    const before = await first.ask(prefix === "" ? "/complete-work" : "/pawl:complete-work");
    await first.close();
    const agentsHeard = scene.model
      .received()
      .filter((one) => one.kind === "agent")
      .map((one) => one.asked);
    expect(agentsHeard).toContainEqual(expect.stringContaining("decisions.md: +1 entry"));
    expect(agentsHeard).toContainEqual(expect.stringMatching(/Plan [0-9a-f]{12}: 2 files/));
    expect(agentsHeard).toContainEqual(expect.stringContaining("requires approval"));
    expect(project.exists("debug.log")).toBe(true);
    expect(await scene.run()).toMatchObject({ stage: "cleanup", status: "active" });

    const second = await conversation(project, scene.model, {
      allow: [...allow, `Bash(${PROGRAM} helper archive apply:*)`],
      resume: before.session,
    });
    const after = await second.ask("Yes, both of them.");
    await second.close();

    expect(complaints([...before.events, ...after.events])).toEqual([]);
    const run = await scene.run();
    expect(run).toMatchObject({ status: "ended", outcome: "completed" });
    expect(run.reports.map((report) => [report.agent, report.stage])).toEqual([
      [`${prefix}memory-updater`, "memory"],
      [`${prefix}deep-reviewer`, "review"],
      [`${prefix}file-cleaner`, "cleanup"],
      [`${prefix}commit-manager`, "commit"],
    ]);
    expect(await project.git("log", "-1", "--format=%s")).toBe("Say more");
    expect(run.commit_hash).toBe(await project.git("rev-parse", "HEAD"));
    expect(await project.git("status", "--porcelain")).toBe("");
    const [folder] = await project.list(".archive");
    expect((await project.list(`.archive/${folder}`)).sort()).toEqual(["MANIFEST.md", "debug.log", "scratch.py"]);
    expect(project.exists("debug.log")).toBe(false);
    expect(await project.read(".claude/memory/decisions.md")).toContain('README says more, since "less" was $less.');
    expect(await scene.log()).toContain("CLEANUP_APPROVED");
  });
});

describe("the cleanup on the screen", () => {
  const question = (plan: string) => ({
    question: `Archive debug.log (plan ${plan})?`,
    header: "Cleanup",
    multiSelect: false,
    options: [
      { label: "Archive it", description: "It goes to .archive" },
      { label: "Leave it", description: "Nothing is moved" },
    ],
  });
  const planOf = ({ root }: Project) => readdirSync(join(root, ".pawl/helper/plans"))[0]!.replace(".json", "");

  async function open(afterwards: (plan: string) => Reply[]) {
    let project: Project | null = null;
    const otherwise = (nth: number): Reply => {
      const plan = planOf(project!);
      return [use("AskUserQuestion", { questions: [question(plan)] }), ...afterwards(plan)][nth - 1] ?? say("Over.");
    };
    const scene = await openScenario({ turns: [bash(`${PROGRAM} helper archive plan`)], otherwise });
    project = scene.project;
    await installProgram(project);
    copyTexts(project);
    writeFileSync(join(project.root, "debug.log"), "12345");
    return scene;
  }

  test("a yes to the question, and to the command itself, archives", async () => {
    const apply = (plan: string) => [bash(`${PROGRAM} helper archive apply ${plan}`), promise("CLEANUP_APPROVED")];
    await using scene = await open(apply);
    const screen = await terminal(scene.project, scene.model, [], ["Read"]);
    try {
      await screen.waitFor(/❯/);
      await screen.submit("/complete-work cleanup");
      await screen.choose("1", /Archive debug\.log.*Leave it.*Enter to select/s);
      // In this mode the client asks too; in auto mode the answer above is the only one.
      await screen.waitFor(/archive apply.*Do you want to proceed/s);
      expect(scene.project.exists("debug.log")).toBe(true);
      await screen.choose("1", /archive apply.*Do you want to proceed/s);
      await screen.waitFor(/✅ complete-work finished/);
      expect(scene.project.exists("debug.log")).toBe(false);
      expect(await scene.run()).toMatchObject({
        outcome: "completed",
        done: { cleanup: { signal: "CLEANUP_APPROVED" } },
      });
    } finally {
      await screen.close();
    }
  });

  test("a no moves nothing, whatever the agent may run, and is CLEANUP_SKIPPED", async () => {
    const apply = (plan: string) => [bash(`${PROGRAM} helper archive apply ${plan}`), promise("CLEANUP_SKIPPED")];
    await using scene = await open(apply);
    const screen = await terminal(scene.project, scene.model, [], ["Read", "Bash"]);
    try {
      await screen.waitFor(/❯/);
      await screen.submit("/complete-work cleanup");
      await screen.choose("2", /Archive debug\.log.*Leave it.*Enter to select/s);
      await screen.waitFor(/✅ complete-work finished/);
      expect(scene.project.exists("debug.log")).toBe(true);
      expect(await scene.run()).toMatchObject({
        outcome: "completed",
        done: { cleanup: { signal: "CLEANUP_SKIPPED" } },
      });
    } finally {
      await screen.close();
    }
  });
});

/** As `pawl init` does it. */
function copyTexts({ root }: Project): void {
  cpSync(join(PLUGIN, "agents"), join(root, ".claude/agents"), { recursive: true });
  cpSync(join(PLUGIN, "commands/complete-work.md"), join(root, ".claude/commands/complete-work.md"));
  cpSync(join(PLUGIN, "commands/go.md"), join(root, ".claude/commands/pawl/go.md"));
}
