import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { queueLine } from "../../../src/auto/core/text.ts";
import type { Task } from "../../../src/kernel/types/task.ts";
import { claimAge, compareTasks, isExpired, leftovers, nextTask } from "../../../src/trackers/core/tasks.ts";

const task = (id: string, more: Partial<Task> = {}): Task => ({
  id,
  title: id,
  text: "",
  state: "open",
  labels: [],
  priority: 2,
  owner: null,
  created_at: "2026-01-01T00:00:00Z",
  epic: null,
  blocked_by: [],
  ...more,
});

describe("the next task", () => {
  const rows: [string, Task[], string | null][] = [
    ["none", [], null],
    ["by priority", [task("a"), task("b", { priority: 0 })], "b"],
    ["then by age", [task("a", { created_at: "2026-01-02T00:00:00Z" }), task("b")], "b"],
    ["then by place", [task("a", { position: 2 }), task("b", { position: 1 })], "b"],
    ["then by id", [task("b"), task("a")], "a"],
    [
      "not what is claimed, blocked, closed or dropped",
      [
        task("a", { state: "claimed" }),
        task("b", { state: "blocked" }),
        task("c", { state: "closed" }),
        task("d", { state: "dropped" }),
      ],
      null,
    ],
    ["not what waits", [task("a", { blocked_by: ["b"], priority: 0 }), task("b")], "b"],
    ["not what waits for something unknown", [task("a", { blocked_by: ["gone"] })], null],
    ["what waited for something closed", [task("a", { blocked_by: ["b"] }), task("b", { state: "closed" })], "a"],
  ];
  test.each(rows)("%s", (_name, tasks, id) => expect(nextTask(tasks, { labels: [] })?.id ?? null).toBe(id));

  const scopes: [string, Parameters<typeof nextTask>[1], string | null][] = [
    ["a label", { labels: ["auto"] }, "plain"],
    ["another label", { labels: ["auto:quick"] }, "quick"],
    ["labels by priority", { labels: ["auto", "auto:quick"] }, "quick"],
    ["a beginning", { labels: ["auto:*"] }, "quick"],
    ["an epic", { labels: [], epic: "e" }, "child"],
    ["an epic's grandchild", { labels: ["deep"], epic: "e" }, "e.1.2"],
    ["both", { labels: ["auto"], epic: "e" }, null],
  ];
  const tasks = [
    task("plain", { labels: ["auto"] }),
    task("quick", { labels: ["auto:quick"], priority: 1 }),
    task("child", { epic: "e" }),
    task("e.1.2", { epic: "e.1", labels: ["deep"] }),
    task("e2", { labels: ["automatic"] }),
  ];
  test.each(scopes)("in scope of %s", (_name, scope, id) => expect(nextTask(tasks, scope)?.id ?? null).toBe(id));

  test("the caller may take the claims of the dead for free", () => {
    const dead = task("a", { state: "claimed", owner: "pawl-dead" });
    expect(nextTask([dead], { labels: [] }, (one) => one.owner === "pawl-dead")?.id).toBe("a");
  });

  test("is the same however the tasks are ordered", () => {
    const some = fc.uniqueArray(
      fc.record({ id: fc.constantFrom(..."abcdef"), priority: fc.nat(4), created_at: fc.constantFrom("", "2026") }),
      { selector: ({ id }) => id },
    );
    fc.assert(
      fc.property(some, (parts) => {
        const all = parts.map((part) => task(part.id, part));
        expect(nextTask(all, { labels: [] })).toEqual(nextTask([...all].reverse(), { labels: [] }));
        expect(nextTask(all, { labels: [] }) ?? undefined).toEqual([...all].sort(compareTasks)[0]);
      }),
    );
  });
});

describe("nothing to begin", () => {
  const held = (id: string, owner: string | null) => task(id, { state: "claimed", owner });
  const rows: [string, Task[], string][] = [
    ["all is done", [task("a", { state: "closed" }), task("b", { state: "dropped" })], "All auto tasks complete"],
    ["somebody has it", [held("a", "pawl-1")], "No auto task is free: 1 is being worked on (a by pawl-1)"],
    ["nobody says who", [held("a", null)], "No auto task is free: 1 is being worked on (a)"],
    ["not many are named", ["a", "b", "c", "d"].map((id) => held(id, "x")), "(a by x, b by x, c by x, …)"],
    [
      "one waits for the other",
      [held("a", "x"), task("b", { blocked_by: ["a", "closed"] })],
      "1 is being worked on (a by x), 1 is blocked (b waits for a)",
    ],
    ["it waits for what is not listed", [task("b", { blocked_by: ["o/r#4"] })], "1 is blocked (b waits for o/r#4)"],
    ["a person's block", [task("b", { state: "blocked" })], "No auto task is free: 1 is blocked (b)"],
    ["nothing hidden is shown", [held("a", "x\u001b[31m\u202e")], "(a by x)"],
  ];
  test.each(rows)("%s", (_name, tasks, line) =>
    expect(queueLine("auto", leftovers(tasks, { labels: [] }))).toContain(line),
  );
});

describe("claims of the dead", () => {
  const AT = "2026-11-15T10:00:00Z";
  const now = Date.parse(AT);
  const HOUR = 3_600_000;
  const claimed = (more: Partial<Task>) =>
    task("a", { state: "claimed", owner: "pawl-1", claimed_at: AT, claimed_on: "here", ...more });
  const rows: [string, Task, number, boolean][] = [
    ["of a dead session", claimed({}), now + HOUR, true],
    ["just made", claimed({}), now + 59_000, false],
    ["made without a time", claimed({ claimed_at: "yesterday" }), now, true],
    ["just made, of a session known to be gone", claimed({ owner: "pawl-gone" }), now + 1_000, true],
    ["the same on another machine", claimed({ owner: "pawl-gone", claimed_on: "there" }), now + HOUR, false],
    ["of a live session", claimed({ owner: "pawl-live" }), now + HOUR, false],
    ["of a person", claimed({ owner: "alice" }), now + 1000 * HOUR, false],
    ["on another machine", claimed({ claimed_on: "there" }), now + 1000 * HOUR, false],
    [
      "on a machine nobody knows",
      task("a", { state: "claimed", owner: "pawl-1", claimed_at: AT }),
      now + 2 * HOUR,
      false,
    ],
    ["there, a day later", task("a", { state: "claimed", owner: "pawl-1", claimed_at: AT }), now + 24 * HOUR, true],
    ["there, nobody knows since when", task("a", { state: "claimed", owner: "pawl-1" }), now + 24 * HOUR, false],
    ["of a closed task", claimed({ state: "closed" }), now + HOUR, false],
  ];
  test.each(rows)("%s", (_name, one, at, expected) => {
    const known = new Map([["pawl-live", true], ["pawl-gone", false]]); // biome-ignore format: one thought
    expect(isExpired(one, at, known, "here")).toBe(expected);
  });

  test("their age is what the clock says", () => {
    const time = fc.date({ min: new Date("1970-01-01"), max: new Date("2400-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(time, fc.nat(10 ** 9), (since, age) => {
        const one = claimed({ claimed_at: since.toISOString() });
        expect(claimAge(one, since.getTime() + age)).toBe(age);
      }),
    );
    expect(claimAge(claimed({ claimed_at: "2026-11-15T12:00:00.5+02:00" }), now + 1500)).toBe(1000);
    expect(claimAge(task("a"), now)).toBe(null);
  });
});
