import { afterEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Run } from "../../src/kernel/types/run.ts";
import { listBases, objectsFolder } from "../../src/store/bases.ts";
import { dropLeftovers } from "../../src/store/jobs.ts";
import { inHome } from "../harness/sealing.ts";
import { removeTemps, tempRoot } from "./samples.ts";

afterEach(removeTemps);

test("of a run that is over its trees and finished checks go; those of others and those under way stay", () => {
  const root = tempRoot();
  inHome(tempRoot(), () => {
    const put = (path: string) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "{}");
    };
    for (const run of ["s-1", "s-2"]) put(join(objectsFolder(root, run)!, "ab/c"));
    const jobs = ["gate-t1/1/result.json", "gate-t2/1/spec.json", "other-t1/1/result.json"];
    for (const path of jobs) put(join(root, ".pawl/jobs", path));
    const verdict = { gate: "g", id: "gate", verdict: "pass", why: "", tree: "t1", at: "" };
    dropLeftovers(root, { id: "s-1", checks: { verdicts: { gate: verdict } } } as unknown as Run);
    expect(listBases(root)).toEqual(["s-2"]);
    expect(readdirSync(join(root, ".pawl/jobs")).sort()).toEqual(["gate-t2", "other-t1"]);
  });
});
