/** A gate that cannot fail proves nothing. Each is run in a copy of the project: as it is, and with something broken. */

import { computeClosure } from "../checks/closure/closure.ts";
import { ranFact } from "../checks/command.ts";
import { judge } from "../checks/core/gate.ts";
import { commandOf } from "../checks/core/kinds/index.ts";
import { jobSpec } from "../checks/jobs/gate-job.ts";
import { startJob, withoutResult } from "../checks/jobs/job.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { Gate, Verdict } from "../kernel/types/run.ts";
import type { NamedReport } from "../kernel/types/verdict.ts";
import { leavesOf } from "../kernel/types/workflow.ts";
import { asEnvironment, type Environment, environmentFor } from "../store/environment.ts";
import { messageOf } from "../store/files.ts";
import { readTrust } from "../store/trust.ts";
import { type Fault, faultsFor } from "./faults.ts";
import { awaitDone, own, type Running, removeFolder, settle } from "./jobs.ts";
import { plantedTests } from "./planted.ts";
import { indented, type Progress } from "./progress.ts";
import { makeScratch, type Scratch, ScratchError } from "./scratch.ts";
import { uniqueGates } from "./select.ts";

export interface Proving {
  root: string;
  gates: Gate[];
  running: Running;
  progress: Progress;
  out(text: string): void;
}

interface Proof {
  word: "proved" | "CANNOT FAIL" | "not proved";
  why: string;
  /** the last lines of what it said instead */
  tail?: string;
}

export const provable = (gates: Gate[]) => uniqueGates(leavesOf(gates).filter(commandOf));

/** 0: each can fail. 1: one passes anyway. 3: one could not be tried. */
export async function proveGates(proving: Proving): Promise<0 | 1 | 3> {
  const words: Proof["word"][] = [];
  const copy = { scratch: null as Scratch | null };
  try {
    for (const gate of provable(proving.gates)) {
      const proof = await prove(proving, gate, copy);
      proving.progress.clear();
      proving.out(renderLines(gate, proof));
      words.push(proof.word);
    }
  } finally {
    if (copy.scratch) removeFolder(proving.running, copy.scratch.base);
  }
  if (words.includes("CANNOT FAIL")) return 1;
  return words.includes("not proved") ? 3 : 0;
}

const SIGNS = { proved: "✓", "CANNOT FAIL": "✗", "not proved": "?" };

const renderLines = (gate: Gate, { word, why, tail }: Proof) =>
  [`${SIGNS[word]} ${safeText(gate.name)}: ${word}: ${safeText(why)}`, ...indented(tail), ""].join("\n");

const notProved = (why: string, tail?: string): Proof => ({ word: "not proved", why, ...(tail && { tail }) });

/** The copy is made with the first gate that may run at all. */
async function prove(proving: Proving, gate: Gate, copy: { scratch: Scratch | null }): Promise<Proof> {
  const trust = readTrust(proving.root, computeClosure(proving.root, [gate]));
  if (!trust.trusted) return notProved(`${trust.why}: look at them with \`pawl trust\``);
  try {
    proving.progress.show(`${gate.name} (a copy is made)`);
    copy.scratch ??= await makeScratch(proving.root, proving.running);
    const healthy = await runIn(proving, copy.scratch, gate, `${gate.name} (nothing broken)`);
    if (healthy.verdict !== "pass")
      return notProved(
        `in the copy it does not pass even with nothing broken: ${healthy.why}${missing(copy.scratch)}`,
        healthy.tail,
      );
    return await tryFaults(proving, copy.scratch, gate);
  } catch (error) {
    if (error instanceof ScratchError) return notProved(error.message);
    throw error;
  }
}

const missing = ({ leftOut }: Scratch) =>
  leftOut.length === 0 ? "" : `; too large to be in the copy: ${leftOut.slice(0, 5).join(", ")}`;

async function tryFaults(proving: Proving, scratch: Scratch, gate: Gate): Promise<Proof> {
  const passed: Fault[] = [];
  let unclear: Proof | null = null;
  for (const fault of faultsFor(scratch, gate)) {
    const undo = fault.plant();
    try {
      const { verdict, why, tail, named } = await runIn(proving, scratch, gate, `${gate.name} (with ${fault.what})`);
      const report = fault.isTest && named;
      const wrong = report ? plantedTests(report, "passed") : [];
      if (wrong.length > 0) return cannotFail(wrong, fault);
      const isNoticed = verdict === "fail" && (!report || plantedTests(report, "failed").length > 0);
      if (isNoticed) return { word: "proved", why: `fails on ${fault.what}${unnoticed(passed)}` };
      if (verdict === "pass") passed.push(fault);
      else if (verdict === "fail")
        unclear ??= notProved(`with ${fault.what} it fails, but no planted test came back as failed`, tail);
      else unclear ??= notProved(`with ${fault.what} it is unproven: ${why}`, tail);
    } finally {
      undo();
    }
  }
  if (unclear) return unclear;
  if (passed.length === 0) return notProved("nothing was found that could be broken; name a patch with `fault`");
  const all = passed.map(({ what }) => what).join(", and ");
  const hint = gate.fault === undefined ? "; if it looks for something else, name a patch with `fault`" : "";
  return { word: "CANNOT FAIL", why: `passes although there is ${all}${hint}` };
}

/** The runner ran it, it threw, and the report says that it passed. */
const cannotFail = ([first]: string[], { what }: Fault): Proof => ({
  word: "CANNOT FAIL",
  why: `${what} came back as passed (${first}); something changes the assertions or the runner`,
});

const unnoticed = (passed: Fault[]) =>
  passed.length === 0 ? "" : ` (but takes no notice of ${passed.map(({ what }) => what).join(", ")})`;

/** Where Pawl itself keeps things stays where it is. */
const OWN_PLACES = /^(HOME|TMPDIR|XDG_.*)$/;

function environmentIn(root: string, { inCopy }: Scratch): Environment {
  const entries = Object.entries(environmentFor(root).env);
  const moved = entries.map(([name, value]) => [name, OWN_PLACES.test(name) ? value : inCopy(value)]);
  return asEnvironment(Object.fromEntries(moved));
}

let count = 0;

async function runIn(
  { root: original, running, progress }: Proving,
  scratch: Scratch,
  gate: Gate,
  name: string,
): Promise<Verdict & { named?: NamedReport }> {
  const { root } = scratch;
  const id = `${gate.id}-${++count}`;
  own(running, root, id, gate.name);
  try {
    startJob(root, id, jobSpec(gate), environmentIn(original, scratch));
    const ran =
      (await awaitDone(root, id, (seen) => progress.show(name, seen))) ?? withoutResult("it was not there any more");
    const background = { at: "", base: null, entered_at: "", most_tests: {} };
    const verdict = judge(gate, background, { gates: { [gate.id]: ranFact(gate, ran, "") } });
    return { ...verdict, ...(ran.named && { named: ran.named }) };
  } catch (error) {
    throw new ScratchError(`it could not be run in the copy: ${messageOf(error)}`);
  } finally {
    settle(running, root, id);
  }
}
