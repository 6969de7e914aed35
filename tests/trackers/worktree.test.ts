/** Worktrees share the tasks of their main checkout: two of them never work on the same one. */
import { afterAll, afterEach, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { taskValues } from "../../src/auto/core/text.ts";
import { asRunTask } from "../../src/engine/core/tasks.ts";
import { gatherNext } from "../../src/trackers/next-task.ts";
import { CLIENT, makePlace, openSession, PAWL, type Place, payload, removePlaces, shell } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { ownHome } from "../harness/sealing.ts";
import { removeTemps } from "../store/samples.ts";

ownHome();
afterEach(removeTemps);
afterAll(removePlaces);

const SCOPE = { labels: ["auto-workflow"], tracker: "session-md" as const };
const TASKS = "## Pending Tasks\n\n- [ ] **A** — | #auto-workflow\n- [ ] **B** — | #auto-workflow\n";
const actor = (at: number) => `pawl-${String(at).repeat(8)}`;

function git(place: Place, script: string): void {
  const { code, err } = shell(place, script);
  if (code !== 0) throw new Error(err);
}

/** A repository and two worktrees next to it; `file` is committed, so each of the three has it. */
function withWorktrees(file = "session.md"): Place & { trees: string[] } {
  const place = makePlace();
  mkdirSync(join(place.root, file, ".."), { recursive: true });
  writeFileSync(join(place.root, file), TASKS);
  git(place, "git add -A && git commit -qm tasks && git worktree add -q ../one && git worktree add -q ../two");
  return { ...place, trees: ["one", "two"].map((name) => join(place.base, name)) };
}

const idOf = (root: string, at: number, scope = SCOPE) => {
  const found = gatherNext(root, scope, actor(at), "");
  return found.ok && "id" in found.value ? found.value.id : found;
};
const textIn = (root: string, file = "session.md") => readFileSync(join(root, file), "utf8");

test("each worktree gets its own task, claimed in the main checkout's file", () => {
  const { root, trees } = withWorktrees();
  expect([idOf(trees[0]!, 1), idOf(trees[1]!, 2)]).toEqual(["a", "b"]);
  expect(gatherNext(root, SCOPE, actor(3), "")).toMatchObject({ value: { left: [{ id: "a" }, { id: "b" }] } });
  expect(textIn(root).match(/@pawl-\d+/g)).toEqual(["@pawl-11111111", "@pawl-22222222"]);
  const again = gatherNext(trees[0]!, SCOPE, actor(1), "");
  const task = again.ok && "id" in again.value ? asRunTask(again.value, actor(1), "") : undefined;
  expect(task).toMatchObject({ id: "a", path: join(root, "session.md") });
  expect(taskValues(task)).toMatchObject({ show_task: "pawl task show a", close_task: "pawl task done a" });
  for (const tree of trees) {
    expect(textIn(tree)).toBe(TASKS);
    expect(existsSync(join(tree, ".pawl"))).toBe(false);
  }
});

test("also a project in a folder of the repository, and a file of its own name", () => {
  const { root, trees } = withWorktrees("packages/a/todo.md");
  const scope = { ...SCOPE, path: "todo.md" };
  expect(trees.map((tree, at) => idOf(join(tree, "packages/a"), at, scope))).toEqual(["a", "b"]);
  expect(textIn(root, "packages/a/todo.md").match(/\[>\]/g)).toHaveLength(2);
});

test("the lock is the main checkout's, too: eight sessions at once get eight tasks", async () => {
  const place = withWorktrees();
  const names = [..."abcdefgh"];
  writeFileSync(join(place.root, "session.md"), names.map((name) => `- [ ] **${name}** — | sonnet\n`).join(""));
  const hooks = names.map((name, at) => {
    const root = place.trees[at % 2]!;
    const sent = payload({ root }, openSession(place, name), "UserPromptSubmit", { prompt: "x" });
    const input = new Blob([JSON.stringify(sent)]);
    const env = { ...place.env, ...CLIENT };
    // Each has a client of its own, which stays: one process has one conversation at a time.
    const client = ["/bin/sh", "-c", `'${PAWL}' hook claude --via local; exec >&-; exec sleep 100`];
    return Bun.spawn(client, { cwd: root, env, stdin: input, stdout: "pipe" });
  });
  const said = await Promise.all(hooks.map(({ stdout }) => stdout.text()));
  for (const client of hooks) client.kill();
  for (const text of said) expect(text).toContain("Start this task, it is yours");
  expect(new Set(textIn(place.root).match(/@pawl-\S+/g)).size).toBe(8);
});

test("pawl task in a worktree names the file it means, and creates it in the main checkout", () => {
  const place = makePlace();
  git(place, "git worktree add -q ../one");
  const cwd = join(place.base, "one");
  const added = runInProcess(place, ["task", "add", "Say hello"], { cwd });
  expect(added).toMatchObject({ code: 0, err: "", out: expect.stringContaining(join(place.root, "session.md")) });
  expect(textIn(place.root)).toContain("**Say hello**");
  expect(existsSync(join(cwd, "session.md"))).toBe(false);
  expect(runInProcess(place, ["task"], { cwd }).out).toContain("Say hello");
  expect(runInProcess(place, ["task", "done", "say-hello"], { cwd })).toMatchObject({ code: 0, err: "" });
  expect(textIn(place.root)).toContain("[x]");
});

test("without a file in the main checkout, or without a main checkout, a worktree keeps its own", () => {
  const { root, base, trees } = withWorktrees();
  const moved = { root, base, home: base, env: {} } as Place;
  git(moved, "git rm -q session.md && git commit -qm gone");
  expect(idOf(trees[0]!, 1)).toBe("a");
  expect(textIn(trees[0]!)).toContain("[>]");

  const bare = withWorktrees();
  cpSync(join(bare.root, ".git"), join(bare.base, "bare/.git"), { recursive: true });
  git(bare, "cd ../bare && rm -rf .git/worktrees && git config core.bare true && git worktree add -q ../three main");
  const three = join(bare.base, "three");
  expect(idOf(three, 1)).toBe("a");
  expect(textIn(three)).toContain("[>]");
  expect(existsSync(join(bare.base, "bare/.pawl"))).toBe(false);
});
