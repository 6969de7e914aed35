import { expect, test } from "bun:test";
import fc from "fast-check";
import { hostileJournal } from "../../harness/hostile-runs.ts";
import { commit, foldText, type Told } from "./folding.ts";

const STAGES = ["memory", "review", "commit"];
const ARMED: Told = ["armed", { plan: STAGES, by: "prompt", beside: [] }];
const SIGNALLED: Told = ["signalled", { signal: "DONE", trailing: false }];
const gated = (verdict: string): Told => [
  "gated",
  { signal: "DONE", gate: "npm test", id: "g", verdict, why: verdict, tree: "abc", command: "npm test", cwd: "." },
];

function randomFrom(seed: number) {
  let state = seed;
  const below = (most: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  return { below, one: <T>(list: readonly T[]): T => list[below(list.length)]! };
}

type Random = ReturnType<typeof randomFrom>;

function anyRecord({ one, below }: Random, stage: string): Told {
  return one<Told>([
    SIGNALLED,
    gated(one(["pass", "fail", "unproven"])),
    ["continued", { idle: below(3) }],
    ["prompted", { said: 'he said "é"', injected: below(2) === 0 }],
    ["asked", { ask: "what", issues: ["a"] }],
    ["decided", { choice: "go" }],
    ["halted", { why: "no" }],
    ["resumed", { why: "on" }],
    ["approved", { gate: "npm test" }],
    ["stopped", { said: "text" }],
    ["owed", {}],
    ["unknown_kind", { x: 1 }],
    ["task_begun", { task: `t-${below(9)}`, title: "T" }],
    ["looped", { iteration: 1, verdict: one(["continue", "failure", "spoilt"]), why: "", cost: one([0.5, null]) }],
    ["replanned", { plan: STAGES }],
    ["phased", { from: 1, to: below(4) }],
    ["adopted", { from: stage, to: "s2" }],
    ["ended", { outcome: one(["completed", "aborted"]) }],
  ]);
}

/** Some runs side by side, with doubles, late commits, torn lines and noise. */
function anyJournal(random: Random): string {
  const { below, one } = random;
  const seqs = [0, 0, 0];
  const commits: string[][] = [];
  for (let n = 0; n < 60; n++) {
    const run = below(3);
    const stage = one(STAGES);
    const told = Array.from({ length: 1 + below(4) }, () => anyRecord(random, stage));
    seqs[run]!++;
    commits.push(
      commit(seqs[run]!, n, stage, seqs[run] === 1 ? [ARMED, ...told] : told, {
        run: `r-${run}`,
        session: `s${below(2)}`,
      }),
    );
  }
  const lines = commits.flatMap((own) => {
    const written = below(12) === 0 ? [own[0]!.slice(0, below(own[0]!.length)), ...own] : own;
    return below(8) === 0 ? [...written, ...(one(commits) ?? [])] : written;
  });
  return `${lines.join(one(["\n", "\n\n"]))}\n`;
}

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** In one go, and in pieces that end where a line ends. */
function compare(text: string, places: number[], about: string): void {
  const whole = foldText(text);
  const cuts = places.map((place) => text.indexOf("\n", place % text.length) + 1);
  let [from, pieces] = [0, foldText("")];
  for (const cut of [...cuts.sort((a, b) => a - b), text.length]) {
    pieces = foldText(text.slice(from, cut), pieces);
    from = Math.max(from, cut);
  }
  const sorted = ({ closed }: typeof whole) => closed.map((visit) => JSON.stringify(visit)).sort();
  const states = ({ runs }: typeof whole) => [...runs].map(([id, state]) => [id, JSON.parse(state)]).sort();
  expect([about, states(pieces)]).toEqual([about, states(whole)]);
  expect([about, sorted(pieces)]).toEqual([about, sorted(whole)]);
  expect([about, pieces.skipped]).toEqual([about, whole.skipped]);
}

test("a journal reads the same wherever reading was interrupted", () => {
  for (let round = 0; round < 150; round++) {
    const random = randomFrom(seed + round);
    const text = anyJournal(random);
    const places = Array.from({ length: 1 + random.below(6) }, () => random.below(text.length));
    compare(text, places, `SEED=${seed + round}`);
  }
});

test("so does a hostile one", () => {
  const places = fc.array(fc.nat(), { maxLength: 5 });
  fc.assert(
    fc.property(hostileJournal, places, (text, at) => compare(text, at, "")),
    { numRuns: Number(process.env.RUNS ?? 500), seed },
  );
});
