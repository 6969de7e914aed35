import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { ENOUGH_ATTEMPTS } from "../../src/insight/core/stats-text.ts";
import type { Insight } from "../../src/insight/query.ts";
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

function tell(stories: Record<string, Story>): void {
  for (const [run, story] of Object.entries(stories)) append(root, linesOf(story, { run }));
  insight = ground.open();
  insight.sync();
}

describe("stages", () => {
  test("exact figures, in the order of the plan", () => {
    tell(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`r-${n}`, quick(0, n + 1)])));
    expect(insight.stageStats({})).toMatchObject([
      {
        stage: "memory",
        runs: 20,
        attempts: 20,
        open: 0,
        p50_ms: 10 * 60_000,
        p95_ms: 19 * 60_000,
        success_rate: 1,
        approximate: false,
      },
      { stage: "review", runs: 20, attempts: 20, p50_ms: 600_000, claims: 20 },
    ]);
  });

  test("a stay counts in the time in which it ended", () => {
    tell({
      "r-1": quick(0, 5),
      "r-2": [
        [0, "memory", ARMED],
        [5, "memory", to("memory", "review")],
      ],
    });
    const stats = insight.stageStats({ since: iso(6) });
    expect(stats).toMatchObject([{ stage: "review", attempts: 1, open: 1, runs: 1 }]);
  });

  test("back is no success, and a second attempt is none of another run", () => {
    tell({
      "r-1": [
        [0, "memory", ARMED],
        [1, "memory", to("memory", "review")],
        [2, "review", to("review", "memory")],
        [3, "memory", ended("aborted")],
      ],
    });
    expect(insight.stageStats({})).toMatchObject([
      { stage: "memory", runs: 1, attempts: 2, success_rate: 0.5 },
      { stage: "review", runs: 1, attempts: 1, success_rate: 0 },
    ]);
  });

  test("of many runs from sums: close to the exact ones, and marked", () => {
    const many = Array.from(
      { length: 2100 },
      (_, n) => [`r-${n}`, quick((n % 90) * DAY, 1 + (n % 300))] as [string, Story],
    );
    tell(Object.fromEntries(many));
    const [memory] = insight.stageStats({});
    expect(memory).toMatchObject({ runs: 2100, attempts: 2100, success_rate: 1, claims: 2100, approximate: true });
    const sorted = many.map(([, story]) => (story[1]![0] - story[0]![0]) * 60_000).sort((a, b) => a - b);
    for (const [got, exact] of [
      [memory!.p50_ms!, sorted[1049]!],
      [memory!.p95_ms!, sorted[1994]!],
    ] as const)
      expect(Math.abs(got - exact) / exact).toBeLessThan(0.011);
    // From the fourth day to the seventieth: parts of two months and a whole one.
    const limits = { since: iso(4 * DAY - 600), until: iso(70 * DAY + 839) };
    const within = many.filter(([, story]) => story[1]![0] >= 4 * DAY - 600 && story[1]![0] <= 70 * DAY + 839).length;
    expect(insight.stageStats(limits)[0]!.attempts).toBe(within);
    expect(insight.trend(limits, 4)[0]!.points.reduce((sum, { runs }) => sum + runs, 0)).toBe(within);
    // Few enough to look at each.
    expect(insight.stageStats({ since: iso(0), until: iso(5 * DAY) })[0]!.approximate).toBe(false);
  });

  test("trend: equal parts, empty ones too", () => {
    tell({ "r-1": quick(0, 10), "r-2": quick(3 * DAY, 30), "r-3": quick(3 * DAY, 40) });
    const [memory] = insight.trend({ since: iso(0), until: iso(4 * DAY) }, 4);
    expect(memory!.points).toEqual([
      { at: iso(0), runs: 1, p50_ms: 600_000, success_rate: 1 },
      { at: iso(DAY), runs: 0, p50_ms: null, success_rate: null },
      { at: iso(2 * DAY), runs: 0, p50_ms: null, success_rate: null },
      { at: iso(3 * DAY), runs: 2, p50_ms: 1_800_000, success_rate: 1 },
    ]);
    expect(insight.trend({ since: iso(9 * DAY), until: iso(4 * DAY) }, 4)).toEqual([]);
  });
});

describe("the bottleneck", () => {
  const waits = (from: number): Story => [
    [from, "memory", ARMED],
    [from + 5, "memory", to("memory", "review")],
    [from + 6, "review", ["asked", { ask: "go on?" }]],
    [from + 126, "review", ["decided", { choice: "yes" }], ended()],
  ];
  const fails = (from: number): Story => [
    [from, "memory", ARMED],
    [from + 20, "memory", SIGNALLED, gated("fail")],
    [from + 40, "memory", SIGNALLED, gated("pass"), to("memory", "review")],
    [from + 41, "review", ended()],
  ];
  const three = (story: (from: number) => Story) => ({ "r-1": story(0), "r-2": story(200), "r-3": story(400) });

  test.each([
    [
      "waiting",
      three(waits),
      "Most time is lost in review (complete-work) waiting for you: 6 h of the 6 h 3 min spent there.",
    ],
    [
      "failing",
      three(fails),
      "Most time is lost in memory (complete-work), where checks fail: 3 failures in 3 attempts.",
    ],
    [
      "slow",
      three((from) => quick(from, 50)),
      "Most time is spent in memory (complete-work): 50 min each time, 83 % of all time in stages.",
    ],
  ])("%s", (_, stories, sentence) => {
    tell(stories);
    expect(insight.bottleneck({})!.sentence).toBe(sentence);
  });

  test("with its evidence", () => {
    tell(three(waits));
    expect(insight.bottleneck({})!.evidence).toBe(
      "3 attempts in 3 runs; p50 2 h 1 min, p95 2 h 1 min; 6 h 3 min in all, 96 % of the time in stages; 6 h waiting for you",
    );
  });

  test("too little says nothing", () => {
    tell({ "r-1": quick(0, 5), "r-2": quick(0, 5) });
    expect(ENOUGH_ATTEMPTS).toBe(5);
    expect(insight.bottleneck({})).toBeNull();
    tell({
      "r-3": [
        [0, "memory", ARMED],
        [5, "memory", to("memory", "review")],
      ],
    });
    expect(insight.bottleneck({})).not.toBeNull();
  });
});
