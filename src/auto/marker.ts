/**
 * A session without a run says with a stage marker where it is. Where the project has named the workflow in pawl.yaml and
 * the session itself claimed a task of its scope, that begins the run; any other marker means nothing.
 */

import { claimedIn } from "../checks/evidence/infer-task.ts";
import type { Incoming } from "../engine/advance.ts";
import { type BeginResult, begin, recentCalls, stageBefore } from "../engine/begin.ts";
import { asRunTask, isLabelled, planFor } from "../engine/core/tasks.ts";
import { hash } from "../hosts/identity.ts";
import { parseSignals } from "../kernel/text/signal.ts";
import type { TaskFact, Workflow } from "../kernel/types/run.ts";
import { actorOf } from "../kernel/types/task.ts";
import { logError } from "../store/errors.ts";
import { lookAt } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { findRoot, isOff } from "../store/place.ts";

/** null: no run of ours. Else the session may have one now, and then the stop is its business. */
export async function beginByMarker(incoming: Incoming): Promise<BeginResult | null> {
  const { event, cwd, transcript } = incoming;
  if (event.kind !== "stop" || event.session === "" || cwd === null || transcript === null) return null;
  const signal = parseSignals(event.message, "stage").found.at(-1);
  if (signal === undefined || !lookAt(cwd) || !lookAt(transcript)) return null;
  let root: string | null = null;
  try {
    root = findRoot(cwd);
    if (root === homeDir() || isOff(root)) return null;
    const calls = recentCalls(incoming, root).filter(({ agent }) => agent === "");
    const claims = calls.flatMap((call) => claimedIn([call]).map((task) => ({ task, at: call.at })));
    return claims.length > 0 ? await beginWith(incoming, root, signal, claims) : null;
  } catch (error) {
    logError(root, "marker", error);
    return null;
  }
}

type Claim = { task: string; at: string };

async function beginWith(
  incoming: Incoming,
  root: string,
  signal: string,
  claims: Claim[],
): Promise<BeginResult | null> {
  for (const workflow of await enabledHere(root, signal)) {
    for (const { task, at } of claims.toReversed()) {
      const found = await stillClaimed(root, workflow, task, actorOf(incoming.event.session));
      if (found) return beginAt(incoming, root, workflow, signal, { found, since: at });
    }
  }
  return null;
}

/** Only what pawl.yaml names is on: a repository that merely has labels starts nothing. */
async function enabledHere(root: string, signal: string): Promise<Workflow[]> {
  const { readProject } = await import("../definitions/project.ts");
  const { listWorkflows } = await import("../definitions/registry.ts");
  const read = readProject(root);
  if ("errors" in read) return [];
  const named = Object.keys(read.project.workflows);
  const all = listWorkflows(root).flatMap((found) => ("workflow" in found ? [found.workflow] : []));
  return all.filter((workflow) => named.includes(workflow.name) && isForMarkers(workflow, signal));
}

const isForMarkers = ({ tasks, signals, stages }: Workflow, signal: string) =>
  tasks !== undefined && signals === "stage" && stages.some((stage) => signal in stage.on);

/** Claimed, in scope, and not by another session of ours. */
async function stillClaimed(root: string, { tasks }: Workflow, id: string, actor: string): Promise<TaskFact | null> {
  const { gatherTask } = await import("../trackers/next-task.ts");
  const shown = gatherTask(root, tasks!, id);
  if (!shown.ok) return null;
  const { state, owner, labels } = shown.value;
  const isOthers = owner?.startsWith("pawl-") === true && owner !== actor;
  return state === "claimed" && !isOthers && isLabelled(labels, tasks!) ? shown.value : null;
}

type ClaimedTask = { found: TaskFact; since: string };

function beginAt(
  incoming: Incoming,
  root: string,
  workflow: Workflow,
  signal: string,
  claimed: ClaimedTask,
): BeginResult {
  const { found, since } = claimed;
  const stages = planFor(workflow, found.labels);
  const ended = stages.findIndex((id) => workflow.stages.find((stage) => stage.id === id && signal in stage.on));
  const shown = stages.indexOf(stageBefore(incoming, root, workflow, stages, found.id) ?? stages[0]!);
  // A stage that no tool call shows is not skipped; the one that the session says to have just ended is judged again.
  const start = stages[Math.max(0, Math.min(shown, ended < 0 ? shown : ended))]!;
  // The same stop is then judged by the run: its beginning is an event of its own.
  const own = { ...incoming, event: { ...incoming.event, id: hash(incoming.event.id, "marker") } };
  const task = asRunTask(found, found.owner ?? "", since);
  return begin({ incoming: own, root, workflow, stages, task, start, since });
}
