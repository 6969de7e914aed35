/** What the person can do with a run, each with a question first. */
import type { ComponentChildren } from "preact";
import { useContext, useRef, useState } from "preact/hooks";
import type { Action, Done } from "../actions.ts";
import type { Answer } from "../api.ts";
import type { Need } from "../now.ts";
import { act } from "./api.ts";
import { Dialog, ReadOnly } from "./parts.tsx";
import { closeDialog, openDialog } from "./state.ts";

export type Target = Record<"project" | "run" | "name", string>;

type OpenRequest = Pick<Need, "question" | "canApprove" | "claimed">;

/** A button that opens its question. */
function AskButton({ look, children, ...wish }: Confirmation & { look?: string; children: ComponentChildren }) {
  return (
    <button type="button" class={look} onClick={() => openDialog(<Confirm {...wish} />)}>
      {children}
    </button>
  );
}

const request = ({ project, run }: Target, action: Action["action"], more: Partial<Action>) =>
  act({ project, run, action, ...more });

/** The answers to an open question, and the approval of a gate: what the run waits for. */
export function AnswerButtons({ target, open }: { target: Target; open: OpenRequest }) {
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
          reason={WHY}
          run={(why) => request(target, "approve", { ...(claimed && { asked: claimed }), ...(why && { why }) })}
        >
          Approve…
        </AskButton>
      )}
    </>
  );
}

const WHY = "Why (optional)";

const CONTROLS: Record<"pause" | "resume" | "adopt" | "abort", Omit<Confirmation, "run"> & { look?: string }> = {
  pause: {
    title: "Pause this run?",
    text: "The agent may stop without being sent on. Nothing is lost; resume whenever you like.",
    button: "Pause",
  },
  resume: { title: "Resume this run?", text: "The run goes on with the next prompt in its session.", button: "Resume" },
  adopt: {
    title: "Free this run?",
    text: "Its session lets go of it. The next session that types its command takes it over.",
    button: "Free it",
  },
  abort: {
    title: "Abort this run?",
    text: "It ends as aborted and cannot go on afterwards. Its journal stays.",
    button: "Abort run",
    danger: true,
    reason: WHY,
    look: "quiet-danger",
  },
};

const ControlButton = ({ target, action }: { target: Target; action: keyof typeof CONTROLS }) => (
  <AskButton {...CONTROLS[action]} run={(why) => request(target, action, why ? { why } : {})}>
    {`${CONTROLS[action].button.replace(" run", "")}…`}
  </AskButton>
);

/** On Now: a run that was stopped or paused also waits for the word to go on. */
export const NeedButtons = ({ target, need }: { target: Target; need: Need }) => (
  <>
    <AnswerButtons target={target} open={need} />
    {isResting(need) && <ControlButton target={target} action="resume" />}
  </>
);

const isResting = ({ kind }: Need) => kind === "halted" || kind === "paused";

export const hasButtons = (need: Need) =>
  need.canApprove || isResting(need) || (need.question !== null && need.question.choices.length > 0);

/** Everything else, for the page of one run. */
export function ControlButtons({ target, detail: { run, paused } }: { target: Target; detail: Answer<"run"> }) {
  if (useContext(ReadOnly) || run.status === "ended") return null;
  return (
    <div class="buttons">
      <ControlButton target={target} action={paused ? "resume" : "pause"} />
      <ControlButton target={target} action="adopt" />
      <ControlButton target={target} action="abort" />
    </div>
  );
}

// ── The question before it is done ──────────────────────────────────────────

interface Confirmation {
  title: string;
  text: ComponentChildren;
  button: string;
  danger?: boolean;
  /** asks for a sentence, too */
  reason?: string;
  run(reason: string): Promise<Done>;
}

function Confirm({ title, text, button, danger = false, reason, run }: Confirmation) {
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Done | null>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const submit = async (event: Event & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const why = new FormData(event.currentTarget).get("why") ?? "";
    setBusy(true);
    setAnswer(await run(String(why).trim()).catch(failed));
    cancel.current?.focus();
  };
  return (
    <Dialog title={title}>
      <form onSubmit={submit}>
        <p>{text}</p>
        {reason && (
          <label class="field">
            <span>{reason}</span>
            <textarea name="why" rows={2} maxLength={400} readOnly={answer !== null} />
          </label>
        )}
        <Outcome answer={answer} />
        <div class="buttons">
          <button ref={cancel} type="button" onClick={closeDialog}>
            {answer ? "Close" : "Cancel"}
          </button>
          {!answer && (
            <button type="submit" class={danger ? "danger" : "primary"} disabled={busy} autofocus={!reason}>
              {button}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** Browsers throw a TypeError where no server answers. */
const failed = (error: unknown): Done => ({
  ok: false,
  message:
    error instanceof TypeError || !(error instanceof Error)
      ? "The dashboard does not answer. Is it still running?"
      : error.message || "This page is locked; load it again.",
});

function Outcome({ answer }: { answer: Done | null }) {
  const tone = answer === null ? "" : answer.ok ? " good" : " bad";
  return (
    <output class={`answer${tone}`}>
      {answer && <strong>{answer.ok ? "✓ Done. " : "✕ Not done. "}</strong>}
      {answer?.message}
      {answer?.waits && (
        <p class="waits">
          <strong>Pending: </strong>
          {answer.waits}
        </p>
      )}
    </output>
  );
}
