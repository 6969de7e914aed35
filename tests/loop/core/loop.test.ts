/** What follows from an iteration: every cell of the matrix, and what holds on every walk. */
import { describe, expect, test } from "bun:test";
import type { Limits, LoopState } from "../../../src/kernel/types/loop.ts";
import { after, deviation, ended, type IterationResult, mayGo, newLoop, waited } from "../../../src/loop/core/loop.ts";

const LIMITS: Limits = { max_iterations: 5, failure_threshold: 3, time_limit: 3_600, budget: 10 };
const AT = "2026-03-01T10:00:00.000Z";
const fresh = () => newLoop({ id: "lo-1", procedure: "build", ai: "claude", run: "" }, AT);

const SAID = {
  none: "Working.",
  success: "<promise>SUCCESS</promise>\n\nAll done.",
  failure: "<promise>FAILURE</promise>\n\nBlocked.",
};

function result(
  over: Partial<IterationResult> & { said?: "none" | "success" | "failure" | "both" } = {},
): IterationResult {
  const { said = "none", ...more } = over;
  const signals = {
    success: said === "success" || said === "both",
    failure: said === "failure" || said === "both",
    reason: said === "none" ? null : said === "success" ? "All done." : "Blocked.",
    malformed: [],
    misplaced: [],
    quoted: [],
  };
  const message = said === "both" ? `${SAID.success}\n${SAID.failure}` : SAID[said];
  return {
    at: AT,
    how: "exited",
    exit: 0,
    why: "",
    signals,
    message,
    gist: message,
    failed: { class: "agent", why: "it ended with an error", remedy: null },
    reset_in_ms: null,
    refused: null,
    tree: "t1",
    cost_usd: 0.5,
    tokens: { in: 10, out: 5 },
    elapsed_ms: 1_000,
    session: null,
    ...more,
  };
}

describe("the outcome matrix", () => {
  const rows: [said: "none" | "success" | "failure" | "both", how: string, verdict: string, ends: string | null][] = [
    ["none", "exit 0", "continue", null],
    ["none", "exit 3", "failure", null],
    ["none", "killed", "failure", null],
    ["none", "timeout", "failure", null],
    ["success", "exit 0", "success", "success"],
    ["success", "exit 3", "success", "success"],
    ["success", "killed", "success", "success"],
    ["success", "timeout", "failure", null],
    ["failure", "exit 0", "failure", null],
    ["failure", "exit 3", "failure", null],
    ["failure", "killed", "failure", null],
    ["failure", "timeout", "failure", null],
    ["both", "exit 0", "failure", null],
    ["both", "exit 3", "failure", null],
    ["both", "killed", "failure", null],
    ["both", "timeout", "failure", null],
    ["none", "not-started", "spoilt", "not-started"],
    ["success", "interrupted", "spoilt", "interrupted"],
  ];
  const hows: Record<string, Partial<IterationResult>> = {
    "exit 0": {},
    "exit 3": { exit: 3 },
    killed: { how: "killed", exit: null, why: "ended by SIGSEGV" },
    timeout: { how: "timeout", exit: null, why: "it took longer than 60 s" },
    "not-started": { how: "not-started", exit: null, why: "there is no claude" },
    interrupted: { how: "interrupted", exit: null },
  };
  for (const [said, how, verdict, ends] of rows)
    test(`${said}, ${how}: ${verdict}`, () => {
      const found = after(fresh(), LIMITS, result({ said, ...hows[how] }));
      expect(found.verdict as string).toBe(verdict);
      expect(found.next.kind === "end" ? found.next.outcome : null).toBe(ends as never);
      expect(found.state.failures).toBe(verdict === "failure" ? 1 : 0);
      expect(found.state.iterations).toBe(verdict === "spoilt" ? 0 : 1);
    });
});

test("SUCCESS that the post-checks refuse is a failure, and the next prompt says why", () => {
  const { verdict, state, next } = after(
    fresh(),
    LIMITS,
    result({ said: "success", refused: "file PLAN.md: it is not there" }),
  );
  expect([verdict, state.failures, next.kind]).toEqual(["refused", 1, "go"]);
  expect(state.notes[0]).toContain("file PLAN.md: it is not there");
});

test("work between failures starts the count anew", () => {
  let state = fresh();
  for (const [n, said] of (["failure", "failure", "none", "failure", "failure"] as const).entries())
    state = after(state, LIMITS, result({ said, tree: `t${n}` })).state;
  expect(state.failures).toBe(2);
});

test("failures in a row abort; who reaches both bounds has reached the limit", () => {
  let state = fresh();
  let next = mayGo(state, LIMITS);
  for (let n = 0; n < 3; n++) ({ state, next } = after(state, LIMITS, result({ said: "failure" })));
  expect(next).toMatchObject({ kind: "end", outcome: "aborted" });
  expect(mayGo(state, { ...LIMITS, max_iterations: 3 })).toMatchObject({ kind: "end", outcome: "limit" });
});

test("limits of cost and time end it, and waiting is time", () => {
  expect(after(fresh(), { ...LIMITS, budget: 0.5 }, result()).next).toMatchObject({ outcome: "limit" });
  expect(after(fresh(), { ...LIMITS, time_limit: 1 }, result()).next).toMatchObject({ outcome: "limit" });
  expect(mayGo(waited(fresh(), 3_600_000, AT), LIMITS)).toMatchObject({ outcome: "limit" });
});

test("the same files and the same words again are no progress", () => {
  const first = after(fresh(), LIMITS, result({ message: "Looked at 3 files, nothing to do." })).state;
  const again = after(first, LIMITS, result({ message: "Looked at 4 files,  nothing to do." }));
  expect(again.verdict).toBe("failure");
  expect(again.state.lines.at(-1)!.why).toContain("no progress");
  expect(after(first, LIMITS, result({ message: "Looked at 4 files, nothing to do.", tree: "t2" })).verdict).toBe(
    "continue",
  );
  expect(after(first, LIMITS, result({ message: "Something else." })).verdict).toBe("continue");
});

describe("what the surroundings spoilt is made again", () => {
  const spoilt = (kind: "infra" | "limit" | "config", more: Partial<IterationResult> = {}) =>
    result({ exit: 1, failed: { class: kind, why: "overloaded", remedy: null }, ...more });

  test("infrastructure: longer each time, then it gives up", () => {
    let state = fresh();
    const waits: number[] = [];
    for (;;) {
      const found = after(state, { ...LIMITS, time_limit: 1e9 }, spoilt("infra"));
      state = found.state;
      if (found.next.kind !== "wait") {
        expect(found.next).toMatchObject({ kind: "end", outcome: "aborted" });
        break;
      }
      waits.push(found.next.ms / 1000);
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300]);
    expect([state.iterations, state.failures]).toEqual([0, 0]);
  });

  test("a usage limit: until its reset; without one, longer each time; never beyond the time limit", () => {
    expect(after(fresh(), LIMITS, spoilt("limit", { reset_in_ms: 90_000 })).next).toMatchObject({
      kind: "wait",
      ms: 90_000,
    });
    expect(after(fresh(), LIMITS, spoilt("limit")).next).toMatchObject({ kind: "wait", ms: 300_000 });
    expect(after(fresh(), LIMITS, spoilt("limit", { reset_in_ms: 9e9 })).next).toMatchObject({
      kind: "end",
      outcome: "limit",
    });
    expect(after(fresh(), LIMITS, spoilt("limit", { exit: 0 })).verdict).toBe("spoilt");
  });

  test("how it is set up: no second try", () => {
    expect(after(fresh(), LIMITS, spoilt("config")).next).toMatchObject({ kind: "end", outcome: "aborted" });
  });

  test("a signal was given all the same: it counts", () => {
    expect(after(fresh(), LIMITS, spoilt("infra", { said: "success" } as never)).verdict).toBe("success");
  });
});

test("what was no signal is named in the next prompt, and cannot be taken for one there", () => {
  const signals = {
    success: false,
    failure: false,
    reason: null,
    malformed: ["<promise>FAILURE: no key</promise>"],
    misplaced: ["<promise>FAILURE</promise>", "<promise>FAILURE</promise>"],
    quoted: ["<promise>SUCCESS</promise>"],
  };
  const { notes } = after(fresh(), LIMITS, result({ signals })).state;
  expect(notes).toHaveLength(3);
  expect(notes.join("\n")).toContain("FAILURE: no key");
  expect(notes[1]).toBe(
    "The last iteration wrote `‹promise›FAILURE‹/promise›` inside a line, where it does not count: a signal is alone on its line.",
  );
  expect(notes.join("\n")).not.toContain("<promise>");
});

test("statistics: as over the whole list", () => {
  let state = fresh();
  const times = [3, 1, 4, 1, 5, 9, 2, 6];
  for (const [n, ms] of times.entries())
    state = after(state, { ...LIMITS, max_iterations: null }, result({ elapsed_ms: ms, tree: `${n}` })).state;
  const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  const spread = Math.sqrt(times.reduce((sum, ms) => sum + (ms - mean) ** 2, 0) / times.length);
  expect([state.timing.count, state.timing.min, state.timing.max]).toEqual([8, 1, 9]);
  expect(state.timing.mean).toBeCloseTo(mean, 9);
  expect(deviation(state.timing)).toBeCloseTo(spread, 9);
});

test("every walk ends within its bounds, with one outcome, and changes none of its input", () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  let random = seed;
  const next = (n: number) => {
    random = (random * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((random / 4_294_967_296) * n);
  };
  for (let walk = 0; walk < 300; walk++) {
    const limits = {
      max_iterations: next(4) === 0 ? null : 1 + next(6),
      failure_threshold: 1 + next(4),
      time_limit: 60 + next(600),
      budget: 1 + next(20),
    };
    let state: LoopState = fresh();
    let steps = 0;
    for (;;) {
      const before = JSON.stringify(state);
      const frozen = state;
      const said = (["none", "none", "failure", "success", "both"] as const)[next(5)]!;
      const kind = (["agent", "agent", "infra", "limit", "config"] as const)[next(5)]!;
      const found = after(
        state,
        limits,
        result({
          said,
          exit: next(2),
          failed: { class: kind, why: "x", remedy: null },
          tree: `${next(3)}`,
          elapsed_ms: 1_000 * (1 + next(20)),
          how: (["exited", "killed", "timeout"] as const)[next(3)]!,
        }),
      );
      expect(JSON.stringify(frozen)).toBe(before);
      state = found.state;
      if (++steps > 2_000) throw new Error(`seed ${seed}, walk ${walk}: no end`);
      if (found.next.kind === "wait") state = waited(state, found.next.ms, AT);
      if (found.next.kind !== "end") continue;
      const over = ended(state, found.next, AT);
      if (limits.max_iterations !== null && over.iterations > limits.max_iterations)
        throw new Error(`seed ${seed}, walk ${walk}: ${over.iterations} iterations`);
      expect(over.outcome).toBe(found.next.outcome);
      break;
    }
  }
});
