/** A gate that runs a command: trusted, on this tree, once, in a job of its own. */

import { matchesGlob } from "../kernel/text/glob.ts";
import type { GateFact, Ran, Weakening } from "../kernel/types/run.ts";
import type { Gate } from "../kernel/types/workflow.ts";
import { isAwake } from "../store/processes/wakers.ts";
import { trustOf } from "../store/trust.ts";
import { closureOf } from "./closure/closure.ts";
import { commandOf } from "./core/kinds/index.ts";
import { judgeTests } from "./evidence/evidence.ts";
import { awaitJob, forgetJob, type JobSpec, jobState, startJob } from "./jobs/job.ts";
import type { Looked, Measuring } from "./measuring.ts";
import { objectsOf } from "./tree/objects.ts";
import { changesSince, treeHash } from "./tree/tree.ts";
import { weakenings } from "./weakened/weakened.ts";

const DEFAULT_TIMEOUT_S = 600;
const DEFAULT_WAIT_S = 300;

export function measureCommand(measuring: Measuring, gate: Gate): Looked {
  if (gate.when_changed && !touches(measuring, gate.when_changed)) return { kind: "unchanged" };
  const { root } = measuring.sources;
  const trust = trustOf(root, closureOf(root, [gate]));
  if (!trust.trusted) return { kind: "unknown", why: `${trust.why}: look at them with \`pawl trust\`` };
  if (measuring.busy) return running(measuring, "");
  return onSteadyTree(measuring, gate, measuring.tree) ?? running(measuring, jobId(gate, measuring.tree));
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
  const now = treeHash(measuring.sources.root, kept(measuring));
  const after = now.ok ? now.value : "";
  if (after === tree) return result(measuring, gate, ran, tree, []);
  if (again && after !== "") return onSteadyTree(measuring, gate, after, false);
  return result(measuring, gate, ran, tree, changedNames(measuring, tree, after));
}

const kept = ({ sources }: Measuring) => objectsOf(sources.root, sources.run);

function changedNames(measuring: Measuring, before: string, after: string): string[] {
  const changes =
    after === "" ? null : changesSince(measuring.sources.root, before, after, kept(measuring), () => false);
  return changes?.ok && changes.value.length > 0 ? changes.value.map(({ path }) => path) : ["something"];
}

/** The job of this gate on this tree: every process that asks finds the same one. */
export const jobId = (gate: Gate, tree: string) => `${gate.id}-${tree.slice(0, 24)}`;

function runOn(measuring: Measuring, gate: Gate, tree: string): Ran | null {
  const { sources, need, began } = measuring;
  const id = jobId(gate, tree);
  // A pass holds for its tree. A failure may have had its cause elsewhere, so it is tried again when claimed again.
  if (!need.resumed && isFailure(awaitJob(sources.root, id, 0))) forgetJob(sources.root, id);
  startJob(sources.root, id, jobSpec(gate));
  const wait = sources.patient ? Number.POSITIVE_INFINITY : (gate.wait ?? DEFAULT_WAIT_S) * 1000;
  return awaitJob(sources.root, id, Math.max(0, began + wait - Bun.nanoseconds() / 1e6));
}

export const jobSpec = (gate: Gate): JobSpec => ({
  argv: argvOf(gate),
  cwd: gate.cwd ?? "",
  env: gate.env ?? {},
  timeout_ms: (gate.timeout ?? DEFAULT_TIMEOUT_S) * 1000,
  retries: gate.retries ?? 0,
});

function argvOf(gate: Gate): string[] {
  const command = commandOf(gate) ?? { argv: [] };
  return "shell" in command ? ["/bin/sh", "-c", command.shell] : command.argv;
}

const isFailure = (ran: Ran | null) => ran !== null && ran.attempts.at(-1)?.exit !== 0;

function running(measuring: Measuring, job: string): Looked {
  const { root, host, session } = measuring.sources;
  measuring.busy = true;
  const since = (job === "" ? null : jobState(root, job))?.since ?? new Date().toISOString();
  return { kind: "running", since, wakes: isAwake(host, session) };
}

function result(measuring: Measuring, gate: Gate, ran: Ran, tree: string, wrote: string[]): Looked {
  return { ...ranFact(gate, ran, tree), weakened: gate.tests ? weakened(measuring, gate) : [], wrote };
}

/** What one run of the command says by itself, compared with nothing. */
export function ranFact(gate: Gate, ran: Ran, tree: string): Extract<GateFact, { kind: "ran" }> {
  const suite =
    gate.tests && ran.error === undefined ? judgeTests(ran.output, ran.attempts.at(-1)?.exit ?? null) : null;
  return { kind: "ran", tree, ran, suite, weakened: [], wrote: [] };
}

/** Against the tree at the beginning of the run. Without one (no git) only the counts speak. */
function weakened(measuring: Measuring, gate: Gate): Weakening[] {
  if (gate.weakened === "allow") return [];
  const changes = measuring.changes();
  return changes.ok ? weakenings(changes.value) : [];
}
