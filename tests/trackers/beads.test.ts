/** The ways `bd` fails and misleads, line by line. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Answer, openTracker, type Tracker } from "../../src/trackers/index.ts";
import { FAULTS } from "../doubles/bd.ts";
import { ACTOR, makeWorld, run, value, type World, word } from "./world.ts";

let world: World;
let tracker: Tracker;
beforeEach(() => {
  world = makeWorld("beads");
  tracker = world.tracker;
});
afterEach(() => world.remove());

function broken<T>(faults: string, work: () => T): T {
  process.env.BD_DOUBLE_FAULT = faults;
  try {
    return work();
  } finally {
    process.env.BD_DOUBLE_FAULT = "";
  }
}

const two = () => ["One", "Two"].map((title) => value(tracker.create({ title, labels: ["auto-workflow"] })).id);

type Operation = (id: string) => Answer<unknown>;
const READS: Record<string, Operation> = {
  list: () => tracker.list({}),
  ready: () => tracker.ready({ labels: ["auto-workflow"] }),
  show: (id) => tracker.show(id),
};
const WRITES: Record<string, Operation> = {
  claim: (id) => tracker.claim(id, ACTOR),
  close: (id) => tracker.close(id, "done"),
  update: (id) => tracker.update(id, { title: "New" }),
  label: (id) => tracker.label(id, ["needs-review"], []),
  comment: (id) => tracker.comment(id, "hello"),
  create: () => tracker.create({ title: "x" }),
};

describe("every question", () => {
  const rows: [string, string, string][] = [
    ["no-database", "absent", "no beads database found"],
    ["locked", "busy", "database is locked"],
    ["daemon", "busy", "daemon request timed out"],
    ["error-exit-0", "error", "something is wrong"],
  ];
  test.each(rows)("%s is %s", (fault, expected, why) => {
    const [id] = two();
    for (const operation of Object.values({ ...READS, ...WRITES })) {
      const answer = broken(fault, () => operation(id!));
      expect(word(answer)).toBe(expected);
      expect(answer).toHaveProperty("why", expect.stringContaining(why));
      expect(answer).toHaveProperty("why", expect.not.stringContaining("schema_version"));
    }
  });
});

describe("a reading", () => {
  const rows: [string, string][] = [
    ["plain", "malformed"],
    ["truncated", "malformed"],
    ["nameless", "malformed"],
    ["huge", "too-large"],
    ["warn", "ok"],
    ["warn-stdout", "ok"],
    ["envelope", "ok"],
    ["answer-exit-1", "ok"],
    ["old", "ok"],
  ];
  test.each(rows)("%s is %s", (fault, expected) => {
    const [id] = two();
    for (const [name, operation] of Object.entries(READS)) {
      const good = operation(id!);
      const answer = broken(fault, () => operation(id!));
      expect([name, word(answer)]).toEqual([name, expected]);
      if (expected === "ok") expect(answer).toEqual(good);
    }
  });
  test("nothing may be null, bare or in the envelope", () => {
    for (const fault of ["null", "null,envelope", "envelope", ""])
      expect(broken(fault, () => tracker.ready({ labels: ["x"] }))).toEqual({ kind: "ok", value: [] });
  });
  test("one issue may come as an object", () => {
    const [id] = two();
    expect(broken("object", () => tracker.show(id!))).toEqual(tracker.show(id!));
  });
  test("more issues than bd shows by itself are all there", () => {
    const state = join(world.root, ".beads/double.sqlite");
    two();
    run([process.execPath, "-e", MANY, state], world.root);
    for (const fault of ["", "old"]) {
      expect(value(broken(fault, () => tracker.ready({ labels: ["auto-workflow"] }))).length).toBe(152);
      expect(value(broken(fault, () => tracker.list({ label: "auto-workflow" }))).length).toBe(152);
    }
  });
});

const MANY = `
const { Database } = require("bun:sqlite");
const db = new Database(process.argv[1]);
const state = JSON.parse(db.query("SELECT text FROM doc").get().text);
const [first] = state.issues;
for (let n = 0; n < 150; n++) state.issues.push({ ...first, id: "app-many" + n });
db.run("UPDATE doc SET text = ?", [JSON.stringify(state)]);
`;

describe("ids", () => {
  test("the end of an id is enough, its beginning is not", () => {
    const [id] = two();
    expect(value(tracker.show(id!.slice(4))).id).toBe(id!);
    for (const operation of ["show", "claim", "close", "update", "label", "comment"])
      expect([operation, word({ ...READS, ...WRITES }[operation]!("app-1"))]).toEqual([operation, "ambiguous-id"]);
  });
  test("what bd would take for another issue is refused", () => {
    value(tracker.create({ title: "Only one" }));
    for (const operation of ["show", "claim", "close", "update", "label", "comment"])
      expect({ ...READS, ...WRITES }[operation]!("a")).toMatchObject({
        code: "unknown-id",
        why: "bd read a as app-10",
      });
    expect(value(tracker.show("app-10"))).toMatchObject({ title: "Only one", state: "open", labels: [] });
  });
});

describe("a writing is believed only when it shows", () => {
  const rows = Object.entries(WRITES).filter(([name]) => name !== "create");
  test.each(rows)("%s, silently not done", (_name, operation) => {
    const [id] = two();
    expect(word(broken("silent", () => operation(id!)))).toBe("not-done");
  });
  test("a claim that bd confirmed and somebody else has", () => {
    const [id] = two();
    const answer = broken("stolen", () => tracker.claim(id!, ACTOR));
    expect(answer).toMatchObject({ code: "taken", why: expect.stringContaining("somebody-else") });
  });
  test("a good answer with a bad exit status", () => {
    const [id] = two();
    for (const operation of Object.values(WRITES))
      expect(word(broken("answer-exit-1:close", () => operation(id!)))).toBe("ok");
    expect(word(broken("answer-exit-1:update", () => tracker.reopen(id!)))).toBe("ok");
  });
  test("a warning beside a failure does not hide it", () => {
    two();
    expect(word(broken("warn-daemon", () => tracker.create({ title: "x", epic: "app-nope" })))).toBe("unknown-id");
  });
  test("when it cannot be looked at afterwards, nothing is said to be done", () => {
    const [id] = two();
    expect(word(broken("locked:show", () => tracker.claim(id!, ACTOR)))).toBe("busy");
    expect(word(broken("no-database:show", () => tracker.close(id!, "x")))).toBe("absent");
  });
});

describe("bd's own refusals", () => {
  test("closing what waits for others", () => {
    const [first] = two();
    const { id } = value(tracker.create({ title: "Waits", blocked_by: [first!] }));
    expect(tracker.close(id, "x")).toMatchObject({
      code: "refused",
      why: expect.stringContaining("blocked by open issues"),
    });
    expect(value(tracker.show(id)).state).toBe("open");
  });
  test("claiming what is closed, or assigned to a person", () => {
    const [closed, given] = two() as [string, string];
    value(tracker.close(closed, "x"));
    expect(tracker.claim(closed, ACTOR)).toMatchObject({ code: "refused", why: expect.stringContaining("closed") });
    run(["bd", "update", given, "--assignee", "alice"], world.root);
    expect(tracker.claim(given, ACTOR)).toMatchObject({ code: "taken", why: expect.stringContaining("alice") });
    expect(value(tracker.ready({ labels: [] }))).toEqual([]);
  });
  test("an unknown parent", () => {
    expect(word(tracker.create({ title: "x", epic: "app-nope" }))).toBe("unknown-id");
  });
});

describe("epics", () => {
  test("children and their children are in scope", () => {
    const epic = value(tracker.create({ title: "Epic" })).id;
    const child = value(tracker.create({ title: "Child", epic }));
    const grandchild = value(tracker.create({ title: "Grandchild", epic: child.id }));
    value(tracker.create({ title: "Other" }));
    expect(child.epic).toBe(epic);
    expect(value(tracker.ready({ labels: [], epic })).map(({ id }) => id)).toEqual([child.id, grandchild.id]);
  });
});

describe("an old bd", () => {
  test("writes without --json, claims without --claim", () => {
    const [id] = two();
    broken("old", () => {
      expect(value(tracker.claim(id!, ACTOR))).toMatchObject({
        state: "claimed",
        owner: ACTOR,
        claimed_on: tracker.here,
      });
      expect(word(tracker.claim(id!, "pawl-other"))).toBe("taken");
      expect(value(tracker.label(id!, ["needs-review"], ["auto-workflow"])).labels).toEqual(["needs-review"]);
      expect(word(tracker.comment(id!, "hello"))).toBe("ok");
      expect(value(tracker.close(id!, "x")).state).toBe("closed");
      expect(value(tracker.reopen(id!))).toMatchObject({ state: "open", owner: null });
    });
  });
  test("claims nothing while another machine holds something", () => {
    const [id, other] = two();
    run(["bd", "update", other!, "--claim", "--actor", "pawl-9@desktop-0000"], world.root);
    const answer = broken("old", () => tracker.claim(id!, ACTOR));
    expect(answer).toMatchObject({ code: "other-machine", why: expect.stringContaining("desktop-0000") });
    expect(value(tracker.show(id!)).state).toBe("open");
    expect(word(tracker.claim(id!, ACTOR))).toBe("ok");
  });
  test("closed issues in its list are left out", () => {
    const [id, other] = two();
    value(tracker.close(id!, "x"));
    expect(value(broken("old", () => tracker.list({}))).map((task) => task.id)).toEqual([other!]);
  });
});

describe("the deadline", () => {
  test("a bd that hangs is ended with all it started", () => {
    two();
    const pids = join(world.root, "pids");
    process.env.BD_DOUBLE_PIDS = pids;
    const quick = value(openTracker(world.root, { kind: "beads", deadline_ms: 5_000 }));
    const began = performance.now();
    const answers = [
      broken("hang", () => quick.ready({ labels: [] })),
      broken("hang:show", () => quick.claim("app-10", ACTOR)),
    ];
    expect(answers.map(word)).toEqual(["deadline", "deadline"]);
    expect(performance.now() - began).toBeLessThan(40_000);
    const started = readFileSync(pids, "utf8").trim().split("\n").map(Number);
    expect(started.length).toBe(4);
    for (const pid of started) expect(goneSoon(pid)).toBe(true);
    delete process.env.BD_DOUBLE_PIDS;
  }, 60_000);
});

/** A killed process that no one has asked for yet is still listed. */
function goneSoon(pid: number): boolean {
  for (let looks = 0; looks < 2_000; looks++) {
    if (!existsSync(`/proc/${pid}`) || /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))) return true;
    Bun.sleepSync(10);
  }
  return false;
}

test("no agent's mark, actor or format of the environment reaches bd", () => {
  const names = [
    "CLAUDE_CODE",
    "CLAUDECODE",
    "BD_ACTOR",
    "BEADS_ACTOR",
    "BD_JSON_ENVELOPE",
    "NODE_OPTIONS",
    "LD_PRELOAD",
  ];
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = "x";
  const seen = broken("environment", () => tracker.show("app-10")) as { why: string };
  for (const [at, name] of names.entries()) {
    if (before[at] === undefined) delete process.env[name];
    else process.env[name] = before[at];
  }
  expect(seen.why).toContain("BEADS_AUTO_START_DAEMON");
  for (const name of names) expect(seen.why).not.toContain(name);
});

test("every way the stand-in can misbehave is tried here", () => {
  const source = readFileSync(import.meta.path, "utf8");
  for (const fault of FAULTS) expect(source).toMatch(new RegExp(`"(\\w+,)?${fault}[":,]`));
});
