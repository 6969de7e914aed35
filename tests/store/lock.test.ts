import { afterEach, expect, test } from "bun:test";
import { isHeld, takeLock } from "../../src/store/lock.ts";
import { ownHome } from "../harness/sealing.ts";
import { childEnv, commandFor, removeTemps, tempRoot } from "./samples.ts";

ownHome();
afterEach(removeTemps);

const LOCK = ".pawl/tracker/lock";

/** Another process asks for it. */
function isFree(root: string): boolean {
  const calls = JSON.stringify([["takeLock", root, LOCK, 1]]);
  const asked = Bun.spawnSync(commandFor("call.ts", [calls]), { env: childEnv(root) });
  if (asked.exitCode !== 0) throw new Error(asked.stderr.toString());
  return !asked.stdout.toString().includes("locked");
}

test("a lock is held until it is closed, also if only a local variable had it", () => {
  const root = tempRoot();
  (() => void takeLock(root, LOCK, 1))();
  // With other objects in between, nothing of the call above is left on the stack.
  for (let round = 0; round < 20; round++) {
    JSON.parse(JSON.stringify(Array.from({ length: 1000 }, (_, at) => ({ at }))));
    Bun.gc(true);
  }
  expect(isFree(root)).toBe(false);
});

test("closing releases it, and only once", () => {
  const root = tempRoot();
  const lock = takeLock(root, LOCK, 1);
  expect(isFree(root)).toBe(false);
  lock.close();
  lock.close();
  expect(isFree(root)).toBe(true);
});

test("held by another process, and out of reach, are two things", () => {
  const root = tempRoot();
  const lock = takeLock(root, LOCK, 1);
  const why = (path: string) => {
    try {
      takeLock(root, path, 1).close();
      return "free";
    } catch (error) {
      return isHeld(error) ? "held" : "out of reach";
    }
  };
  expect([why(LOCK), why(".pawl/other/lock"), why(".pawl/tracker/lock/below")]).toEqual([
    "held",
    "free",
    "out of reach",
  ]);
  lock.close();
});
