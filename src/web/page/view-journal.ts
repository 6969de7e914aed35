/// <reference lib="dom" />
/** The journal: every line, to filter and to search. */
import { ask, Locked, type Moment, type Now, type Page, type Project } from "./api.ts";
import { h } from "./dom.ts";
import { badge, empty, heading, projectTag, runLink, select, type View } from "./parts.ts";
import { refine } from "./route.ts";
import { pager } from "./view-lists.ts";
import { timelineItem } from "./view-run.ts";
import { everyProject } from "./view-stages.ts";

type Line = Moment & { project: string; run: string };

/** `unread`: projects whose journals cannot be read. */
type Lines = Page<Line> & { unread: string[] };

interface Data {
  page: Lines;
  projects: Project[];
}

type Query = Record<string, string>;

const KINDS = [
  ["", "Everything"],
  ["stopped", "Stops"],
  ["signalled", "Claims"],
  ["gated", "Checks"],
  ["refused", "Refusals"],
  ["advanced", "Moves"],
  ["asked", "Questions"],
  ["decided", "Decisions"],
  ["approved", "Approvals"],
  ["prompted", "Prompts"],
  ["armed", "Beginnings"],
  ["ended", "Endings"],
  ["errored", "Errors"],
].map(([value = "", text = ""]) => ({ value, text }));

export const viewJournal: View<Data> = {
  title: () => "Journal",
  load: async ({ project, q, kind, run, after }) => {
    const lines = ask<Lines>("journal", { project, q, kind, run, after });
    const [page, now] = await Promise.all([run ? lines.catch(noneIfRefused) : lines, ask<Now>("now")]);
    return { page, projects: now.projects };
  },
  draw: ({ page: { rows, next, unread }, projects }, query) => [
    heading("Journal", "Everything Pawl saw and decided, the newest first."),
    filters(query, projects),
    ...unread.map((root) => h("p", { class: "card notice" }, badge("Not readable", "warn"), " ", projectTag(root))),
    rows.length === 0
      ? nothing(query, next !== null)
      : h(
          "div",
          { class: "card timeline-card" },
          h(
            "ol",
            { class: "timeline" },
            rows.map((line, i) => item(line, rows[i - 1], Boolean(query.q))),
          ),
        ),
    ...[pager("journal", query, next)].filter((part) => part !== null),
  ],
};

/** What is typed may not be a run's name yet. */
function noneIfRefused(error: unknown): Lines {
  if (error instanceof Locked || error instanceof TypeError) throw error;
  return { rows: [], next: null, unread: [] };
}

/** Every line has fields; of these they tell more than the line itself. Who searches may have found one of them. */
const TELLING = /^(gated|asked|reported|errored|changed|looped|loop_ended|noticed)$/;

function item(line: Line, before: Line | undefined, isSearch: boolean): HTMLElement {
  const detail = isSearch || TELLING.test(line.kind) ? line.detail : null;
  const run = runLink(line.project, line.run, line.run);
  const meta = h("p", { class: "meta" }, projectTag(line.project), run, h("span", {}, line.kind));
  return timelineItem({ ...line, detail }, before, meta);
}

function filters(query: Query, projects: Project[]): HTMLElement {
  const change = (name: string) => (value: string) => refine("journal", { ...query, [name]: value, after: null });
  return h(
    "div",
    { class: "filters", role: "search", "aria-label": "Search the journal" },
    search("Search", "q", query.q ?? "", change("q")),
    select("What", "kind", KINDS, query.kind ?? "", change("kind")),
    select("Project", "project", everyProject(projects), query.project ?? "", change("project")),
    search("Run", "run", query.run ?? "", change("run")),
  );
}

const SETTLES_MS = 250;
let typing: ReturnType<typeof setTimeout> | undefined;

function search(label: string, key: string, value: string, changed: (to: string) => void): HTMLElement {
  const heard = (event: Event) => {
    clearTimeout(typing);
    const to = (event.target as HTMLInputElement).value.trim();
    typing = setTimeout(() => changed(to), SETTLES_MS);
  };
  const input = h("input", {
    type: "search",
    value,
    input: heard,
    "data-key": key,
    autocomplete: "off",
    spellcheck: "false",
  });
  return h("label", { class: "field" }, h("span", {}, label), input);
}

function nothing(query: Query, goesOn: boolean): HTMLElement {
  if (goesOn) return empty("No line so far.", "This journal is long: “Older” looks further back.");
  const filtered = Boolean(query.q || query.kind || query.project || query.run);
  if (!filtered)
    return empty("The journal is empty.", [
      "Type ",
      h("code", {}, "/complete-work"),
      " in Claude Code: every step is written here.",
    ]);
  const all = h("button", { type: "button", click: () => refine("journal", {}) }, "Show everything");
  return empty("No line is like that.", "Fewer filters show more.", all);
}
