/** A loop whose machine was restarted: the numbers of its processes are given to others, who have nothing to do with it. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type KeptLoop, listLoops, saveLoop } from "../../src/store/loops.ts";
import { type Identity, identify } from "../../src/store/processes/process.ts";
import { isAlive, numbersIn, until } from "../checks/jobs/job-place.ts";
import { type LoopWorld, openWorld, PLAIN, SUCCESS } from "./world.ts";

let world: LoopWorld;
let stranger: Bun.Subprocess;

beforeEach(async () => {
  world = openWorld();
  mkdirSync(join(world.root, ".pawl/procedures"), { recursive: true });
  writeFileSync(join(world.root, ".pawl/procedures/plain.yaml"), PLAIN);
  // It leads a group, as the agent did whose number it has now.
  stranger = Bun.spawn(["sleep", "300"], { detached: true, stdio: ["ignore", "ignore", "ignore"] });
  await breakOff();
});

afterEach(async () => {
  stranger.kill("SIGKILL");
  await stranger.exited;
  world.clear();
});

/** Two iterations are over, in the third the power goes. */
async function breakOff(): Promise<void> {
  const began = join(world.root, "../agent/agent-pid");
  world.steps("echo 1 > a.txt; echo one", "echo 2 > a.txt; echo two", `echo $$ > ${began}; exec sleep 300`, SUCCESS);
  const loop = world.start("plain", "--json", "-n", "6");
  const agent = await until("the third agent", () => numbersIn(began)[0]);
  // The state names the agent a moment after it was started.
  await until("its name in the state", () => keptLoop().agent !== null);
  loop.kill("SIGKILL");
  await loop.exited;
  // The loop's guard ends it.
  await until("its end", () => !isAlive(agent));
}

/** States are sealed with the key of the home. */
function atHome<T>(work: () => T): T {
  const { HOME } = process.env;
  process.env.HOME = world.home;
  try {
    return work();
  } finally {
    process.env.HOME = HOME;
  }
}

const keptLoop = (): KeptLoop => atHome(() => listLoops(world.root)[0]!);

/** Both processes of the loop have the stranger's number now; `change`: what tells them apart from it. */
function giveNumbersAway(change: Partial<Identity>): void {
  const kept = keptLoop();
  const another = { ...identify(stranger.pid), ...change };
  atHome(() => saveLoop(world.root, { ...kept, runner: another, agent: { ...kept.agent!, ...another } }));
}

const isStrangerAlive = () => isAlive(stranger.pid);

describe("the loop goes on with its count, and leaves the stranger alone", () => {
  test.each<[string, Partial<Identity>]>([
    ["another boot", { boot: "00000000-0000-4000-8000-000000000000" }],
    ["another start", { pid_start: "1" }],
    ["another boot in another container", { boot: "00000000-0000-4000-8000-000000000000", pid_ns: "pid:[1]" }],
  ])("%s", (_, change) => {
    giveNumbersAway(change);
    const { code, events } = world.loop("--resume", "--json");
    expect(code).toBe(0);
    expect(events.at(-1)).toMatchObject({ event: "ended", outcome: "success", iterations: 3 });
    expect(world.started()).toBe(4);
    expect(isStrangerAlive()).toBe(true);
  });
});

test("one that is at work in another container, for all one can see, is neither taken up nor ended", () => {
  giveNumbersAway({ pid_ns: "pid:[1]", pid_start: "1" });
  const { code, err } = world.loop("--resume", "--json");
  expect([code, world.started()]).toEqual([1, 3]);
  expect(err).toContain("a loop is already running here");
  expect(isStrangerAlive()).toBe(true);
});

test("what it really is, is known: its agent is ended", () => {
  const kept = keptLoop();
  atHome(() => saveLoop(world.root, { ...kept, agent: { ...kept.agent!, ...identify(stranger.pid) } }));
  expect(world.loop("--resume", "--json").code).toBe(0);
  expect(isStrangerAlive()).toBe(false);
});
