import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decide } from "../../../src/engine/core/decide.ts";
import { renderFrontMatter } from "../../../src/engine/core/document.ts";
import type { Answer, Event, EventKind, Run, RunningAgent } from "../../../src/kernel/types/run.ts";
import {
  type Crash,
  completeWork,
  decisionFor,
  deliver,
  makeEvent,
  newWorld,
  recoverDocument,
  SIGNALS,
  tag,
  type World,
} from "./world.ts";

/** Random walks over everything a host, a person and an agent can do. fast-check prints seed and path on failure. */

const PROMPTS = [
  "/complete-work",
  "/complete-work review commit",
  "/pawl:go",
  "x",
  "1",
  "2",
  "3",
  "continue",
  "please rename it",
  "",
];

/** "@n" stands for the n-th signal of the stage the run is in: so the walks really get somewhere. */
const message = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom("@0", "@0", "@0", "@1") },
  { weight: 6, arbitrary: fc.constantFrom(...SIGNALS).map((name) => `did it\n\n${tag(name)}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "nothing to say",
      "",
      "<promise>memory_updated</promise>",
      `${tag("MEMORY_UPDATED")}\n${tag("REVIEW_COMPLETE")}`,
    ),
  },
  { weight: 1, arbitrary: fc.string() },
);
const kind: fc.Arbitrary<EventKind> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant("stop" as const),
      message,
      continuing: fc.boolean(),
      background: fc.constantFrom(0, 0, 0, 1),
      agents: fc.constantFrom<RunningAgent[]>([], [], [], [{ id: "a1", name: "deep-reviewer" }]),
      scheduled: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("prompt" as const),
      text: fc.oneof(fc.constantFrom(...PROMPTS), fc.string()),
      injected: fc.constantFrom(false, false, true),
      typed: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("sub_stop" as const),
      agent: fc.constantFrom("deep-reviewer", "pawl:deep-reviewer", "other"),
      message,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("start" as const),
      source: fc.constantFrom("startup" as const, "resume" as const, "clear" as const, "compact" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<EventKind>(
      { kind: "ended", reason: "other", client: "" },
      { kind: "compacting", trigger: "auto" },
      { kind: "stop_failed", error: "500" },
      { kind: "noticed", what: "idle", detail: "" },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("command" as const),
      name: fc.constantFrom("pause" as const, "resume" as const, "adopt" as const, "finish" as const),
      why: fc.constant(""),
    }),
  },
);
const action = fc.record({
  kind,
  session: fc.constantFrom("S1", "S1", "S1", "S2", ""),
  turn: fc.constantFrom("t1", "t2", "t3", ""),
  via: fc.constantFrom("local", "local", "project"),
  crash: fc.constantFrom<Crash>("none", "none", "none", "before commit", "before speaking", "before projecting"),
  /** the agent insists, in other words each time */
  times: fc.constantFrom(1, 1, 1, 1, 9),
  again: fc.constantFrom("no", "no", "same way", "other way"),
  world: fc.constantFrom("same", "same", "same", "committed", "clean", "document removed", "document broken", "no git"),
});
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;
const walk = fc.array(action, { minLength: 1, maxLength: 60 });

function change(world: World, what: Action["world"]): void {
  if (what === "committed") {
    const head_at = new Date(Date.UTC(2026, 0, 2) + world.clock * 1000).toISOString();
    world.git = { ok: true, value: { head: "b".repeat(40), branch: "main", head_at, dirty: true, changed: ["x"] } };
  }
  if (what === "clean")
    world.git = { ok: true, value: { head: "a".repeat(40), branch: "main", head_at: "", dirty: false, changed: [] } };
  if (what === "no git") world.git = { ok: false, why: "not a repository" };
  if (what === "document removed") world.document = null;
  if (what === "document broken" && world.document !== null) world.document = "nonsense";
}

interface Seen {
  event: Event;
  before: Run | undefined;
  after: Run | undefined;
  answer: Answer | "crashed";
}

function play(actions: Action[], look: (world: World, seen: Seen) => void): World {
  const world = newWorld();
  deliver(
    world,
    makeEvent(world, "S1", "t0", "local", { kind: "prompt", text: "/complete-work", injected: false, typed: false }),
  );
  for (const step of actions) {
    change(world, step.world);
    for (let round = 0; round < step.times; round++) playOne(world, step, round, look);
  }
  return world;
}

function playOne(world: World, step: Action, round: number, look: (world: World, seen: Seen) => void): void {
  const { session, turn, via, crash, again } = step;
  const runOf = () => world.runs.get(world.bound.get(session) ?? "");
  const event = makeEvent(world, session, turn, via, resolve(world, step.kind, runOf(), round));
  const events = again === "no" ? [event] : [event, { ...event, via: again === "same way" ? via : `${via}2` }];
  events.forEach((one, i) => {
    const before = runOf();
    const answer = deliver(world, one, i === 0 ? crash : "none");
    const after = runOf();
    if (after && (answer === "crashed" || crash === "before projecting"))
      recoverDocument(world, after, renderFrontMatter);
    look(world, { event: one, before, after, answer });
  });
}

function resolve(world: World, kind: EventKind, run: Run | undefined, round: number): EventKind {
  if (kind.kind !== "stop" || !/^@\d$/.test(kind.message)) return kind;
  const stage = world.workflow.stages.find((candidate) => candidate.id === run?.stage) ?? world.workflow.stages[0]!;
  const names = Object.keys(stage.on);
  const name = names[Number(kind.message[1]) % names.length]!;
  return { ...kind, message: `round ${round} at ${world.clock}\n\n${tag(name)}` };
}

const isSame = (a: Run | undefined, b: Run | undefined) =>
  a !== undefined &&
  b !== undefined &&
  a.id === b.id &&
  a.stage === b.stage &&
  a.status === b.status &&
  a.question?.seq === b.question?.seq;

describe("random walks", () => {
  const runs = { numRuns: 300 };

  test("never more idle continues than the limit allows", () => {
    fc.assert(
      fc.property(walk, (actions) => {
        const idle = new Map<string, number>();
        play(actions, (_world, { event, before, after, answer }) => {
          // A command is the person's word from anywhere, also from a shell in another session.
          if (after && event.kind === "command") idle.set(after.id, 0);
          if (!after || event.session !== after.owner?.session) return;
          const resumed = event.kind === "prompt" || event.kind === "command";
          const count = isSame(before, after) && !resumed ? (idle.get(after.id) ?? 0) : 0;
          const next = answer !== "crashed" && answer.turn === "continue" && isSame(before, after) ? count + 1 : count;
          idle.set(after.id, next);
          expect(next).toBeLessThanOrEqual(6);
        });
      }),
      runs,
    );
  });

  test("the same input gives the same step, and a replayed event moves nothing", () => {
    fc.assert(
      fc.property(walk, (actions) => {
        play(actions, (world, { event, after }) => {
          if (!after || after.status === "ended" || after.owner?.session !== event.session) return;
          const once = decisionFor(world, event);
          expect(decisionFor(world, event)).toEqual(once);
          if (once && after.recent.some((seen) => seen.id === event.id) && event.turn !== "") {
            expect([once.run.stage, once.run.plan, once.run.done]).toEqual([after.stage, after.plan, after.done]);
          }
        });
      }),
      runs,
    );
  });

  test("the second delivery by another way is silent and changes nothing", () => {
    fc.assert(
      fc.property(walk, (actions) => {
        play(actions, (world, { event, after, answer }) => {
          const known = after?.recent.find((seen) => seen.id === event.id);
          if (!after || after.status === "ended" || answer === "crashed" || !known) return;
          if (event.kind === "prompt" && event.turn === "" && after.recent.at(-1) !== known) return;
          const other = decisionFor(world, { ...event, via: `${known.via}-other` });
          expect(other?.answer ?? { turn: "none" }).toEqual({ turn: "none" });
          if (other) {
            const { seq, recent, doubled, updated_at, ...rest } = other.run;
            const { seq: _s, recent: _r, doubled: _d, updated_at: _u, ...was } = after;
            expect(rest).toEqual(was);
          }
        });
      }),
      runs,
    );
  });

  test("no turn of an active run ends without a word, but the person's own and those whose sub-agents still run", () => {
    fc.assert(
      fc.property(walk, (actions) => {
        play(actions, (_world, { event, before, after, answer }) => {
          if (event.kind !== "stop" || event.background > 0 || event.agents.length > 0 || answer === "crashed") return;
          if (after?.status !== "active" || after.paused || after.owner?.session !== event.session) return;
          const isDouble = before?.recent.some((seen) => seen.id === event.id && seen.via !== event.via);
          if (isDouble || before?.seq === after.seq) return;
          expect(answer.turn === "continue" || (answer.person ?? "") !== "").toBe(true);
        });
      }),
      runs,
    );
  });

  test("what is counted in a run has a bound, however long it goes on", () => {
    fc.assert(
      fc.property(walk, (actions) => {
        const { workflow } = newWorld();
        play(actions, (_world, { after }) => {
          if (!after) return;
          const { ledger, checks, recent, reports } = after;
          expect(ledger.told.length).toBeLessThanOrEqual(40);
          expect(ledger.idle).toBeLessThanOrEqual(workflow.limits.idle + 1);
          expect(checks.claim?.rounds ?? 0).toBeLessThanOrEqual(workflow.limits.rounds + 1);
          expect(ledger.nudges ?? 0).toBeLessThanOrEqual(workflow.limits.rounds + 1);
          expect(Math.max(...Object.values(ledger.laps ?? { none: 0 }))).toBeLessThanOrEqual(workflow.limits.laps + 1);
          expect(recent.length + reports.length).toBeLessThanOrEqual(48);
        });
      }),
      runs,
    );
  });

  test("an agent that insists for a hundred turns makes no count grow", () => {
    const insists = (messages: string[], change_: (world: World, turn: number) => void = () => undefined) => {
      const world = newWorld();
      deliver(
        world,
        makeEvent(world, "S1", "t0", "local", { kind: "prompt", text: "/complete-work", injected: false, typed: true }),
      );
      for (let turn = 1; turn <= 100; turn++) {
        change_(world, turn);
        for (const message of messages) {
          const text = `${turn}\n\n${message}`;
          const stop = { continuing: false, background: 0, agents: [], scheduled: false };
          const kind = { kind: "stop" as const, message: text, ...stop };
          deliver(world, makeEvent(world, "S1", `t${turn}`, "local", kind));
        }
      }
      const { ledger, checks } = world.runs.get(world.bound.get("S1")!)!;
      return [ledger.told.length <= 40, ledger.idle <= 7, (checks.claim?.rounds ?? 0) <= 7];
    };
    const fine = [true, true, true];
    expect(insists([tag("MEMORY_UPDATE_FAILED")])).toEqual(fine);
    expect(insists([tag("REVIEW_COMPLETE"), tag("CLEANUP_SKIPPED"), "nothing"])).toEqual(fine);
    const toCommit = ["MEMORY_UPDATED", "REVIEW_COMPLETE", "CLEANUP_SKIPPED", "WORKFLOW_COMPLETE"].map(tag);
    expect(insists(toCommit)).toEqual(fine);
    const unproven = (world: World, turn: number) => {
      world.git = { ok: false, why: `it took ${turn} ms` };
    };
    expect(insists(toCommit, unproven)).toEqual(fine);
  });

  test("what is owed is delivered once or recorded as undelivered", () => {
    fc.assert(
      fc.property(walk, (actions) => {
        const world = play(actions, () => undefined);
        for (const run of world.runs.values()) {
          const of = (kind: string) => world.records.filter((r) => r.run === run.id && r.kind === kind);
          const given = of("owed").length;
          const settled = of("delivered").length + of("undelivered").length + (run.pending ? 1 : 0);
          expect(settled).toBe(given);
        }
      }),
      runs,
    );
  });

  test("a foreign or empty session never changes a run, and hears nothing", () => {
    fc.assert(
      fc.property(walk, (actions) => {
        play(actions, (world, { event, answer }) => {
          if (event.session === "") expect(answer).toEqual({ turn: "none" });
          for (const run of world.runs.values()) {
            if (run.status === "ended" || event.kind === "command" || run.owner?.session === event.session) continue;
            expect(decide({ workflow: world.workflow, run, event, facts: {} })).toEqual({
              none: "another session's run",
            });
          }
        });
      }),
      runs,
    );
  });

  test("forward only through the table and the gates", () => {
    const order = completeWork().stages.map((stage) => stage.id);
    fc.assert(
      fc.property(walk, (actions) => {
        const world = play(actions, (_world, { before, after, event }) => {
          if (!before || !after || before.id !== after.id || event.kind === "prompt") return;
          expect(Math.abs(order.indexOf(after.stage) - order.indexOf(before.stage))).toBeLessThanOrEqual(order.length);
          expect(after.created_at).toBe(before.created_at);
          if (event.kind === "start" || event.kind === "compacting") expect(after.stage).toBe(before.stage);
        });
        for (const run of world.runs.values()) {
          if (run.outcome !== "completed" || !run.plan.includes("commit")) continue;
          const passes = world.records.filter((r) => r.run === run.id && r.kind === "gated" && r.verdict === "pass");
          expect(passes.length).toBeGreaterThan(0);
        }
      }),
      runs,
    );
  });
});
