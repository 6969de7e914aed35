import { describe, expect, test } from "bun:test";
import { ARMED, at, commit, ENDED, foldStory, foldText, gated, linesOf, SIGNALLED, stateOf, to } from "./folding.ts";

describe("lines that are not as they should be", () => {
  const whole = linesOf([
    [0, "memory", ARMED],
    [5, "memory", SIGNALLED, gated("fail"), to("memory", "review")],
    [9, "review", SIGNALLED, ENDED],
  ]);
  const folded = foldText(`${whole.join("\n")}\n`);

  const SAME: Record<string, string[]> = {
    "every line twice": whole.flatMap((line) => [line, line]),
    "everything again at the end": [...whole, ...whole],
    "torn, then whole": [whole[0]!, whole[1]!.slice(0, 70), whole[1]!.slice(0, 150), ...whole.slice(1)],
    "kinds that nobody knows": whole.flatMap((line) => [
      line,
      line.replace(/"i":\d+,"kind":"\w+"/, '"i":20,"kind":"dreamt"'),
    ]),
    "empty lines": whole.flatMap((line) => ["", line, ""]),
    "keys in another order": whole.map((line) =>
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).reverse())),
    ),
    "spaces between": whole.map((line) => JSON.stringify(JSON.parse(line), null, 1).replaceAll("\n", "")),
  };
  test.each(Object.entries(SAME))("%s", (_, lines) => {
    expect(foldText(`${lines.join("\n")}\n`).runs).toEqual(folded.runs);
  });

  const NONE = [
    "{",
    "null",
    "[]",
    '{"v":2}',
    "\u0000",
    "x".repeat(500),
    '{"v":1,"at":"2026-13-01T10:00:00.000Z","run":"a","seq":1,"i":0,"kind":"armed"}',
  ];
  test.each(NONE)("%p is skipped", (line) => {
    expect(foldText(`${line}\n`)).toMatchObject({ skipped: 1, closed: [] });
  });

  test("a torn line that nobody wrote again counts for nothing", () => {
    expect(foldText(`${whole[1]!.slice(0, -1)}\n`)).toMatchObject({ skipped: 1, runs: new Map() });
  });

  test("times are those that a calendar says", () => {
    const days = Array.from({ length: 4000 }, (_, n) => n * 123_456.789 + (n % 60));
    for (const minutes of days)
      expect(stateOf(foldText(`${commit(1, minutes, "memory", [ARMED]).join("\n")}\n`)).started).toBe(
        Math.floor(at(minutes)),
      );
  });

  test.each(['a "b"', "c\\d", "tab\t"])("the name %j", (name) => {
    const { stage, gates } = foldStory([[0, name, ["armed", { plan: [] }], gated("fail", name)]]);
    expect([stage, gates[0]!.gate, gates[0]!.id]).toEqual([name, name, `id-${name}`]);
  });

  test("names with quotes and umlauts", () => {
    const { stage, gates } = foldStory([[0, 'über "alles"', ["armed", { plan: [] }], gated("fail", 'naïve "gate"')]]);
    expect([stage, gates[0]!.gate]).toEqual(['über "alles"', 'naïve "gate"']);
  });

  test("a run whose beginning is missing says so", () => {
    expect(stateOf(foldText(`${commit(7, 3, "review", [SIGNALLED]).join("\n")}\n`)).approximate).toBe(true);
  });

  test("a late commit counts, moves nothing, and is admitted", () => {
    const [first, second, third] = [
      commit(1, 0, "memory", [ARMED]),
      commit(2, 5, "memory", [SIGNALLED]),
      commit(3, 6, "review", [to("memory", "review")]),
    ];
    const state = stateOf(foldText(`${[...first, ...third, ...second].join("\n")}\n`));
    expect(state).toMatchObject({ claims: 1, stage: "review", approximate: true });
    expect(state.visits.length).toBe(2);
  });

  test("doubles far back are still doubles", () => {
    const long = Array.from({ length: 3000 }, (_, n) => commit(n + 1, n, "memory", [SIGNALLED])).flat();
    const state = stateOf(foldText(`${[...long, ...long.slice(-300), ...long].join("\n")}\n`));
    expect(state.claims).toBe(3000);
    expect(state.seen.counts.length).toBeLessThan(1100);
  });
});
