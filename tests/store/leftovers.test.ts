import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Run } from "../../src/kernel/types/run.ts";
import { dropLeftovers } from "../../src/store/leftovers.ts";
import { removeTemps, tempRoot } from "./samples.ts";

afterEach(removeTemps);

test("of a run that is over its trees and finished checks go; those of others and those under way stay", () => {
  const root = tempRoot();
  const put = (path: string) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), "{}");
  };
  for (const path of ["objects/s-1/ab/c", "objects/s-2/ab/c", "jobs/gate-t1/1/result.json"]) put(`.pawl/${path}`);
  for (const path of ["jobs/gate-t2/1/spec.json", "jobs/other-t1/1/result.json"]) put(`.pawl/${path}`);
  const verdict = { gate: "g", id: "gate", verdict: "pass", why: "", tree: "t1", at: "" };
  dropLeftovers(root, { id: "s-1", verdicts: { gate: verdict } } as unknown as Run);
  const left = (path: string) => existsSync(join(root, ".pawl", path));
  expect([left("objects/s-1"), left("jobs/gate-t1")]).toEqual([false, false]);
  expect([left("objects/s-2"), left("jobs/gate-t2"), left("jobs/other-t1")]).toEqual([true, true, true]);
});
