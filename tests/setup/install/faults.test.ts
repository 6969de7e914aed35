import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { PAWL } from "../../harness/harness.ts";
import { SAMPLE } from "../../harness/sampled.ts";
import { childEnv, removeTemps, tempRoot } from "../../store/samples.ts";
import { snapshot } from "./ground.ts";

afterEach(removeTemps);

interface Tried {
  at: number;
  hit: string;
  count: number;
  said: string;
  same: boolean;
}

function child(what: string, base: string, home: string, faults: Record<string, string>) {
  const preload = join(import.meta.dir, "../../store/faults.ts");
  const cmd = [process.execPath, "--preload", preload, join(import.meta.dir, "sweep.ts"), what, base];
  return Bun.spawnSync(cmd, { env: childEnv(home, faults) });
}

function sweep(what: "in" | "out", kind: string): Tried[] {
  const { exitCode, stdout, stderr } = child(what, tempRoot(), tempRoot(), { FAULT_KIND: kind, PAWL_SWEEP });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  const lines = stdout.toString().trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

const { PAWL_SWEEP = "0" } = process.env;

const CASES = [
  ["in", "ENOSPC"],
  ["in", "EROFS"],
  ["out", "ENOSPC"],
] as const;

for (const [what, kind] of CASES) {
  test(`${what}: any call of the disk fails with ${kind}, and all is as it was (${SAMPLE})`, () => {
    const tried = sweep(what, kind);
    expect(tried.length).toBeGreaterThan(20);
    expect(new Set(tried.map(({ hit }) => hit)).size).toBeGreaterThan(3);
    for (const { at, hit, said, same } of tried) {
      // Once everything is in its place, a folder that cannot be synced or a spare name that stays is no failure.
      if (said === "") continue;
      expect({ at, hit, same }).toEqual({ at, hit, same: true });
      expect(said).toContain(kind);
    }
    const failed = tried.filter(({ said }) => said !== "");
    expect(failed.length).toBeGreaterThan(tried.length / 2);
  }, 60_000);
}

test("killed in the middle of it: uninstall mends that", () => {
  const { count } = JSON.parse(child("once", tempRoot(), tempRoot(), {}).stdout.toString()) as Tried;
  for (const part of [0.2, 0.5, 0.65, 0.75, 0.85, 0.95]) {
    const [base, home] = [tempRoot(), tempRoot()];
    const at = String(Math.round(count * part));
    expect(child("once", base, home, { FAULT_KIND: "after", FAULT_AT: at }).exitCode).toBe(9);
    const root = join(base, "project");
    const env = { ...childEnv(home), PATH: "/usr/bin:/bin" };
    const { exitCode } = Bun.spawnSync([PAWL, "uninstall", "--purge", "--yes"], { cwd: root, env });
    const files = Object.entries(snapshot(root)).filter(([, what]) => what.startsWith("file"));
    expect({ at, exitCode, files: Object.fromEntries(files) }).toEqual({
      at,
      exitCode: 0,
      files: {
        "CLAUDE.md": "file 644 # Mine\n",
        ".claude/settings.local.json": 'file 644 {"a":1,"statusLine":{"type":"command","command":"date"}}',
      },
    });
  }
}, 60_000);
