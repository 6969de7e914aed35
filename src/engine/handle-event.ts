import type { Answer, Event, Run, Step, Workflow } from "../kernel/types/run.ts";
import { logError } from "../store/errors.ts";
import { lookAt } from "../store/files.ts";
import { isGone } from "../store/gone.ts";
import { greetingFor } from "../store/greeting.ts";
import { homeDir } from "../store/home.ts";
import { findRoot, isOff, type Pointer, readPointer, releasePointer } from "../store/place.ts";
import { isFork } from "../store/processes/owner.ts";
import { loadRun } from "../store/runs.ts";
import { STALE_MS, waitingLine } from "../store/waiting.ts";
import { commitLoop, type Incoming, oneAnswer, type Speak } from "./advance.ts";
import { armByPrompt, bindOffered, takeCleared } from "./begin.ts";
import { decide } from "./core/decide.ts";
import { isApproval, isHelp, parseArming } from "./core/prompt.ts";

export type { Incoming } from "./advance.ts";
export { armWorkflow, startFormal } from "./begin.ts";

/**
 * The conductor: which runs an event is about, and one answer for all of them. The first look for shortcuts belongs to
 * the quick path, which no other module may import.
 */
export async function conduct(
  given: Incoming,
  speak: Speak,
  mayBeShortcut: (prompt: string) => boolean,
): Promise<void> {
  const pointer = readPointer(given.event.host, given.event.session);
  if (pointer?.off) return;
  const incoming = pointer ? await doubted(given, pointer) : given;
  const { event } = incoming;
  // A fork is announced with the id of its origin, which goes on living: it inherits nothing.
  if (event.kind === "start" && event.source === "resume" && isFork()) return;
  const known = isTurningPoint(event) ? ((await lookAround(incoming, pointer)) ?? pointer) : pointer;
  const atRun = (say: Speak) => known !== null && !isOff(known.root) && atWork(incoming, known, say);
  if (event.kind === "prompt" && !event.injected && (mayBeShortcut(event.text) || isHelp(event.text))) {
    const { answerShortcut } = await import("../controls/shortcuts.ts");
    if (await answerShortcut(incoming, known, atRun, speak)) return;
  }
  if (atRun(speak)) return;
  if (event.kind === "start" && event.source === "clear" && (await takeCleared(incoming, speak))) return;
  if (event.kind === "start" && (event.source === "startup" || event.source === "clear")) welcome(incoming, speak);
  if (event.kind === "prompt" && !event.injected && event.text.trimStart().startsWith("/"))
    await armByPrompt(incoming, speak);
  if (event.kind === "stop" && pointer === null) await unbound(incoming, speak);
}

/** A session without a run: a marker may mean that it should have one, a claim may not be true. */
async function unbound(incoming: Incoming, speak: Speak): Promise<void> {
  const { event } = incoming;
  if (event.kind === "stop" && event.message.includes("WORKFLOW_STAGE:")) {
    const answers: Answer[] = [];
    const { armByMarker } = await import("../auto/marker.ts");
    const armed = await armByMarker(incoming, (answer) => void answers.push(answer));
    const pointer = armed ? readPointer(event.host, event.session) : null;
    if (pointer && atWork(incoming, pointer, (answer) => void answers.push(answer))) return speak(oneAnswer(answers));
    if (answers.length > 0) speak(oneAnswer(answers));
    if (armed) return;
  }
  await (await import("../guard/guard.ts")).guardClaim(incoming, speak);
}

/** In a session with a run, a prompt that the person cannot have typed counts like any other injected text. */
async function doubted(incoming: Incoming, pointer: Pointer): Promise<Incoming> {
  const { event } = incoming;
  if (event.kind !== "prompt" || event.injected) return incoming;
  const { forgedBy } = await import("../store/genuine.ts");
  const why = forgedBy(pointer, isApproval(event.text));
  if (why === null) return incoming;
  logError(pointer.root, "prompt", `not taken for the person's own: ${why}`);
  return { ...incoming, event: { ...event, injected: true } };
}

/** The conversation is about to be lost, or has been: the time to look for workflows that nobody registered. */
const isTurningPoint = (event: Event) =>
  event.kind === "compacting" || (event.kind === "start" && (event.source === "compact" || event.source === "resume"));

/** Whatever goes wrong here must not keep a compaction, nor a restore of what is known. */
async function lookAround(incoming: Incoming, pointer: Pointer | null): Promise<Pointer | null> {
  const { event, cwd } = incoming;
  let root: string | null = pointer?.root ?? null;
  try {
    root ??= cwd === null ? null : findRoot(cwd);
    if (root === null || event.session === "" || root === homeDir() || isOff(root)) return null;
    const { discover } = await import("../formal/discover.ts");
    return (await discover(incoming, root)) > 0 ? readPointer(event.host, event.session) : null;
  } catch (error) {
    logError(root, "discover", error);
    return null;
  }
}

/** true: a run of this session has dealt with the event. */
function atWork(incoming: Incoming, given: Pointer, speak: Speak): boolean {
  const { event } = incoming;
  if (given.offer && failSafe(given.root, speak, () => bindOffered(incoming, given, speak))) return true;
  const pointer = given.offer ? (readPointer(event.host, event.session) ?? given) : given;
  const formal = pointer.formal ?? [];
  const moving = (say: Speak) =>
    pointer.run !== "" && failSafe(pointer.root, say, () => withRun(incoming, pointer, say));
  if (formal.length === 0) return moving(speak);
  const answers: Answer[] = [];
  let alert: string | undefined;
  const collect: Speak = (answer, call) => {
    answers.push(answer);
    alert ??= call;
  };
  for (const run of formal) {
    failSafe(pointer.root, collect, () => {
      if (!isStale(pointer.root, run, event)) return withRun(incoming, { ...pointer, run }, collect);
      if (event.kind === "start") collect({ turn: "none", person: staleLine(run) });
      return true;
    });
  }
  const handled = moving(collect);
  if (answers.length > 0) speak(oneAnswer(answers), alert);
  return handled || event.kind !== "prompt";
}

/** Nobody touched it for a week: the person may want it back, the agent does not get it unasked. */
function isStale(root: string, id: string, event: Event): boolean {
  if (event.kind !== "prompt" && !(event.kind === "start" && event.source === "resume")) return false;
  const run = loadRun(root, id)?.commit.run;
  return run !== undefined && Date.parse(event.at) - Date.parse(run.updated_at) > STALE_MS;
}

const staleLine = (id: string) =>
  `Pawl: the formal workflow ${id} rested for more than a week and is not brought up. \`pawl runs restore ${id}\` shows it, \`pawl runs finish ${id}\` ends it.`;

/** A fresh conversation: the person hears once what is on, and what waits for someone. The agent hears nothing. */
function welcome({ cwd, event }: Incoming, speak: Speak): void {
  if (event.kind !== "start" || cwd === null || lookAt(cwd) === undefined) return;
  try {
    const greeting = event.source === "startup" ? greetingFor(cwd, event.via) : null;
    const root = findRoot(cwd);
    const waiting = isOff(root) ? null : waitingLine(root, event.at);
    const person = [greeting, waiting].filter((line) => line !== null).join("\n");
    if (person !== "") speak({ turn: "none", person });
  } catch (error) {
    logError(null, "welcome", error);
  }
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
  const speakUnlessOver: Speak = (answer, alert) => {
    if (!over) speak(answer, alert);
  };
  const found = commitLoop(root, pointer.run, speakUnlessOver, incoming, ({ run, workflow }) => (facts) => {
    const step = decide({ workflow, run, event, facts });
    over = !isOwner(run, event) || beginsAnew(step, event, workflow);
    return step;
  });
  if (!found && event.kind === "stop") return tellIfGone(incoming, pointer, speak);
  return found && !over;
}

/** Whoever removes the files of a run is rid of it, but not without a word. Asked at a stop: then nothing is being armed. */
function tellIfGone({ event }: Incoming, { root, run }: Pointer, speak: Speak): boolean {
  if (!isGone(root, run)) return false;
  const what = `the files of run ${run} were removed from ${root}/.pawl; nothing of it is checked any more`;
  logError(null, "hook", what);
  releasePointer(event.host, event.session, run);
  speak({ turn: "end", person: `Pawl: ${what}. The command that began it begins it anew.` });
  return true;
}

const isOwner = ({ owner }: Run, event: Event) => owner?.session === event.session && owner.host === event.host;

/** The old run ends silently, what was typed may begin a new one: a watch is over, or the document was removed. */
const beginsAnew = (step: Step, event: Event, workflow: Workflow) =>
  "decision" in step &&
  step.decision.run.status === "ended" &&
  event.kind === "prompt" &&
  (workflow.watch === true || parseArming(event.text, workflow) !== null);

// ── Commands ────────────────────────────────────────────────────────────────

/** The CLI's door: the same decision, the same commit. */
export function command(root: string, id: string, event: Event, how: { patient?: true } = {}): Answer | null {
  let spoken: Answer | null = null;
  const incoming: Incoming = { event, transcript: null, cwd: root, ...how };
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
