import { arm, planArming, takeOver } from "./core/arm.ts";
import { decide } from "./core/decide.ts";
import { parseArming, unknownStages } from "./core/prompt.ts";
import type { Answer, Commit, Decision, Event, Facts, Run, RunSummary, Step, Workflow } from "./core/types.ts";
import { gatherDocument } from "./gather/document.ts";
import { gather, type Sources } from "./gather/index.ts";
import { logError } from "./store/errors.ts";
import { greetingFor } from "./store/greeting.ts";
import { homeDir } from "./store/home.ts";
import { excludeOurs, findRoot, isOff, type Pointer, readPointer, removePointer, writePointer } from "./store/place.ts";
import { project, recover } from "./store/project.ts";
import { commitRun, describeParent, isArchived, listRuns, loadRun, pinWorkflow, readCommits } from "./store/runs.ts";

/** The conductor: load → decide ⇄ gather → commit → speak → project. One event, one run, one answer. */

export interface Incoming {
  event: Event;
  transcript: string | null;
  /** the folder the host was in; decides nothing once a run is armed */
  cwd: string | null;
}

type Speak = (answer: Answer) => void;
type Consult = (facts: Facts) => Step;

const LONGEST_CALL_MS = 15 * 60_000;
const ROUNDS = 4;
/** With many processes on one run each loss means that another one moved it. */
const ATTEMPTS = 200;

export async function conduct(incoming: Incoming, speak: Speak): Promise<void> {
  const { event } = incoming;
  const pointer = readPointer(event.host, event.session);
  if (pointer?.off) return;
  if (pointer && !isOff(pointer.root)) {
    const handled = failSafe(pointer.root, speak, () =>
      pointer.offered ? bindOffered(incoming, pointer, speak) : withRun(incoming, pointer, speak),
    );
    if (handled) return;
  }
  if (event.kind === "start" && event.source === "startup") greet(incoming, speak);
  if (event.kind === "prompt" && !event.injected && event.text.trimStart().startsWith("/"))
    await armByPrompt(incoming, speak);
}

function greet({ cwd, event }: Incoming, speak: Speak): void {
  const person = greetingFor(cwd, event.via);
  if (person !== null) speak({ turn: "none", person });
}

/** A failure of ours ends the turn, never the work: logged, and in an armed session told to the person. */
function failSafe(root: string, speak: Speak, work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    logError(root, "hook", error);
    const why = error instanceof Error ? error.message : String(error);
    speak({
      turn: "end",
      person: `Pawl: something failed on our side (${why}). Nothing was decided; see .pawl/errors.log.`,
    });
    return true;
  }
}

/** false: the session has no run (any more). It may have gone to another session, or ended with its document. */
function withRun(incoming: Incoming, pointer: Pointer, speak: Speak): boolean {
  const { root } = pointer;
  const { event } = incoming;
  let over = false;
  const speakUnlessOver: Speak = (answer) => {
    if (!over) speak(answer);
  };
  const found = commitLoop(root, pointer.run, speakUnlessOver, incoming, ({ run, workflow }) => (facts) => {
    const step = decide({ workflow, run, event, facts });
    over = !isOwner(run, event) || beginsAnew(step, event, workflow);
    return step;
  });
  return found && !over;
}

const isOwner = ({ owner }: Run, event: Event) => owner?.session === event.session && owner.host === event.host;

/** The document was removed and the command typed again: the old run ends silently, a new one answers. */
const beginsAnew = (step: Step, event: Event, workflow: Workflow) =>
  "decision" in step &&
  step.decision.run.status === "ended" &&
  event.kind === "prompt" &&
  parseArming(event.text, workflow) !== null;

/** Decides on the newest state until the commit holds; false: there is no such run any more. */
function commitLoop(
  root: string,
  id: string,
  speak: Speak,
  incoming: Incoming,
  prepare: (loaded: { run: Run; workflow: Workflow }) => Consult,
): boolean {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const loaded = loadRun(root, id);
    // The pointer stays: its run may be just about to be armed by another way.
    if (!loaded) return false;
    // The same event by another way: its first process is at work on this commit right now.
    if (loaded.commit.event.id !== incoming.event.id) recover(root, loaded.commit);
    const { run } = loaded.commit;
    const decision = consult(prepare({ run, workflow: loaded.workflow }), root, run.id, run.document.path, incoming);
    if (!decision) return true;
    if (finish(root, decision, incoming.event, speak)) return true;
  }
  throw new Error(`the run ${id} was moved ${ATTEMPTS} times meanwhile`);
}

/** decide ⇄ gather, at most four rounds. null: nothing to decide. */
function consult(step: Consult, root: string, run: string, documentPath: string, incoming: Incoming): Decision | null {
  const { event, transcript } = incoming;
  const sources: Sources = { root, run, transcript, tail: event.kind === "stop" ? event.message : "" };
  let facts = documentPath ? readDocument(root, documentPath) : {};
  for (let round = 0; round < ROUNDS; round++) {
    const next = step(facts);
    if ("decision" in next) return next.decision;
    if ("none" in next) return null;
    facts = gather(next.need, sources, facts);
  }
  throw new Error("no decision after four rounds of facts");
}

function readDocument(root: string, path: string): Facts {
  const document = gatherDocument(root, path);
  if (!document.ok) logError(root, "document", `${path}: ${document.why}`);
  else if (document.value.state === "broken") logError(root, "document", `${path} is broken and is put aside`);
  return { document };
}

/** Save, then speak, then let everything readable follow. false: someone else moved the run first. */
function finish(root: string, decision: Decision, event: Event, speak: Speak): boolean {
  const { run, answer, records, effects } = decision;
  const { id, at, host, session, via, kind } = event;
  const commit: Commit = { run, event: { id, at, host, session, via, kind }, records, effects };
  if (commitRun(root, commit) === "lost") return false;
  speak(answer);
  for (const problem of project(root, commit)) logError(root, `project ${run.id}`, problem);
  if (run.status === "ended" && run.owner) removePointer(run.owner.host, run.owner.session);
  return true;
}

// ── Arming ──────────────────────────────────────────────────────────────────

async function armByPrompt(incoming: Incoming, speak: Speak): Promise<void> {
  const { event, cwd } = incoming;
  if (event.kind !== "prompt" || cwd === null) return;
  const word = event.text.trim().split(/\s/, 1)[0]!;
  let root: string | null = null;
  try {
    root = findRoot(cwd);
    // Loaded here, since only an arming prompt ever needs the YAML reader.
    const { findByArm } = await import("./author/registry.ts");
    const found = findByArm(word, root);
    if (!found) return;
    if ("errors" in found) throw new Error(`${found.file} has mistakes; \`pawl check\` shows them`);
    armWorkflow(incoming, root, found.workflow, speak);
  } catch (error) {
    logError(root, "arm", error);
    const why = error instanceof Error ? error.message : String(error);
    speak({ turn: "none", person: `Pawl: ${word} was not armed: ${why}` });
  }
}

export function armWorkflow(
  incoming: Incoming,
  root: string,
  workflow: Workflow,
  speak: Speak,
  wanted: string[] = [],
): string | null {
  const { event } = incoming;
  const named = event.kind === "prompt" ? parseArming(event.text, workflow) : null;
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
  // The pointer first: without its run it means nothing, a run without its pointer would be lost to the session.
  if (event.session !== "") writePointer(event.host, event.session, { root, run: id, ...describeParent() });
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
  pinWorkflow(root, id, workflow);
  const begin = (facts: Facts) => arm({ workflow, event, facts, stages, ...plan });
  const decision = consult(begin, root, id, plan.documentPath, incoming);
  if (decision) finish(root, decision, event, speak);
  return id;
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

/** A run started by command inside a session becomes its own once that session's tool results show it. */
function bindOffered(incoming: Incoming, pointer: Pointer, speak: Speak): boolean {
  const { event, transcript } = incoming;
  if (event.kind !== "stop" || transcript === null) return false;
  const loaded = loadRun(pointer.root, pointer.run);
  if (!loaded || loaded.commit.run.owner !== null) return false;
  const sources: Sources = { root: pointer.root, run: pointer.run, transcript, tail: event.message };
  // The call that started the run is older than the run, by as long as a shell command may take.
  const since = new Date(Date.parse(loaded.commit.run.created_at) - LONGEST_CALL_MS).toISOString();
  const { tools } = gather([{ kind: "tools", since }], sources, {});
  const shown = tools?.ok && tools.value.some((call) => call.agent === "" && call.result?.text.includes(pointer.run));
  if (!shown) return false;
  writePointer(event.host, event.session, { root: pointer.root, run: pointer.run, ...describeParent() });
  return commitLoop(
    pointer.root,
    pointer.run,
    speak,
    incoming,
    ({ run, workflow }) =>
      (facts) =>
        takeOver({ workflow, run, event, facts }),
  );
}

// ── Commands ────────────────────────────────────────────────────────────────

/** The CLI's door: the same decision, the same commit. */
export function command(root: string, id: string, event: Event): Answer | null {
  let spoken: Answer | null = null;
  const incoming: Incoming = { event, transcript: null, cwd: root };
  const found = commitLoop(
    root,
    id,
    (answer) => {
      spoken = answer;
    },
    incoming,
    ({ run, workflow }) =>
      (facts) =>
        decide({ workflow, run, event, facts }),
  );
  return found ? (spoken ?? { turn: "none" }) : null;
}
