import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readJournal } from "../../src/store/journal.ts";
import { loadRun, readCommits } from "../../src/store/runs.ts";
import { seal } from "../../src/store/seal.ts";
import { SAMPLE, sampled } from "../harness/sampled.ts";
import { ownHome } from "../harness/sealing.ts";
import { DOCUMENT, LOG, SECOND, steps } from "./cycle.ts";
import { childEnv, commandFor, ID, removeTemps, tempRoot } from "./samples.ts";

/** One key for all children and for looking at what they left. */
const HOME = ownHome();
seal("", "{}");
afterEach(removeTemps);

function child(args: string[], env: Record<string, string> = {}) {
  const done = Bun.spawnSync(commandFor("cycle.ts", args, true), { env: childEnv(HOME, env) });
  return { code: done.exitCode, lines: done.stdout.toString().trim().split("\n"), error: done.stderr.toString() };
}

function countCalls(): number {
  const root = tempRoot();
  const { lines, code, error } = child(["once", root]);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  expectFinished(root, true);
  return Number(lines[0]);
}

function allFiles(root: string): string[] {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
}

/** Before anything is fixed: what can be seen is whole, in its place, and nothing was taken for broken. */
function expectSound(root: string): void {
  for (const path of allFiles(root)) {
    const name = path.slice(root.length + 1);
    expect(name).toMatch(/^\.(pawl|claude)\//);
    expect(name).not.toContain(".corrupt");
    if (name.endsWith(".json")) JSON.parse(readFileSync(path, "utf8"));
  }
  const loaded = loadRun(root, ID);
  const seqs = readCommits(root, ID).map((commit) => commit.run.seq);
  expect(seqs).toEqual([1, 2, 3].slice(0, seqs.length));
  if (loaded !== null) expect(loaded.commit).toEqual(steps[seqs.length - 1]!);
}

function expectFinished(root: string, effectsToo: boolean): void {
  expect(loadRun(root, ID)).toBeNull();
  expect(readCommits(root, ID).map((commit) => commit.records)).toEqual(steps.map((commit) => commit.records));
  const journal = [...readJournal(root)].map((line) => `${line.seq}.${line.i}.${line.kind}`);
  expect(journal.sort()).toEqual([1, 2, 3].flatMap((seq) => [`${seq}.0.stopped`, `${seq}.1.continued`]));
  expect(readdirSync(join(root, ".pawl/archive", ID)).filter((name) => /^\d/.test(name))).toEqual(["000003.json"]);
  if (!effectsToo) return;
  expect(readFileSync(join(root, LOG), "utf8").match(/\b(one|two|three)\b/g)).toEqual(["one", "two", "three"]);
  expect(existsSync(join(root, DOCUMENT))).toBe(false);
  expect(readFileSync(join(root, ".pawl/archive", ID, "document.md"), "utf8")).toBe(SECOND);
  expect(readFileSync(join(root, ".pawl/archive", ID, "reports/r.md"), "utf8")).toBe("report");
}

function expectGoesOn(base: string, faults: number[], effectsToo: boolean): void {
  const roots = faults.map((at) => join(base, String(at)));
  roots.forEach(expectSound);
  const { code, error } = child(["mend", base, faults.join(",")]);
  expect({ code, error }).toEqual({ code: 0, error: "" });
  for (const root of roots) expectFinished(root, effectsToo);
}

describe("every call of the disk fails in turn", () => {
  // The first one also makes what every home has once.
  countCalls();
  const calls = countCalls();
  test("the faults really take effect", () => {
    expect(calls).toBeGreaterThan(60);
    const { code } = child(["once", tempRoot()], { FAULT_KIND: "before", FAULT_AT: "5" });
    expect(code).toBe(9);
  });
  for (const kind of ["EIO", "ENOSPC", "short"]) {
    test(`with ${kind}`, () => {
      const base = tempRoot();
      const all = Array.from({ length: calls }, (_, index) => index + 1);
      const { lines, code, error } = child(["sweep", base, all.join(",")], { FAULT_KIND: kind });
      expect({ code, error }).toEqual({ code: 0, error: "" });
      expect(new Set(lines).size).toBe(7);
      expectGoesOn(base, all, kind === "short");
    }, 60_000);
  }
  // Each of these is a process.
  for (const [shift, kind] of ["before", "after"].entries()) {
    test(`with the process gone ${kind} it (${SAMPLE})`, () => {
      const base = tempRoot();
      const faults = sampled(calls, 5, shift);
      for (const at of faults) {
        const root = join(base, String(at));
        mkdirSync(root);
        const env = { FAULT_KIND: kind, FAULT_AT: String(at) };
        expect(child(["once", root], env).code).toBe(9);
      }
      expectGoesOn(base, faults, true);
    }, 120_000);
  }
});
