/** Which task in progress a session may go on with. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mayResume } from "../../src/controls/status.ts";
import type { Task } from "../../src/kernel/types/task.ts";
import { actorOf } from "../../src/kernel/types/task.ts";
import { writePointer } from "../../src/store/place.ts";
import { machineName } from "../../src/trackers/machine.ts";
import { ownHome } from "../harness/sealing.ts";

ownHome();
const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-test-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
Bun.spawnSync(["git", "init", "-q", root]);
Bun.spawnSync(["git", "-C", root, "config", "user.name", "Ada Example"]);

const LONG_AGO = "2020-01-01T00:00:00Z";
const [OURS, OTHER, DEAD] = ["11111111-own", "22222222-other", "33333333-dead"].map(actorOf);
// Nothing says that its process is gone.
writePointer("claude", "22222222-other", { root, run: "" });

const rows: [string, Partial<Task>, boolean][] = [
  ["nobody's", { owner: null }, true],
  ["its own", { owner: OURS! }, true],
  ["another live session's", { owner: OTHER!, claimed_on: machineName(), claimed_at: LONG_AGO }, false],
  ["a dead session's", { owner: DEAD!, claimed_on: machineName(), claimed_at: LONG_AGO }, true],
  ["a dead session's of another machine", { owner: DEAD!, claimed_on: "elsewhere", claimed_at: LONG_AGO }, false],
  ["its own name on another machine", { owner: OURS!, claimed_on: "elsewhere" }, false],
  ["the person's own", { owner: "Ada Example" }, true],
  ["another person's", { owner: "bob" }, false],
  ["another worktree's", { owner: "worktree" }, false],
];

describe("a task in progress", () => {
  const mine = mayResume(root, "11111111-own");
  test.each(rows)("%s", (_name, more, wanted) => {
    const task = { id: "a", title: "a", state: "claimed", ...more } as Task;
    expect(mine(task)).toBe(wanted);
  });
});
