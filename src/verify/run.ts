/** Asks the gates one after another, as the hook does, but with all the time they need. */

import { judge } from "../checks/core/gate.ts";
import { commandOf, kindOf } from "../checks/core/kinds/index.ts";
import { gatherGit } from "../checks/git.ts";
import { jobId } from "../checks/jobs/gate-job.ts";
import { jobState } from "../checks/jobs/job.ts";
import { gatherGates } from "../checks/measure.ts";
import { changedPaths, treeHash } from "../checks/tree/tree.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { Facts, Gate, Verdict } from "../kernel/types/run.ts";
import { leavesOf } from "../kernel/types/workflow.ts";
import { baseFolder, dropBase, listBases, objectsFolder } from "../store/bases.ts";
import { environmentFor } from "../store/environment.ts";
import { errorCode } from "../store/files.ts";
import { excludeOurs } from "../store/owned.ts";
import { awaitDone, own, type Running, removeFolder, settle } from "./jobs.ts";
import type { Progress } from "./progress.ts";

/** `as_before`: known from an earlier receipt for the same tree, and not run again. */
export interface Checked extends Verdict {
  as_before?: true;
}

export interface VerifyRequest {
  root: string;
  gates: Gate[];
  /** the commit to compare with, "" without one */
  base: string;
  /** passes on the tree of now, by gate id */
  known: Record<string, Verdict>;
}

export interface Answer {
  verdicts: Checked[];
  /** the tree that all of them are about, "" where it cannot be read */
  tree: string;
}

export interface Watch extends Pick<Progress, "show"> {
  decided(checked: Checked): void;
}

interface VerifyContext extends VerifyRequest {
  running: Running;
  watch: Watch;
  /** the name under which objects are kept meanwhile, to compare trees that are not committed, and their folder */
  keeping: string;
  objects: string;
  since: string;
}

/** A command that changes the tree is run once more on what it made, as in the hook; then it has to stand still. */
const MOST_RUNS = 2;

export async function verifyGates(asked: VerifyRequest, running: Running, watch: Watch): Promise<Answer> {
  // Before the first file of ours: a gate may ask whether the tree is clean.
  excludeOurs(asked.root);
  dropLeftovers(asked.root);
  const keeping = `verify-${process.pid}-${Bun.nanoseconds()}`;
  const objects = objectsFolder(asked.root, keeping)!;
  const base = baseFolder(asked.root, keeping)!;
  running.folders.add(base);
  const asking: VerifyContext = { ...asked, running, watch, keeping, objects, since: new Date().toISOString() };
  try {
    const verdicts: Checked[] = [];
    for (const gate of asked.gates) verdicts.push(await ask(asking, gate));
    return await onOneTree(asking, verdicts);
  } finally {
    removeFolder(running, base);
  }
}

/** Of a process that was killed. */
function dropLeftovers(root: string): void {
  for (const name of listBases(root)) {
    const pid = Number(/^verify-(\d+)-\d+$/.exec(name)?.[1] ?? 0);
    if (pid > 1 && !isThere(pid)) dropBase(root, name);
  }
}

/** All verdicts have to be about one tree. Where a later gate, or a person, changed it, the earlier ones are run again. */
async function onOneTree(asking: VerifyContext, verdicts: Checked[]): Promise<Answer> {
  const isStale = ({ verdict, tree: on }: Checked, tree: string) => verdict !== "unproven" && on !== "" && on !== tree;
  const now = treeNow(asking);
  if (!verdicts.some((verdict) => isStale(verdict, now))) return { verdicts, tree: now };
  const again: Checked[] = [];
  for (const [at, verdict] of verdicts.entries())
    again.push(isStale(verdict, now) ? await ask({ ...asking, known: {} }, asking.gates[at]!) : verdict);
  const tree = treeNow(asking);
  const settled = again.map((verdict) => {
    if (!isStale(verdict, tree)) return verdict;
    const moved: Checked = { ...verdict, verdict: "unproven", why: "the tree changed while it was checked" };
    asking.watch.decided(moved);
    return moved;
  });
  return { verdicts: settled, tree };
}

function treeNow({ root, objects }: VerifyContext): string {
  const tree = treeHash(root, objects);
  return tree.ok ? tree.value : "";
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

// ── One gate ────────────────────────────────────────────────────────────────

async function ask(asking: VerifyContext, gate: Gate): Promise<Checked> {
  asking.watch.show(gate.name);
  const jobs = new Set<string>();
  try {
    const checked = before(asking, gate) ?? (await decide(asking, gate, jobs));
    asking.watch.decided(checked);
    return checked;
  } finally {
    for (const id of jobs) settle(asking.running, asking.root, id);
  }
}

/** Only a command's answer follows from the tree: what git says of commits and branches does not. */
function before({ known }: VerifyContext, gate: Gate): Checked | null {
  const verdict = commandOf(gate) ? known[gate.id] : undefined;
  return verdict ? { ...verdict, gate: gate.name, as_before: true } : null;
}

async function decide(asking: VerifyContext, gate: Gate, jobs: Set<string>): Promise<Checked> {
  const leaves = leavesOf([gate]);
  const runs = new Map<string, number>();
  for (let resumed = false; ; resumed = true) {
    const facts = gatherFacts(asking, leaves, resumed);
    const waiting = leaves.find((leaf) => facts.gates?.[leaf.id]?.kind === "running");
    if (!waiting) return judgeGate(gate, facts);
    const fact = facts.gates![waiting.id]!;
    const { tree } = fact;
    const job = (fact.kind === "running" ? fact.job : undefined) ?? jobId(waiting, tree, environmentFor(asking.root));
    const isOurs = (jobState(asking.root, job)?.since ?? "") >= asking.since;
    if (!isOurs && process.env.PAWL_GATE) return judgeGate(gate, unknown(facts, waiting, tree, CALLS_ITSELF));
    jobs.add(job);
    await untilDone(asking, gate, job);
    const count = (runs.get(waiting.id) ?? 0) + 1;
    runs.set(waiting.id, count);
    const now = count < MOST_RUNS ? tree : treeNow(asking);
    if (now !== tree) {
      const changed = changedPaths(asking.root, tree, now, asking.objects).slice(0, 3).map(safeText).join(", ");
      const why = `the tree changes each time it runs (${changed}); ignore these files`;
      return judgeGate(gate, unknown(facts, waiting, tree, why));
    }
  }
}

/** What a hook started goes on if we leave; what we started does not. */
async function untilDone({ root, running, watch, since }: VerifyContext, gate: Gate, id: string): Promise<void> {
  if ((jobState(root, id)?.since ?? "") >= since) own(running, root, id, gate.name);
  await awaitDone(root, id, (seen) => watch.show(gate.name, seen));
}

/** Nothing waits in here: a command is started, and its result is read when it is done. */
function gatherFacts(asking: VerifyContext, leaves: Gate[], resumed: boolean): Facts {
  const { root, base, known, keeping, since } = asking;
  const isOfGit = (gate: Gate) => kindOf(gate).needs === "git";
  const gates = leaves.filter((gate) => !isOfGit(gate)).map((gate) => ({ ...gate, wait: 0 }));
  const tools = () => ({ ok: false as const, why: "there is no session" });
  const sources = { root, run: keeping, host: "", session: "", patient: false, tools };
  const need = { kind: "gates" as const, gates, base_tree: base, since, entered: {}, names: {}, known, resumed };
  const git = leaves.some(isOfGit) ? { git: gatherGit(root) } : {};
  return { ...git, ...gatherGates(need, sources) };
}

function judgeGate(gate: Gate, facts: Facts): Checked {
  const background = { at: new Date().toISOString(), base: null, entered_at: "", most_tests: {} };
  const { open: _open, ask: _ask, ...verdict } = judge(gate, background, facts);
  return verdict;
}

/** It would wait for itself until its time is over. */
const CALLS_ITSELF = "it is running already, and this was called from a gate";

const unknown = (facts: Facts, leaf: Gate, tree: string, why: string): Facts => ({
  ...facts,
  gates: { ...facts.gates, [leaf.id]: { kind: "unknown", tree, why } },
});
