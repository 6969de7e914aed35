/** What `pawl init` sets up for the person's eyes and for the agent's reading, as the real client takes it. */
import { describe, expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { say } from "./model.ts";
import { PAWL, type Project } from "./project.ts";
import { openScenario } from "./scenario.ts";

async function pawl(project: Project, ...args: string[]): Promise<void> {
  const env = { HOME: project.home, PATH: "/usr/bin:/bin" };
  const child = Bun.spawn([PAWL, ...args], {
    cwd: project.root,
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
}

async function put(base: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(base, path)), { recursive: true });
  await writeFile(join(base, path), text);
}

describe("the fragment reaches the model", () => {
  const cases: [string, "root" | "home", string[]][] = [
    ["CLAUDE.md", "root", []],
    [".claude/CLAUDE.md", "root", []],
    [".claude/CLAUDE.md", "home", ["--user"]],
  ];
  test.each(cases)("imported by %s in the %s", async (name, where, flags) => {
    await using scene = await openScenario({ turns: [say("Hello."), say("Hello.")] }, { bare: true });
    await put(scene.project[where], name, "# Mine\n");
    await pawl(scene.project, "init", "--with", "all", "--yes", "--fragment", ...flags);
    await scene.print("hello");
    expect(scene.model.main()[0]?.text).toContain("# Session modes, STATUS and shortcuts");
    await pawl(scene.project, "uninstall", "--yes", ...flags);
    await scene.print("hello");
    expect(scene.model.main()[1]?.text).not.toContain("# Session modes, STATUS and shortcuts");
  });
});

describe("the status line on the screen", () => {
  const MINE = JSON.stringify({ statusLine: { type: "command", command: 'echo MY-LINE in $(basename "$PWD")' } });
  const TASKS = "# Session\n\n## Pending Tasks\n\n- [ ] **Mend the roof** → `/mend` | sonnet\n";

  test("the person's own, and Pawl's below it", async () => {
    await using scene = await openScenario({ turns: [] }, { bare: true });
    await put(scene.project.home, ".claude/settings.json", MINE);
    await put(scene.project.root, "session.md", TASKS);
    await pawl(scene.project, "init", "--with", "all", "--yes");
    const screen = await scene.look();
    expect(await screen.waitFor(/MY-LINE in project[\s\S]*Mend the roof/)).toContain("Mend the roof");
  });
  test("without the program only the person's own", async () => {
    await using scene = await openScenario({ turns: [] }, { bare: true });
    await put(scene.project.home, ".claude/settings.json", MINE);
    await put(scene.project.root, "session.md", TASKS);
    await pawl(scene.project, "init", "--with", "all", "--yes");
    await rm(join(scene.project.home, ".local/share/pawl/bin"), { recursive: true });
    const screen = await scene.look();
    expect(await screen.waitFor(/MY-LINE in project/)).not.toContain("Mend the roof");
  });
});

/** Why everyday names are left to the projects. */
test("a person's skill hides a project's of the same name", async () => {
  await using scene = await openScenario({ turns: [say("Hello.")] }, { bare: true });
  const skill = (whose: string) =>
    `---\nname: commit\ndescription: Commits as the ${whose} does.\n---\n${whose} body\n`;
  await put(scene.project.root, ".claude/skills/commit/SKILL.md", skill("project"));
  await put(scene.project.home, ".claude/skills/commit/SKILL.md", skill("person"));
  await scene.print("/commit");
  expect(scene.model.main()[0]?.text).toContain("person body");
  expect(scene.model.main()[0]?.text).not.toContain("project body");
});
