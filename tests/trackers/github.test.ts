/** Claims on GitHub, which has none, and the ways `gh` fails. */
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openTracker, type Tracker } from "../../src/trackers/index.ts";
import { FAULTS } from "../doubles/gh.ts";
import { ACTOR, makeWorld, run, value, type World, word } from "./world.ts";

let world: World;
let tracker: Tracker;
beforeEach(() => {
  world = makeWorld("github");
  tracker = world.tracker;
});
afterEach(() => world.remove());

function broken<T>(faults: string, work: () => T): T {
  process.env.GH_DOUBLE_FAULT = faults;
  try {
    return work();
  } finally {
    process.env.GH_DOUBLE_FAULT = "";
  }
}

const make = (title = "Issue") => value(tracker.create({ title, labels: ["auto-workflow"] })).id;
const MARK = (verb: string, actor: string, machine: string) => `<!-- pawl:${verb} ${actor} ${machine} -->\ntext`;

function say(as: string, id: string, body: string): void {
  process.env.GH_DOUBLE_AS = as;
  run(["gh", "issue", "comment", id, "--repo", "o/r", `--body=${body}`], world.root);
  delete process.env.GH_DOUBLE_AS;
}

describe("every question", () => {
  const rows: [string, string][] = [
    ["auth", "error"],
    ["rate-limit", "busy"],
    ["offline", "busy"],
    ["no-repository", "absent"],
    ["disabled", "absent"],
  ];
  test.each(rows)("%s is %s", (fault, expected) => {
    const id = make();
    const words = broken(fault, () => [
      tracker.list({}),
      tracker.ready({ labels: ["auto-workflow"] }),
      tracker.show(id),
      tracker.claim(id, ACTOR),
      tracker.close(id, "x"),
      tracker.create({ title: "x" }),
      tracker.comment(id, "x"),
    ]).map(word);
    expect(words).toEqual(Array(7).fill(expected));
  });
  const reads: [string, string][] = [
    ["plain", "malformed"],
    ["huge", "too-large"],
    ["old", "ok"],
    ["backwards", "ok"],
  ];
  test.each(reads)("%s is %s when read", (fault, expected) => {
    const id = make();
    const words = broken(fault, () => [tracker.list({}), tracker.ready({ labels: [] }), tracker.show(id)]).map(word);
    expect(words).toEqual(Array(3).fill(expected));
  });
  test("a gh that hangs", () => {
    const quick = value(openTracker(world.root, { kind: "github", repo: "o/r", deadline_ms: 700 }));
    expect(word(broken("hang", () => quick.list({})))).toBe("deadline");
  });
});

test("silently not done is not done", () => {
  const id = make();
  const words = broken("silent", () => [
    tracker.claim(id, ACTOR),
    tracker.close(id, "x"),
    tracker.update(id, { title: "New" }),
    tracker.label(id, ["other"], []),
    tracker.comment(id, "x"),
  ]).map(word);
  expect(words).toEqual(Array(5).fill("not-done"));
});

test("a label the repository does not have is refused, not made", () => {
  const id = make();
  expect(tracker.label(id, ["nope"], [])).toMatchObject({
    code: "refused",
    why: expect.stringContaining("'nope' not found"),
  });
  expect(tracker.create({ title: "x", labels: ["nope"] })).toMatchObject({ code: "refused" });
});

describe("claims", () => {
  test("the first comment holds, whatever order they come in", () => {
    const id = make();
    say("colleague", id, MARK("claim", "pawl-first", tracker.here));
    say("me", id, MARK("claim", "pawl-second", tracker.here));
    for (const fault of ["", "backwards"])
      expect(value(broken(fault, () => tracker.show(id)))).toMatchObject({ state: "claimed", owner: "pawl-first" });
    expect(word(tracker.claim(id, "pawl-second"))).toBe("taken");
    expect(word(tracker.claim(id, "pawl-first"))).toBe("ok");
  });
  test("a claim that came second does not hold when the first is released", () => {
    const id = make();
    say("me", id, MARK("claim", "pawl-first", tracker.here));
    say("me", id, MARK("claim", "pawl-second", tracker.here));
    say("me", id, MARK("release", "pawl-second", tracker.here));
    expect(value(tracker.show(id)).owner).toBe("pawl-first");
    say("me", id, MARK("release", "pawl-first", tracker.here));
    expect(value(tracker.show(id))).toMatchObject({ state: "open" });
  });
  test("strangers can neither claim nor release, and an edited comment counts for nothing", () => {
    const id = make();
    say("stranger", id, MARK("claim", "pawl-evil", "evil-0000"));
    say("me", id, `Look: ${MARK("claim", "pawl-quoted", tracker.here)}`);
    say("colleague", id, MARK("claim", "pawl-edited", "desktop-0000"));
    const db = new Database(join(world.root, "github.sqlite"));
    const state = JSON.parse((db.query("SELECT text FROM doc").get() as { text: string }).text);
    state.issues[0].comments.at(-1).edited = true;
    db.run("UPDATE doc SET text = ?", [JSON.stringify(state)]);
    db.close();
    expect(value(tracker.show(id)).state).toBe("open");
    value(tracker.claim(id, ACTOR));
    say("stranger", id, MARK("release", ACTOR, tracker.here));
    expect(value(tracker.show(id))).toMatchObject({ state: "claimed", owner: ACTOR });
  });
  test("shown late, it still holds", () => {
    const id = make();
    expect(value(broken("lag", () => tracker.claim(id, ACTOR))).owner).toBe(ACTOR);
  });
  test("the claimer is assigned, and no longer when it is let go", () => {
    const id = make();
    const assigned = () =>
      JSON.parse(run(["gh", "issue", "view", id, "--repo", "o/r", "--json", "assignees"], world.root));
    value(tracker.claim(id, ACTOR));
    expect(assigned().assignees).toMatchObject([{ login: "me" }]);
    value(tracker.reopen(id));
    expect(assigned().assignees).toEqual([]);
  });
  test("another machine's: refused, with its whole scope", () => {
    const [id, free] = [make("One"), make("Two")];
    say("colleague", id, MARK("claim", "pawl-9", "desktop-0000"));
    expect(tracker.claim(id, ACTOR)).toMatchObject({
      code: "other-machine",
      why: expect.stringContaining("desktop-0000"),
    });
    expect(word(tracker.claim(id, "pawl-9"))).toBe("other-machine");
    expect(word(tracker.ready({ labels: ["auto-workflow"] }))).toBe("other-machine");
    expect(value(tracker.ready({ labels: ["other"] }))).toEqual([]);
    value(tracker.reopen(id));
    expect(value(tracker.ready({ labels: ["auto-workflow"] })).map((task) => task.id)).toEqual([id, free]);
  });
});

describe("what an issue waits for", () => {
  test("lines in its text, looked up where they are not in the list", () => {
    const other = value(tracker.create({ title: "Other scope" })).id;
    const id = value(
      tracker.create({ title: "Waits", labels: ["auto-workflow"], text: `Text\n- Depends on #${other} and a/b#7` }),
    ).id;
    expect(value(tracker.show(id)).blocked_by).toEqual([other, "a/b#7"]);
    const plain = value(
      tracker.create({ title: "Only mentions", labels: ["auto-workflow"], text: `See #${other}` }),
    ).id;
    expect(value(tracker.ready({ labels: ["auto-workflow"] })).map((task) => task.id)).toEqual([plain]);
  });
  test("an issue that is not there is not known to be closed", () => {
    const id = value(tracker.create({ title: "Waits", text: "Blocked by: #99" })).id;
    expect(value(tracker.show(id)).blocked_by).toEqual(["99"]);
    expect(word(tracker.claim(id, ACTOR))).toBe("refused");
  });
});

test("not planned is dropped; an old gh knows only closed", () => {
  const id = make();
  expect(value(tracker.update(id, { state: "dropped" })).state).toBe("dropped");
  expect(value(broken("old", () => tracker.show(id))).state).toBe("closed");
});

test("milestones are epics", () => {
  const id = value(tracker.create({ title: "In it", epic: "Login, v2" })).id;
  make();
  expect(value(tracker.ready({ labels: [], epic: "Login, v2" })).map((task) => task.id)).toEqual([id]);
});

test("every way the stand-in can misbehave is tried here", () => {
  const source = readFileSync(import.meta.path, "utf8");
  for (const fault of FAULTS) expect(source).toMatch(new RegExp(`"${fault}[":,]`));
});
