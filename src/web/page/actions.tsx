/// <reference lib="dom" />
/** What the person can do with a run, each with a question first. */
import type { ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import type { RunData } from "../api.ts";
import type { Need } from "../now.ts";
import { type Act, act } from "./api.ts";
import { Confirm, type Confirmation } from "./dialog.tsx";
import { ReadOnly } from "./parts.tsx";
import { openDialog } from "./state.ts";

export interface Target {
  project: string;
  run: string;
  name: string;
}

type Open = Pick<Need, "question" | "canApprove" | "claimed">;

/** A button that opens its question. */
function AskButton({ look, children, ...wish }: Confirmation & { look?: string; children: ComponentChildren }) {
  return (
    <button type="button" class={look} onClick={() => openDialog(<Confirm {...wish} />)}>
      {children}
    </button>
  );
}

const request = ({ project, run }: Target, action: Act["action"], more: Partial<Act> = {}) =>
  act({ project, run, action, ...more });

/** The answers to an open question, and the approval of a gate: what the run waits for. */
export function AnswerButtons({ target, open }: { target: Target; open: Open }) {
  if (useContext(ReadOnly)) return null;
  const { question, canApprove, claimed } = open;
  return (
    <>
      {question?.choices.map(({ name, label }, i) => (
        <AskButton
          key={name}
          look={i === 0 ? "primary" : ""}
          title="Give this answer?"
          text={
            <>
              “<strong>{label}</strong>” goes to {target.name}.
            </>
          }
          button="Answer"
          run={() => request(target, "answer", { choice: name, asked: question.asked })}
        >
          {label}
        </AskButton>
      ))}
      {canApprove && (
        <AskButton
          look="primary"
          title="Approve without proof?"
          text={`The check could not prove the claim of ${target.name}. Your approval takes its place, with your name in the journal.`}
          button="Approve"
          reason="Why (optional)"
          run={(why) => request(target, "approve", { ...(claimed && { asked: claimed }), ...(why && { why }) })}
        >
          Approve…
        </AskButton>
      )}
    </>
  );
}

const TEXTS = {
  pause: {
    title: "Pause this run?",
    text: "The agent may stop without being sent on. Nothing is lost; resume whenever you like.",
    button: "Pause",
  },
  resume: {
    title: "Resume this run?",
    text: "The run goes on with the next prompt in its session.",
    button: "Resume",
  },
  adopt: {
    title: "Free this run?",
    text: "Its session lets go of it. The next session that types its command takes it over.",
    button: "Free it",
  },
  abort: {
    title: "Abort this run?",
    text: "It ends as aborted and cannot go on afterwards. Its journal stays.",
    button: "Abort run",
  },
};

function ControlButton({ target, action }: { target: Target; action: keyof typeof TEXTS }) {
  const danger = action === "abort";
  return (
    <AskButton
      {...TEXTS[action]}
      {...(danger && { danger, reason: "Why (optional)", look: "quiet-danger" })}
      run={(why) => request(target, action, why ? { why } : {})}
    >
      {`${TEXTS[action].button.replace(" run", "")}…`}
    </AskButton>
  );
}

/** On Now: a run that was stopped or paused also waits for the word to go on. */
export function NeedButtons({ target, need }: { target: Target; need: Need }) {
  const readOnly = useContext(ReadOnly);
  const rests = need.kind === "halted" || need.kind === "paused";
  return (
    <>
      <AnswerButtons target={target} open={need} />
      {rests && !readOnly && <ControlButton target={target} action="resume" />}
    </>
  );
}

export const hasButtons = ({ kind, question, canApprove }: Need): boolean =>
  canApprove || kind === "halted" || kind === "paused" || (question?.choices.length ?? 0) > 0;

/** Everything else, for the page of one run. */
export function ControlButtons({ target, detail: { run, paused } }: { target: Target; detail: RunData }) {
  if (useContext(ReadOnly) || run.status === "ended") return null;
  return (
    <div class="buttons">
      <ControlButton target={target} action={paused ? "resume" : "pause"} />
      <ControlButton target={target} action="adopt" />
      <ControlButton target={target} action="abort" />
    </div>
  );
}
