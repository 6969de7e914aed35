/** The doctor's word against the real client's deeds, and the greeting on the real screen. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isSince } from "../../src/hosts/claude/wire.ts";
import { claudeBinary, VERSION } from "./install.ts";
import { say } from "./model.ts";
import { claude, installPlugin, installProgram } from "./plugin.ts";
import { PAWL, type Project } from "./project.ts";
import { openScenario } from "./scenario.ts";
import { terminal } from "./terminal.ts";

setDefaultTimeout(60_000);

/** The client is on the PATH, as it is where a person works with it. */
const bin = mkdtempSync(join(tmpdir(), "pawl-client-"));
symlinkSync(await claudeBinary(), join(bin, "claude"));
afterAll(() => rmSync(bin, { recursive: true }));

function pawl(project: Project, ...args: string[]) {
  const env = { HOME: project.home, PATH: `${bin}:/usr/bin:/bin` };
  const { exitCode, stdout } = Bun.spawnSync([PAWL, ...args], { cwd: project.root, env, stdin: "ignore" });
  return { code: exitCode, out: stdout.toString() };
}

async function put(base: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(base, path)), { recursive: true });
  await writeFile(join(base, path), text);
}

const USER = ".claude/settings.json";
const wrong = (hook: object) => JSON.stringify({ hooks: { Notification: [{ hooks: [hook] }] } });

describe("where the doctor says that no hook runs, none runs", () => {
  const ours = ".claude/settings.local.json";
  const add = (hook: object) => async (project: Project) => {
    const settings = JSON.parse(await project.read(ours));
    settings.hooks.Notification.push({ hooks: [hook] });
    await put(project.root, ours, JSON.stringify(settings));
  };
  // Since 2.1.260 a wrong hook loses only itself.
  const [alone, means] = isSince(VERSION, [2, 1, 260])
    ? [3, "leaves that hook out"]
    : [0, "drops all hooks of such a file"];
  const harms: [string, (project: Project) => Promise<void>, string, number][] = [
    ["nothing is wrong", async () => {}, "No problems found", 3],
    ["an unknown type", add({ type: "shell", command: "x" }), `mcp_tool; Claude Code ${means}`, alone],
    [
      "a timeout in words",
      add({ type: "command", command: "x", timeout: "5" }),
      `not a number; Claude Code ${means}`,
      alone,
    ],
    ["disableAllHooks", (p) => put(p.home, USER, '{"disableAllHooks":true}'), "says disableAllHooks", 0],
    ["a comment", async (p) => put(p.root, ours, `// x\n${await p.read(ours)}`), "ignores such a file", 0],
    ["broken JSON", async (p) => put(p.root, ours, `${await p.read(ours)},`), "settings.local.json:", 0],
    ["a wrong hook elsewhere", (p) => put(p.home, USER, wrong({ type: "x" })), "! ~/.claude/settings.json:1:", 3],
  ];
  test.each(harms)("%s", async (_name, harm, words, least) => {
    await using scene = await openScenario({ turns: [say("Hello.")] }, { bare: true });
    pawl(scene.project, "init", "--with", "all", "--yes");
    await harm(scene.project);
    const { code, out } = pawl(scene.project, "doctor");
    expect(out).toContain(words);
    expect(code).toBe(least === 0 ? 1 : 0);
    const { hookOutputs } = await scene.print("hello");
    if (least === 0) expect(hookOutputs).toEqual([]);
    else expect(hookOutputs.length).toBeGreaterThanOrEqual(least);
  });
});

test("the plugin, installed by the client, is found, started, and seen to be one too many", async () => {
  await using scene = await openScenario({ turns: [] }, { bare: true });
  await installProgram(scene.project);
  await installPlugin(scene.project);
  const alone = pawl(scene.project, "doctor");
  expect(alone.out).toContain("✓ the plugin pawl@pawl is on\n  ✓ installed once: the plugin");
  expect(alone.out).toMatch(/✓ the plugin pawl: the hook exited with 0 after \d+ ms, silent/);
  expect(alone.code).toBe(0);
  pawl(scene.project, "init", "--with", "all", "--yes");
  expect(pawl(scene.project, "doctor").out).toContain("installed 2 times: .claude/settings.local.json, the plugin");
  await claude(scene.project, "plugin", "disable", "pawl@pawl");
  expect(pawl(scene.project, "doctor").out).toContain("✓ installed once: .claude/settings.local.json");
});

test("the first session that a person sees is greeted, the next is not", async () => {
  await using scene = await openScenario({ turns: [say("Hello."), say("Hello."), say("Hello.")] }, { bare: true });
  pawl(scene.project, "init", "--with", "all", "--yes");
  await scene.print("hello");
  for (const greeted of [true, false]) {
    const screen = await terminal(scene.project, scene.model);
    try {
      await screen.waitFor(/❯/);
      await screen.submit("hello");
      await screen.waitFor(/Hello/);
      const shown = screen.frames().some((frame) => /SessionStart:startup says: Pawl is on in this/.test(frame));
      expect(shown).toBe(greeted);
      expect(JSON.stringify(scene.model.main())).not.toContain("Pawl is on");
    } finally {
      await screen.close();
    }
  }
});
