/** The tests of the beginning, run in the background while the agent works: at its claim they are known already. */

import type { Workflow } from "../../kernel/types/run.ts";
import { type Gate, gatesOf, leavesOf } from "../../kernel/types/workflow.ts";
import { objectsFolder, readResult } from "../../store/bases.ts";
import { environmentFault, environmentFor } from "../../store/environment.ts";
import { listJobs } from "../../store/jobs.ts";
import { loadRun } from "../../store/runs.ts";
import { readTrust } from "../../store/trust.ts";
import { computeClosure } from "../closure/closure.ts";
import { AHEAD, aheadId, jobSpec } from "../jobs/gate-job.ts";
import { jobState, spawnSelf, startJob } from "../jobs/job.ts";
import { treeHash } from "../tree/tree.ts";
import { nothing } from "./changes.ts";
import { resultName } from "./measure.ts";

/** The first gate with tests that are compared: one suite in the background is enough. */
const comparedGate = (workflow: Workflow): Gate | undefined =>
  leavesOf(gatesOf(workflow)).find(
    ({ tests, weakened, old_tests, proof, when_changed }) =>
      tests && !weakened && old_tests !== "allow" && !proof && !when_changed,
  );

/**
 * Called once, where a run begins, after the answer: starts a process and waits for nothing.
 * @public The engine loads it by `require`.
 */
export function startAhead(root: string, run: string): void {
  const loaded = loadRun(root, run);
  const gate = loaded && comparedGate(loaded.workflow);
  const tree = loaded?.commit.run.checks.base_tree;
  if (!gate || !tree || readResult(root, resultName(gate, tree, environmentFor(root))) !== null) return;
  spawnSelf(["job", root, run], process.env as Record<string, string>, NICE);
}

const NICE = ["/usr/bin/nice", "-n", "19"];

/** In that process. What was trusted is the tree of the beginning only as long as nothing has changed. */
export function runAhead(root: string, run: string): void {
  const loaded = loadRun(root, run);
  const gate = loaded && comparedGate(loaded.workflow);
  const tree = loaded?.commit.run.checks.base_tree;
  const objects = objectsFolder(root, run);
  if (!gate || !tree || objects === null || !/^[0-9a-f]{40}$/.test(tree)) return;
  const environment = environmentFor(root);
  if (environmentFault(environment) !== null || isBusy(root)) return;
  if (!readTrust(root, computeClosure(root, [gate])).trusted) return;
  const now = treeHash(root, null);
  if (!now.ok || now.value !== tree) return;
  const place = { ...nothing(), tree, objects, whole: run };
  const result = resultName(gate, tree, environment);
  startJob(root, aheadId(gate, tree, environment), { ...jobSpec(gate), retries: 0, place, result }, environment);
}

/** One at a time in a project. */
const isBusy = (root: string) =>
  listJobs(root).some((id) => id.endsWith(AHEAD) && jobState(root, id)?.state === "running");
