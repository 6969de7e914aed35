/** Statistics on a screen and as CSV, from little to much and whatever stages are called. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { span, statsCsv, statsText } from "../../../src/insight/core/stats-text.ts";
import type { LoopFigures, RunFigures, StageStat, StatsView } from "../../../src/insight/types.ts";

const MINUTE = 60_000;
const NO_RUNS: RunFigures = { runs: 0, completed: 0, failed: 0, aborted: 0, other: 0, live: 0, cost_usd: null };
const NO_LOOPS: LoopFigures = {
  ...{ loops: 0, capped: false, iterations: 0, failures: 0, cost_usd: 0, unknown: 0, outcomes: {} },
};

const stage = (name: string, more: Partial<StageStat> = {}): StageStat => ({
  ...{ workflow: "ship", stage: name, runs: 8, attempts: 10, open: 0, p50_ms: 3 * MINUTE, p95_ms: 9 * MINUTE },
  ...{ total_ms: 40 * MINUTE, success_rate: 0.7, claims: 10, continues: 4, asks: 1, gate_fails: 3, waited_ms: 0 },
  ...{ approximate: false, ...more },
});

const EMPTY: StatsView = {
  ...{ at: "2026-11-16T00:00:00.000Z", since: "2026-10-17T00:00:00.000Z", before_since: "2026-09-17T00:00:00.000Z" },
  ...{ project: "/code/shop", workflow: null, runs: NO_RUNS, runs_before: NO_RUNS, stages: [], stages_before: [] },
  ...{ courses: [], bottleneck: null, loops: NO_LOOPS, loops_before: NO_LOOPS, problems: [] },
};

const SHOWN = { place: "/code/shop", asked: "30d", since: "2026-10-17 00:00", columns: 100, workflows: ["ship"] };
const text = (view: Partial<StatsView>) => statsText({ ...EMPTY, ...view }, SHOWN);
const SOME = { ...NO_RUNS, runs: 8, completed: 5, failed: 1, aborted: 1, live: 1 };

describe("too little is said to be too little", () => {
  test("no run", () => {
    expect(text({})).toBe(
      "Statistics in /code/shop, since 30d (2026-10-17 00:00)\n\n" +
        "No run in this time: there is nothing to count yet. `--since 90d` looks farther back.\n",
    );
  });

  test("no stage that is over: no table", () => {
    const shown = text({
      runs: { ...NO_RUNS, runs: 1, live: 1 },
      stages: [stage("build", { attempts: 0, total_ms: 0 })],
    });
    expect(shown).toContain("1 run: 1 open (none in the time before)\nToo little to say more");
    expect(shown).not.toContain("p50");
  });

  test("few tries: no bottleneck, no trend", () => {
    const shown = text({ runs: SOME, stages: [stage("build", { attempts: 2 })], stages_before: [stage("build")] });
    expect(shown).toContain("Not enough data for a bottleneck: 2 of 5 finished stages.");
    expect(shown).toContain("No trend: ");
  });
});

describe("the screen", () => {
  test("a table with a chart, the bottleneck with its evidence, the trend with both figures", () => {
    const view = {
      runs: SOME,
      runs_before: { ...NO_RUNS, runs: 4, completed: 4 },
      stages: [stage("build"), stage("send", { total_ms: 10 * MINUTE, waited_ms: 5 * MINUTE, success_rate: 1 })],
      stages_before: [stage("build", { p50_ms: 5 * MINUTE, success_rate: 0.9, attempts: 10 })],
      courses: [{ workflow: "ship", stage: "build", medians: [null, 1, 4, 8] }],
      bottleneck: { sentence: "Most time is spent in build (ship).", evidence: "10 attempts in 8 runs; p50 3 min" },
    };
    expect(text(view)).toBe(`Statistics in /code/shop, since 30d (2026-10-17 00:00)

8 runs: 5 completed, 1 failed, 1 aborted, 1 open (↑ 4 in the time before, 4 completed)

ship               runs tries success      p50      p95 sent on asked gate ✗   waited  p50 over time
  build               8    10    70 %    3 min    9 min       4     1      3        –  ·▁▄█
  send                8    10   100 %    3 min    9 min       4     1      3    5 min  

Where the time goes
  build           ████████████████████████  80 %  40 min (ship)
  send            ██████                    20 %  10 min (ship)

Bottleneck: Most time is spent in build (ship).
  10 attempts in 8 runs; p50 3 min

Compared with the period before, of the same length
  build           p50 5 min → 3 min ↓   success 90 % → 70 % ↓   tries 10 → 10 =
`);
  });

  test.each<[number, string, string]>([
    [100, "runs tries success      p50      p95 sent on asked gate ✗   waited  p50 over time", ""],
    [80, "runs tries success      p50      p95 sent on gate ✗   waited", "p50 over time, asked"],
    [60, "tries success      p50      p95   waited", "p50 over time, asked, sent on, runs, gate ✗"],
  ])(
    "%d columns: lesser figures are left out and named, sentences go on in the next line",
    (columns, heading, without) => {
      const long = stage("build", { p50_ms: 150 * MINUTE, p95_ms: 570 * MINUTE, approximate: true });
      const sentence = "Most time is lost in build (ship) waiting for you: 4 h 30 min of the 10 h 15 min spent there.";
      const evidence =
        "10 attempts in 8 runs; p50 about 2 h 30 min, p95 about 9 h 30 min; 10 h in all, 90 % of the time";
      const view = { ...EMPTY, runs: SOME, stages: [long], stages_before: [long], bottleneck: { sentence, evidence } };
      const screen = statsText(view, { ...SHOWN, columns });
      expect(screen.split("\n").filter((line) => line.length > columns)).toEqual([]);
      expect(screen).toMatch(new RegExp(`^ship +${heading}$`, "m"));
      expect(/^Not shown \(screen too narrow\): (.+)\.$/m.exec(screen.replace(/\n +/g, " "))?.[1] ?? "").toBe(without);
      for (const words of [sentence, ...evidence.split("; "), "tries 10 → 10 ="])
        expect(screen.replace(/\s+/g, " ")).toContain(words);
    },
  );

  test("what is not exact says so, in the table and in the trend", () => {
    const stages = [stage("build", { approximate: true })];
    const shown = text({ runs: SOME, stages, stages_before: [stage("build")] });
    expect(shown).toMatch(/build +8 +10 +70 % +≈3 min +≈9 min/);
    expect(shown).toContain("p50 ≈3 min → ≈3 min =");
    expect(shown).toContain("≈ not exact");
    expect(text({ runs: SOME, stages: [stage("build")] })).not.toContain("≈");
  });

  test.each<[string, Partial<LoopFigures>, string]>([
    ["known", { outcomes: { success: 2 }, cost_usd: 1.5 }, "Loops: 2, 2 success; 7 iterations; $1.50"],
    [
      "in part",
      { outcomes: { limit: 2 }, cost_usd: 1.5, unknown: 1 },
      "Loops: 2, 2 limit; 7 iterations; at least $1.50",
    ],
    ["unknown", { outcomes: { open: 2 }, unknown: 2 }, "Loops: 2, 2 open; 7 iterations; cost unknown"],
    ["failures", { outcomes: { aborted: 2 }, failures: 3 }, "Loops: 2, 2 aborted; 7 iterations, 3 failed; $0.00"],
  ])("loops, cost %s", (_, more, wanted) => {
    expect(text({ runs: SOME, loops: { ...NO_LOOPS, loops: 2, iterations: 7, ...more } })).toContain(`${wanted}\n`);
  });

  test.each<[number, string]>([
    [0, "0 ms"],
    [999, "999 ms"],
    [1000, "1 s"],
    [59_400, "59 s"],
    [60_000, "1 min"],
    [59 * MINUTE, "59 min"],
    [90 * MINUTE, "1.5 h"],
    [72 * 60 * MINUTE, "3.0 d"],
  ])("%d ms is %s", (ms, wanted) => expect(span(ms)).toBe(wanted));

  test("what could not be read is told", () => {
    expect(text({ problems: ["/code/site: \u001b[31mno permission"] })).toContain(
      "Not read: /code/site: no permission\n",
    );
  });
});

const names = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom(
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    '=HYPERLINK("http://x","y")',
    "\t=1",
    "a,b",
    'say "hi"',
    "a\r\nb",
    " =1",
    "日本語".repeat(9),
  ),
);

/** As RFC 4180 has it; null: it is not so. */
function parseCsv(csv: string): string[][] | null {
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y;
  const rows: string[][] = [];
  for (let row: string[] = []; cell.lastIndex < csv.length; ) {
    const found = cell.exec(csv);
    if (found === null) return null;
    row.push(found[1]?.replaceAll('""', '"') ?? found[2]!);
    if (found[3] === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

describe("CSV", () => {
  test("one line a stage, with the time before", () => {
    const view = { ...EMPTY, stages: [stage("build"), stage("send")], stages_before: [stage("build", { p50_ms: 7 })] };
    expect(statsCsv(view)).toBe(
      "workflow,stage,runs,attempts,open,success_rate,p50_ms,p95_ms,total_ms,claims,continues,asks,gate_fails,waited_ms,approximate,before_attempts,before_success_rate,before_p50_ms,before_p95_ms\r\n" +
        "ship,build,8,10,0,0.7,180000,540000,2400000,10,4,1,3,0,false,10,0.7,7,540000\r\n" +
        "ship,send,8,10,0,0.7,180000,540000,2400000,10,4,1,3,0,false,,,,\r\n",
    );
  });

  test("whatever stages are called: as many cells as columns, and none begins like a formula", () => {
    fc.assert(
      fc.property(names, names, (workflow, name) => {
        const rows = parseCsv(statsCsv({ ...EMPTY, stages: [stage(name, { workflow }), stage("last")] }));
        expect(rows?.map((row) => row.length)).toEqual([19, 19, 19]);
        const cells = rows!.flat();
        expect(cells.filter((cell) => /^[\s]*[=+\-@\t\r]/.test(cell))).toEqual([]);
        expect(rows![2]![1]).toBe("last");
      }),
    );
  });
});

test("whatever stages are called, the screen has its lines and nothing hidden in them", () => {
  fc.assert(
    fc.property(names, names, (workflow, name) => {
      const lines = text({
        runs: SOME,
        stages: [stage(name, { workflow })],
        stages_before: [stage(name, { workflow })],
      });
      expect(lines.split("\n")).toHaveLength(13);
      expect(lines).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      expect(lines.split("\n").filter((line) => [...line].length > 100)).toEqual([]);
    }),
  );
});
