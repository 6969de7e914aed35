/** Waits while a check goes on outside the hook. Nothing is moved: the next stop picks the verdict up. */

import { ranFact } from "../checks/command.ts";
import { buildBackground, judge } from "../checks/core/gate.ts";
import { commandOf } from "../checks/core/kinds/index.ts";
import { jobId } from "../checks/jobs/gate-job.ts";
import { jobState } from "../checks/jobs/job.ts";
import { treeHash } from "../checks/tree/tree.ts";
import type { Gate, Ran, Run } from "../kernel/types/run.ts";
import { leavesOf, stageOf, type Workflow } from "../kernel/types/workflow.ts";
import { environmentFor } from "../store/environment.ts";
import { listRuns, loadRun } from "../store/runs.ts";
import { awaitDone } from "./jobs.ts";
import { indented, type Progress } from "./progress.ts";

interface Open {
  run: Run;
  gate: Gate;
  id: string;
}

export interface Waited {
  /** 4: still running */
  code: 0 | 1 | 4;
  lines: string[];
}

export async function waitForChecks(root: string, most_ms: number, progress: Progress): Promise<Waited> {
  const until = performance.now() + most_ms;
  const claims = openClaims(root);
  const open = claims.flatMap((claim) => listChecks(root, claim));
  if (open.length === 0) return { code: 0, lines: claims.length === 0 ? ["Nothing is running."] : [NOT_BEGUN] };
  const done: Waited[] = [];
  for (const one of open) {
    const left = Math.max(0, until - performance.now());
    const ran = await awaitDone(root, one.id, (seen) => progress.show(one.gate.name, seen), left);
    done.push(ran === null ? stillRunning(root, one) : finished(one, ran));
  }
  progress.clear();
  const code = done.some((one) => one.code === 4) ? 4 : done.some((one) => one.code === 1) ? 1 : 0;
  return { code, lines: [...done.flatMap((one) => one.lines), WHAT_NOW[code]] };
}

const NOT_BEGUN = "Nothing is running (any more). End your turn as before: the check starts again then.";
const WHAT_NOW = {
  0: "Change nothing; end your turn as before.",
  1: "End your turn as before: Pawl then says what to do.",
  4: "Run `pawl verify --wait` again.",
};

/** The claims of this project's runs that wait for a command. */
function openClaims(root: string): { run: Run; workflow: Workflow }[] {
  return listRuns(root).flatMap(({ id }) => {
    const loaded = loadRun(root, id);
    const isOpen = loaded?.commit.run.checks.claim?.open === "running";
    return loaded && isOpen ? [{ run: loaded.commit.run, workflow: loaded.workflow }] : [];
  });
}

/** A command that changed the tree is run once more on what it made, so the tree of now is looked for, too. */
function listChecks(root: string, { run, workflow }: { run: Run; workflow: Workflow }): Open[] {
  const now = treeHash(root, null);
  const trees = [run.checks.claim!.tree, ...(now.ok ? [now.value] : [])];
  const environment = environmentFor(root);
  const gates = leavesOf(gatesOfClaim(run, workflow)).filter(commandOf);
  return gates.flatMap((gate) => {
    const id = trees.map((tree) => jobId(gate, tree, environment)).findLast((one) => jobState(root, one) !== null);
    return id === undefined ? [] : [{ run, gate, id }];
  });
}

function gatesOfClaim(run: Run, workflow: Workflow): Gate[] {
  const { on, stop } = stageOf(workflow, run.stage);
  const { signal } = run.checks.claim!;
  const move = signal === "" ? stop : (on[signal] ?? workflow.anywhere[signal]);
  return move?.gates ?? [];
}

function stillRunning(root: string, { gate, id }: Open): Waited {
  const since = jobState(root, id)?.since ?? "";
  return { code: 4, lines: [`… ${gate.name}: still running, since ${since.slice(11, 19)} UTC`] };
}

function finished({ run, gate }: Open, ran: Ran): Waited {
  const facts = { gates: { [gate.id]: ranFact(gate, ran, run.checks.claim!.tree) } };
  const { verdict, why, tail } = judge(gate, buildBackground(run, ran.ended_at), facts);
  if (verdict === "pass") return { code: 0, lines: [`✓ ${gate.name}: ${why}`] };
  return { code: 1, lines: [`${verdict === "fail" ? "✗" : "?"} ${gate.name}: ${why}`, ...indented(tail)] };
}
