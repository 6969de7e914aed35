/// <reference lib="dom" />
/** What the person can do with a run, each with a question first. */
import { type ActionName, act, type Need, type RunDetail } from "./api.ts";
import { confirm } from "./dialog.ts";
import { type Child, h } from "./dom.ts";

export interface Target {
  project: string;
  run: string;
  name: string;
}

type Choice = { name: string; label: string };

let readOnly = false;

export function setReadOnly(is: boolean): void {
  readOnly = is;
}

/** The answers to an open question, and the approval of a gate: what somebody waits for. */
export function answerButtons(target: Target, detail: Pick<RunDetail, "question" | "canApprove" | "claimed">): Child[] {
  if (readOnly) return [];
  const choices =
    detail.question?.choices.map((choice, i) => choiceButton(target, choice, i === 0, detail.question?.asked)) ?? [];
  return detail.canApprove ? [...choices, approveButton(target, detail.claimed)] : choices;
}

/** Of what stands on Now: a run that stopped only waits for its word to go on. */
export function needButtons(target: Target, need: Need): Child[] {
  const rests = !readOnly && (need.kind === "halted" || need.kind === "paused");
  return [...answerButtons(target, need), ...(rests ? [controlButton(target, "resume")] : [])];
}

function choiceButton(target: Target, { name, label }: Choice, first: boolean, asked: string | undefined): HTMLElement {
  const ask = () =>
    confirm({
      title: "Give this answer?",
      text: ["“", h("strong", {}, label), `” goes to ${target.name}.`],
      button: "Answer",
      run: () => act({ ...plain(target, "answer"), choice: name, ...(asked ? { asked } : {}) }),
    });
  const key = `answer:${target.run}:${name}`;
  return h("button", { type: "button", class: first ? "primary" : "", "data-key": key, click: ask }, label);
}

function approveButton(target: Target, claimed: string | null): HTMLElement {
  const ask = () =>
    confirm({
      title: "Approve without proof?",
      text: `The check could not prove the claim of ${target.name}. Your approval stands in its place, with your name in the journal.`,
      button: "Approve",
      reason: "Why (optional)",
      run: (why) =>
        act({ ...plain(target, "approve"), ...(claimed ? { asked: claimed } : {}), ...(why ? { why } : {}) }),
    });
  const key = `approve:${target.run}`;
  return h("button", { type: "button", class: "primary", "data-key": key, click: ask }, "Approve…");
}

const plain = ({ project, run }: Target, action: ActionName) => ({ project, run, action });

const TEXTS: Record<"pause" | "resume" | "adopt" | "abort", { title: string; text: string; button: string }> = {
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
    text: "It ends as aborted. Its journal stays; the run cannot go on afterwards.",
    button: "Abort run",
  },
};

/** Everything else, for the page of one run. */
export function controlButtons(target: Target, { run, paused }: RunDetail): Child[] {
  if (readOnly || run.status === "ended") return [];
  const rests = paused ?? run.status === "halted";
  return [
    controlButton(target, rests ? "resume" : "pause"),
    controlButton(target, "adopt"),
    controlButton(target, "abort"),
  ];
}

function controlButton(target: Target, action: keyof typeof TEXTS): HTMLElement {
  const { title, text, button } = TEXTS[action];
  const danger = action === "abort";
  const ask = () =>
    confirm({
      title,
      text,
      button,
      danger,
      ...(danger ? { reason: "Why (optional)" } : {}),
      run: (why) => act({ ...plain(target, action), ...(why ? { why } : {}) }),
    });
  const attributes = { type: "button", class: danger ? "quiet-danger" : "", "data-key": `${action}:${target.run}` };
  return h("button", { ...attributes, click: ask }, `${button.replace(" run", "")}…`);
}
