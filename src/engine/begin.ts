import { queueLine } from "../auto/core/text.ts";
import { commandOf } from "../checks/core/kinds/index.ts";
import { makeSlug } from "../formal/core/state.ts";
import { hash } from "../hosts/identity.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { Event, RunSummary, ToolCall, Workflow } from "../kernel/types/run.ts";
import { actorOf } from "../kernel/types/task.ts";
import { gatesOf, leavesOf, stageOf } from "../kernel/types/workflow.ts";
import { logError } from "../store/errors.ts";
import { insideRoot, lookAt, readText } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { bindPointer, excludeOurs, findRoot, isOff, type Pointer, sessionRoot } from "../store/place.ts";
import { clientMark } from "../store/processes/client.ts";
import { recover } from "../store/project.ts";
import { isArchived, listRuns, loadRun, pinWorkflow, readCommits } from "../store/runs.ts";
import {
  advanceRun,
  answering,
  decideWithFacts,
  finish,
  gatherSources,
  type Incoming,
  type Reply,
  SILENT,
} from "./advance.ts";
import { type Beginning, beginRun, formalPath, type NewRun, planRun, takeOver, withPhases } from "./core/begin.ts";
import { takeUpCleared } from "./core/moves.ts";
import { parseBeginning, takesCommand, typedCommand, unknownStages } from "./core/prompt.ts";
import { asRunTask, planFor } from "./core/tasks.ts";
import { gather } from "./gather/index.ts";

/** How runs begin, and how a session comes to one. Whatever asks for a run, `begin` refuses, binds and saves. */

export interface BeginRequest extends Omit<NewRun, "event" | "facts" | "id" | "documentPath" | "stages" | "beside"> {
  incoming: Incoming;
  root: string;
  /** the stages of the run; all of them if empty. What a prompt names counts first */
  stages?: string[];
  /** a prompt for a workflow of tasks claims one: this, or the next */
  wanted?: string;
  /** the document of a formal workflow that is there already */
  path?: string;
}

/** `run` is null where nothing began; the reply says why, or nothing where another hook delivered the same event. */
export interface BeginResult {
  run: string | null;
  reply: Reply;
}

export function begin(request: BeginRequest): BeginResult {
  const { incoming, root, workflow, task } = request;
  const { event } = incoming;
  const named = event.kind === "prompt" && !task ? parseBeginning(event.text, workflow) : null;
  const refused = refusal(root, event, workflow, named?.unknown ?? []);
  if (refused !== null) return notBegun(refused);
  if (workflow.tasks && !task && event.kind === "prompt") return beginTask(request, event.text);
  const begun = create({ ...request, ...(named && { stages: named.stages }) });
  return withNote(begun, trustNote(root, workflow));
}

const notBegun = (why: string): BeginResult => ({
  run: null,
  reply: answering({ turn: "none", person: `Pawl: ${why}` }),
});

function withNote({ run, reply }: BeginResult, note: string | null): BeginResult {
  const { answer } = reply;
  if (note === null || answer === null) return { run, reply };
  return { run, reply: { ...reply, answer: { ...answer, person: [answer.person, note].filter(Boolean).join("\n") } } };
}

function refusal(root: string, event: Event, workflow: Workflow, unknown: string[]): string | null {
  if (root === homeDir()) return "your home folder is not a project; start the agent in a project folder";
  if (isOff(root)) return "turned off in this project (`pawl on` turns it on)";
  if (event.kind === "prompt" && event.session === "") return "the host sent no session id, so no run can begin";
  return unknown.length === 0 ? null : unknownStages(workflow, unknown);
}

/** Better now than at the first claim: some of its checks will not run before the person has approved them. */
function trustNote(root: string, workflow: Workflow): string | null {
  const commands = leavesOf(gatesOf(workflow)).filter((gate) => !gate.typed && commandOf(gate));
  if (commands.length === 0) return null;
  const { computeClosure } = require("../checks/closure/closure.ts") as typeof import("../checks/closure/closure.ts");
  const { readTrust } = require("../store/trust.ts") as typeof import("../store/trust.ts");
  if (readTrust(root, computeClosure(root, commands)).trusted) return null;
  const names = safeText(commands.map(({ name }) => name).join(", "));
  return `Its checks (${names}) come from this repository and run only after you approve them: \`pawl trust\` shows them.`;
}

function create(request: BeginRequest): BeginResult {
  const { incoming, root, stages = [], formal, path } = request;
  const workflow = formal ? withPhases(request.workflow, formal.phases) : request.workflow;
  // One event may begin several formal workflows, and two hooks may deliver it: each has an id of its own, and one only.
  const event = formal ? { ...incoming.event, id: hash(incoming.event.id, formal.name, path ?? "") } : incoming.event;
  // The same event by another hook has the same id: the first one to commit has it, the other one stays silent.
  const isTaken = (id: string) => isArchived(root, id) || (readCommits(root, id)[0]?.event.id ?? event.id) !== event.id;
  const plan = planRun(workflow, event, formal ? [] : liveRuns(root), isTaken, stages);
  if ("none" in plan) return { run: null, reply: SILENT };
  excludeOurs(root);
  if ("take" in plan) return { run: plan.take, reply: take(incoming, root, plan.take, takeOver) ?? SILENT };
  const documentPath = formal ? (path ?? newFormalPath(root, request.workflow, formal, event)) : plan.documentPath;
  // Where nothing can be written, nothing is bound either: its run would be missed at the next stop.
  pinWorkflow(root, plan.id, workflow);
  bind(incoming, root, plan.id, formal !== undefined);
  const asked = request.request ?? (request.task || workflow.watch || formal ? "" : requestIn(incoming));
  const beginning = { ...request, workflow, event, stages, request: asked, ...plan, documentPath };
  const place = { id: plan.id, document: { path: documentPath } };
  const decision = decideWithFacts((facts) => beginRun({ ...beginning, facts }), root, place, incoming);
  return { run: plan.id, reply: (decision && finish(root, decision, event)) ?? SILENT };
}

/** The pointer comes first: without its run it means nothing, but a run without its pointer would be lost to the session. */
function bind({ event: { host, session }, client }: Incoming, root: string, id: string, isFormal: boolean): void {
  const bound = isFormal ? { root, run: "", formal: [id] } : { root, run: id };
  if (session !== "") bindPointer(host, session, { ...bound, ...client });
}

/** The session of this event gets a run that is there already. null: it is not any more. */
function take(incoming: Incoming, root: string, id: string, how: typeof takeOver, isFormal = false): Reply | null {
  bind(incoming, root, id, isFormal);
  return advanceRun(root, id, incoming, how)?.reply ?? null;
}

/** A run that ended just before a crash still has to be archived. */
function liveRuns(root: string): RunSummary[] {
  const runs = listRuns(root);
  for (const { id } of runs.filter((run) => run.status === "ended")) {
    const loaded = loadRun(root, id);
    if (loaded) recover(root, loaded.commit);
  }
  return runs.filter((run) => run.status !== "ended");
}

function newFormalPath(root: string, { document }: Workflow, { name }: Beginning, { id, at }: Event): string {
  const isTaken = (path: string) => lookAt(insideRoot(root, path)) !== undefined;
  return formalPath(document?.path ?? "", makeSlug(name, id), at, isTaken);
}

/** What the person asked for before. The reader is loaded only where a run begins. */
function requestIn({ event, transcript }: Incoming): string {
  if (event.kind !== "prompt" || transcript === null) return "";
  const { readRequest } = require("../hosts/claude/request.ts") as typeof import("../hosts/claude/request.ts");
  return readRequest(transcript);
}

// ── By prompt ───────────────────────────────────────────────────────────────

/** null: the prompt names no workflow of ours. */
export async function beginByPrompt(incoming: Incoming): Promise<Reply | null> {
  const { event, cwd } = incoming;
  if (event.kind !== "prompt" || cwd === null) return null;
  const word = event.text.trim().split(/\s/, 1)[0]!;
  let root: string | null = null;
  try {
    root = sessionRoot(event.host, event.session, cwd);
    // Loaded here, since only such a prompt ever needs the YAML reader.
    const { findByArm } = await import("../definitions/registry.ts");
    const found = findByArm(word, root);
    if (!found) return null;
    if ("errors" in found) throw new Error(`${found.errors[0]!.file} has errors; \`pawl check\` shows them`);
    // Another tool's /commit is none of our business.
    if (found.workflow.watch && !isOurSkill(root, word)) return null;
    const workflow = await withTyped(event.text, found.workflow, root);
    if (workflow) return begin({ incoming, root, workflow }).reply;
    const person = `Pawl: ${word} needs a command, such as \`${word} npm test\`, or a definition of done in pawl.yaml`;
    return answering({ turn: "none", person });
  } catch (error) {
    logError(root, "arm", error);
    const why = error instanceof Error ? error.message : String(error);
    return answering({ turn: "none", person: `Pawl: ${word} did not start: ${why}` });
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

/**
 * Where a workflow takes a command, it is what the person typed after the word, or else the project's definition of done.
 * null: there is neither.
 */
async function withTyped(text: string, workflow: Workflow, root: string): Promise<Workflow | null> {
  if (!takesCommand(workflow)) return workflow;
  const { withCommand } = await import("../definitions/gates.ts");
  const { projectGatesByName } = await import("../definitions/project.ts");
  const typed = withCommand(workflow, typedCommand(text), projectGatesByName(root));
  return gatesOf(typed).length > 0 ? typed : null;
}

// ── With a task ─────────────────────────────────────────────────────────────

/** Not there, failed and nothing to do are three different answers. */
function beginTask(request: BeginRequest, prompt: string): BeginResult {
  const { incoming, root, workflow, wanted = typedCommand(prompt).split(/\s/, 1)[0] ?? "" } = request;
  const { gatherNext } = require("../trackers/next-task.ts") as typeof import("../trackers/next-task.ts");
  const actor = actorOf(incoming.event.session);
  const found = gatherNext(root, workflow.tasks!, actor, wanted);
  if (!found.ok) return notBegun(`${workflow.name} did not start: ${found.why}`);
  if ("left" in found.value) return notBegun(queueLine(workflow.name, found.value.left));
  const task = asRunTask(found.value, actor, incoming.event.at);
  const stages = planFor(workflow, found.value.labels);
  const start = stageBefore(incoming, root, workflow, stages, task.id);
  const begun = create({ ...request, task, stages, ...(start !== undefined && { start }) });
  const { freed } = found.value;
  const taken = freed === undefined ? null : `It was claimed by ${safeText(freed)}, whose session is gone.`;
  return withNote(withNote(begun, taken), trustNote(root, workflow));
}

const LOOK_BACK_MS = 24 * 3_600_000;

/** The newest tool calls of the session, as far back as `ms`; none where they cannot be read. */
export function recentCalls(incoming: Incoming, root: string, ms = LOOK_BACK_MS, at = incoming.event.at): ToolCall[] {
  if (incoming.transcript === null) return [];
  const since = new Date(Date.parse(at) - ms).toISOString();
  const { tools } = gather([{ kind: "tools", since }], gatherSources(incoming, root, ""), {});
  return tools?.ok ? tools.value : [];
}

/** State is safe to lose: a session that has been at work on the task goes on where its tool calls show it. */
export function stageBefore(
  incoming: Incoming,
  root: string,
  workflow: Workflow,
  plan: string[],
  task: string,
): string | undefined {
  const all = recentCalls(incoming, root);
  if (all.length === 0) return undefined;
  const { lookForSignal } = require("../checks/evidence/infer.ts") as typeof import("../checks/evidence/infer.ts");
  const { shows } = require("../checks/evidence/infer-task.ts") as typeof import("../checks/evidence/infer-task.ts");
  const first = all.findIndex((call) => shows(call, task));
  if (first < 0) return undefined;
  const calls = all.slice(first);
  const isShown = (id: string) => {
    const rules = Object.entries(stageOf(workflow, id).infer ?? {}).filter(([, rule]) => rule.says === undefined);
    return lookForSignal(Object.fromEntries(rules), calls, "", task).inferred !== null;
  };
  const last = plan.findLastIndex(isShown);
  return last < 0 ? undefined : plan[last + 1];
}

// ── A run that is there already ─────────────────────────────────────────────

const LONGEST_CALL_MS = 15 * 60_000;

/** A run started by command inside a session becomes its own once that session's tool results show it. */
export function bindOffered(incoming: Incoming, { root, offer = "" }: Pointer): Reply | null {
  if (!["stop", "compacting", "start"].includes(incoming.event.kind)) return null;
  const run = loadRun(root, offer)?.commit.run;
  if (!run || run.owner !== null) return null;
  // The call that started the run is older than the run, by as long as a shell command may take.
  const calls = recentCalls(incoming, root, LONGEST_CALL_MS, run.created_at);
  if (!calls.some((call) => call.agent === "" && call.result?.text.includes(offer))) return null;
  const reply = take(incoming, root, offer, takeOver, run.formal !== undefined);
  if (!run.formal) return reply;
  // A formal run is only remembered; the event itself still has to be dealt with.
  reply?.after();
  return null;
}

/** The person cleared a conversation whose run waits for just that: the new one has it. Both are of one process. */
export function takeCleared(incoming: Incoming): Reply | null {
  const { event, cwd } = incoming;
  if (cwd === null || event.session === "") return null;
  try {
    const root = findRoot(cwd);
    if (isOff(root)) return null;
    const waiting = listRuns(root).filter(({ status }) => status === "waiting");
    const marks = [clientMark(incoming.client ?? {}), event.turn].filter((mark) => mark !== "");
    const found = waiting.find(({ id }) => marks.includes(loadRun(root, id)?.commit.run.work.cleared ?? ""));
    return found ? take(incoming, root, found.id, takeUpCleared) : null;
  } catch (error) {
    logError(null, "clear", error);
    return null;
  }
}
