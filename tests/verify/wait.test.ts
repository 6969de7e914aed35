/** `pawl verify --wait`: a check that a stop left running, seen from the agent's shell. */
import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Place, removePlaces, run } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { perform, type World } from "../scenarios/scenario.ts";
import { basesOf, ground, put, sh, until, verifying } from "./ground.ts";

afterAll(removePlaces, 60_000);

const SHIP = `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { end: completed, gates: [{ run: [sh, check.sh], wait: 0 }] }
      BROKEN: { halt: "It cannot be built" }
`;
const WAITING = "echo begun; while [ ! -s .pawl/jobs/go ]; do sleep 0.05; done; echo over; exit $(cat .pawl/jobs/go)\n";

function claimed(): World {
  const place = ground({ ".pawl/workflows/ship.yaml": SHIP, "check.sh": WAITING });
  const world: World = { place, sessions: {}, current: "A", last: null };
  perform(world, { prompt: "/ship" });
  expect(perform(world, { stop: "<promise>BUILT</promise>" }).ran!.out).toContain("pawl verify --wait");
  return world;
}

const waitShortly = (place: Place, ms: number) =>
  run(place, [process.execPath, join(import.meta.dir, "wait-a-moment.ts"), place.root, String(ms)], {});

test("nothing is running", () => {
  expect(
    runInProcess(ground({ ".pawl/workflows/ship.yaml": SHIP, "check.sh": WAITING }), ["verify", "--wait"]),
  ).toEqual({
    code: 0,
    out: "Nothing is running.\n",
    err: "",
  });
});

test("still running: progress, and to be run again; the run has not moved", async () => {
  const { place } = claimed();
  await until("its first words", () => sh(place, "cat .pawl/jobs/*/1/output 2>/dev/null || :") === "begun\n");
  const runs = () => readdirSync(join(place.root, ".pawl/runs"), { recursive: true }).toSorted().join("\n");
  const before = runs();
  const { code, out } = waitShortly(place, 2_500);
  expect(out).toMatch(/^… sh check\.sh, \d+ s: begun\n/);
  expect(out).toMatch(/\n… sh check\.sh: still running, since \d\d:\d\d:\d\d UTC\nRun `pawl verify --wait` again\.\n$/);
  expect(code).toBe(4);
  expect(runs()).toBe(before);
  put(place, { ".pawl/jobs/go": "0" });
  expect(waitShortly(place, 20_000).code).toBe(0);
});

test.each([
  ["0", 0, "✓ sh check.sh: exit 0\nChange nothing; end your turn as before.\n"],
  ["1", 1, "✗ sh check.sh: exit 1\n    begun\n    over\nEnd your turn as before: Pawl then says what to do.\n"],
])("it ends with %s", async (exit, code, words) => {
  const world = claimed();
  const { place } = world;
  const child = verifying(place, "--wait");
  put(place, { ".pawl/jobs/go": exit });
  expect(await child.exited).toBe(code);
  expect(await new Response(child.stdout).text()).toBe(words);
  const { out } = perform(world, { stop: "I have waited." }).ran!;
  expect(out).toContain(code === 0 ? "ship finished" : "BUILT was not believed");
  expect(runInProcess(place, ["verify", "--wait"]).out).toBe("Nothing is running.\n");
});

test("the next stop has picked it up: nothing is running any more", async () => {
  const world = claimed();
  put(world.place, { ".pawl/jobs/go": "0" });
  await until("it is over", () => waitShortly(world.place, 1000).code === 0);
  perform(world, { stop: "I have waited." });
  expect(runInProcess(world.place, ["verify", "--wait"]).out).toBe("Nothing is running.\n");
});

test("`pawl verify` beside it waits for the same command, and leaves it to the hook", async () => {
  const world = claimed();
  const { place } = world;
  const child = verifying(place);
  await Bun.sleep(0);
  put(place, { ".pawl/jobs/go": "0" });
  expect(await child.exited).toBe(0);
  const [job] = readdirSync(join(place.root, ".pawl/jobs")).filter((name) => name !== "go");
  expect(readFileSync(join(place.root, ".pawl/jobs", job!, "1/result.json"), "utf8")).toContain('"exit":0');
  expect(perform(world, { stop: "I have waited." }).ran!.out).toContain("ship finished");
});

test("interrupted beside it, it ends nothing that the hook started", async () => {
  const world = claimed();
  const { place } = world;
  const child = verifying(place);
  await until("it watches", () => basesOf(place).some((name) => name.startsWith("verify-")));
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
  expect(await new Response(child.stderr).text()).toBe("pawl: interrupted: nothing was recorded\n");
  expect(waitShortly(place, 200).code).toBe(4);
  put(place, { ".pawl/jobs/go": "0" });
  expect(waitShortly(place, 20_000).code).toBe(0);
});
