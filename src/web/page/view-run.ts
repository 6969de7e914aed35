/// <reference lib="dom" />
/** One run: what happened and why, where it is, what can be done with it. */
import { answerButtons, controlButtons } from "./actions.ts";
import { ask, type GateRow, type Moment, type RunDetail, type StageRow } from "./api.ts";
import { type Child, h } from "./dom.ts";
import { clock, DOT, day, many, money, projectName, span } from "./format.ts";
import { workflowGraph } from "./graph.ts";
import {
  badge,
  capital,
  empty,
  heading,
  runState,
  runTitle,
  sentence,
  since,
  type Tone,
  type View,
  when,
} from "./parts.ts";
import { link } from "./route.ts";

export const viewRun: View<RunDetail> = {
  title: ({ run }) => runTitle(run),
  load: ({ project = "", id = "" }) => ask<RunDetail>("run", { project, id }),
  draw: (detail) =>
    [
      crumbs(detail),
      heading(
        runTitle(detail.run),
        lead(detail),
        h("div", { class: "buttons" }, controlButtons(targetOf(detail), detail)),
      ),
      openQuestion(detail),
      h("div", { class: "split" }, timelineSection(detail), h("div", { class: "aside" }, sides(detail))),
    ].filter((part) => part !== null),
};

const targetOf = ({ run }: RunDetail) => ({ project: run.project, run: run.id, name: `“${runTitle(run)}”` });

function crumbs({ run }: RunDetail): HTMLElement {
  const steps = [
    h("a", { href: link("runs") }, "Runs"),
    h("a", { href: link("runs", { project: run.project }) }, projectName(run.project)),
    h("code", {}, run.id),
  ];
  const items = steps.map((step) => h("li", {}, step));
  return h("nav", { class: "crumbs", "aria-label": "Where this run belongs" }, h("ol", {}, items));
}

function lead({ run, paused }: RunDetail): Child[] {
  const rests = paused && run.status === "active";
  const { text, tone } = rests ? ({ text: "Paused", tone: "warn" } as const) : runState(run);
  return [
    badge(text, tone),
    ` ${run.workflow}${DOT}`,
    run.why && run.status !== "active" ? `${run.why}${DOT}` : "",
    run.status === "ended" ? "" : `at ${run.stage}${DOT}`,
    "last event ",
    when(run.updated_at),
  ];
}

function openQuestion(detail: RunDetail): HTMLElement | null {
  const { question, canApprove, run } = detail;
  if (!question && !canApprove) return null;
  const text = question ? question.text : `A check could not prove the claim: ${run.why}`;
  return h(
    "section",
    { class: "card need", "aria-labelledby": "question-title" },
    h(
      "div",
      { class: "need-text" },
      h("h2", { id: "question-title" }, question ? "Your decision" : "Your approval"),
      h("p", { class: "question" }, text),
    ),
    h("div", { class: "buttons" }, answerButtons(targetOf(detail), detail)),
  );
}

// ── Timeline ────────────────────────────────────────────────────────────────

/** More than a screen or two: what happens now is far below. */
const MOST_AT_A_GLANCE = 30;

function timelineSection({ timeline, older, run }: RunDetail): HTMLElement {
  const items = timeline.map((moment, i) => timelineItem(moment, timeline[i - 1]));
  return h(
    "section",
    { "aria-labelledby": "timeline-title", class: "card timeline-card" },
    h(
      "div",
      { class: "section-head" },
      h("h2", { id: "timeline-title" }, "What happened"),
      items.length > MOST_AT_A_GLANCE &&
        h("button", { type: "button", "data-key": "newest", click: () => items.at(-1)?.focus() }, "To the newest"),
    ),
    older > 0 &&
      h(
        "p",
        { class: "muted" },
        `${many(older, "earlier moment")} left out: `,
        h("a", { href: link("journal", { project: run.project, run: run.id }) }, "the journal has all"),
      ),
    items.length > 0
      ? h("ol", { class: "timeline" }, items)
      : empty("Nothing recorded.", "Its project or the journal is gone, or has no line of this run."),
  );
}

export function timelineItem(moment: Moment, before: Moment | undefined, more: Child = null): HTMLElement {
  const { tone, sign } = look(moment);
  const isSameMoment = before !== undefined && before.at === moment.at && before.run === moment.run;
  const newDay = !before || day(before.at) !== day(moment.at);
  const key = `moment:${moment.run ?? ""}:${moment.at}:${moment.seq}:${moment.kind}:${moment.text.slice(0, 40)}`;
  return h(
    "li",
    {
      class: `moment ${tone}${isSameMoment ? " same" : ""}`,
      "data-key": key,
      "data-fresh": true,
      "data-item": "",
      tabindex: "-1",
    },
    newDay && h("p", { class: "day" }, day(moment.at)),
    h("time", { datetime: moment.at, class: "num" }, clock(moment.at)),
    h("span", { class: "mark", "aria-hidden": "true" }, sign),
    h(
      "div",
      { class: "told" },
      more,
      h("p", { class: FAINT.test(moment.kind) ? "muted" : "" }, sentence(moment.text)),
      detailOf(moment, key),
    ),
  );
}

/** What happens at every step, and tells a person little. */
const FAINT = /^(continued|owed|delivered|noticed|left|checkpointed|doubled|commanded)$/;

const KINDS: [RegExp, Tone, string][] = [
  [/^(ended|loop_ended|advanced|task_done|phased)$/, "good", "✓"],
  [/^(refused|errored|undelivered|malformed|changed|unread)$/, "bad", "✕"],
  [/^(asked|halted|paused|checking)$/, "warn", "!"],
  [/^(prompted|decided|approved|accepted|commanded|adopted|resumed)$/, "accent", "◆"],
  [/^stopped$/, "quiet", "❙"],
  [/^(signalled|armed|task_begun|iteration_begun)$/, "accent", "▸"],
];

function look({ kind, text }: Moment): { tone: Tone; sign: string } {
  if (kind === "gated" || kind === "looped") {
    if (/: pass\b|\bSUCCESS\b/.test(text)) return { tone: "good", sign: "✓" };
    return /: fail\b|\bfailed\b|\bFAIL/.test(text) ? { tone: "bad", sign: "✕" } : { tone: "warn", sign: "?" };
  }
  if (kind === "ended" && !/completed/.test(text)) return { tone: "quiet", sign: "■" };
  const found = KINDS.find(([pattern]) => pattern.test(kind));
  return found ? { tone: found[1], sign: found[2] } : { tone: "quiet", sign: "·" };
}

/** What does not fit a line is folded away: outputs of checks, what was said in full, fields. */
function detailOf({ kind, detail }: Moment, key: string): HTMLElement | null {
  const text = inLines(detail);
  if (text === "") return null;
  const label =
    kind === "gated" ? "Output and evidence" : kind === "stopped" || kind === "prompted" ? "In full" : "More";
  return h(
    "details",
    { "data-key": `${key}:detail` },
    h("summary", {}, label),
    h("pre", { tabindex: "0", "aria-label": label, role: "group" }, text),
  );
}

function inLines(detail: unknown): string {
  if (detail === null || detail === undefined) return "";
  if (typeof detail !== "object") return String(detail);
  if (Array.isArray(detail)) return detail.map((part) => inLines(part)).join("\n");
  return Object.entries(detail)
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => field(name, value))
    .join("\n");
}

function field(name: string, value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return text.includes("\n") ? `${name}:\n${text.replace(/^/gm, "  ")}` : `${name}: ${text}`;
}

// ── Beside it ───────────────────────────────────────────────────────────────

function sides(detail: RunDetail): HTMLElement[] {
  const { graph, gates, stages, run } = detail;
  const parts = [factsCard(detail)];
  if (graph.stages.length > 0) parts.unshift(side("Workflow", workflowGraph(graph, run.outcome)));
  if (gates.length > 0) parts.push(side("Checks", h("ul", { class: "plain" }, gates.map(gateItem))));
  if (stages.length > 0) parts.push(side("Time per stage", h("ol", { class: "plain" }, stages.map(stageItem))));
  return parts;
}

const side = (title: string, content: Child): HTMLElement =>
  h("section", { class: "card" }, h("h2", {}, title), content);

function factsCard({ run }: RunDetail): HTMLElement {
  const facts: [string, Child][] = [
    ["Workflow", run.workflow],
    ["Task", run.task],
    ["Began", when(run.started_at)],
    [
      run.ended_at ? "Took" : "For",
      run.ended_at ? span(Date.parse(run.ended_at) - Date.parse(run.started_at)) : since(run.started_at),
    ],
    ["Waited for you", run.waited_ms >= 1000 && span(run.waited_ms)],
    ["Continued", `${run.continues}×`],
    ["Sent back by checks", run.gate_fails > 0 && `${run.gate_fails}×`],
    ["Questions", String(run.asks)],
    ["Approvals", run.approvals > 0 && String(run.approvals)],
    ["Cost", run.cost_usd !== null && money(run.cost_usd)],
    ["Host", run.host],
    ["Session", run.session && h("code", {}, run.session.slice(0, 8))],
    ["Beware", run.approximate && "figures are approximate"],
  ];
  const said = facts.filter(([, value]) => Boolean(value));
  return side(
    "Facts",
    h(
      "dl",
      { class: "facts" },
      said.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    ),
  );
}

function gateItem({ gate, last, pass, fail, unproven, why, tree, command }: GateRow): HTMLElement {
  const tone: Tone = last === "pass" ? "good" : last === "fail" ? "bad" : "warn";
  const counts = [pass > 0 && `${pass} passed`, fail > 0 && `${fail} failed`, unproven > 0 && `${unproven} unproven`];
  return h(
    "li",
    { class: "gate" },
    h("p", {}, badge(capital(last), tone), " ", h("strong", {}, gate)),
    command && h("p", {}, h("code", {}, command)),
    h("p", { class: "muted" }, why),
    h(
      "p",
      { class: "muted" },
      counts.filter(Boolean).join(", "),
      tree && [`${DOT}tree `, h("code", {}, tree.slice(0, 10))],
    ),
  );
}

const HOW = { done: "done", back: "sent back", ended: "ended here", open: "now" } as const;

function stageItem({ stage, visit, ms, entered_at, waited_ms, how }: StageRow): HTMLElement {
  return h(
    "li",
    { class: "stage-line" },
    h("span", { class: "grow" }, stage, visit > 1 && h("span", { class: "muted" }, ` visit ${visit}`)),
    h("span", { class: "muted" }, waited_ms > 60_000 ? `${HOW[how]}, ${span(waited_ms)} waiting` : HOW[how]),
    how === "open" ? since(entered_at) : h("span", { class: "num" }, span(ms)),
  );
}
