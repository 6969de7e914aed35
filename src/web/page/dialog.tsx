/// <reference lib="dom" />
/** Questions before something is done. The browser's own dialog keeps the focus inside. */
import type { ComponentChildren, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Done } from "../actions.ts";
import { closeDialog } from "./state.ts";

interface DialogProps {
  title: string;
  /** what has the focus first */
  first: RefObject<HTMLElement | null>;
  children: ComponentChildren;
}

export function Dialog({ title, first, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    dialog.current?.showModal();
    first.current?.focus();
  }, [first]);
  // A press next to the dialog closes it; Escape does the same for the keyboard.
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes a dialog with Escape by itself
    <dialog
      ref={dialog}
      aria-labelledby="dialog-title"
      onClose={closeDialog}
      onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
    >
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}

export interface Confirmation {
  title: string;
  text: ComponentChildren;
  button: string;
  danger?: boolean;
  /** asks for a sentence, too */
  reason?: string;
  run(reason: string): Promise<Done>;
}

export function Confirm({ title, text, button, danger = false, reason, run }: Confirmation) {
  const [busy, setBusy] = useState(false);
  const [answer, setAnswer] = useState<Done | null>(null);
  const [why, yes, cancel] = [
    useRef<HTMLTextAreaElement>(null),
    useRef<HTMLButtonElement>(null),
    useRef<HTMLButtonElement>(null),
  ];
  useLayoutEffect(() => {
    if (answer) cancel.current?.focus();
  }, [answer, cancel]);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setAnswer(await run(why.current?.value.trim() ?? "").catch(failed));
  };
  return (
    <Dialog title={title} first={reason ? why : danger ? cancel : yes}>
      <form onSubmit={submit}>
        <p>{text}</p>
        {reason && (
          <label class="field">
            <span>{reason}</span>
            <textarea ref={why} rows={2} maxLength={400} readOnly={answer !== null} />
          </label>
        )}
        <Answer answer={answer} />
        <div class="buttons">
          <button ref={cancel} type="button" onClick={closeDialog}>
            {answer ? "Close" : "Cancel"}
          </button>
          {!answer && (
            <button ref={yes} type="submit" class={danger ? "danger" : "primary"} disabled={busy}>
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

function Answer({ answer }: { answer: Done | null }) {
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
