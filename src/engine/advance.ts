import type { Answer, Commit, Decision, Event, Facts, Run, Step, Workflow } from "../kernel/types/run.ts";
import { logError } from "../store/errors.ts";
import { releasePointer } from "../store/place.ts";
import type { Client } from "../store/processes/client.ts";
import { project, recover } from "../store/project.ts";
import { commitRun, loadRun } from "../store/runs.ts";
import { gatherDocument } from "./gather/document.ts";
import { gather, type Sources } from "./gather/index.ts";

/** The part every way in shares: load → decide ⇄ gather → commit, on one run. The caller speaks, then calls `after`. */

export interface Incoming {
  event: Event;
  transcript: string | null;
  /** the folder the host was in; decides nothing once a run has begun */
  cwd: string | null;
  /** the process whose event this is; commands have none */
  client?: Client;
  /** no one waits for the answer: checks may take as long as they need */
  patient?: true;
}

/** What an event came to. It is saved already: the answer is given next, and `after` comes last. */
export interface Reply {
  /** null: nothing is said */
  answer: Answer | null;
  /** what was saved, for notifications */
  commits: { root: string; commit: Commit }[];
  /** writes everything readable that follows from the commits: journal, document, log, archive */
  after(): void;
  /** the event was answered, but may still begin a run */
  open?: true;
}

export const SILENT: Reply = { answer: null, commits: [], after: () => undefined };
export const answering = (answer: Answer | null): Reply => ({ ...SILENT, answer });

/** Several replies, one answer. */
export function joinReplies(replies: (Reply | null)[]): Reply {
  const all = replies.filter((reply) => reply !== null);
  const answers = all.flatMap(({ answer }) => answer ?? []);
  return {
    answer: answers.length > 0 ? oneAnswer(answers) : null,
    commits: all.flatMap(({ commits }) => commits),
    after: () => {
      for (const reply of all) reply.after();
    },
  };
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

interface AdvanceResult {
  /** the run and its workflow before the event */
  run: Run;
  workflow: Workflow;
  /** null: there was nothing to decide */
  decision: Decision | null;
  reply: Reply;
}

const ROUNDS = 8;
/** With many processes on one run, each lost attempt means that another process moved it. */
const ATTEMPTS = 200;

/** Decides on the newest state until the commit holds; null: the run does not exist any more. */
export function advanceRun(
  root: string,
  id: string,
  incoming: Incoming,
  decide: (input: { workflow: Workflow; run: Run; event: Event; facts: Facts }) => Step,
): AdvanceResult | null {
  const { event } = incoming;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const loaded = loadRun(root, id);
    // The pointer stays: another process may be about to begin its run.
    if (!loaded) return null;
    // The same event by another hook: its first process is at work on this commit right now. By the same hook it is
    // another event that looks alike, and no one else would find what the process of the first one left undone.
    const { id: last, via } = loaded.commit.event;
    if (last !== event.id || via === event.via) recover(root, loaded.commit);
    const { workflow } = loaded;
    const { run } = loaded.commit;
    const decision = decideWithFacts((facts) => decide({ workflow, run, event, facts }), root, run, incoming);
    const reply = decision ? finish(root, decision, event) : SILENT;
    if (reply) return { run, workflow, decision, reply };
  }
  throw new Error(`the run ${id} was moved ${ATTEMPTS} times meanwhile`);
}

/** decide ⇄ gather, a bounded number of rounds. null: nothing to decide. */
export function decideWithFacts(
  decide: (facts: Facts) => Step,
  root: string,
  { id, document }: { id: string; document: { path: string } },
  incoming: Incoming,
): Decision | null {
  const sources = gatherSources(incoming, root, id);
  let facts = document.path ? readDocument(root, document.path) : {};
  for (let round = 0; round < ROUNDS; round++) {
    const next = decide(facts);
    if ("decision" in next) return next.decision;
    if ("none" in next) return null;
    facts = gather(next.need, sources, facts);
  }
  throw new Error("no decision after eight rounds of facts");
}

export const gatherSources = ({ event, transcript, patient }: Incoming, root: string, run: string): Sources => ({
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

/** Saves the decision. null: another process moved the run first. */
export function finish(root: string, decision: Decision, event: Event): Reply | null {
  const { run, answer, records, effects } = decision;
  const { id, at, host, session, via, kind } = event;
  const commit: Commit = { run, event: { id, at, host, session, via, kind }, records, effects };
  if (commitRun(root, commit) === "lost") return null;
  return { answer, commits: [{ root, commit }], after: () => applyEffects(root, commit) };
}

function keepBeginning(root: string, run: string, tree: string): void {
  const { keepBase } = require("../checks/baseline/keep.ts") as typeof import("../checks/baseline/keep.ts");
  keepBase(root, run, tree);
  const { startAhead } = require("../checks/baseline/ahead.ts") as typeof import("../checks/baseline/ahead.ts");
  startAhead(root, run);
}

/** Where what later gates compare with is the tree of this moment. */
const BEGINNINGS = ["armed", "task_begun"];

/** The answer is out already: a failure here is logged, and the next event of the run repeats what is missing. */
function applyEffects(root: string, commit: Commit): void {
  const { run, records } = commit;
  try {
    for (const problem of project(root, commit)) logError(root, `project ${run.id}`, problem);
    const beginning = records.find(({ kind }) => BEGINNINGS.includes(kind));
    if (run.checks.base_tree !== undefined && beginning && beginning.compared_with === undefined)
      keepBeginning(root, run.id, run.checks.base_tree);
    if (run.status === "ended" && run.owner) releasePointer(run.owner.host, run.owner.session, run.id);
  } catch (error) {
    logError(root, `project ${run.id}`, error);
  }
}
