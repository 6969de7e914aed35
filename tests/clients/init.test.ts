import { describe, expect, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { complaints } from "./client.ts";
import { say } from "./model.ts";
import { PAWL, type Project } from "./project.ts";
import { answers, openScenario, ours, promise } from "./scenario.ts";

/** From nothing to a protected project and back, with the client looking on. */

async function pawl(project: Project, ...args: string[]): Promise<string> {
  const env = { HOME: project.home, PATH: "/usr/bin:/bin" };
  const child = Bun.spawn([PAWL, ...args], { cwd: project.root, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect([await child.exited, err]).toEqual([0, ""]);
  return out;
}

/** Every file and its bytes, git's objects aside. */
async function snapshot(folder: string): Promise<Record<string, string>> {
  const files = [...new Bun.Glob("**/*").scanSync({ cwd: folder, dot: true })].filter(
    (path) => !/^\.git\/(objects|logs|index)/.test(path),
  );
  return Object.fromEntries(
    await Promise.all(files.sort().map(async (path) => [path, await Bun.file(join(folder, path)).text()])),
  );
}

const FOUR = [
  promise("MEMORY_UPDATED"),
  promise("REVIEW_COMPLETE"),
  promise("CLEANUP_SKIPPED"),
  promise("WORKFLOW_COMPLETE"),
];

describe("pawl init with the real client", () => {
  test("init, a whole workflow, uninstall --purge: the project is as it was", async () => {
    await using scene = await openScenario({ turns: [...FOUR, say("Nobody told me anything.")] }, { bare: true });
    const before = await snapshot(scene.project.root);
    await pawl(scene.project, "init", "--with", "all", "--yes");
    expect(await scene.project.git("status", "--short")).toBe("");

    const armed = await scene.print("/complete-work");

    expect(complaints(armed.events)).toEqual([]);
    expect(armed.hookOutputs.filter((output) => output.code !== 0 || output.stderr !== "")).toEqual([]);
    expect(scene.model.main()).toHaveLength(4);
    expect(ours(scene.model.news(1)).join()).toContain("step 2 of 4");
    expect(await scene.run()).toMatchObject({ outcome: "completed" });

    await pawl(scene.project, "uninstall", "--purge", "--yes");
    expect(await snapshot(scene.project.root)).toEqual(before);

    const unarmed = await scene.print("hello");
    expect([unarmed.code, unarmed.hookOutputs]).toEqual([0, []]);
    expect(ours(scene.model.news(4))).toEqual([]);
  });

  test("a colleague without Pawl sees nothing of the team's settings", async () => {
    await using mine = await openScenario({ turns: [] }, { bare: true });
    await pawl(mine.project, "init", "--with", "all", "--team", "--yes");
    await using theirs = await openScenario(
      { turns: [say("Done.\n\n<promise>MEMORY_UPDATED</promise>")] },
      { bare: true },
    );
    await cp(join(mine.project.root, ".claude"), join(theirs.project.root, ".claude"), { recursive: true });

    const done = await theirs.print("/complete-work");

    expect(done.code).toBe(0);
    expect(complaints(done.events)).toEqual([]);
    expect(done.hookOutputs.length).toBeGreaterThan(2);
    expect(answers(done.hookOutputs)).toEqual([]);
    expect(done.hookOutputs.filter((output) => output.code !== 0 || output.stderr !== "")).toEqual([]);
    expect(theirs.project.exists(".pawl")).toBe(false);
  });
});
