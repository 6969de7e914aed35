import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  openSession,
  type Place,
  payload,
  removePlaces,
  runHook,
  shell,
  stopFields,
  textOf,
} from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { ground, put, snapshot } from "./ground.ts";

afterAll(removePlaces);

const pawl = (place: Place, ...args: string[]) => {
  const { code, out, err } = runInProcess(place, args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: "" });
  return out;
};

/** A session that has begun to complete its work. */
function armed(place: Place): void {
  const session = openSession(place, "one");
  session.turn = 1;
  const prompt = payload(place, session, "UserPromptSubmit", { prompt: "/complete-work" });
  expect(runHook(place, prompt).out).toContain("[pawl]");
  const stop = stopFields(session, "<promise>MEMORY_UPDATED</promise>");
  expect(runHook(place, payload(place, session, "Stop", stop)).code).toBe(0);
}

const withoutObjects = (tree: Record<string, string>) =>
  Object.fromEntries(Object.entries(tree).filter(([name]) => !/^\.git\/(index|objects)/.test(name)));

describe("after a run", () => {
  test("uninstall keeps the state and says so; --purge is refused while the run is live", () => {
    const place = ground();
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes");
    armed(place);
    const out = pawl(place, "uninstall", "--yes");
    expect(out).toContain("stays   ");
    expect(out).toContain(".pawl/runs");
    expect(out).toContain("Pawl's state; --purge removes it");
    expect(textOf(join(place.root, ".claude/work-completion.local.md"))).not.toBeNull();
    const refused = runInProcess(place, ["uninstall", "--purge"]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("a run is active here: ");
    pawl(place, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
    expect(existsSync(join(place.home, ".local/state"))).toBe(false);
  });
  test("without an installation the state alone goes", () => {
    const place = ground();
    const before = snapshot(place.root);
    armed(place);
    pawl(place, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("a run before the installation leaves nothing behind either", () => {
    const place = ground();
    const before = snapshot(place.root);
    armed(place);
    pawl(place, "init", "--with", "all", "--yes");
    pawl(place, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("what git tracks, what the person wrote and what other projects have stays", () => {
    const place = ground({
      ".pawl/workflows/mine.yaml": "name: mine\n",
      ".claude/logs/other.log": "theirs\n",
      ".claude/logs/work-completion.log": "committed\n",
    });
    shell(place, "git add -A && git commit -qm all");
    const sessions = join(place.home, ".local/state/pawl/sessions");
    put(sessions, "claude-other", JSON.stringify({ root: "/elsewhere", run: "" }));
    const before = withoutObjects(snapshot(place.root));
    pawl(place, "init", "--with", "all", "--yes");
    pawl(place, "uninstall", "--purge", "--yes");
    expect(withoutObjects(snapshot(place.root))).toEqual(before);
    expect(Object.keys(snapshot(sessions))).toEqual(["claude-other"]);
  });
  test("an ended run goes as well", () => {
    const place = ground();
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes");
    armed(place);
    pawl(place, "runs", "abort");
    const greeted = join(place.home, ".local/state/pawl/greeted");
    put(greeted, "this", `${place.root}\n`);
    put(greeted, "other", "/elsewhere\n");
    pawl(place, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
    expect(Object.keys(snapshot(greeted))).toEqual(["other"]);
  });
});
