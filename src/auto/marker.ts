/**
 * A session without a run says with a stage marker where it is. Where the project has named the workflow in pawl.yaml and
 * the session itself claimed a task of its scope, that arms the run; any other marker means nothing.
 */

import { claimedIn } from "../checks/evidence/infer-task.ts";
import { type Incoming, type Speak, sourcesOf } from "../engine/advance.ts";
import { armWorkflow, stageBefore, trustNote } from "../engine/begin.ts";
import { asRunTask, isLabelled, planFor } from "../engine/core/tasks.ts";
import { gather } from "../engine/gather/index.ts";
import { hash } from "../hosts/identity.ts";
import { parseSignals } from "../kernel/text/signal.ts";
import type { TaskFact, ToolCall, Workflow } from "../kernel/types/run.ts";
import { actorOf } from "../kernel/types/task.ts";
import { logError } from "../store/errors.ts";
import { lookAt } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { findRoot, isOff } from "../store/place.ts";

const LOOK_BACK_MS = 24 * 3_600_000;

/** true: the session has a run now, and the stop is its business. */
export async function armByMarker(incoming: Incoming, speak: Speak): Promise<boolean> {
  const { event, cwd, transcript } = incoming;
  if (event.kind !== "stop" || event.session === "" || cwd === null || transcript === null) return false;
  const signal = parseSignals(event.message, "stage").found.at(-1);
  if (signal === undefined || !lookAt(cwd) || !lookAt(transcript)) return false;
  let root: string | null = null;
  try {
    root = findRoot(cwd);
    if (root === homeDir() || isOff(root)) return false;
    const since = new Date(Date.parse(event.at) - LOOK_BACK_MS).toISOString();
    const { tools } = gather([{ kind: "tools", since }], sourcesOf(incoming, root, ""), {});
    const claims = tools?.ok ? claimsOf(tools.value) : [];
    return claims.length > 0 && (await begin(incoming, root, signal, claims, speak));
  } catch (error) {
    logError(root, "marker", error);
    return false;
  }
}

interface Claim {
  task: string;
  at: string;
}

const claimsOf = (calls: ToolCall[]): Claim[] =>
  calls.flatMap((call) => (call.agent === "" ? claimedIn([call]).map((task) => ({ task, at: call.at })) : []));

async function begin(incoming: Incoming, root: string, signal: string, claims: Claim[], speak: Speak) {
  for (const workflow of await enabledHere(root, signal)) {
    for (const claim of claims.toReversed()) {
      const found = await stillClaimed(root, workflow, claim.task, actorOf(incoming.event.session));
      if (found) return await arm(incoming, root, workflow, signal, { ...claim, found }, speak);
    }
  }
  return false;
}

/** Only what pawl.yaml names is on: a repository that merely has labels starts nothing. */
async function enabledHere(root: string, signal: string): Promise<Workflow[]> {
  const { readProject } = await import("../definitions/project.ts");
  const { listWorkflows } = await import("../definitions/registry.ts");
  const read = readProject(root);
  if ("errors" in read) return [];
  const named = Object.keys(read.project.workflows);
  return listWorkflows(root).flatMap((found) =>
    "workflow" in found && named.includes(found.workflow.name) && isForMarkers(found.workflow, signal)
      ? [found.workflow]
      : [],
  );
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

async function arm(
  incoming: Incoming,
  root: string,
  workflow: Workflow,
  signal: string,
  { at, found }: Claim & { found: TaskFact },
  speak: Speak,
): Promise<boolean> {
  const { event } = incoming;
  const plan = planFor(workflow, found.labels);
  const said = plan.findIndex((id) => workflow.stages.find((stage) => stage.id === id && signal in stage.on));
  const shown = plan.indexOf((await stageBefore(incoming, root, workflow, plan, found.id)) ?? plan[0]!);
  // What was not seen to be done is not skipped; what the session itself says to have just done is judged anew.
  const start = plan[Math.max(0, Math.min(shown, said < 0 ? shown : said))]!;
  const note = await trustNote(root, workflow);
  const say: Speak = (answer) => speak({ ...answer, person: [answer.person, note].filter(Boolean).join("\n") });
  // The same stop is then judged by the run: its beginning is an event of its own.
  const own = { ...incoming, event: { ...event, id: hash(event.id, "marker") } };
  const task = asRunTask(found, found.owner ?? "", at);
  const owner = { host: event.host, session: event.session };
  return armWorkflow(own, root, workflow, say, plan, { task, start, owner, since: at }) !== null;
}
