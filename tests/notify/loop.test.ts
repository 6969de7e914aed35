/** A loop is over, and no one sat in front of it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LoopWorld, openWorld, PLAIN, SUCCESS } from "../loop/world.ts";
import { CONFIG, put, until } from "./ground.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

let world: LoopWorld;
beforeEach(() => {
  world = openWorld();
  put(join(world.root, ".pawl/procedures/plain.yaml"), PLAIN);
});
afterEach(() => world.clear());

function listen(): string {
  const [double, got] = [join(world.home, "double"), join(world.home, "got.json")];
  writeFileSync(double, `#!/bin/sh\ncat > "${got}.part" && mv "${got}.part" "${got}"\n`);
  chmodSync(double, 0o755);
  put(join(world.home, CONFIG), `notify:\n  batch: 0\n  desktop: off\n  command: [${double}]\n`);
  expect(world.pawl("notify").out).toContain("Notifications are on.");
  return got;
}

test.each<[string, number, RegExp]>([
  [SUCCESS, 0, /^project: the loop plain ended, success\b/],
  [
    "echo '<promise>FAILURE</promise>'; echo; echo There is no database.",
    1,
    /^project: the loop plain ended, aborted: /,
  ],
])("after %j", async (step, exit, text) => {
  const got = listen();
  world.steps(step);
  expect(world.loop("plain", "--failure-threshold", "1").code).toBe(exit);
  await until(() => existsSync(got), "the program is called");
  expect(JSON.parse(readFileSync(got, "utf8"))).toMatchObject({ what: "loop", text: expect.stringMatching(text) });
});

test("off: not a word, not a file", () => {
  world.steps(SUCCESS);
  expect(world.loop("plain").code).toBe(0);
  expect(existsSync(join(world.home, ".local/state/pawl/notify"))).toBe(false);
});
