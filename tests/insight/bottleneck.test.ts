/** The bottleneck in words: whatever the figures are, they read well, and what did not happen is not told. */
import { describe, expect, test } from "bun:test";
import { findBottleneck } from "../../src/insight/core/stats-text.ts";
import type { StageStat } from "../../src/insight/types.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const stage = (figures: Partial<StageStat>): StageStat => ({
  workflow: "ship",
  stage: "test",
  runs: 5,
  attempts: 5,
  open: 0,
  p50_ms: 4 * MINUTE,
  p95_ms: 12 * MINUTE,
  total_ms: 30 * MINUTE,
  success_rate: 1,
  claims: 5,
  continues: 0,
  asks: 0,
  gate_fails: 0,
  waited_ms: 0,
  approximate: false,
  ...figures,
});
const OTHER = stage({ stage: "build", p50_ms: 1, p95_ms: 1, total_ms: 30 * MINUTE });

const told = (figures: Partial<StageStat>, others = [OTHER]) => findBottleneck([stage(figures), ...others])!;

describe("evidence", () => {
  test.each<[Partial<StageStat>, string]>([
    [{}, "5 attempts in 5 runs; p50 4 min, p95 12 min; 30 min in all, 50 % of the time in stages"],
    [
      { waited_ms: 10 * MINUTE },
      "5 attempts in 5 runs; p50 4 min, p95 12 min; 30 min in all, 50 % of the time in stages; 10 min waiting for you",
    ],
    [
      { gate_fails: 1, approximate: true },
      "5 attempts in 5 runs; p50 about 4 min, p95 about 12 min; 30 min in all, 50 % of the time in stages; 1 gate failure",
    ],
    [
      { attempts: 9, runs: 1, gate_fails: 3, waited_ms: 1_000, total_ms: 50 * HOUR },
      "9 attempts in 1 run; p50 4 min, p95 12 min; 2 d 2 h in all, 99 % of the time in stages; 1 s waiting for you; 3 gate failures",
    ],
    [
      { p50_ms: null, p95_ms: null, waited_ms: 48 * HOUR, total_ms: 48 * HOUR },
      "5 attempts in 5 runs; 2 d in all, 99 % of the time in stages; 2 d waiting for you",
    ],
  ])("%o", (figures, wanted) => expect(told(figures).evidence).toBe(wanted));
});

const NEVER = [
  /\b0 |NaN|null|undefined|Infinity|false|; ?;|; *$/,
  /\b1 (?:attempts|runs|failures|gate failures)\b/,
  /(?:\b[02-9]|\d\d) (?:attempt|run|failure|gate failure)\b/,
];
const SENTENCE = /^Most time is (?:lost|spent) in (?:test|build) \(ship\)[^.]*\.$/;

function* combinations(): Generator<Partial<StageStat> & { crowd: number }> {
  for (const waited_ms of [0, 400, 90_000, 26 * HOUR])
    for (const gate_fails of [0, 1, 7])
      for (const [p50_ms, p95_ms] of [[null, null] as const, [400, 90_000] as const, [2 * HOUR, 2 * HOUR] as const])
        for (const [attempts, runs] of [[5, 5] as const, [6, 1] as const, [20, 7] as const])
          for (const approximate of [false, true])
            for (const crowd of [1, 1000]) {
              const total_ms = Math.max(waited_ms, (p50_ms ?? 500) * attempts);
              yield { waited_ms, gate_fails, p50_ms, p95_ms, attempts, runs, approximate, total_ms, crowd };
            }
}

test("every combination of figures reads well", () => {
  let count = 0;
  const wrong: unknown[] = [];
  for (const { crowd, ...figures } of combinations()) {
    const found = findBottleneck([stage(figures), { ...OTHER, total_ms: crowd * HOUR }]);
    if (found === null) continue;
    count += 1;
    const { sentence, evidence } = found;
    const isWrong = NEVER.some((pattern) => pattern.test(sentence) || pattern.test(evidence));
    if (isWrong || !SENTENCE.test(sentence)) wrong.push({ sentence, evidence, figures });
  }
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(300);
});
