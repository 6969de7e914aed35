/// <reference lib="dom" />
/** Now: what waits for the person first, then everything that is under way. */
import { needButtons } from "./actions.ts";
import { ask, type LiveRun, type Need, type Now, type Page, type RunRow } from "./api.ts";
import { type Child, h } from "./dom.ts";
import { DOT, many, money, projectName } from "./format.ts";
import {
  badge,
  empty,
  heading,
  projectTag,
  runLink,
  runState,
  runTitle,
  sentence,
  since,
  stageTrack,
  type View,
  when,
} from "./parts.ts";
import { link } from "./route.ts";

interface Data {
  now: Now;
  recent: RunRow[];
}

const MOST_RECENT = 6;
const PERMISSION_MS = 2_000;

export const viewNow: View<Data> = {
  title: ({ now }) => (now.needs.length > 0 ? `(${now.needs.length}) Now` : "Now"),
  load,
  draw: ({ now, recent }) =>
    [heading("Now", summary(now)), needsSection(now), liveSection(now), recentSection(recent)].filter(
      (part) => part !== null,
    ),
  // No hook tells that a permission was given: only another look does.
  again: ({ now }) => (now.needs.some(({ kind }) => kind === "permission") ? PERMISSION_MS : null),
};

async function load(): Promise<Data> {
  const now = await ask<Now>("now");
  // Where the figures cannot be read, what needs the person still is shown.
  const ended = await ask<Page<RunRow>>("runs", { status: "ended", limit: String(MOST_RECENT) }).catch(() => null);
  return { now: { ...now, at: "" }, recent: ended?.rows.slice(0, MOST_RECENT) ?? [] };
}

function summary({ needs, live, projects }: Now): string {
  const parts = [needs.length === 1 ? "1 needs you" : needs.length > 1 && `${needs.length} need you`];
  if (live.length > 0) parts.push(`${many(live.length, "run")} under way`);
  if (projects.length > 0) parts.push(many(projects.length, "project"));
  return parts.filter(Boolean).join(DOT);
}

// ── What needs the person ───────────────────────────────────────────────────

function needsSection({ needs, live }: Now): HTMLElement | null {
  if (needs.length === 0)
    return live.length > 0 ? h("p", { class: "calm" }, badge("Nothing waits for you", "good")) : null;
  const cards = needs.map((need) => needCard(need, live));
  return h(
    "section",
    { "aria-labelledby": "needs-title" },
    h("h2", { id: "needs-title" }, "Needs you"),
    h("ul", { class: "stack" }, cards),
  );
}

function needCard(need: Need, live: LiveRun[]): HTMLElement {
  const run = live.find(({ run, project }) => run === need.run && project === need.project);
  const name = run ? runTitle(run) : need.workflow;
  const buttons = needButtons({ project: need.project, run: need.run, name: `“${name}”` }, need);
  return h(
    "li",
    { class: "card need", "data-key": `need:${need.run}`, "data-fresh": true },
    h(
      "div",
      { class: "need-text" },
      h("p", { class: "need-what" }, badge(sentence(need.what), "warn")),
      h("h3", {}, runLink(need.project, need.run, name, { "data-item": "", "data-key": `need-link:${need.run}` })),
      need.question && h("p", { class: "question" }, need.question.text),
      h(
        "p",
        { class: "meta" },
        projectTag(need.project),
        h("span", {}, [need.workflow, need.run].filter(Boolean).join(" ")),
        h("span", {}, "waiting ", since(need.since)),
        buttons.length > 0 && h("span", {}, instead(need)),
      ),
    ),
    buttons.length > 0
      ? h("div", { class: "buttons" }, buttons)
      : h("p", { class: "how" }, h("span", { class: "visually-hidden" }, "What to do: "), withCode(sentence(need.how))),
  );
}

/** The way without this page. */
function instead({ how }: Need): Child[] {
  return [how.startsWith("`") ? "in a terminal " : "or ", withCode(how)];
}

/** What stands between backticks is something to type. */
function withCode(text: string): Child[] {
  return text.split("`").map((part, i) => (i % 2 === 1 ? h("code", {}, part) : part));
}

// ── What is under way ───────────────────────────────────────────────────────

function liveSection({ live }: Now): HTMLElement {
  const projects = [...new Set(live.map(({ project }) => project))];
  const groups = projects.map((root) => {
    const runs = live.filter(({ project }) => project === root);
    return h(
      "div",
      { class: "group" },
      h("h3", { class: "group-title", title: root }, projectName(root)),
      h("ul", { class: "stack" }, runs.map(liveCard)),
    );
  });
  return h(
    "section",
    { "aria-labelledby": "live-title" },
    h("h2", { id: "live-title" }, "Under way"),
    groups.length > 0 ? groups : nothing(),
  );
}

function nothing(): HTMLElement {
  return empty(
    "Nothing is under way.",
    [
      "Type ",
      h("code", {}, "/complete-work"),
      " in Claude Code, in a project that has Pawl. It shows up here at once.",
    ],
    h(
      "p",
      { class: "muted" },
      "Not set up yet? ",
      h("code", {}, "pawl init"),
      " in the project does it, and asks first.",
    ),
  );
}

function liveCard(run: LiveRun): HTMLElement {
  const facts = [run.workflow, run.host, run.session && `session ${run.session.slice(0, 8)}`];
  return h(
    "li",
    { class: "card live", "data-key": `live:${run.run}`, "data-fresh": true },
    h(
      "div",
      { class: "live-head" },
      h(
        "h4",
        {},
        runLink(run.project, run.run, runTitle(run), { "data-item": "", "data-key": `live-link:${run.run}` }),
      ),
      h(
        "p",
        { class: "clock", title: "in this stage" },
        h("span", { class: "visually-hidden" }, "In this stage for "),
        since(run.since),
      ),
    ),
    stageTrack(run.stages),
    h(
      "p",
      { class: "doing", "data-key": `doing:${run.run}:${run.doing}`, "data-fresh": true },
      run.waits ? badge(`Waits: ${run.waits}`, "warn") : null,
      h("span", {}, run.doing),
    ),
    h(
      "p",
      { class: "meta" },
      facts.filter(Boolean).map((fact) => h("span", {}, fact)),
      run.cost_usd !== null && h("span", {}, money(run.cost_usd)),
    ),
  );
}

// ── What ended lately ───────────────────────────────────────────────────────

function recentSection(rows: RunRow[]): HTMLElement | null {
  if (rows.length === 0) return null;
  return h(
    "section",
    { "aria-labelledby": "recent-title" },
    h(
      "div",
      { class: "section-head" },
      h("h2", { id: "recent-title" }, "Ended lately"),
      h("a", { href: link("runs") }, "All runs"),
    ),
    h("ul", { class: "card rows" }, rows.map(recentRow)),
  );
}

function recentRow(run: RunRow): HTMLElement {
  const { text, tone } = runState(run);
  return h(
    "li",
    { "data-key": `recent:${run.id}`, "data-fresh": true },
    badge(text, tone),
    runLink(run.project, run.id, runTitle(run), {
      "data-item": "",
      class: "grow",
      "data-key": `recent-link:${run.id}`,
    }),
    projectTag(run.project),
    h("span", { class: "muted" }, when(run.ended_at ?? run.updated_at)),
  );
}
