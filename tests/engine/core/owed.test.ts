import { expect, test } from "bun:test";
import { openDraft } from "../../../src/engine/core/draft.ts";
import { stopFor } from "../../../src/engine/core/tasks.ts";
import { deliver, makeEvent, newWorld, tag, type World } from "./world.ts";

const stop = (message: string, continuing = true) => ({
  kind: "stop" as const,
  message,
  continuing,
  background: 0,
  agents: [],
  scheduled: false,
});
const prompt = (text: string) => ({ kind: "prompt" as const, text, injected: false, typed: false });
const kinds = (world: World) => world.records.map((record) => record.kind);

function armed(): World {
  const world = newWorld();
  deliver(world, makeEvent(world, "S1", "t0", "local", prompt("/complete-work")));
  return world;
}

test("a crash between commit and answer: the same event again gives the instruction again", () => {
  const world = armed();
  const event = makeEvent(world, "S1", "t0", "local", stop(tag("MEMORY_UPDATED"), false));
  expect(deliver(world, event, "before speaking")).toBe("crashed");
  const again = deliver(world, event);
  expect(again).toMatchObject({ turn: "continue" });
  expect((again as { agent: string }).agent).toContain("step 2 of 4");
  expect(kinds(world)).toContain("repeated");
});

test("a crash between commit and answer: the next prompt brings the instruction, and says it was not delivered", () => {
  const world = armed();
  const event = makeEvent(world, "S1", "t0", "local", stop(tag("MEMORY_UPDATED"), false));
  deliver(world, event, "before speaking");
  const answer = deliver(world, makeEvent(world, "S1", "t1", "local", prompt("are you there?")));
  expect((answer as { agent: string }).agent).toContain("step 2 of 4");
  expect(kinds(world)).toContain("undelivered");
});

test("compaction: the instruction comes again after it", () => {
  const world = armed();
  deliver(world, makeEvent(world, "S1", "t0", "local", { kind: "compacting", trigger: "auto" }));
  const answer = deliver(world, makeEvent(world, "S1", "t0", "local", { kind: "start", source: "compact" }));
  expect((answer as { agent: string }).agent).toContain("step 1 of 4");
  deliver(world, makeEvent(world, "S1", "t0", "local", stop("working", false)));
  expect(kinds(world)).toContain("delivered");
});

test("the host's cap of eight continues without a tool call is never met, and a tool call lifts it", () => {
  for (const used of [false, true]) {
    const world = armed();
    world.workflow.limits.idle = 6;
    if (used)
      world.tools = { ok: true, value: [{ id: "1", name: "Bash", input: {}, result: null, at: "", agent: "" }] };
    const signals = ["REVIEW_COMPLETE", "CLEANUP_SKIPPED", "COMMIT_FAILED", "MEMORY_UPDATED"]; // three out of order, then one that moves
    const next = [
      "MEMORY_UPDATED",
      "CLEANUP_APPROVED",
      "WORKFLOW_COMPLETE",
      "REVIEW_COMPLETE",
      "MEMORY_UPDATED",
      "CLEANUP_SKIPPED",
    ];
    const turns = [...signals, ...next].map((name, i) =>
      deliver(world, makeEvent(world, "S1", "t0", "local", stop(`${i}\n\n${tag(name)}`, i > 0))),
    );
    const continues = turns.filter((answer) => answer !== "crashed" && answer.turn === "continue").length;
    expect(continues).toBe(used ? 10 : 8);
  }
});

test("a run that stops for the person keeps no instruction for the agent", () => {
  const world = armed();
  const run = world.runs.get(world.bound.get("S1")!)!;
  expect(run.pending).toBeDefined();
  const event = makeEvent(world, "S1", "t0", "local", stop("", false));
  const step = stopFor(openDraft({ workflow: world.workflow, run, event, facts: {} }), "the tracker does not answer");
  if (!("decision" in step)) throw new Error("no decision");
  expect(step.decision.run).toMatchObject({ status: "halted", why: "the tracker does not answer" });
  expect(step.decision.run.pending).toBeUndefined();
  expect(step.decision.records.map(({ kind }) => kind)).toEqual(["undelivered", "halted"]);
});
