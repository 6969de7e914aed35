import { expect, test } from "bun:test";
import fc from "fast-check";
import { unpackRun } from "../../../src/insight/core/fold-pack.ts";
import { hostileJournal } from "../../harness/hostile-runs.ts";
import { foldText } from "./folding.ts";
import { foldPlainly } from "./plain-fold.ts";

const states = (runs: Map<string, Uint8Array>) => [...runs].map(([id, packed]) => [id, unpackRun(packed)]).sort();

test("the quick way finds what parsing every line finds", () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  fc.assert(
    fc.property(hostileJournal, (text) => {
      const [quick, plain] = [foldText(text), foldPlainly(text)];
      expect(states(quick.runs)).toEqual(states(plain.runs));
      expect(quick.skipped).toBe(plain.skipped);
    }),
    { numRuns: Number(process.env.RUNS ?? 1500), seed },
  );
});
