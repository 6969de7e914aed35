/// <reference lib="dom" />
/** The pieces that several pages share. */
import type { RunRow, StageMark } from "./api.ts";
import { type Child, h } from "./dom.ts";
import { ago, moment, projectName, ticking } from "./format.ts";
import { link } from "./route.ts";

export interface View<T> {
  title(data: T): string;
  load(query: Record<string, string>): Promise<T>;
  draw(data: T, query: Record<string, string>): Node[];
  /** milliseconds after which it is asked for again, though nobody told of a change */
  again?(data: T): number | null;
}

export type Tone = "good" | "bad" | "warn" | "accent" | "quiet";

const SIGNS: Record<Tone, string> = { good: "✓", bad: "✕", warn: "!", accent: "●", quiet: "○" };

export const badge = (text: string, tone: Tone): HTMLElement =>
  h("span", { class: `badge ${tone}` }, h("span", { "aria-hidden": "true", class: "sign" }, SIGNS[tone]), text);

export function heading(title: string, lead: Child = null, beside: Child = null): HTMLElement {
  return h(
    "div",
    { class: "heading" },
    h("div", { class: "heading-text" }, h("h1", { tabindex: "-1" }, title), lead && h("p", { class: "lead" }, lead)),
    beside,
  );
}

export function runState(run: Pick<RunRow, "status" | "outcome">): { text: string; tone: Tone } {
  if (run.status === "waiting") return { text: "Needs you", tone: "warn" };
  if (run.status === "halted") return { text: "Stopped", tone: "warn" };
  if (run.status === "active") return { text: "Running", tone: "accent" };
  const outcome = run.outcome ?? "ended";
  if (/^(completed|success|done)/i.test(outcome)) return { text: "Completed", tone: "good" };
  if (/^(aborted|cancelled|handed)/i.test(outcome)) return { text: capital(outcome), tone: "quiet" };
  return { text: capital(outcome), tone: "bad" };
}

export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const capital = (word: string): string => sentence(word.replaceAll("_", " "));

/** A clock that the page keeps running. */
export const since = (at: string): HTMLElement =>
  h("time", { datetime: at, "data-since": at, title: moment(at), class: "num" }, ticking(Date.now() - Date.parse(at)));

export const when = (at: string): HTMLElement =>
  h("time", { datetime: at, "data-ago": at, title: moment(at) }, ago(at));

export function tick(): void {
  const now = Date.now();
  for (const time of document.querySelectorAll<HTMLElement>("time[data-since]"))
    retext(time, ticking(now - Date.parse(time.dataset.since ?? "")));
  for (const time of document.querySelectorAll<HTMLElement>("time[data-ago]"))
    retext(time, ago(time.dataset.ago ?? "", now));
}

function retext(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Some workflows shout their stages' names. */
export const stageName = (name: string): string => (/^[A-Z0-9_]+$/.test(name) ? capital(name.toLowerCase()) : name);

const STATES = { done: "done", now: "now", open: "to come" } as const;

export function stageTrack(stages: StageMark[]): HTMLElement {
  const steps = stages.map(({ title, id, state }) =>
    h(
      "li",
      { class: state, "aria-current": state === "now" ? "step" : null },
      h("span", { class: "mark", "aria-hidden": "true" }, state === "done" ? "✓" : ""),
      h("span", { class: "name" }, stageName(title || id)),
      h("span", { class: "visually-hidden" }, ` (${STATES[state]})`),
    ),
  );
  return h("ol", { class: "track", "aria-label": "Stages" }, steps);
}

export function empty(title: string, text: Child, ...more: Child[]): HTMLElement {
  return h("div", { class: "empty" }, h("p", { class: "empty-title" }, title), h("p", {}, text), ...more);
}

export const runLink = (project: string, id: string, text: string, more: Record<string, string> = {}): HTMLElement =>
  h("a", { href: link("run", { project, id }), ...more }, text);

export const projectTag = (root: string): HTMLElement =>
  h("span", { class: "project", title: root }, projectName(root));

export const runTitle = (run: { title: string | null; task: string | null; workflow: string }): string =>
  run.title || run.task || run.workflow;

/** A cell of a table that on a phone becomes a line of a card, with its column's name. */
export const cell = (label: string, content: Child, kind = ""): HTMLElement =>
  h("td", { "data-label": label, class: kind }, h("div", { class: "value" }, content));

export function table(caption: string, columns: [string, string?][], rows: HTMLElement[]): HTMLElement {
  const head = columns.map(([name, kind]) => h("th", { scope: "col", class: kind ?? "" }, name));
  return h(
    "div",
    { class: "card table-card" },
    h(
      "table",
      {},
      h("caption", { class: "visually-hidden" }, caption),
      h("thead", {}, h("tr", {}, head)),
      h("tbody", {}, rows),
    ),
  );
}

export interface Option {
  value: string;
  text: string;
}

export function select(label: string, key: string, options: Option[], chosen: string, changed: (to: string) => void) {
  const list = options.map(({ value, text }) => h("option", { value, selected: value === chosen }, text));
  const heard = (event: Event) => changed((event.target as HTMLSelectElement).value);
  return h("label", { class: "field" }, h("span", {}, label), h("select", { "data-key": key, change: heard }, list));
}
