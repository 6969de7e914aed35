/** A check that takes longer than a stop can wait: the process next to the hook wakes the agent with its result. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trustProject } from "../harness/grant-trust.ts";
import {
  CLIENT,
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  runHook,
  type Session,
  shell,
  stopFields,
  transcribeMessage,
} from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";

afterAll(removePlaces);

/** `wait`: seconds that a stop has for the check */
const workflow = (wait: number) => `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { to: tell, gates: [{ run: [sh, check.sh], wait: ${wait} }] }
  - id: tell
    say: Tell the world.
    on: { TOLD: { end: completed } }
`;

/** The check ends once the file \`verdict\` of this folder says how. */
const CHECK =
  'while [ ! -s "$HOME/verdict" ]; do sleep 0.02; done; echo the check says $(cat "$HOME/verdict"); exit $(cat "$HOME/verdict")';

function armed(wait: number): { place: Place; session: Session } {
  const place = makePlace();
  mkdirSync(join(place.root, ".pawl/workflows"), { recursive: true });
  writeFileSync(join(place.root, ".pawl/workflows/ship.yaml"), workflow(wait));
  writeFileSync(join(place.root, "check.sh"), CHECK);
  trustProject(place);
  const session = openSession(place, "main");
  session.turn += 1;
  runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/ship" }));
  return { place, session };
}

/** As the client does it: both hooks of a stop at once. */
function stop({ place, session }: { place: Place; session: Session }, said: string) {
  transcribeMessage(session, [{ type: "text", text: said }]);
  const input = Buffer.from(`${JSON.stringify(payload(place, session, "Stop", stopFields(session, said)))}\n`);
  const start = (words: string[]) =>
    Bun.spawn([PAWL, ...words], {
      cwd: place.root,
      env: { ...place.env, ...CLIENT },
      stdin: input,
      stdout: "pipe",
      stderr: "pipe",
    });
  return { rewake: start(["rewake", "claude", "--via", "local"]), hook: start(["hook", "claude", "--via", "local"]) };
}

const CLAIM = "It is built.\n\n<promise>BUILT</promise>";

test.each([
  ["passes", "0", "Tell the world.", "tell"],
  ["fails", "3", "the check says 3", "build"],
])("a check that %s later wakes the agent with what follows", async (_name, verdict, said, stage) => {
  const world = armed(1);
  const { hook, rewake } = stop(world, CLAIM);
  expect(JSON.parse(await new Response(hook.stdout).text()).systemMessage).toContain("still running");
  expect(runOf(world.place.root, world.session.id)!.stage).toBe("build");
  writeFileSync(join(world.place.home, "verdict"), verdict);
  expect(await rewake.exited).toBe(2);
  const woken = await new Response(rewake.stderr).text();
  expect(woken).toStartWith("[pawl] ");
  expect(woken).toContain(said);
  expect(runOf(world.place.root, world.session.id)!.stage).toBe(stage);
});

test("a stop whose checks are over in time wakes nobody", async () => {
  const world = armed(25);
  writeFileSync(join(world.place.home, "verdict"), "0");
  const { hook, rewake } = stop(world, CLAIM);
  expect(await new Response(hook.stdout).text()).toContain("Tell the world.");
  expect(await rewake.exited).toBe(0);
  expect(await new Response(rewake.stderr).text()).toBe("");
});

test("a killed hook loses no check: the next stop picks its verdict up", async () => {
  const world = armed(25);
  const { hook, rewake } = stop(world, CLAIM);
  await until(() => shell(world.place, "ls .pawl/jobs/*/1/runner.json").code === 0);
  hook.kill("SIGKILL");
  rewake.kill("SIGKILL");
  await Promise.all([hook.exited, rewake.exited]);
  writeFileSync(join(world.place.home, "verdict"), "0");
  const next = stop(world, `Again.\n\n${CLAIM}`);
  expect(await new Response(next.hook.stdout).text()).toContain("Tell the world.");
  expect(shell(world.place, "ls -d .pawl/jobs/*/2").code).not.toBe(0);
});

test("nothing to wake in a session without a run", async () => {
  const place = makePlace();
  const session = openSession(place, "main");
  const { rewake } = stop({ place, session }, "fine");
  expect(await rewake.exited).toBe(0);
});

async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error("it never came");
    await Bun.sleep(10);
  }
}
