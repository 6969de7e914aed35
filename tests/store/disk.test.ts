import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { childEnv, commandFor, removeTemps, tempRoot } from "./samples.ts";

afterEach(removeTemps);

function outcomes(preload: string | null): string[] {
  const [bun = "", ...script] = commandFor("disk-calls.ts", [tempRoot()]);
  const flags = preload === null ? [] : ["--preload", join(import.meta.dir, preload)];
  const { stdout, stderr } = Bun.spawnSync([bun, ...flags, ...script], { env: childEnv(tempRoot()) });
  expect(stderr.toString()).toBe("");
  return stdout.toString().trim().split("\n");
}

const WITHOUT = outcomes("without-libc.ts");

test("node:fs does what is expected of the disk", () => {
  expect(WITHOUT).toContain("open a link ELOOP true");
  expect(WITHOUT).toContain("how many 601");
  expect(WITHOUT).toHaveLength(53);
});
test("libc does the same, with the same codes", () => expect(outcomes(null)).toEqual(WITHOUT));
test("and a signal in the middle of a call changes nothing", () => expect(outcomes("interrupted.ts")).toEqual(WITHOUT));
