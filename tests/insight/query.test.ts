import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Insight } from "../../src/insight/query.ts";
import { keepCost } from "../../src/store/cost.ts";
import { ARMED, at, ended, gated, linesOf, SIGNALLED, type Story, to } from "./core/folding.ts";
import { append, type Ground, newGround } from "./ground.ts";

const iso = (minutes: number) => new Date(at(minutes)).toISOString();
const DAY = 24 * 60;

/** memory for so many minutes, then review for ten. */
const quick = (from: number, minutes: number): Story => [
  [from, "memory", ARMED],
  [from + minutes, "memory", SIGNALLED, to("memory", "review")],
  [from + minutes + 10, "review", SIGNALLED, ended()],
];

let ground: Ground;
let root: string;
let insight: Insight;
beforeEach(() => {
  ground = newGround();
  root = ground.project("app");
});
afterEach(() => ground.remove());

function tell(stories: Record<string, Story>, where: { root?: string; workflow?: string } = {}): void {
  const { root: place = root, ...rest } = where;
  for (const [run, story] of Object.entries(stories)) append(place, linesOf(story, { run, ...rest }));
  insight = ground.open();
  insight.sync();
}

const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);

describe("runs", () => {
  const stories: Record<string, Story> = {
    "r-1": quick(0, 5),
    "r-2": [
      [DAY, "memory", ARMED],
      [DAY + 9, "memory", ended("aborted")],
    ],
    "r-3": [
      [2 * DAY, "memory", ARMED],
      [2 * DAY + 1, "memory", ["asked", { ask: "go on?" }]],
    ],
    "r-4": [[3 * DAY, "memory", ARMED]],
    "r-5": [
      [4 * DAY, "memory", ARMED],
      [4 * DAY + 5, "memory", ended("stalled")],
    ],
  };

  test.each([
    [{}, ["r-5", "r-4", "r-3", "r-2", "r-1"]],
    [{ status: "live" }, ["r-4", "r-3"]],
    [{ status: "waiting" }, ["r-3"]],
    [{ status: "completed" }, ["r-1"]],
    [{ since: iso(2 * DAY) }, ["r-5", "r-4", "r-3"]],
    [{ until: iso(DAY) }, ["r-2", "r-1"]],
    [{ since: iso(3), until: iso(4) }, ["r-1"]],
    [{ workflow: "other" }, []],
    [{ project: "/nowhere" }, []],
    [{ since: "rubbish", after: "rubbish" }, ["r-5", "r-4", "r-3", "r-2", "r-1"]],
    [{ status: "' OR 1 --" }, []],
  ])("%j", (filter, wanted) => {
    tell(stories);
    expect(ids(insight.runs(filter).rows)).toEqual(wanted);
    const { runs } = insight.counts(filter);
    expect(runs).toBe(wanted.length);
  });

  test("counts", () => {
    tell(stories);
    expect(insight.counts({})).toEqual({
      runs: 5,
      completed: 1,
      failed: 0,
      aborted: 1,
      other: 1,
      live: 2,
      cost_usd: null,
    });
  });

  test("pages end where the next begins, also within one moment", () => {
    tell(Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`r-${n}`, quick(n % 3, 5)])));
    const seen: string[] = [];
    let after: string | null = "";
    for (let pages = 0; after !== null; pages++) {
      const page = insight.runs({ limit: 4, ...(after && { after }) });
      seen.push(...ids(page.rows));
      after = page.next;
      expect(pages).toBeLessThan(7);
    }
    expect(seen).toEqual(ids(insight.runs({ limit: 100 }).rows));
    expect(new Set(seen).size).toBe(25);
  });

  test("the same run id in two projects is two runs", () => {
    const other = ground.project("other");
    tell({ "r-1": quick(0, 5) });
    tell({ "r-1": [[0, "memory", ARMED]] }, { root: other });
    expect(insight.run(root, "r-1")!.run.status).toBe("ended");
    expect(insight.run(other, "r-1")!.run.status).toBe("active");
    expect(insight.run(other, "r-2")).toBeNull();
  });

  test("one run with its stages and gates", () => {
    tell({
      "r-1": [
        [0, "memory", ARMED],
        [5, "memory", SIGNALLED, gated("fail"), ["continued", {}]],
        [9, "memory", SIGNALLED, gated("pass"), to("memory", "review")],
      ],
    });
    expect(insight.run(root, "r-1")).toMatchObject({
      run: {
        project: root,
        stage: "review",
        claims: 2,
        gate_fails: 1,
        started_at: iso(0),
        updated_at: iso(9),
        ended_at: null,
      },
      stages: [
        { stage: "memory", visit: 1, entered_at: iso(0), left_at: iso(9), ms: 9 * 60_000, how: "done", gate_fails: 1 },
        { stage: "review", visit: 1, left_at: null, ms: null, how: "open" },
      ],
      gates: [
        {
          stage: "memory",
          gate: "npm test",
          pass: 1,
          fail: 1,
          last: "pass",
          at: iso(9),
          tree: "abc",
          command: "npm test",
        },
      ],
    });
  });

  test("who waits now waits until now", () => {
    tell({
      "r-1": [
        [0, "memory", ARMED],
        [1, "memory", ["asked", { ask: "go on?" }]],
      ],
    });
    const { run, stages } = insight.run(root, "r-1")!;
    const wanted = Date.now() - at(1);
    expect(Math.abs(run.waited_ms - wanted)).toBeLessThan(60_000);
    expect(stages[0]!.waited_ms).toBeGreaterThanOrEqual(run.waited_ms);
  });

  test("what a session cost comes from the run's folder, what a loop cost from the journal", () => {
    const home = process.env.HOME;
    process.env.HOME = ground.folder;
    mkdirSync(join(root, ".pawl/runs/cw-1a2b3c4d"), { recursive: true });
    const spent = (usd: number) => ({ usd, ms: 1, api_ms: usd * 10, added: 0, removed: 0 });
    keepCost(root, "cw-1a2b3c4d", "s1", spent(1), null, iso(0));
    keepCost(root, "cw-1a2b3c4d", "s1", spent(3.5), null, iso(1));
    const looped = (cost: number | null) =>
      ["looped", { verdict: "continue", why: "", ms: 1, cost }] as [string, object];
    tell({
      "cw-1a2b3c4d": [[0, "memory", ARMED]],
      "l-1": [
        [0, "build", ["armed", { plan: ["build"] }]],
        [1, "build", looped(0.25) as never, looped(null) as never],
      ],
    });
    expect(insight.run(root, "cw-1a2b3c4d")!.run).toMatchObject({ cost_usd: 2.5, approximate: false });
    expect(insight.loops({})).toMatchObject([
      { run: "l-1", procedure: "build", iterations: 2, cost_usd: 0.25, approximate: true },
    ]);
    expect(insight.counts({}).cost_usd).toBe(2.75);
    // A session spends without a line in the journal.
    keepCost(root, "cw-1a2b3c4d", "s1", spent(4), null, iso(2));
    expect(insight.run(root, "cw-1a2b3c4d")!.run.cost_usd).toBe(3);
    process.env.HOME = home;
  });
});
