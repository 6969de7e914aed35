/// <reference lib="dom" />
/** Questions before something is done. The browser's own dialog keeps the focus inside; it goes back to where it was. */
import type { Acted } from "./api.ts";
import { type Child, h } from "./dom.ts";

export interface Confirmation {
  title: string;
  text: Child;
  button: string;
  danger?: boolean;
  /** asks for a sentence, too */
  reason?: string;
  run(reason: string): Promise<Acted>;
}

export function confirm(wish: Confirmation): void {
  const reason = wish.reason ? h("textarea", { rows: "2", maxlength: "400" }) : null;
  const answer = h("div", { class: "answer", role: "status" });
  const cancel = h("button", { type: "button", click: () => dialog.close() }, "Cancel");
  const yes = h("button", { type: "submit", class: wish.danger ? "danger" : "primary" }, wish.button);
  const buttons = h("div", { class: "buttons" }, cancel, yes);
  const submit = async (event: Event) => {
    event.preventDefault();
    yes.disabled = true;
    showAnswer(answer, await wish.run(reason?.value.trim() ?? "").catch(failed));
    reason?.setAttribute("readonly", "");
    yes.remove();
    cancel.textContent = "Close";
    cancel.focus();
  };
  const form = h(
    "form",
    { submit },
    h("p", {}, wish.text),
    reason && h("label", { class: "field" }, h("span", {}, wish.reason), reason),
    answer,
    buttons,
  );
  const dialog = openDialog(wish.title, form);
  (reason ?? (wish.danger ? cancel : yes)).focus();
}

/** Browsers throw a TypeError where nobody answers. */
const failed = (error: unknown): Acted => ({
  ok: false,
  message:
    error instanceof TypeError || !(error instanceof Error)
      ? "The dashboard does not answer. Is it still running?"
      : error.message || "This page is locked; load it again.",
});

function showAnswer(place: HTMLElement, { ok, message, waits }: Acted): void {
  place.classList.add(ok ? "good" : "bad");
  place.replaceChildren(h("strong", {}, ok ? "✓ Done. " : "✕ Not done. "), message);
  if (waits) place.append(h("p", { class: "waits" }, h("strong", {}, "Waits: "), waits));
}

export function openDialog(title: string, content: Child): HTMLDialogElement {
  const opener = document.activeElement;
  const key = opener instanceof HTMLElement ? opener.dataset.key : undefined;
  const dialog = h("dialog", { "aria-labelledby": "dialog-title" }, h("h2", { id: "dialog-title" }, title), content);
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    returnFocus(opener, key);
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** The page may have been drawn anew under the dialog: then to what stands in the opener's place. */
function returnFocus(opener: Element | null, key: string | undefined): void {
  const all = [...document.querySelectorAll<HTMLElement>("[data-key]")];
  const again = opener?.isConnected ? opener : all.find((element) => key && element.dataset.key === key);
  const place = again ?? document.querySelector("main h1");
  if (place instanceof HTMLElement) place.focus();
}
