import { queueLine } from "../auto/core/text.ts";
import { commandOf } from "../checks/core/kinds/index.ts";
import { slugOf } from "../formal/core/state.ts";
import { hash } from "../hosts/identity.ts";
import { plain } from "../kernel/text/safe-text.ts";
import type { Event, Facts, Owner, RunSummary, RunTask, Workflow } from "../kernel/types/run.ts";
import { actorOf } from "../kernel/types/task.ts";
import { gatesOf, leavesOf, stageOf } from "../kernel/types/workflow.ts";
import { logError } from "../store/errors.ts";
import { insideRoot, lookAt, readText } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { bindPointer, excludeOurs, findRoot, isOff, type Pointer } from "../store/place.ts";
import { recover } from "../store/project.ts";
import { describeParent, isArchived, listRuns, loadRun, pinWorkflow, readCommits } from "../store/runs.ts";
import { commitLoop, consult, finish, type Incoming, type Speak, sourcesOf } from "./advance.ts";
import { arm, type Beginning, formalPath, planArming, takeOver, withPhases } from "./core/begin.ts";
import { takeUpCleared } from "./core/moves.ts";
import { parseArming, takesCommand, typedCommand, unknownStages } from "./core/prompt.ts";
import { asRunTask, planFor } from "./core/tasks.ts";
import { gather } from "./gather/index.ts";

const LONGEST_CALL_MS = 15 * 60_000;

/** How runs begin, and how a session comes to one. */

export async function armByPrompt(incoming: Incoming, speak: Speak): Promise<void> {
  const { event, cwd } = incoming;
  if (event.kind !== "prompt" || cwd === null) return;
  const word = event.text.trim().split(/\s/, 1)[0]!;
  let root: string | null = null;
  try {
    root = findRoot(cwd);
    // Loaded here, since only an arming prompt ever needs the YAML reader.
    const { findByArm } = await import("../definitions/registry.ts");
    const found = findByArm(word, root);
    if (!found) return;
    if ("errors" in found) throw new Error(`${found.errors[0]!.file} has mistakes; \`pawl check\` shows them`);
    // Another tool's /commit is none of our business.
    if (found.workflow.watch && !isOurSkill(root, word)) return;
    const workflow = await withTyped(event.text, found.workflow);
    if (!workflow) {
      speak({ turn: "none", person: `Pawl: ${word} needs a command, such as \`${word} npm test\`` });
      return;
    }
    if (workflow.tasks) {
      await armTask(incoming, root, workflow, speak);
      return;
    }
    const note = await trustNote(root, workflow);
    const say: Speak =
      note === null ? speak : (answer) => speak({ ...answer, person: [answer.person, note].join("\n") });
    armWorkflow(incoming, root, workflow, say);
  } catch (error) {
    logError(root, "arm", error);
    const why = error instanceof Error ? error.message : String(error);
    speak({ turn: "none", person: `Pawl: ${word} was not armed: ${why}` });
  }
}

const TAIL = "[work] → handoff → commit → STATUS";

function isOurSkill(root: string, word: string): boolean {
  if (word.startsWith("/pawl:")) return true;
  const places = [root, homeDir()].map((base) => `${base}/.claude/skills/${word.slice(1)}/SKILL.md`);
  return places.some((path) => {
    const file = readText(path, 64 * 1024);
    return file.ok && file.text.includes(TAIL);
  });
}

/** Where a workflow takes a command, what the person typed behind the word is it. */
async function withTyped(text: string, workflow: Workflow): Promise<Workflow | null> {
  if (!takesCommand(workflow)) return workflow;
  const command = typedCommand(text);
  if (command === "") return null;
  const { withCommand } = await import("../definitions/gates.ts");
  return withCommand(workflow, command);
}

/** A run of tasks begins with one that is claimed. Not there, failed and nothing to do are three different answers. */
export async function armTask(
  incoming: Incoming,
  root: string,
  workflow: Workflow,
  speak: Speak,
  wanted?: string,
  how: { fresh?: true } = {},
): Promise<string | null> {
  const { event } = incoming;
  const tell = (person: string) => {
    speak({ turn: "none", person: `Pawl: ${person}` });
    return null;
  };
  if (event.kind !== "prompt") return null;
  const refused = refusal(root, event, workflow, []);
  if (refused) return tell(refused);
  const { gatherNext } = await import("../trackers/next-task.ts");
  const actor = actorOf(event.session);
  const asked = wanted ?? typedCommand(event.text).split(/\s/, 1)[0] ?? "";
  const found = gatherNext(root, workflow.tasks!, actor, asked);
  if (!found.ok) return tell(`${workflow.name} was not armed: ${found.why}`);
  if ("left" in found.value) return tell(queueLine(workflow.name, found.value.left));
  const task = asRunTask(found.value, actor, event.at);
  const { freed } = found.value;
  const taken = freed === undefined ? null : `It was claimed by ${plain(freed)}, whose session is gone.`;
  const notes = [taken, await trustNote(root, workflow)].filter((note) => note !== null);
  const say: Speak = (answer) => speak({ ...answer, person: [answer.person, ...notes].join("\n") });
  const plan = planFor(workflow, found.value.labels);
  const start = await stageBefore(incoming, root, workflow, plan, task.id);
  return armWorkflow(incoming, root, workflow, say, plan, { task, ...(start !== undefined && { start }), ...how });
}

const LOOK_BACK_MS = 24 * 3_600_000;

/** State is safe to lose: a session that has been at work on the task goes on where its tool calls show it. */
export async function stageBefore(
  incoming: Incoming,
  root: string,
  workflow: Workflow,
  plan: string[],
  task: string,
): Promise<string | undefined> {
  if (incoming.transcript === null) return undefined;
  const since = new Date(Date.parse(incoming.event.at) - LOOK_BACK_MS).toISOString();
  const { tools } = gather([{ kind: "tools", since }], sourcesOf(incoming, root, ""), {});
  const { lookForSignal, shows } = await import("../checks/evidence/infer.ts");
  const first = tools?.ok ? tools.value.findIndex((call) => shows(call, task)) : -1;
  if (!tools?.ok || first < 0) return undefined;
  const calls = tools.value.slice(first);
  const isShown = (id: string) => {
    const rules = Object.entries(stageOf(workflow, id).infer ?? {}).filter(([, rule]) => rule.says === undefined);
    return lookForSignal(Object.fromEntries(rules), calls, "", task).inferred !== null;
  };
  const last = plan.findLastIndex(isShown);
  return last < 0 ? undefined : plan[last + 1];
}

/** Better now than at the first claim: some of its checks will not run before the person has approved them. */
export async function trustNote(root: string, workflow: Workflow): Promise<string | null> {
  const commands = leavesOf(gatesOf(workflow)).filter((gate) => !gate.typed && commandOf(gate));
  if (commands.length === 0) return null;
  const { closureOf } = await import("../checks/closure/closure.ts");
  const { trustOf } = await import("../store/trust.ts");
  if (trustOf(root, closureOf(root, commands)).trusted) return null;
  const names = plain(commands.map(({ name }) => name).join(", "));
  return `Its checks (${names}) come from this repository and run only after you approved them: \`pawl trust\` shows them.`;
}

export function armWorkflow(
  incoming: Incoming,
  root: string,
  workflow: Workflow,
  speak: Speak,
  wanted: string[] = [],
  about: { task?: RunTask; request?: string; start?: string; owner?: Owner; since?: string; fresh?: true } = {},
): string | null {
  const { event } = incoming;
  const named = event.kind === "prompt" && !about.task ? parseArming(event.text, workflow) : null;
  const stages = named?.stages ?? wanted;
  const refused = refusal(root, event, workflow, named?.unknown ?? []);
  if (refused) {
    speak({ turn: "none", person: `Pawl: ${refused}` });
    return null;
  }
  const runs = liveRuns(root);
  // The same event by another way has the same id: whoever commits first has it, the other one stays silent.
  const isTaken = (id: string) => isArchived(root, id) || (readCommits(root, id)[0]?.event.id ?? event.id) !== event.id;
  const plan = planArming(workflow, event, runs, isTaken, stages);
  if ("none" in plan) return null;
  excludeOurs(root);
  const id = "take" in plan ? plan.take : plan.id;
  // Where nothing can be written, nothing is bound either: its run would be missed at the next stop.
  if ("id" in plan) pinWorkflow(root, id, workflow);
  // The pointer first: without its run it means nothing, a run without its pointer would be lost to the session.
  if (event.session !== "") bindPointer(event.host, event.session, { root, run: id, ...describeParent() });
  if ("take" in plan) {
    commitLoop(
      root,
      id,
      speak,
      incoming,
      ({ run, workflow: pinned }) =>
        (facts) =>
          takeOver({ workflow: pinned, run, event, facts }),
    );
    return id;
  }
  const request = about.task || workflow.watch ? "" : requestIn(incoming);
  const begin = (facts: Facts) => arm({ workflow, event, facts, stages, request, ...plan, ...about });
  const decision = consult(begin, root, id, plan.documentPath, incoming);
  if (decision) finish(root, decision, event, speak);
  return id;
}

/** Loaded only where a run begins. */
function requestIn({ event, transcript }: Incoming): string {
  if (event.kind !== "prompt" || transcript === null) return "";
  const { readRequest } = require("../hosts/claude/request.ts") as typeof import("../hosts/claude/request.ts");
  return readRequest(transcript);
}

/** A run that ended just before a crash still has to be put away. */
function liveRuns(root: string): RunSummary[] {
  const runs = listRuns(root);
  for (const { id } of runs.filter((run) => run.status === "ended")) {
    const loaded = loadRun(root, id);
    if (loaded) recover(root, loaded.commit);
  }
  return runs.filter((run) => run.status !== "ended");
}

function refusal(root: string, event: Event, workflow: Workflow, unknown: string[]): string | null {
  if (root === homeDir()) return "your home folder is no project; start the agent in a project's folder";
  if (isOff(root)) return "it is switched off in this project (`pawl on` switches it on)";
  if (event.kind === "prompt" && event.session === "")
    return "the host gave no session id, so nothing can be bound to it";
  return unknown.length === 0 ? null : unknownStages(workflow, unknown);
}

/** A formal workflow begins: nobody's yet, unless the event comes from the session that has it. */
export function startFormal(
  incoming: Incoming,
  root: string,
  workflow: Workflow,
  formal: Beginning,
  speak: Speak,
  /** a document that is there already, and the session it belongs to */
  known: { path: string | null; owner: Owner | null } = { path: null, owner: null },
): string | null {
  const { event } = incoming;
  const refused = refusal(root, event, workflow, []);
  if (refused) {
    speak({ turn: "none", person: `Pawl: ${refused}` });
    return null;
  }
  const pinned = withPhases(workflow, formal.phases);
  // One event may begin several, and two hooks may deliver it: each workflow has an id of its own, and one only.
  const own = { ...event, id: hash(event.id, formal.name, known.path ?? "") };
  const isTakenId = (id: string) => isArchived(root, id) || (readCommits(root, id)[0]?.event.id ?? own.id) !== own.id;
  const plan = planArming(pinned, own, [], isTakenId, []);
  if (!("id" in plan)) return null;
  excludeOurs(root);
  const isTaken = (path: string) => lookAt(insideRoot(root, path)) !== undefined;
  const fresh = () => formalPath(workflow.document?.path ?? "", slugOf(formal.name, own.id), event.at, isTaken);
  const documentPath = known.path ?? fresh();
  pinWorkflow(root, plan.id, pinned);
  const begin = (facts: Facts) =>
    arm({ workflow: pinned, event: own, facts, stages: [], ...plan, documentPath, formal, owner: known.owner });
  const decision = consult(begin, root, plan.id, documentPath, incoming);
  if (decision) finish(root, decision, own, speak);
  return plan.id;
}

/** A run started by command inside a session becomes its own once that session's tool results show it. */
export function bindOffered(incoming: Incoming, pointer: Pointer, speak: Speak): boolean {
  const { event, transcript } = incoming;
  const { root, offer = "" } = pointer;
  if (!["stop", "compacting", "start"].includes(event.kind) || transcript === null) return false;
  const loaded = loadRun(root, offer);
  if (!loaded || loaded.commit.run.owner !== null) return false;
  const { run } = loaded.commit;
  const sources = sourcesOf(incoming, root, offer);
  // The call that started the run is older than the run, by as long as a shell command may take.
  const since = new Date(Date.parse(run.created_at) - LONGEST_CALL_MS).toISOString();
  const { tools } = gather([{ kind: "tools", since }], sources, {});
  const shown = tools?.ok && tools.value.some((call) => call.agent === "" && call.result?.text.includes(offer));
  if (!shown) return false;
  const bound = run.formal ? { root, run: "", formal: [offer] } : { root, run: offer };
  bindPointer(event.host, event.session, { ...bound, ...describeParent() });
  // A formal run is only remembered; the event itself still has to be dealt with.
  const said = run.formal ? () => undefined : speak;
  const taken = commitLoop(root, offer, said, incoming, (now) => (facts) => takeOver({ ...now, event, facts }));
  return taken && !run.formal;
}

/** The person cleared a conversation whose run waits for just that: the new one has it. Both share the turn. */
export async function takeCleared(incoming: Incoming, speak: Speak): Promise<boolean> {
  const { event, cwd } = incoming;
  if (cwd === null || event.turn === "" || event.session === "") return false;
  try {
    const root = findRoot(cwd);
    if (isOff(root)) return false;
    const waiting = listRuns(root).filter(({ status }) => status === "waiting");
    const found = waiting.find(({ id }) => loadRun(root, id)?.commit.run.cleared === event.turn);
    if (!found) return false;
    bindPointer(event.host, event.session, { root, run: found.id, ...describeParent() });
    return commitLoop(root, found.id, speak, incoming, (now) => (facts) => takeUpCleared({ ...now, event, facts }));
  } catch (error) {
    logError(null, "clear", error);
    return false;
  }
}
