/** A gate that runs a command: trusted, on this tree, once, in a job of its own. */

import { matchesGlob } from "../kernel/text/glob.ts";
import type { GateFact, Ran } from "../kernel/types/run.ts";
import type { Gate } from "../kernel/types/workflow.ts";
import { objectsFolder } from "../store/bases.ts";
import { environmentFault } from "../store/environment.ts";
import { isAwake } from "../store/processes/wakers.ts";
import { readTrust } from "../store/trust.ts";
import { measureBaseline, onlyKnown } from "./baseline/measure.ts";
import type { PlaceSpec } from "./baseline/place.ts";
import { computeClosure } from "./closure/closure.ts";
import { judgeTests } from "./evidence/evidence.ts";
import { aheadId, jobId, jobSpec } from "./jobs/gate-job.ts";
import { awaitJob, forgetJob, type JobSpec, jobState, startJob } from "./jobs/job.ts";
import type { Looked, Measuring } from "./measuring.ts";
import { newMentions } from "./mentions.ts";
import { hashSurroundings } from "./tree/surroundings.ts";
import { changedPaths, treeHash } from "./tree/tree.ts";
import { weakenings } from "./weakened/weakened.ts";

const DEFAULT_WAIT_S = 300;

export function measureCommand(measuring: Measuring, gate: Gate): Looked {
  if (gate.when_changed && !touches(measuring, gate.when_changed)) return { kind: "unchanged" };
  const { root } = measuring.sources;
  const trust = readTrust(root, computeClosure(root, [gate]));
  if (!trust.trusted)
    return trust.broken
      ? { kind: "unknown", why: `${trust.why}: \`pawl doctor\` shows how to fix it` }
      : { kind: "untrusted", why: `${trust.why}: look at them with \`pawl trust\`` };
  const environment = measuring.environment();
  const fault = environmentFault(environment);
  if (fault !== null) return { kind: "unknown", why: `${fault}: \`pawl trust --refresh\` records it again` };
  if (measuring.busy) return running(measuring, "");
  return onSteadyTree(measuring, gate, measuring.tree) ?? running(measuring, jobId(gate, measuring.tree, environment));
}

/** What cannot be compared is checked. */
function touches(measuring: Measuring, globs: string[]): boolean {
  const changes = measuring.changes();
  if (!changes.ok) return true;
  const paths = changes.value.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
  return paths.some((path) => globs.some((glob) => matchesGlob(path, glob)));
}

/** A result is about the tree it was made on. If the command itself changes that (snapshots, formatters), once more. */
function onSteadyTree(measuring: Measuring, gate: Gate, tree: string, again = true): Looked | null {
  const ran = runOn(measuring, gate, tree);
  if (ran === null) return null;
  const { root, run } = measuring.sources;
  const objects = objectsFolder(root, run);
  const now = treeHash(root, objects);
  const after = now.ok ? now.value : "";
  if (after === tree) return result(measuring, gate, ran, tree, []);
  if (again && after !== "") return onSteadyTree(measuring, gate, after, false);
  return result(measuring, gate, ran, tree, changedPaths(root, tree, after, objects));
}

function runOn(measuring: Measuring, gate: Gate, tree: string): Ran | null {
  return awaitIn(measuring, gate, jobId(gate, tree, measuring.environment()), { ...jobSpec(gate), tree });
}

function awaitIn(measuring: Measuring, gate: Gate, id: string, spec: JobSpec): Ran | null {
  const { sources, need } = measuring;
  // A pass holds for its tree. A failure may have had its cause elsewhere, so it is tried again when claimed again.
  const earlier = need.resumed ? null : awaitJob(sources.root, id, 0);
  if (earlier !== null && !stillHolds(sources.root, earlier)) forgetJob(sources.root, id);
  startJob(sources.root, id, spec, measuring.environment());
  return awaitJob(sources.root, id, timeLeft(measuring, gate));
}

function timeLeft({ sources, need, began }: Measuring, gate: Gate): number {
  const wait = sources.patient ? Number.POSITIVE_INFINITY : (gate.wait ?? need.wait ?? DEFAULT_WAIT_S) * 1000;
  return Math.max(0, began + wait - Bun.nanoseconds() / 1e6);
}

function stillHolds(root: string, { attempts, moved, around }: Ran): boolean {
  return attempts.at(-1)?.exit === 0 && moved === undefined && isAround(root, around);
}

/** The tree is the same. Is what git does not see the same, too? What cannot be compared is not. */
export function isAround(root: string, around: string | undefined): boolean {
  const now = hashSurroundings(root);
  return now.ok && now.value === around;
}

function running(measuring: Measuring, job: string): Looked {
  const { root, host, session } = measuring.sources;
  measuring.busy = true;
  const since = (job === "" ? null : jobState(root, job))?.since ?? new Date().toISOString();
  return { kind: "running", since, wakes: isAwake(host, session), ...(job !== "" && { job }) };
}

function result(measuring: Measuring, gate: Gate, ran: Ran, tree: string, wrote: string[]): Looked {
  const fact = { ...ranFact(gate, ran, tree), wrote, environment: measuring.environment().hash };
  if (!gate.tests || gate.weakened === "allow" || gate.old_tests === "allow" || wrote.length > 0) return fact;
  // Against the tree at the beginning of the run. Without one (no git) only the counts speak.
  if (!GIT_TREE.test(measuring.need.base_tree))
    return gate.failing === "known" ? { ...fact, baseline: onlyKnown(measuring.sources.root, gate) } : fact;
  const { root } = measuring.sources;
  let waitsFor = "";
  const runIn = (name: string, place: PlaceSpec) => {
    const id = `${jobId(gate, tree, measuring.environment())}-${name}`;
    waitsFor = id;
    return awaitIn(measuring, gate, id, { ...jobSpec(gate), place });
  };
  const ahead = () => {
    const id = aheadId(gate, measuring.need.base_tree, measuring.environment());
    if (jobState(root, id)?.state !== "running") return true;
    waitsFor = id;
    return awaitJob(root, id, timeLeft(measuring, gate)) !== null;
  };
  const baseline = measureBaseline({ measuring, gate, ran, tree, runIn, ahead });
  if (baseline === null) return running(measuring, waitsFor);
  if (waitsFor !== "" && !isStill(measuring, tree))
    return { kind: "unknown", why: "files changed while the tests of the beginning were run" };
  const changes = ran.named ? null : measuring.changes(tree);
  const isGreen = ran.attempts.at(-1)?.exit === 0;
  const mentions = isGreen ? newMentions(measuring, tree, new Set(ran.named?.files)) : [];
  return { ...fact, baseline, weakened: changes?.ok ? weakenings(changes.value) : [], mentions };
}

function isStill({ sources: { root } }: Measuring, tree: string): boolean {
  const now = treeHash(root, null);
  return now.ok && now.value === tree;
}

/** Without git the tree is a hash of another length, and nothing of it is kept. */
const GIT_TREE = /^[0-9a-f]{40}$/;

/** What one run of the command says by itself, compared with nothing. */
export function ranFact(gate: Gate, ran: Ran, tree: string): Extract<GateFact, { kind: "ran" }> {
  const suite =
    gate.tests && ran.error === undefined ? judgeTests(ran.output, ran.attempts.at(-1)?.exit ?? null) : null;
  return { kind: "ran", tree, ran, suite, weakened: [], wrote: [] };
}
