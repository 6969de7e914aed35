/// <reference lib="dom" />
/** Stages: how long they take, how often they succeed, and which one holds the work up. */
import type { StageStat } from "../../insight/types.ts";
import type { NowData, StatsData } from "../api.ts";
import { ask, type Project } from "./api.ts";
import { RangeBar, ShareBar, TrendChart } from "./charts.tsx";
import { DOT, money, percent, sentence, span } from "./format.ts";
import { Cell, Empty, Heading, ProjectFilter, Select, Table, type View } from "./parts.tsx";
import { link, type Query, refine } from "./route.ts";

interface Data {
  stats: StatsData;
  projects: Project[];
  workflows: string[];
}

type Points = StatsData["trend"][number]["points"];

const SPANS = [
  ["1d", "24 hours"],
  ["7d", "7 days"],
  ["30d", "30 days"],
  ["all", "All time"],
] as const;
const DAYS: Record<string, number> = { "1d": 1, "7d": 7, "30d": 30 };
const USUAL = "7d";

export const viewStages: View<Data> = {
  title: () => "Stages",
  load,
  Page: ({ data: { stats, projects, workflows }, query }) => (
    <>
      <Heading
        title="Stages"
        lead="How long each stage takes, how often it advances, and where checks send work back."
      />
      <Filters query={query} projects={projects} workflows={workflows} />
      {stats.stages.length === 0 ? <Nothing query={query} /> : <Figures stats={stats} />}
    </>
  ),
};

async function load({ since = USUAL, workflow, project }: Query): Promise<Data> {
  const query = { since: sinceTime(since), project };
  const [stats, now] = await Promise.all([ask<StatsData>("stats", { ...query, workflow }), ask<NowData>("now")]);
  const all = workflow ? await ask<StatsData>("stats", query) : stats;
  return { stats, projects: now.projects, workflows: [...new Set(all.stages.map((stage) => stage.workflow))] };
}

/** To the hour, so that the same question has the same answer while the page is open. */
function sinceTime(chosen: string): string | null {
  const days = DAYS[chosen];
  if (!days) return null;
  return new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - days * 86_400_000).toISOString();
}

function Filters({ query, projects, workflows }: { query: Query; projects: Project[]; workflows: string[] }) {
  const change = (name: string) => (value: string) => refine("stages", { ...query, [name]: value });
  return (
    <fieldset class="filters" aria-label="Which runs">
      <Select label="Time" options={[...SPANS]} value={query.since ?? USUAL} onPick={change("since")} />
      <Select
        label="Workflow"
        options={[["", "All workflows"], ...workflows.map((name) => [name, name] as const)]}
        value={query.workflow ?? ""}
        onPick={change("workflow")}
      />
      <ProjectFilter page="stages" query={query} projects={projects} />
    </fieldset>
  );
}

const Nothing = ({ query }: { query: Query }) =>
  query.since === "all" ? (
    <Empty title="No stage finished yet." text="Figures appear with the first run." />
  ) : (
    <Empty title="No stage finished in this time." text="There may be some earlier.">
      <p>
        <a href={link("stages", { ...query, since: "all" })} class="button">
          All time
        </a>
      </p>
    </Empty>
  );

const Figures = ({ stats }: { stats: StatsData }) => (
  <>
    {stats.bottleneck && (
      <section class="card bottleneck" aria-labelledby="bottleneck-title">
        <h2 id="bottleneck-title">Bottleneck</h2>
        <p class="sentence">{sentence(stats.bottleneck.sentence)}</p>
        <p class="muted">{stats.bottleneck.evidence}</p>
      </section>
    )}
    <Tiles counts={stats.counts} />
    <StageTable stats={stats} />
  </>
);

function Tiles({
  counts: { runs, completed, failed, aborted, other, live, cost_usd },
}: {
  counts: StatsData["counts"];
}) {
  const tiles: [string, string][] = [
    ["Runs", String(runs)],
    ["Completed", String(completed)],
    ["Failed", String(failed)],
    ["Aborted", String(aborted)],
    ["In progress", String(live)],
  ];
  if (other) tiles.splice(4, 0, ["Ended otherwise", String(other)]);
  if (cost_usd !== null) tiles.push(["Cost", money(cost_usd)]);
  return (
    <dl class="tiles">
      {tiles.map(([name, value]) => (
        <div key={name} class="card">
          <dt>{name}</dt>
          <dd class="num">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const COLUMNS: [string, string?][] = [
  ["Stage"],
  ["Runs", "right"],
  ["Usual", "right"],
  ["Slow", "right"],
  ["Usual to slow", "wide-only"],
  ["Advanced"],
  ["Visits", "right"],
  ["Continued", "right"],
  ["Waited for you", "right"],
  ["Over time"],
];

function StageTable({ stats: { stages, trend } }: { stats: StatsData }) {
  const most = Math.max(...stages.map(({ p95_ms, p50_ms }) => p95_ms ?? p50_ms ?? 0));
  const points = new Map(trend.map((one) => [`${one.workflow} ${one.stage}`, one.points]));
  return (
    <section aria-labelledby="stages-title">
      <h2 id="stages-title">Per stage</h2>
      <Table caption="Stages and their figures" columns={COLUMNS}>
        {stages.map((stage) => {
          const key = `${stage.workflow} ${stage.stage}`;
          return <StageRow key={key} stage={stage} most={most} points={points.get(key) ?? []} />;
        })}
      </Table>
      <p class="legend muted">
        Usual: half of the visits are faster (p50). Slow: one in twenty takes longer (p95). Continued: the agent was
        sent on instead of stopping. Over time: bars are runs, the line is the usual time.
        {stages.some(({ approximate }) => approximate) && " ≈: approximate, from sums of whole days."}
      </p>
    </section>
  );
}

function StageRow({ stage, most, points }: { stage: StageStat; most: number; points: Points }) {
  const about = stage.approximate ? "≈ " : "";
  const p95 = stage.p95_ms ?? stage.p50_ms;
  return (
    <tr data-item="" tabIndex={-1}>
      <th scope="row">
        <span class="stage-name">{stage.stage}</span>
        <span class="muted">{stage.open > 0 ? `${stage.workflow}${DOT}${stage.open} now` : stage.workflow}</span>
      </th>
      <Cell label="Runs" kind="right num">
        {stage.runs}
      </Cell>
      <Cell label="Usual" kind="right num">{`${about}${span(stage.p50_ms)}`}</Cell>
      <Cell label="Slow" kind="right num">{`${about}${span(stage.p95_ms)}`}</Cell>
      <Cell label="Usual to slow" kind="wide-only">
        {stage.p50_ms !== null && p95 !== null ? <RangeBar p50={stage.p50_ms} p95={p95} most={most} /> : "–"}
      </Cell>
      <Cell label="Advanced" kind="num nowrap">
        {stage.success_rate !== null && <ShareBar share={stage.success_rate} />} {percent(stage.success_rate)}
      </Cell>
      <Cell label="Visits" kind="right num">
        {stage.attempts}
      </Cell>
      <Cell label="Continued" kind="right num">
        <span>{stage.continues}×</span>
        {stage.gate_fails > 0 && <span class="muted under">{stage.gate_fails} by a check</span>}
      </Cell>
      <Cell label="Waited for you" kind="right num">
        {stage.waited_ms > 0 ? span(stage.waited_ms) : "–"}
      </Cell>
      <Cell label="Over time">{points.length > 0 ? <TrendChart stage={stage.stage} points={points} /> : "–"}</Cell>
    </tr>
  );
}
