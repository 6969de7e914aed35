/** A claim waits for the sub-agents it rests on, but not for ever. */
import { expect, test } from "bun:test";
import { viewRun } from "../../../src/engine/core/run-view.ts";
import { deliver, makeEvent, newWorld, tag, type World } from "./world.ts";

const AGENTS = [{ id: "a1", name: "memory-updater" }];
const MINUTE = 60;

const claim = (world: World) =>
  deliver(
    world,
    makeEvent(world, "S1", `t${world.clock}`, "local", {
      ...{ kind: "stop", message: tag("MEMORY_UPDATED"), continuing: false, background: 1 },
      ...{ agents: AGENTS, scheduled: false },
    }),
  );

function view(world: World) {
  const at = new Date(Date.UTC(2026, 0, 2) + world.clock * 1000).toISOString();
  const records = world.records.filter(({ seq }) => seq === [...world.runs.values()][0]!.seq);
  return viewRun([...world.runs.values()][0]!, { at, workflow: null, ownerGone: false, records });
}

test("the person hears once whom it waits for; after 30 minutes it is their turn", () => {
  const world = newWorld();
  const begin = { kind: "prompt" as const, text: "/complete-work", injected: false, typed: false };
  deliver(world, makeEvent(world, "S1", "t0", "local", begin));
  const person = "Pawl: MEMORY_UPDATED is not checked yet: memory-updater is still running.";
  expect(claim(world)).toEqual({ turn: "none", person });
  expect(claim(world)).toEqual({ turn: "none" });
  expect(view(world)).toMatchObject({ doing: "waiting for memory-updater", waits: null, state: "active" });

  world.clock += 29 * MINUTE;
  expect(claim(world)).toEqual({ turn: "none" });
  world.clock += MINUTE;
  expect(claim(world)).toMatchObject({
    turn: "end",
    person: expect.stringMatching(/memory-updater has been running for over 30 minutes.*\/pawl:approve/),
  });
  expect(claim(world)).toEqual({ turn: "end" });
  expect(view(world).waits).toMatchObject({ kind: "approval", how: expect.stringContaining("pawl approve") });
});
