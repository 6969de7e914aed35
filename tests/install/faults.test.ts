import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { childEnv, removeTemps, tempRoot } from "../store/samples.ts";

afterEach(removeTemps);

interface Tried {
  hit: string;
  count: number;
  said: string;
  same: boolean;
}

function sweep(what: "in" | "out", kind: string): Tried[] {
  const preload = join(import.meta.dir, "../store/faults.ts");
  const cmd = [process.execPath, "--preload", preload, join(import.meta.dir, "sweep.ts"), what, tempRoot()];
  const { exitCode, stdout, stderr } = Bun.spawnSync(cmd, { env: childEnv(tempRoot(), { FAULT_KIND: kind }) });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  const lines = stdout.toString().trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

const CASES = [
  ["in", "ENOSPC"],
  ["in", "EROFS"],
  ["out", "ENOSPC"],
] as const;

for (const [what, kind] of CASES) {
  test(`${what}: any call of the disk fails with ${kind}, and all is as it was`, () => {
    const tried = sweep(what, kind);
    expect(tried.length).toBeGreaterThan(30);
    expect(new Set(tried.map(({ hit }) => hit)).size).toBeGreaterThan(4);
    for (const [at, { hit, said, same }] of tried.entries()) {
      // Once everything is in its place, a folder that cannot be synced or a spare name that stays is no failure.
      if (said === "") continue;
      expect({ at, hit, same }).toEqual({ at, hit, same: true });
      expect(said).toContain(kind);
    }
    const failed = tried.filter(({ said }) => said !== "");
    expect(failed.length).toBeGreaterThan(tried.length / 2);
  }, 60_000);
}
