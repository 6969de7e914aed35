/** A worktree of a project where a person ran `pawl init`: Claude Code reads the main checkout's local settings since 2.1.325. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SUM, suite } from "./gated.ts";
import { VERSION } from "./install.ts";
import { heard, openLooped, PERMISSIONS } from "./looped.ts";
import { say } from "./model.ts";
import { PAWL } from "./project.ts";

setDefaultTimeout(180_000);

const TASKS = "## Pending Tasks\n\n- [ ] **Multiply** — | sonnet | #auto-workflow\n";
const IDLE = say("I am looking around.");

async function openTree() {
  const scene = await openLooped(
    { turns: [], otherwise: () => IDLE },
    { files: { ...suite(SUM), "session.md": TASKS } },
  );
  await scene.project.git("worktree", "add", "-q", "../tree");
  // What the agent may do is read for every folder; nothing in there calls Pawl.
  mkdirSync(join(scene.project.home, ".claude"), { recursive: true });
  writeFileSync(join(scene.project.home, ".claude/settings.json"), JSON.stringify({ permissions: PERMISSIONS }));
  const cwd = join(scene.project.root, "../tree");
  const start = (args: string[]) =>
    Bun.spawn([PAWL, ...args], { cwd, env: scene.env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  return Object.assign(scene, { inTree: (...args: string[]) => heard(start(args)) });
}

test("the loop brings its hooks: the agent is sent on in a worktree, each event is handled once", async () => {
  await using scene = await openTree();
  const told = await scene.inTree("loop", "auto", "--no-preflight", "--json", "-n", "1");
  expect(told.err).toBe("");
  const texts = scene.model.main().map(({ text }) => text);
  expect(texts.length).toBeGreaterThan(1);
  expect(texts.at(-1)).toContain("[pawl]");
  const { out } = await scene.inTree("log", "--json");
  const stops = out.split("\n").filter((line) => line.includes('"kind":"stopped"'));
  expect(stops).toHaveLength(texts.length);
});

test("doctor knows whether the client reads the main checkout's settings", async () => {
  await using scene = await openTree();
  const { code, out } = await scene.inTree("doctor");
  expect(out).not.toContain("no settings file here calls Pawl");
  if (VERSION === "2.1.197")
    expect({ code, out }).toMatchObject({ code: 1, out: expect.stringContaining("in a worktree") });
  else expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining("installed once") });
});
