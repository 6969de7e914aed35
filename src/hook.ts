import { armByPrompt, bindOffered } from "./arming.ts";
import { decide } from "./core/decide.ts";
import { parseArming } from "./core/prompt.ts";
import type { Answer, Event, Run, Step, Workflow } from "./core/types.ts";
import { commitLoop, type Incoming, type Speak } from "./engine.ts";
import { logError } from "./store/errors.ts";
import { greetingFor } from "./store/greeting.ts";
import { isOff, type Pointer, readPointer } from "./store/place.ts";

export { armWorkflow, startFormal } from "./arming.ts";
export type { Incoming } from "./engine.ts";

/** The conductor: which runs an event is about, and one answer for all of them. */

export async function conduct(incoming: Incoming, speak: Speak): Promise<void> {
  const { event } = incoming;
  const pointer = readPointer(event.host, event.session);
  if (pointer?.off) return;
  if (pointer && !isOff(pointer.root) && atWork(incoming, pointer, speak)) return;
  if (event.kind === "start" && event.source === "startup") greet(incoming, speak);
  if (event.kind === "prompt" && !event.injected && event.text.trimStart().startsWith("/"))
    await armByPrompt(incoming, speak);
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
  const collect: Speak = (answer) => void answers.push(answer);
  for (const run of formal) failSafe(pointer.root, collect, () => withRun(incoming, { ...pointer, run }, collect));
  const handled = moving(collect);
  if (answers.length > 0) speak(oneAnswer(answers));
  return handled || event.kind !== "prompt";
}

/** Several runs, one answer: the agent goes on if any of them says so. */
function oneAnswer(answers: Answer[]): Answer {
  const turns = answers.map((answer) => answer.turn);
  const turn = turns.includes("continue") ? "continue" : turns.includes("end") ? "end" : "none";
  const join = (texts: (string | undefined)[]) => texts.filter((text) => text).join("\n\n");
  const agent = join(answers.map((answer) => (turn !== "continue" || answer.turn === "continue" ? answer.agent : "")));
  const person = join(answers.map((answer) => answer.person));
  const reason = answers.find((answer) => answer.reason !== undefined)?.reason;
  return { turn, ...(agent && { agent }), ...(person && { person }), ...(reason !== undefined && { reason }) };
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
