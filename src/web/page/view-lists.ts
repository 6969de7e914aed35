/// <reference lib="dom" />
/** The plain lists: runs, tasks, loops. */
import { ask, type LoopRow, type Now, type Page, type Project, type RunRow, type Task } from "./api.ts";
import { h } from "./dom.ts";
import { DOT, many, money, span } from "./format.ts";
import {
  badge,
  capital,
  cell,
  empty,
  heading,
  projectTag,
  runLink,
  runState,
  runTitle,
  select,
  since,
  type Tone,
  table,
  type View,
  when,
} from "./parts.ts";
import { link, type PageName, refine } from "./route.ts";
import { everyProject } from "./view-stages.ts";

interface Listed<Row> {
  page: Page<Row>;
  projects: Project[];
}

type Query = Record<string, string>;

async function withProjects<Row>(asked: Promise<Page<Row>>): Promise<Listed<Row>> {
  const [page, now] = await Promise.all([asked, ask<Now>("now")]);
  return { page, projects: now.projects };
}

function projectFilter(page: PageName, query: Query, projects: Project[]): HTMLElement {
  return select("Project", "project", everyProject(projects), query.project ?? "", (project) =>
    refine(page, { ...query, project, after: null }),
  );
}

export function pager(page: PageName, query: Query, next: string | null): HTMLElement | null {
  if (!next && !query.after) return null;
  return h(
    "nav",
    { class: "pager", "aria-label": "Pages of this list" },
    query.after && h("a", { class: "button", href: link(page, { ...query, after: null }) }, "Newest"),
    next && h("a", { class: "button", href: link(page, { ...query, after: next }), "data-key": "older" }, "Older"),
  );
}

// ── Runs ────────────────────────────────────────────────────────────────────

const STATUSES = [
  { value: "", text: "All" },
  { value: "active", text: "Running" },
  { value: "waiting", text: "Needs you" },
  { value: "halted", text: "Stopped" },
  { value: "ended", text: "Ended" },
];

export const viewRuns: View<Listed<RunRow>> = {
  title: () => "Runs",
  load: ({ project, status, after }) => withProjects(ask<Page<RunRow>>("runs", { project, status, after })),
  draw: ({ page, projects }, query) => [
    heading("Runs", "Every run Pawl knows of, the newest first."),
    h(
      "div",
      { class: "filters", role: "group", "aria-label": "Which runs" },
      select("Status", "status", STATUSES, query.status ?? "", (status) =>
        refine("runs", { ...query, status, after: null }),
      ),
      projectFilter("runs", query, projects),
    ),
    page.rows.length === 0
      ? empty("No run here.", ["Type ", h("code", {}, "/complete-work"), " in Claude Code to begin one."])
      : table(
          "Runs",
          [
            ["Run"],
            ["State"],
            ["Stage"],
            ["Project"],
            ["Began"],
            ["Took", "right"],
            ["Continued", "right"],
            ["Cost", "right"],
          ],
          page.rows.map(runRow),
        ),
    ...[pager("runs", query, page.next)].filter((part) => part !== null),
  ],
};

function runRow(run: RunRow): HTMLElement {
  const { text, tone } = runState(run);
  const took = run.ended_at ? span(Date.parse(run.ended_at) - Date.parse(run.started_at)) : since(run.started_at);
  const name = runLink(run.project, run.id, runTitle(run), { "data-item": "", "data-key": `run-link:${run.id}` });
  return h(
    "tr",
    { "data-key": `run:${run.id}`, "data-fresh": true },
    h("th", { scope: "row" }, name, h("span", { class: "muted" }, `${run.workflow}${DOT}${run.id}`)),
    cell("State", badge(text, tone)),
    cell("Stage", run.stage),
    cell("Project", projectTag(run.project)),
    cell("Began", when(run.started_at), "nowrap"),
    cell("Took", took, "right num nowrap"),
    cell("Continued", `${run.continues}×`, "right num"),
    cell("Cost", money(run.cost_usd), "right num"),
  );
}

// ── Tasks ───────────────────────────────────────────────────────────────────

interface Tasks {
  tasks: Task[];
  problems: { project: string; why: string }[];
  projects: Project[];
}

const ORDER = ["in_progress", "doing", "open", "ready", "blocked", "done", "closed"];

export const viewTasks: View<Tasks> = {
  title: () => "Tasks",
  load: async ({ project }) => {
    const [tasks, now] = await Promise.all([ask<Omit<Tasks, "projects">>("tasks", { project }), ask<Now>("now")]);
    return { ...tasks, projects: now.projects };
  },
  draw: ({ tasks, problems = [], projects }, query) => [
    heading("Tasks", "What the projects’ trackers hold: beads, session.md, GitHub."),
    h("div", { class: "filters", role: "group", "aria-label": "Which tasks" }, projectFilter("tasks", query, projects)),
    ...problems.map(({ project, why }) =>
      h("p", { class: "card notice" }, badge("Not readable", "warn"), " ", projectTag(project), " ", why),
    ),
    ...(tasks.length === 0 && problems.length === 0 ? [noTask()] : taskGroups(tasks)),
  ],
};

const noTask = (): HTMLElement =>
  empty("No task.", [
    "Add one with ",
    h("code", {}, 'pawl task add "…"'),
    ", or type ",
    h("code", {}, "/auto"),
    " to work through those you have.",
  ]);

function taskGroups(tasks: Task[]): HTMLElement[] {
  const place = (status: string) => (ORDER.indexOf(status) + ORDER.length + 1) % (ORDER.length + 1);
  const statuses = [...new Set(tasks.map(({ status }) => status))].toSorted((a, b) => place(a) - place(b));
  return statuses.map((status) => {
    const rows = tasks.filter((task) => task.status === status);
    return h(
      "section",
      {},
      h("h2", {}, `${capital(status)} `, h("span", { class: "count" }, String(rows.length))),
      h("ul", { class: "card rows" }, rows.map(taskRow)),
    );
  });
}

/** How Pawl marks what a session of its own has taken. */
const OWN_SESSION = /^pawl-(?=[0-9a-f]{8}$)/;

function taskRow(task: Task): HTMLElement {
  const hints = [task.command, task.model, ...task.after.slice(0, 3).map((id) => `after ${id}`)];
  return h(
    "li",
    { "data-item": "", tabindex: "-1", "data-key": `task:${task.project}:${task.id}`, "data-fresh": true },
    h("code", {}, task.id),
    h("span", { class: "grow" }, task.title),
    task.next && badge("Next", "accent"),
    hints.filter(Boolean).map((hint) => h("span", { class: "tag" }, hint)),
    task.assignee && h("span", { class: "muted" }, task.assignee.replace(OWN_SESSION, "session ")),
    projectTag(task.project),
  );
}

// ── Loops ───────────────────────────────────────────────────────────────────

export const viewLoops: View<Listed<LoopRow>> = {
  title: () => "Loops",
  load: ({ project }) => withProjects(ask<Page<LoopRow>>("loops", { project })),
  draw: ({ page: { rows }, projects }, query) => [
    heading(
      "Loops",
      rows.length > 0
        ? `${many(rows.length, "loop")}, ${many(sum(rows), "iteration")}`
        : "A procedure, again and again, each time in a fresh session.",
    ),
    h("div", { class: "filters", role: "group", "aria-label": "Which loops" }, projectFilter("loops", query, projects)),
    rows.length === 0
      ? empty("No loop was run.", [
          "Start one with ",
          h("code", {}, "pawl loop <procedure>"),
          "; ",
          h("code", {}, "pawl list"),
          " shows which there are.",
        ])
      : table(
          "Loops",
          [
            ["Procedure"],
            ["Outcome"],
            ["Iterations"],
            ["Failed", "right"],
            ["Cost", "right"],
            ["Project"],
            ["Began"],
            ["Took", "right"],
          ],
          rows.map(loopRow),
        ),
  ],
};

const sum = (rows: LoopRow[]): number => rows.reduce((total, { iterations }) => total + iterations, 0);

function loopRow(loop: LoopRow): HTMLElement {
  const { text, tone } = loopState(loop);
  const key = `loop-link:${loop.id}`;
  const name = loop.run
    ? runLink(loop.project, loop.run, loop.procedure, { "data-item": "", "data-key": key })
    : h("span", { "data-item": "", tabindex: "-1", "data-key": key }, loop.procedure);
  // Not a single iteration said what it cost.
  const isUnknown = loop.approximate && !loop.cost_usd;
  const about = loop.approximate ? "≥ " : "";
  return h(
    "tr",
    { "data-key": `loop:${loop.id}`, "data-fresh": true },
    h("th", { scope: "row" }, name, h("span", { class: "muted" }, loop.waiting?.why ?? loop.why)),
    cell("Outcome", badge(text, tone)),
    cell("Iterations", [String(loop.iterations), " ", iterationMarks(loop)], "num nowrap"),
    cell("Failed", String(loop.failures), "right num"),
    cell("Cost", isUnknown ? money(null) : `${about}${money(loop.cost_usd)}`, "right num"),
    cell("Project", projectTag(loop.project)),
    cell("Began", when(loop.started_at), "nowrap"),
    cell("Took", span(Date.parse(loop.updated_at) - Date.parse(loop.started_at)), "right num nowrap"),
  );
}

function loopState({ outcome, running, waiting }: LoopRow): { text: string; tone: Tone } {
  if (running) return waiting ? { text: "Waits", tone: "warn" } : { text: "Running", tone: "accent" };
  if (outcome === null) return { text: "Broke off", tone: "warn" };
  return { text: capital(outcome.toLowerCase()), tone: /success|completed|done/i.test(outcome) ? "good" : "bad" };
}

const MARKS: Record<string, string> = { failure: "✕", success: "✓" };

/** The last iterations, each as one sign. */
function iterationMarks({ lines }: LoopRow): HTMLElement {
  const marks = lines.slice(-12).map(({ iteration, verdict, why }) => {
    const told = `${iteration}: ${verdict}${why ? `, ${why}` : ""}`;
    return h("span", { class: `iteration ${verdict}`, title: told }, MARKS[verdict] ?? "·");
  });
  return h("span", { class: "iterations", "aria-hidden": "true" }, marks);
}
