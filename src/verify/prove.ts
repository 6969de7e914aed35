/** A gate that cannot fail proves nothing. Each is run in a copy of the project: as it is, and with something broken. */

import { closureOf } from "../checks/closure/closure.ts";
import { jobSpec, ranFact } from "../checks/command.ts";
import { judge } from "../checks/core/gate.ts";
import { commandOf } from "../checks/core/kinds/index.ts";
import { startJob, withoutResult } from "../checks/jobs/job.ts";
import { plain } from "../kernel/text/safe-text.ts";
import type { Gate, Verdict } from "../kernel/types/run.ts";
import { leavesOf } from "../kernel/types/workflow.ts";
import { messageOf } from "../store/files.ts";
import { trustOf } from "../store/trust.ts";
import { type Fault, faultsFor } from "./faults.ts";
import { awaitDone, own, type Running, removeFolder, settle } from "./jobs.ts";
import type { Progress } from "./progress.ts";
import { makeScratch, type Scratch, ScratchError } from "./scratch.ts";

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

export const provable = (gates: Gate[]) => [
  ...new Map(
    leavesOf(gates)
      .filter(commandOf)
      .map((gate) => [gate.id, gate]),
  ).values(),
];

/** 0: each can fail. 1: one passes anyway. 3: one could not be tried. */
export async function proveGates(proving: Proving): Promise<0 | 1 | 3> {
  const words: Proof["word"][] = [];
  const copy = { scratch: null as Scratch | null };
  try {
    for (const gate of provable(proving.gates)) {
      const proof = await prove(proving, gate, copy);
      proving.progress.clear();
      proving.out(linesOf(gate, proof));
      words.push(proof.word);
    }
  } finally {
    if (copy.scratch) removeFolder(proving.running, copy.scratch.base);
  }
  if (words.includes("CANNOT FAIL")) return 1;
  return words.includes("not proved") ? 3 : 0;
}

const SIGNS = { proved: "✓", "CANNOT FAIL": "✗", "not proved": "?" };

function linesOf(gate: Gate, { word, why, tail }: Proof): string {
  const said = (tail ?? "").split("\n").filter((line) => line !== "");
  return [
    `${SIGNS[word]} ${plain(gate.name)}: ${word}: ${plain(why)}`,
    ...said.map((line) => `    ${plain(line)}`),
    "",
  ].join("\n");
}

const notProved = (why: string, tail?: string): Proof => ({ word: "not proved", why, ...(tail && { tail }) });

/** The copy is made with the first gate that may run at all. */
async function prove(proving: Proving, gate: Gate, copy: { scratch: Scratch | null }): Promise<Proof> {
  const trust = trustOf(proving.root, closureOf(proving.root, [gate]));
  if (!trust.trusted) return notProved(`${trust.why}: look at them with \`pawl trust\``);
  try {
    proving.progress.show(`${gate.name} (a copy is made)`);
    copy.scratch ??= makeScratch(proving.root, proving.running);
    const healthy = await runIn(proving, copy.scratch, gate, `${gate.name} (nothing broken)`);
    if (healthy.verdict !== "pass")
      return notProved(`in the copy it does not pass even with nothing broken: ${healthy.why}`, healthy.tail);
    return await tryFaults(proving, copy.scratch, gate);
  } catch (error) {
    if (error instanceof ScratchError) return notProved(error.message);
    throw error;
  }
}

async function tryFaults(proving: Proving, scratch: Scratch, gate: Gate): Promise<Proof> {
  const passed: Fault[] = [];
  let unclear: Proof | null = null;
  for (const fault of faultsFor(scratch, gate)) {
    const undo = fault.plant();
    try {
      const { verdict, why, tail } = await runIn(proving, scratch, gate, `${gate.name} (with ${fault.what})`);
      if (verdict === "fail") return { word: "proved", why: `fails on ${fault.what}${unnoticed(passed)}` };
      if (verdict === "pass") passed.push(fault);
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

const unnoticed = (passed: Fault[]) =>
  passed.length === 0 ? "" : ` (but takes no notice of ${passed.map(({ what }) => what).join(", ")})`;

let count = 0;

async function runIn({ running, progress }: Proving, { root }: Scratch, gate: Gate, name: string): Promise<Verdict> {
  const id = `${gate.id}-${++count}`;
  own(running, root, id, gate.name);
  try {
    startJob(root, id, jobSpec(gate));
    const ran = await awaitDone(root, id, (seen) => progress.show(name, seen));
    const fact = ranFact(gate, ran ?? withoutResult("it was not there any more"), "");
    const background = { at: "", base: null, entered_at: "", most_tests: {} };
    return judge(gate, background, { gates: { [gate.id]: fact } });
  } catch (error) {
    throw new ScratchError(`it could not be run in the copy: ${messageOf(error)}`);
  } finally {
    settle(running, root, id);
  }
}
