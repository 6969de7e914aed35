/** A short life of a run, one event after the other, each as a hook does it. Run as a script it lives it once per root. */
import { mkdirSync } from "node:fs";
import type { Commit, Effect } from "../../src/kernel/types/run.ts";
import { hashOf } from "../../src/store/files.ts";
import { project, recover } from "../../src/store/project.ts";
import { archiveRun, commitRun, loadRun, pinWorkflow, readCommits } from "../../src/store/runs.ts";
import type { Faults } from "./faults.ts";
import { ID, sampleCommit, workflow } from "./samples.ts";

export const DOCUMENT = ".claude/work-completion.local.md";
export const LOG = ".claude/logs/work.log";
export const FIRST = "first\n";
export const SECOND = "second\n";

const log = (line: string): Effect => ({ kind: "log", path: LOG, lines: [line] });
const document = (text: string | null, expect: string): Effect => ({ kind: "document", path: DOCUMENT, text, expect });

export const steps: Commit[] = [
  sampleCommit(1, { effects: [document(FIRST, ""), log("one"), { kind: "report", file: "r.md", text: "report" }] }),
  sampleCommit(2, { effects: [document(SECOND, hashOf(FIRST)), log("two")] }),
  sampleCommit(3, {
    run: { status: "ended", outcome: "completed" },
    effects: [document(null, hashOf(SECOND)), log("three"), { kind: "archive" }],
  }),
];

/** What the next event would do, whatever the last one left behind. false: nothing is left to do. */
export function nextStep(root: string): boolean {
  const loaded = loadRun(root, ID);
  if (loaded !== null) recover(root, loaded.commit);
  const seq = loaded?.commit.run.seq ?? readCommits(root, ID).at(-1)?.run.seq ?? 0;
  if (seq === 0) pinWorkflow(root, ID, workflow);
  const step = steps[seq];
  if (step === undefined) {
    if (loaded === null) archiveRun(root, ID);
    return loaded !== null;
  }
  if (commitTruly(root, step) === "committed") project(root, step);
  return true;
}

/** A commit that others can see must not be reported as failed: its event would be decided twice. */
function commitTruly(root: string, step: Commit): string {
  try {
    return commitRun(root, step);
  } catch (error) {
    if (readCommits(root, ID).some((commit) => commit.run.seq === step.run.seq))
      console.error("seen, yet thrown", error);
    throw error;
  }
}

/** The events after a fault: however many it takes, they must reach the end. */
function mend(root: string): void {
  for (let events = 0; nextStep(root); events++) if (events > 5) throw new Error(`${root} does not end`);
}

function live(root: string): void {
  for (let events = 0; events < steps.length; events++) {
    try {
      nextStep(root);
    } catch {
      // a hook says so and ends; the next event is a new process
    }
  }
}

if (import.meta.main) {
  const { faults } = globalThis as unknown as { faults: Faults };
  const [mode, root, list = ""] = process.argv.slice(2) as [string, string, string?];
  const numbers = list.split(",").map(Number);
  if (mode === "mend") for (const at of numbers) mend(`${root}/${at}`);
  for (const at of mode === "sweep" ? numbers : []) {
    mkdirSync(`${root}/${at}`);
    Object.assign(faults, { count: 0, at, hit: "" });
    live(`${root}/${at}`);
    faults.at = 0;
    console.log(faults.hit);
  }
  if (mode === "once") {
    live(root);
    console.log(faults.count);
  }
}
