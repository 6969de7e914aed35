import type { Answer, Commit, Decision, Event, Facts, Run, Step, Workflow } from "../kernel/types/run.ts";
import { notificationsOn } from "../notify/mark.ts";
import { logError } from "../store/errors.ts";
import { releasePointer } from "../store/place.ts";
import { project, recover } from "../store/project.ts";
import { commitRun, loadRun } from "../store/runs.ts";
import { gatherDocument } from "./gather/document.ts";
import { gather, type Sources } from "./gather/index.ts";

/** The part every way in shares: load → decide ⇄ gather → commit → speak → project, on one run. */

export interface Incoming {
  event: Event;
  transcript: string | null;
  /** the folder the host was in; decides nothing once a run is armed */
  cwd: string | null;
  /** nobody is held up by it: checks may take as long as they do */
  patient?: true;
}

/** `alert`: for the terminal, where the person is to be called */
export type Speak = (answer: Answer, alert?: string) => void;
type Consult = (facts: Facts) => Step;

const ROUNDS = 8;
/** With many processes on one run each loss means that another one moved it. */
const ATTEMPTS = 200;

/** Decides on the newest state until the commit holds; false: there is no such run any more. */
export function commitLoop(
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
    // The same event by another way: its first process is at work on this commit right now. By the same way it is another
    // event that looks alike, and what the process of the first one left undone nobody else would find.
    const { id: last, via } = loaded.commit.event;
    if (last !== incoming.event.id || via === incoming.event.via) recover(root, loaded.commit);
    const { run } = loaded.commit;
    const decision = consult(prepare({ run, workflow: loaded.workflow }), root, run.id, run.document.path, incoming);
    if (!decision) return true;
    if (finish(root, decision, incoming.event, speak)) return true;
  }
  throw new Error(`the run ${id} was moved ${ATTEMPTS} times meanwhile`);
}

/** decide ⇄ gather, a bounded number of rounds. null: nothing to decide. */
export function consult(
  step: Consult,
  root: string,
  run: string,
  documentPath: string,
  incoming: Incoming,
): Decision | null {
  const sources: Sources = sourcesOf(incoming, root, run);
  let facts = documentPath ? readDocument(root, documentPath) : {};
  for (let round = 0; round < ROUNDS; round++) {
    const next = step(facts);
    if ("decision" in next) return next.decision;
    if ("none" in next) return null;
    facts = gather(next.need, sources, facts);
  }
  throw new Error("no decision after eight rounds of facts");
}

export const sourcesOf = ({ event, transcript, patient }: Incoming, root: string, run: string): Sources => ({
  root,
  run,
  host: event.host,
  session: event.session,
  patient: patient === true,
  transcript,
  tail: event.kind === "stop" ? event.message : "",
});

function readDocument(root: string, path: string): Facts {
  const document = gatherDocument(root, path);
  if (!document.ok) logError(root, "document", `${path}: ${document.why}`);
  else if (document.value.state === "broken") logError(root, "document", `${path} is broken and is put aside`);
  return { document };
}

/** Save, then speak, then let everything readable follow. false: someone else moved the run first. */
export function finish(root: string, decision: Decision, event: Event, speak: Speak): boolean {
  const { run, answer, records, effects } = decision;
  const { id, at, host, session, via, kind } = event;
  const commit: Commit = { run, event: { id, at, host, session, via, kind }, records, effects };
  if (commitRun(root, commit) === "lost") return false;
  const call = calling(root, commit);
  speak(answer, call?.alert);
  for (const problem of project(root, commit)) logError(root, `project ${run.id}`, problem);
  if (run.status === "ended" && run.owner) releasePointer(run.owner.host, run.owner.session, run.id);
  call?.send();
  return true;
}

/** null: the person is not to be called, or does not want to be; then nothing of it is loaded. */
function calling(root: string, commit: Commit): { alert?: string; send: () => void } | null {
  if (!notificationsOn()) return null;
  const { callFor, send } = require("../notify/call.ts") as typeof import("../notify/call.ts");
  const call = callFor(root, commit);
  return call && { ...call, send: () => send(call) };
}

/** Several runs, one answer: the agent goes on if any of them says so. */
export function oneAnswer(answers: Answer[]): Answer {
  const turns = answers.map((answer) => answer.turn);
  const turn = turns.includes("continue") ? "continue" : turns.includes("end") ? "end" : "none";
  const join = (texts: (string | undefined)[]) => texts.filter((text) => text).join("\n\n");
  const agent = join(answers.map((answer) => (turn !== "continue" || answer.turn === "continue" ? answer.agent : "")));
  const person = join(answers.map((answer) => answer.person));
  const reason = answers.find((answer) => answer.reason !== undefined)?.reason;
  return { turn, ...(agent && { agent }), ...(person && { person }), ...(reason !== undefined && { reason }) };
}
