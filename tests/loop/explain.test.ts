/** `pawl explain` of a loop: no one's turn but the loop's own. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PAWL } from "../harness/harness.ts";
import { type LoopWorld, openWorld, PLAIN } from "./world.ts";

let world: LoopWorld;
beforeEach(() => {
  world = openWorld();
  mkdirSync(join(world.root, ".pawl/procedures"), { recursive: true });
  writeFileSync(join(world.root, ".pawl/procedures/plain.yaml"), CHECKED);
});
afterEach(() => world.clear());

const CHECKED = `${PLAIN}gates: [{ artefact: made.md }]
`;
const SUCCESS = "printf '\\n<promise>SUCCESS</promise>\\n'";

/** The agent's client calls the hook at the end of its turn, as Claude Code does. */
const stops = (message: string) => `
until s=$(grep -o '"iteration":[0-9]*,"session":"[^"]*"' .pawl/loops/*/state.json); do sleep 0.02; done
s=\${s##*'"session":"'}
printf '{"hook_event_name":"Stop","session_id":"%s","prompt_id":"t","cwd":"%s","stop_hook_active":false,"last_assistant_message":"%s"}' \\
  "\${s%?}" "$PWD" '${message}' | "${PAWL}" hook claude --via local
`;

const NEXT = "⇒ the iteration is over; the next one begins by itself";
const OVER = "⇒ the iteration is over, and the loop with it";
/** What was said of whose turn it is, in order. */
const turns = () => world.pawl("explain").out.match(/⇒ (?:the iteration|the person|the agent).*/g) ?? [];

test("what the loop has checked: a refusal is followed by the next iteration, a success ends it", () => {
  world.steps("echo working", SUCCESS, `date > made.md; ${SUCCESS}`);
  expect(world.loop("plain").code).toBe(0);
  expect(turns()).toEqual([NEXT, OVER]);
});

test("a limit ends it, too", () => {
  world.steps(SUCCESS);
  expect(world.loop("plain", "-n", "1").code).toBe(2);
  expect(turns()).toEqual([OVER]);
});

test("a stop in the agent's own session; with what the loop checks after it, it is told once", () => {
  world.steps(stops("I am working on it."), `date > made.md; ${stops("It is made.")} ${SUCCESS}`);
  expect(world.loop("plain").code).toBe(0);
  expect(turns()).toEqual([NEXT, OVER]);
  expect(world.pawl("explain").out).toContain("“I am working on it.”");
});

test("broken off: what follows nobody knows yet", async () => {
  world.steps(`${stops("I am working on it.")} exec sleep 60`);
  const loop = world.start("plain");
  const end = Date.now() + 20_000;
  while (turns().length === 0 && Date.now() < end) await Bun.sleep(20);
  loop.kill("SIGKILL");
  await loop.exited;
  expect(turns()).toEqual(["⇒ the iteration is over; the loop says what follows"]);
});
