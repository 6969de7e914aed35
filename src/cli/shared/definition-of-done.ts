/** What "done" means in this project: found, shown, approved by the person, and run for the first time. */

import { computeClosure } from "../../checks/closure/closure.ts";
import { DONE } from "../../definitions/gates.ts";
import { compileProject, readProject } from "../../definitions/project.ts";
import { attempt } from "../../kernel/attempt.ts";
import { safeText } from "../../kernel/text/safe-text.ts";
import type { Gate } from "../../kernel/types/run.ts";
import { leavesOf } from "../../kernel/types/workflow.ts";
import { removeAll } from "../../native/disk.ts";
import { type Check, configText, detectChecks, type FirstRun } from "../../setup/install/checks.ts";
import { lookAt, readText, writeAtomic } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { excludePlace } from "../../store/owned.ts";
import { grantTrust, lastTrusted, readTrust, revokeTrust } from "../../store/trust.ts";
import { nothingRuns } from "../../verify/jobs.ts";
import { verdictLines } from "../../verify/report.ts";
import { type Checked, verifyGates } from "../../verify/run.ts";
import { findBase } from "../../verify/select.ts";
import type { Io } from "./args.ts";
import { endWithSignals, hasColours, openProgress } from "./screen.ts";

export interface Definition {
  /** the pawl.yaml to write; null: there is one */
  text: string | null;
  checks: Check[];
  gates: Gate[];
  /** for a person: the commands, and what they stand for */
  lines: string[];
  isTrusted: boolean;
  team: boolean;
  /** takes the approval back: the person left before anything was installed */
  undo?(): void;
}

/** Files are read, nothing is run. */
export function findDefinition(root: string, { team }: { team: boolean }): Definition {
  const written = lookAt(join(root, "pawl.yaml")) !== undefined;
  const checks = written ? [] : detectChecks(root);
  const text = checks.length === 0 ? null : configText(checks, [], team);
  const read = text === null ? readProject(root) : compileProject(text);
  const gates = "errors" in read ? [] : (read.project.gates[DONE]?.all ?? []);
  const closure = computeClosure(root, leavesOf(gates));
  const lines = closure.items.map(({ gate, cwd, scripts }) => {
    const body = scripts.find(({ what }) => what.startsWith("package.json scripts."))?.text;
    return safeText(`${gate}${cwd === "." ? "" : ` in ${cwd}`}${body ? `   (${body.split("\n")[0]})` : ""}`);
  });
  return { text, checks, gates, lines, isTrusted: readTrust(root, closure).trusted, team };
}

/** Approves the commands, runs each once, and writes down what they showed. */
export async function adopt(done: Definition, root: string, who: string, io: Io): Promise<Definition> {
  const undo = rememberPlace(root);
  grantTrust(root, computeClosure(root, leavesOf(done.gates)), who);
  const running = nothingRuns();
  const progress = openProgress(30_000);
  const release = endWithSignals(running, progress, io, undo);
  const check = async (gates: Gate[], base: string) => {
    const decided = (checked: Checked) => {
      progress.clear();
      io.out(`${verdictLines(checked, hasColours(io)).join("\n")}\n`);
    };
    return (await verifyGates({ root, gates, base, known: {} }, running, { show: progress.show, decided })).verdicts;
  };
  try {
    const runs: FirstRun[] = [];
    for (const [at, verdict] of (await check(done.gates, "")).entries())
      runs.push(done.text === null ? {} : await firstRun(verdict, () => withKnown(done.checks, at), root, check, io));
    if (done.text === null) return { ...done, isTrusted: true, undo };
    const isOn = (_: unknown, at: number) => runs[at]?.off === undefined;
    const text = configText(done.checks, runs, done.team);
    return { ...done, text, isTrusted: true, gates: done.gates.filter(isOn), lines: done.lines.filter(isOn), undo };
  } finally {
    progress.clear();
    release();
  }
}

/** Running a check leaves files of ours: an approval, `.pawl/`, lines in git's exclude file. */
function rememberPlace(root: string): () => void {
  const isFirst = lastTrusted(root) === null;
  const folder = join(root, ".pawl");
  const isNew = lookAt(folder) === undefined;
  const path = attempt(() => excludePlace(root)?.path, undefined);
  const excludes = path === undefined ? null : readText(path);
  return () => {
    if (isFirst) revokeTrust(root);
    if (isNew) removeAll(folder);
    if (isNew && path !== undefined && excludes?.ok) writeAtomic(path, excludes.text, 0o644);
  };
}

type RunChecks = (gates: Gate[], base: string) => Promise<Checked[]>;

/** The gate of one check, as pawl.yaml would have it with known failures. */
function withKnown(checks: Check[], at: number): Gate {
  const read = compileProject(configText(checks.slice(at, at + 1), [{ known: true }]));
  if ("errors" in read) throw new Error(read.errors[0]?.message);
  return read.project.gates[DONE]!.all![0]!;
}

/** A suite that is red already is compared by name from now on; a check that only says yes or no waits until it says yes. */
async function firstRun(first: Checked, known: () => Gate, root: string, check: RunChecks, io: Io): Promise<FirstRun> {
  const { verdict, why, proof } = first;
  if (verdict === "pass") return {};
  const head = findBase(root, "HEAD");
  if (verdict === "fail" && proof === "named" && "base" in head) {
    io.out("\nRed already. Once more, with these failures as known ones:\n");
    const [again] = await check([known()], head.base.commit);
    if (again?.verdict === "pass") return { known: true };
  }
  const off = `${verdict === "fail" ? "red" : "not proved"} when Pawl was set up: ${why}`;
  io.out(`  Left out of the definition of done. Once it is green, take the "# " before it away in pawl.yaml.\n`);
  return { off: safeText(off).replace(/\s+/g, " ").slice(0, 120) };
}
