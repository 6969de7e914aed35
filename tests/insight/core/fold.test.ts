import { describe, expect, test } from "bun:test";
import type { RunState, Visit } from "../../../src/insight/core/fold.ts";
import { ARMED, at, ENDED, foldStory, gated, PLAN, SIGNALLED, type Story, to } from "./folding.ts";

const minutes = (ms: number) => ms / 60_000;
const tracks = ({ visits }: RunState) =>
  visits.map(({ stage, visit, from, to, how }: Visit) => [
    stage,
    visit,
    minutes(from - at(0)),
    to === null ? null : minutes(to - from),
    how,
  ]);

interface Case {
  story: Story;
  wanted: Partial<RunState>;
  track?: (string | number | null)[][];
}

const CASES: Record<string, Case> = {
  "a run from beginning to end": {
    story: [
      [0, "memory", ARMED, ["owed", {}]],
      [5, "memory", SIGNALLED, to("memory", "review"), ["continued", { idle: 0 }]],
      [9, "review", SIGNALLED, to("review", "commit")],
      [12, "commit", SIGNALLED, ENDED],
    ],
    wanted: { status: "ended", outcome: "completed", claims: 3, continues: 1, approximate: false, plan: PLAN },
    track: [
      ["memory", 1, 0, 5, "done"],
      ["review", 1, 5, 4, "done"],
      ["commit", 1, 9, 3, "done"],
    ],
  },
  "a run without a task is called what the person asked for": {
    story: [[0, "memory", ["armed", { plan: PLAN, task: null, title: "mend the login" }]]],
    wanted: { task: null, title: "mend the login" },
  },
  "back and forth": {
    story: [
      [0, "memory", ARMED],
      [1, "memory", to("memory", "review")],
      [2, "review", to("review", "memory")],
      [4, "memory", to("memory", "review")],
    ],
    wanted: { status: "active", stage: "review", ended: null },
    track: [
      ["memory", 1, 0, 1, "done"],
      ["review", 1, 1, 1, "back"],
      ["memory", 2, 2, 2, "done"],
      ["review", 2, 4, null, "open"],
    ],
  },
  "an aborted run did not do its last stage": {
    story: [
      [0, "memory", ARMED],
      [3, "memory", ["commanded", { name: "abort" }], ["ended", { outcome: "aborted", by: "person" }]],
    ],
    wanted: { status: "ended", outcome: "aborted" },
    track: [["memory", 1, 0, 3, "ended"]],
  },
  "waiting for the person's decision": {
    story: [
      [0, "memory", ARMED],
      [1, "memory", ["asked", { ask: "review-decision", issues: [] }]],
      [2, "memory", ["prompted", { said: "tool result", injected: true }]],
      [31, "memory", ["decided", { ask: "review-decision", choice: "go" }], to("memory", "review")],
    ],
    wanted: { asks: 1, waited: 30 * 60_000, status: "active", why: "", waits_since: null },
  },
  "a word of the person ends the waiting, not the question": {
    story: [
      [0, "memory", ARMED],
      [1, "memory", ["asked", { ask: "review-decision" }]],
      [11, "memory", ["prompted", { said: "what is it?", injected: false }]],
    ],
    wanted: { waited: 10 * 60_000, status: "waiting", why: "review-decision", waits_since: null },
  },
  "halted and still so": {
    story: [
      [0, "memory", ARMED],
      [1, "memory", ["halted", { why: "Git commit failed" }]],
    ],
    wanted: { status: "halted", why: "Git commit failed", waits_since: at(1), waited: 0 },
  },
  "gates and approval": {
    story: [
      [0, "memory", ARMED],
      [1, "memory", SIGNALLED, gated("fail"), gated("unproven", "lint")],
      [2, "memory", SIGNALLED, gated("fail"), ["halted", { why: "npm test: exit 1", stalled: true }]],
      [7, "memory", ["approved", { gate: "npm test", who: "ann" }], to("memory", "review")],
    ],
    wanted: { gate_fails: 2, approvals: 1, waited: 5 * 60_000, claims: 2 },
  },
  "one task after the other, in the same stages": {
    story: [
      [0, "coding", ["armed", { plan: ["coding", "closing"], task: "app-1", title: "First" }]],
      [5, "coding", to("coding", "closing")],
      [
        6,
        "closing",
        ["task_done", { task: "app-1", title: "First" }],
        ["task_begun", { stage: "coding", task: "app-2", title: "Second" }],
      ],
      [7, "coding", to("coding", "closing")],
      [8, "closing", ["task_done", { task: "app-2", title: "Second" }], ENDED],
    ],
    wanted: { task: "app-2", title: "Second", tasks_done: 2 },
    track: [
      ["coding", 1, 0, 5, "done"],
      ["closing", 1, 5, 1, "done"],
      ["coding", 2, 6, 1, "done"],
      ["closing", 2, 7, 1, "done"],
    ],
  },
  "a task of one stage": {
    story: [
      [0, "coding", ["armed", { plan: ["coding"] }]],
      [3, "coding", ["task_begun", { task: "app-2", title: "Second" }]],
    ],
    wanted: { task: "app-2" },
    track: [
      ["coding", 1, 0, 3, "done"],
      ["coding", 2, 3, null, "open"],
    ],
  },
  "phases of a formal workflow": {
    story: [
      [0, "phase-1", ["armed", { plan: ["phase-1", "phase-2"] }]],
      [4, "phase-1", ["phased", { from: 1, to: 2, name: "Design", by: "command" }]],
      [6, "phase-2", ["phased", { from: 2, to: 3, name: "More", by: "document" }]],
    ],
    wanted: { stage: "phase-2" },
    track: [
      ["phase-1", 1, 0, 4, "done"],
      ["phase-2", 1, 4, null, "open"],
    ],
  },
  "a loop": {
    story: [
      [0, "build", ["armed", { plan: ["build"] }]],
      [1, "build", ["iteration_begun", { iteration: 1, session: "s2" }]],
      [2, "build", ["looped", { iteration: 1, verdict: "continue", why: "two are left", ms: 60000, cost: 0.25 }]],
      [3, "build", ["looped", { iteration: 2, verdict: "failure", why: "no", ms: 60000, cost: null }]],
      [4, "build", ["looped", { iteration: 3, verdict: "success", why: "yes", ms: 60000, cost: 0.5 }]],
      [5, "build", ["loop_ended", { outcome: "success", why: "SUCCESS" }], ENDED],
    ],
    wanted: {
      status: "ended",
      loop: {
        procedure: "build",
        iterations: 3,
        failures: 1,
        cost: 0.75,
        unpriced: 1,
        outcome: "success",
        why: "SUCCESS",
        from: at(1),
        at: at(5),
      },
    },
  },
  "a loop that can be taken up again rests": {
    story: [
      [0, "build", ["armed", { plan: ["build"] }]],
      [1, "build", ["looped", { iteration: 1, verdict: "continue", why: "", ms: 1, cost: 1 }]],
      [2, "build", ["loop_ended", { outcome: "limit", why: "1 of 1 iterations are made" }]],
    ],
    wanted: { status: "halted", why: "1 of 1 iterations are made", outcome: null },
  },
  "another session takes it over": {
    story: [
      [0, "memory", ARMED],
      [1, "memory", ["released", { why: "" }]],
      [2, "memory", ["adopted", { session: "s9", from: "s1", to: "s9" }]],
    ],
    wanted: { session: "s9" },
  },
  "where a session already was is no claim": {
    story: [[0, "review", ["inferred", { signal: "", evidence: "this session is at review with it" }], ARMED]],
    wanted: { claims: 0, stage: "review" },
  },
};

describe("a run folded from its lines", () => {
  test.each(Object.entries(CASES))("%s", (_, { story, wanted, track }) => {
    const state = foldStory(story);
    expect(state).toMatchObject(wanted);
    if (track) expect(tracks(state)).toEqual(track);
  });

  test("counts belong to the stay in which they happened", () => {
    const state = foldStory([
      [0, "memory", ARMED],
      [1, "memory", SIGNALLED, gated("fail"), ["continued", {}]],
      [2, "memory", SIGNALLED, gated("pass"), to("memory", "review"), ["continued", {}]],
      [3, "review", ["asked_agent", {}]],
      [9, "review", ["halted", { why: "x" }]],
      [12, "review", ["resumed", { why: "" }]],
    ]);
    expect(state.visits).toMatchObject([
      { stage: "memory", claims: 2, continues: 1, gate_fails: 1 },
      { stage: "review", claims: 0, continues: 1, asks: 1, waited: 3 * 60_000, gate_fails: 0 },
    ]);
    expect(state.gates).toMatchObject([
      { stage: "memory", gate: "npm test", fail: 1, pass: 1, last: "pass", tree: "abc", command: "npm test" },
    ]);
  });
});
