import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PreflightOptions } from "../../src/loop/preflight.ts";
import {
  agent,
  asked,
  clearAway,
  fly,
  git,
  prepare,
  procedure,
  put,
  root,
  settings,
  withTests,
} from "./preflight-ground.ts";

beforeEach(prepare);
afterEach(clearAway);

describe("the surroundings", () => {
  const phases = (source: string) => ({ observe: [{ source, text: "" }], orient: [], decide: [], act: [] });
  const build = procedure({ name: "build", phases: phases("builtin:observe/list_ready_work.md") });
  const auto = procedure({ name: "auto", drives: "auto-workflow" });

  const PLACES: [string, () => void, Partial<PreflightOptions>, check: string, remedy: string][] = [
    ["no repository", () => rmSync(join(root, ".git"), { recursive: true }), {}, "git", "git init"],
    ["no name", () => git("config", "--unset", "user.name"), {}, "identity", "git config user.name"],
    [
      "a merge",
      () => writeFileSync(join(root, ".git/MERGE_HEAD"), `${git("rev-parse", "HEAD")}\n`),
      {},
      "git",
      "git merge --abort",
    ],
    ["a rebase", () => mkdirSync(join(root, ".git/rebase-merge")), {}, "git", "git rebase --abort"],
    ["a lock", () => writeFileSync(join(root, ".git/index.lock"), ""), {}, "git", "index.lock"],
    ["a broken repository", () => writeFileSync(join(root, ".git/HEAD"), "nonsense"), {}, "git", ""],
    ["checks nobody approved", () => withTests(), {}, "trust", "pawl trust"],
    ["a broken pawl.yaml", () => writeFileSync(join(root, "pawl.yaml"), "gates: 3\n"), {}, "trust", "pawl check"],
    ["no money", () => undefined, { settings: settings(0) }, "budget", "--budget"],
    ["no room", () => undefined, { room: { mb: 1e12, files: 0 } }, "disk", "make room"],
    ["no room for files", () => undefined, { room: { mb: 0, files: 1e15 } }, "disk", "make room"],
    ["no tasks", () => undefined, { procedure: build }, "tracker", "pawl task add"],
    [
      "no hooks for what needs them",
      () => put(root, "session.md", "## Pending Tasks\n"),
      { procedure: auto },
      "hooks",
      "pawl init",
    ],
  ];
  test.each(PLACES)("%s is refused before any agent is asked", async (_, change, more, check, remedy) => {
    change();
    const found = await fly("all", more);
    expect(found.ok).toBe(false);
    expect(found.of(check)).toMatchObject({ ok: false, remedy: expect.stringContaining(remedy) });
    expect(found.of("agent")).toMatchObject({ ok: null });
    expect(asked()).toBe(0);
  });

  test("tasks that are there will do", async () => {
    put(root, "session.md", "## Pending Tasks\n\n- [ ] One task\n");
    expect((await fly("all", { procedure: build })).of("tracker")).toMatchObject({ ok: true });
  });

  test("what needs no tracker asks for none; no hooks are only worth knowing", async () => {
    const found = await fly("all");
    expect(found.of("tracker")).toBeUndefined();
    expect(found.of("hooks")).toMatchObject({ ok: null, remedy: expect.stringContaining("pawl init") });
    expect((await fly("all", {}, "my-agent")).of("hooks")).toBeUndefined();
  });

  test("an identity of the environment counts", async () => {
    git("config", "--unset", "user.name");
    const own = agent("all");
    const env = { ...own.env, GIT_AUTHOR_NAME: "A", GIT_COMMITTER_NAME: "A" };
    expect((await fly("all", { agent: { ...own, env } })).of("identity")?.ok).toBe(true);
  });

  test("no branch is said, changed files are said", async () => {
    writeFileSync(join(root, "README.md"), "# Changed\n");
    expect((await fly("all")).of("git")).toMatchObject({
      ok: true,
      detail: expect.stringContaining("1 changed file not committed"),
    });
    git("checkout", "-q", "--detach");
    expect((await fly("all")).of("git")).toMatchObject({ ok: null, remedy: expect.stringContaining("git switch") });
  });
});
