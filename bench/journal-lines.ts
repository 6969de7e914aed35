/** Journals as Pawl writes them: runs side by side, about a hundred records each, with what agents and gates say. */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const STAGES = ["plan", "code", "tests", "review", "commit"];
const SIDE_BY_SIDE = 16;
const MINUTE = 60_000;
const BEGIN = Date.parse("2026-01-01T00:00:00.000Z");
const SAID =
  "All parts are done and the tests pass now; I looked at every file that changed and found nothing else to mend in it.";

/** Numbers that look like chance and are the same each time. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 0x1000000;
  };
}

type Fields = Record<string, unknown>;

interface Made {
  at: number;
  lines: string[];
}

/** One run's commits in order, each with its time. */
function makeRun(number: number, begin: number, random: () => number, short: boolean): Made[] {
  const id = `cw-${number.toString(16).padStart(8, "0")}`;
  const about = {
    host: "claude",
    session: `${number.toString(16).padStart(8, "0")}-0000-4000-8000-000000000000`,
    workflow: number % 3 === 0 ? "auto-workflow" : "complete-work",
  };
  const made: Made[] = [];
  let at = begin;
  const commit = (stage: string, records: [string, Fields?][]) => {
    const seq = made.length + 1;
    const time = new Date(at).toISOString();
    const lines = records.map(([kind, fields], i) =>
      JSON.stringify({ v: 1, at: time, run: id, seq, i, kind, ...about, stage, ...fields }),
    );
    made.push({ at, lines });
    at += Math.floor((0.2 + random()) * 2 * MINUTE);
  };
  commit(STAGES[0]!, [
    ["prompted", { said: "/complete-work", injected: false }],
    ["armed", { plan: STAGES, by: "prompt", beside: [], task: null, title: "Mend the rounding of refunds" }],
    ["owed", { given_by: "prompt" }],
  ]);
  STAGES.forEach((stage, place) => {
    for (let n = 0; n < (short ? 0 : 2); n++)
      commit(stage, [
        ["stopped", { said: SAID, continuing: n > 0 }],
        ["delivered", { given_by: "stop", times: 1 }],
        ["missing", { why: "no signal" }],
        ["owed", { given_by: "stop" }],
        ["continued", { idle: n, why: "told" }],
      ]);
    if (!short && random() < 0.3) commit(stage, [["checkpointed", { trigger: "auto" }]]);
    if (random() < 0.4)
      commit(stage, [
        ["stopped", { said: SAID, continuing: true }],
        ["signalled", { signal: "DONE", trailing: false }],
        ["gated", gated("fail", "exit 1: 2 failed, 40 passed")],
        ["owed", { given_by: "stop" }],
        ["continued", { idle: 0, why: "told" }],
      ]);
    const next = STAGES[place + 1];
    const claim: [string, Fields?][] = [
      ["stopped", { said: SAID, continuing: true }],
      ["delivered", { given_by: "stop", times: 1 }],
      ["signalled", { signal: "DONE", trailing: false }],
      ["gated", gated("pass", "42 passed")],
    ];
    if (next === undefined)
      commit(stage, [...claim, ["ended", { outcome: "completed", signal: "DONE", by: "agent", commit: null }]]);
    else
      commit(stage, [
        ...claim,
        ["advanced", { stage: next, from: stage, to: next, signal: "DONE" }],
        ["owed", { stage: next, given_by: "stop" }],
        ["continued", { stage: next, idle: 0, why: "moved" }],
      ]);
  });
  return made;
}

const gated = (verdict: string, why: string): Fields => ({
  signal: "DONE",
  gate: "npm test",
  id: "692c80f3978ceab259f8b8fc",
  verdict,
  why,
  tree: "05f1e64b2f0a4b0f9d9d3c1b05f1e64b2f0a4b0f",
  command: "npm test",
  cwd: ".",
  exit: verdict === "pass" ? 0 : 1,
  ms: 5321,
  digest: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  tests: { passed: 42, failed: verdict === "pass" ? 0 : 2, skipped: 0 },
  flaky: false,
  again: false,
});

export interface Written {
  lines: number;
  runs: number;
  bytes: number;
}

interface Wish {
  lines?: number;
  runs?: number;
  /** the number of the first run */
  first?: number;
  /** runs with next to nothing in them */
  short?: boolean;
}

/** At least so many lines or runs. Runs overlap as sessions do. */
export function writeJournal(path: string, wish: Wish): Written {
  const { lines: mostLines = Number.MAX_SAFE_INTEGER, runs: mostRuns = Number.MAX_SAFE_INTEGER, first = 0 } = wish;
  mkdirSync(dirname(path), { recursive: true });
  const random = randomFrom(first + 1);
  const fd = openSync(path, "a");
  const written: Written = { lines: 0, runs: 0, bytes: 0 };
  let buffer: string[] = [];
  const flush = () => {
    written.bytes += writeSync(fd, buffer.join(""));
    buffer = [];
  };
  try {
    while (written.lines < mostLines && written.runs < mostRuns) {
      const begin = BEGIN + (first + written.runs) * 3 * MINUTE;
      const runs = Array.from({ length: SIDE_BY_SIDE }, (_, n) =>
        makeRun(first + written.runs + n, begin, random, wish.short === true),
      );
      const commits = runs.flat().sort((a, b) => a.at - b.at);
      for (const { lines } of commits) {
        buffer.push(`\n${lines.join("\n")}\n`);
        written.lines += lines.length;
      }
      written.runs += runs.length;
      if (buffer.length > 20_000) flush();
    }
    flush();
  } finally {
    closeSync(fd);
  }
  return written;
}
