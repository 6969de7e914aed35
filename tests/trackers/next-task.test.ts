/** The next task, claimed; one task as it is. Three answers that are never mixed: not there, failed, nothing to do. */
import { afterEach, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gatherNext, gatherTask } from "../../src/trackers/next-task.ts";
import { removeTemps, tempRoot } from "../store/samples.ts";

afterEach(removeTemps);

const SCOPE = { labels: ["auto-workflow"], tracker: "session-md" as const };
const ME = "pawl-11111111";

function project(...tasks: string[]): string {
  const root = tempRoot();
  writeFileSync(join(root, "session.md"), `${tasks.join("\n")}\n`);
  return root;
}
const boxes = (root: string) => readFileSync(join(root, "session.md"), "utf8").match(/\[.\]/g);

test("nothing labelled is nothing to do; no file is no tracker; an unknown id is a failure", () => {
  expect(gatherNext(project("- [ ] **Other** — | sonnet"), SCOPE, ME, "")).toEqual({ ok: true, value: { left: [] } });
  expect(gatherNext(tempRoot(), SCOPE, ME, "")).toMatchObject({
    ok: false,
    why: expect.stringContaining("session.md"),
  });
  expect(gatherNext(project("- [ ] **A** — | #auto-workflow"), SCOPE, ME, "nope").ok).toBe(false);
  expect(gatherTask(project("- [ ] **A** — | #auto-workflow"), SCOPE, "nope").ok).toBe(false);
});

test("the first by priority is claimed; asked again, it is the same one; another session gets the next", () => {
  const root = project("- [ ] **A** — | #auto-workflow", "- [ ] **B** — | p0 | #auto-workflow:hot");
  expect(gatherNext(root, SCOPE, ME, "")).toMatchObject({ ok: true, value: { id: "b", state: "claimed", owner: ME } });
  expect(gatherNext(root, SCOPE, ME, "")).toMatchObject({ ok: true, value: { id: "b" } });
  expect(gatherNext(root, SCOPE, "pawl-22222222", "")).toMatchObject({ ok: true, value: { id: "a" } });
  expect(gatherNext(root, SCOPE, "pawl-33333333", "")).toMatchObject({
    ok: true,
    value: { left: [{ id: "a" }, { id: "b" }] },
  });
  expect(gatherTask(root, SCOPE, "b")).toMatchObject({ ok: true, value: { state: "claimed", owner: ME } });
});

test("looking claims nothing", () => {
  const root = project("- [ ] **A** — | #auto-workflow");
  expect(gatherNext(root, SCOPE, ME, "", true)).toMatchObject({ ok: true, value: { id: "a", state: "open" } });
  expect(boxes(root)).toEqual(["[ ]"]);
});

test("a person's claim is never taken; one that is closed cannot be begun", () => {
  const root = project("- [>] **A** — | #auto-workflow | @ann", "- [x] **B** — | #auto-workflow");
  const left = [{ id: "a", state: "claimed" as const, owner: "ann", waits_for: [] }];
  expect(gatherNext(root, SCOPE, ME, "")).toEqual({ ok: true, value: { left } });
  expect(gatherNext(root, SCOPE, ME, "a").ok).toBe(false);
  expect(gatherNext(root, SCOPE, ME, "b")).toMatchObject({ ok: false, why: "b is already closed" });
});
