/// <reference lib="dom" />
/** Stages: how long they take, how often they go well, and which one holds the work up. */
import { ask, type Counts, type Now, type Point, type Project, type StageStat, type Stats } from "./api.ts";
import { rangeBar, shareBar, trendChart } from "./charts.ts";
import { h } from "./dom.ts";
import { DOT, money, percent, projectName, span } from "./format.ts";
import { cell, empty, heading, select, sentence, table, type View } from "./parts.ts";
import { link, refine } from "./route.ts";

interface Data {
  stats: Stats;
  projects: Project[];
  workflows: string[];
}

const SPANS = [
  { value: "1d", text: "24 hours" },
  { value: "7d", text: "7 days" },
  { value: "30d", text: "30 days" },
  { value: "all", text: "All time" },
];
const DAYS: Record<string, number> = { "1d": 1, "7d": 7, "30d": 30 };
const USUAL = "7d";

export const viewStages: View<Data> = {
  title: () => "Stages",
  load,
  draw: ({ stats, projects, workflows }, query) => [
    heading("Stages", "How long each stage takes, how often it leads on, and where checks send work back."),
    filters(query, projects, workflows),
    ...(stats.stages.length === 0 ? [nothing(query)] : figures(stats)),
  ],
};

async function load({ since = USUAL, workflow, project }: Record<string, string>): Promise<Data> {
  const query = { since: sinceTime(since), project };
  const [stats, now] = await Promise.all([ask<Stats>("stats", { ...query, workflow }), ask<Now>("now")]);
  const all = workflow ? await ask<Stats>("stats", query) : stats;
  return { stats, projects: now.projects, workflows: [...new Set(all.stages.map((stage) => stage.workflow))] };
}

/** To the hour, so that the same question has the same answer while the page is open. */
function sinceTime(chosen: string): string | null {
  const days = DAYS[chosen];
  if (!days) return null;
  return new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - days * 86_400_000).toISOString();
}

function filters(query: Record<string, string>, projects: Project[], workflows: string[]): HTMLElement {
  const change = (name: string) => (value: string) => refine("stages", { ...query, [name]: value });
  const everyWorkflow = [{ value: "", text: "All workflows" }, ...workflows.map((value) => ({ value, text: value }))];
  return h(
    "div",
    { class: "filters", role: "group", "aria-label": "Which runs" },
    select("Time", "since", SPANS, query.since ?? USUAL, change("since")),
    select("Workflow", "workflow", everyWorkflow, query.workflow ?? "", change("workflow")),
    select("Project", "project", everyProject(projects), query.project ?? "", change("project")),
  );
}

export const everyProject = (projects: Project[]) => [
  { value: "", text: "All projects" },
  ...projects.map(({ root, name }) => ({ value: root, text: name || projectName(root) })),
];

function nothing(query: Record<string, string>): HTMLElement {
  const all = query.since === "all";
  return empty(
    "No stage was finished in this time.",
    all ? "Figures come by themselves with the first run." : "Perhaps earlier: look at all time.",
    !all && h("p", {}, h("a", { href: link("stages", { ...query, since: "all" }), class: "button" }, "All time")),
  );
}

function figures(stats: Stats): HTMLElement[] {
  const { bottleneck } = stats;
  const parts = [tiles(stats.counts), stageTable(stats)];
  if (!bottleneck) return parts;
  const told = h(
    "section",
    { class: "card bottleneck", "aria-labelledby": "bottleneck-title" },
    h("h2", { id: "bottleneck-title" }, "Bottleneck"),
    h("p", { class: "sentence" }, sentence(bottleneck.sentence)),
    h("p", { class: "muted" }, bottleneck.evidence),
  );
  return [told, ...parts];
}

function tiles({ runs, completed, failed, aborted, other, live, cost_usd }: Counts): HTMLElement {
  const all: [string, string][] = [
    ["Runs", String(runs)],
    ["Completed", String(completed)],
    ["Failed", String(failed)],
    ["Aborted", String(aborted)],
    ["Under way", String(live)],
  ];
  if (other) all.splice(4, 0, ["Other ends", String(other)]);
  if (cost_usd !== null) all.push(["Cost", money(cost_usd)]);
  return h(
    "dl",
    { class: "tiles" },
    all.map(([name, value]) => h("div", { class: "card" }, h("dt", {}, name), h("dd", { class: "num" }, value))),
  );
}

function stageTable({ stages, trend }: Stats): HTMLElement {
  const most = Math.max(...stages.map(({ p95_ms, p50_ms }) => p95_ms ?? p50_ms ?? 0));
  const points = new Map(trend.map((one) => [`${one.workflow} ${one.stage}`, one.points]));
  const columns: [string, string?][] = [
    ["Stage"],
    ["Runs", "right"],
    ["Usual", "right"],
    ["Slow", "right"],
    ["Usual to slow", "wide-only"],
    ["Led on"],
    ["Visits", "right"],
    ["Continued", "right"],
    ["Waited for you", "right"],
    ["Over time"],
  ];
  return h(
    "section",
    { "aria-labelledby": "stages-title" },
    h("h2", { id: "stages-title" }, "Per stage"),
    table(
      "Stages and their figures",
      columns,
      stages.map((stage) => stageRow(stage, most, points.get(`${stage.workflow} ${stage.stage}`) ?? [])),
    ),
    h(
      "p",
      { class: "legend muted" },
      "Usual: half of the visits are faster (p50). Slow: one in twenty takes longer (p95). Continued: the agent was sent on instead of stopping. Over time: bars are runs, the line is the usual time.",
      stages.some(({ approximate }) => approximate) && " ≈: approximate, from sums of whole days.",
    ),
  );
}

function stageRow(stage: StageStat, most: number, points: Point[]): HTMLElement {
  const about = stage.approximate ? "≈ " : "";
  const byChecks = stage.gate_fails > 0 && h("span", { class: "muted under" }, `${stage.gate_fails} by a check`);
  const p95 = stage.p95_ms ?? stage.p50_ms;
  return h(
    "tr",
    { "data-item": "", tabindex: "-1", "data-key": `stage:${stage.workflow}:${stage.stage}` },
    h(
      "th",
      { scope: "row" },
      h("span", { class: "stage-name" }, stage.stage),
      h("span", { class: "muted" }, stage.open > 0 ? `${stage.workflow}${DOT}${stage.open} now` : stage.workflow),
    ),
    cell("Runs", String(stage.runs), "right num"),
    cell("Usual", `${about}${span(stage.p50_ms)}`, "right num"),
    cell("Slow", `${about}${span(stage.p95_ms)}`, "right num"),
    cell("Usual to slow", stage.p50_ms !== null && p95 !== null ? rangeBar(stage.p50_ms, p95, most) : "–", "wide-only"),
    cell(
      "Led on",
      [stage.success_rate !== null && shareBar(stage.success_rate), " ", percent(stage.success_rate)],
      "num nowrap",
    ),
    cell("Visits", String(stage.attempts), "right num"),
    cell("Continued", [h("span", {}, `${stage.continues}×`), byChecks], "right num"),
    cell("Waited for you", stage.waited_ms > 0 ? span(stage.waited_ms) : "–", "right num"),
    cell("Over time", points.length > 0 ? trendChart(stage.stage, points) : "–"),
  );
}
