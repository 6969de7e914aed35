/** Stages: how long they take, how often they succeed, and which one holds the work up. */
import type { StageStat, TrendPoint } from "../../insight/types.ts";
import type { Answer } from "../api.ts";
import { ask, type Project, withProjects } from "./api.ts";
import { DOT, money, percent, sentence, span } from "./format.ts";
import { type Column, Empty, Filter, Heading, ProjectFilter, Table } from "./parts.tsx";
import { link, type Query, type View } from "./route.ts";

type Stats = Answer<"stats">;

type Data = { stats: Stats; projects: Project[]; workflows: string[] };

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
      <fieldset class="filters" aria-label="Which runs">
        <Filter page="stages" query={query} name="since" label="Time" options={SPANS} usual={USUAL} />
        <Filter
          page="stages"
          query={query}
          name="workflow"
          label="Workflow"
          options={[["", "All workflows"], ...workflows.map((name) => [name, name] as const)]}
        />
        <ProjectFilter page="stages" query={query} projects={projects} />
      </fieldset>
      {stats.stages.length === 0 ? <Nothing query={query} /> : <Figures stats={stats} />}
    </>
  ),
};

async function load({ since = USUAL, workflow, project }: Query): Promise<Data> {
  const query = { since: sinceTime(since), project };
  const { projects, ...stats } = await withProjects(ask("stats", { ...query, workflow }));
  const all = workflow ? await ask("stats", query) : stats;
  return { stats, projects, workflows: [...new Set(all.stages.map((stage) => stage.workflow))] };
}

/** To the hour, so that the same question has the same answer while the page is open. */
function sinceTime(chosen: string): string | null {
  const days = DAYS[chosen];
  if (!days) return null;
  return new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - days * 86_400_000).toISOString();
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

const Figures = ({ stats }: { stats: Stats }) => (
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

function Tiles({ counts }: { counts: Stats["counts"] }) {
  const { runs, completed, failed, aborted, other, live, cost_usd } = counts;
  const tiles: [string, string | number | null][] = [
    ["Runs", runs],
    ["Completed", completed],
    ["Failed", failed],
    ["Aborted", aborted],
    ["Ended otherwise", other || null],
    ["In progress", live],
    ["Cost", cost_usd === null ? null : money(cost_usd)],
  ];
  return (
    <dl class="tiles">
      {tiles
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <div key={name} class="card">
            <dt>{name}</dt>
            <dd class="num">{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** A stage with what its charts need. */
type Row = StageStat & { most: number; points: TrendPoint[] };

const stageKey = ({ workflow, stage }: { workflow: string; stage: string }) => `${workflow} ${stage}`;

function StageTable({ stats: { stages, trend } }: { stats: Stats }) {
  const most = Math.max(...stages.map(({ p95_ms, p50_ms }) => p95_ms ?? p50_ms ?? 0));
  const points = new Map(trend.map((one) => [stageKey(one), one.points]));
  const rows = stages.map((stage) => ({ ...stage, most, points: points.get(stageKey(stage)) ?? [] }));
  return (
    <section aria-labelledby="stages-title">
      <h2 id="stages-title">Per stage</h2>
      <Table caption="Stages and their figures" columns={COLUMNS} rows={rows} keyOf={stageKey} />
      <p class="legend muted">
        Usual: half of the visits are faster (p50). Slow: one in twenty takes longer (p95). Continued: the agent was
        sent on instead of stopping. Over time: bars are runs, the line is the usual time.
        {stages.some(({ approximate }) => approximate) && " ≈: approximate, from sums of whole days."}
      </p>
    </section>
  );
}

const about = ({ approximate }: Row, ms: number | null) => `${approximate ? "≈ " : ""}${span(ms)}`;

const COLUMNS: Column<Row>[] = [
  ["Stage", "", (row) => <StageName row={row} />],
  ["Runs", "right num", ({ runs }) => runs],
  ["Usual", "right num", (row) => about(row, row.p50_ms)],
  ["Slow", "right num", (row) => about(row, row.p95_ms)],
  ["Usual to slow", "wide-only", (row) => <Range row={row} />],
  ["Advanced", "num nowrap", ({ success_rate }) => <Share rate={success_rate} />],
  ["Visits", "right num", ({ attempts }) => attempts],
  ["Continued", "right num", (row) => <Continued row={row} />],
  ["Waited for you", "right num", ({ waited_ms }) => (waited_ms > 0 ? span(waited_ms) : "–")],
  ["Over time", "", ({ stage, points }) => (points.length > 0 ? <TrendChart stage={stage} points={points} /> : "–")],
];

const StageName = ({ row: { stage, workflow, open } }: { row: Row }) => (
  <>
    <span class="stage-name" data-item="" tabIndex={-1}>
      {stage}
    </span>
    <span class="muted">{open > 0 ? `${workflow}${DOT}${open} now` : workflow}</span>
  </>
);

const Continued = ({ row: { continues, gate_fails } }: { row: Row }) => (
  <>
    <span>{continues}×</span>
    {gate_fails > 0 && <span class="muted under">{gate_fails} by a check</span>}
  </>
);

// ── Small pictures of figures, each of which says in words what it shows ─────

const WIDTH = 120;
const HEIGHT = 28;

/** From the middle run to the slow one, on the scale of the slowest stage. */
function Range({ row: { p50_ms: p50, p95_ms, most } }: { row: Row }) {
  if (p50 === null) return <>–</>;
  const p95 = p95_ms ?? p50;
  const at = (ms: number) => 3 + (most > 0 ? (ms / most) * (WIDTH - 6) : 0);
  return (
    <svg viewBox={`0 0 ${WIDTH} 12`} class="chart range" role="img" aria-label={`p50 ${span(p50)}, p95 ${span(p95)}`}>
      <rect x={0} y={5} width={WIDTH} height={2} rx={1} class="rail" />
      <rect x={at(p50)} y={4} width={Math.max(1, at(p95) - at(p50))} height={4} rx={2} class="spread" />
      <circle cx={at(p50)} cy={6} r={3} class="middle" />
      <rect x={at(p95) - 1} y={2} width={2} height={8} rx={1} class="end" />
    </svg>
  );
}

const Share = ({ rate }: { rate: number | null }) => (
  <>
    {rate !== null && (
      <svg viewBox="0 0 60 8" class="chart share" aria-hidden="true">
        <rect x={0} y={1} width={60} height={6} rx={3} class="rail" />
        <rect x={0} y={1} width={Math.max(rate > 0 ? 4 : 0, 60 * rate)} height={6} rx={3} class="filled" />
      </svg>
    )}{" "}
    {percent(rate)}
  </>
);

/** Runs as bars, their usual time as a line over them. */
function TrendChart({ stage, points }: { stage: string; points: TrendPoint[] }) {
  const last = points.findLast(({ p50_ms }) => p50_ms !== null);
  const words = last
    ? `${stage} over time: last ${span(last.p50_ms)}, ${percent(last.success_rate)} advanced`
    : `${stage}: no data`;
  const step = WIDTH / Math.max(1, points.length);
  const most = Math.max(1, ...points.map(({ runs }) => runs));
  const slowest = Math.max(1, ...points.map(({ p50_ms }) => p50_ms ?? 0));
  const places = points.flatMap(({ p50_ms }, i) =>
    p50_ms === null ? [] : [[i * step + step / 2, 3 + (1 - p50_ms / slowest) * (HEIGHT - 8)] as const],
  );
  const [x, y] = places.at(-1) ?? [];
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} class="chart trend" role="img" aria-label={words}>
      {points.map(({ runs, at }, i) => {
        const height = (runs / most) * (HEIGHT - 4);
        const box = { x: i * step + 1, y: HEIGHT - height, width: Math.max(1, step - 2), height };
        return (
          <rect key={at} {...box} rx={1} class="bar">
            <title>{`${at.slice(0, 10)}: ${runs} runs`}</title>
          </rect>
        );
      })}
      <polyline points={places.map((place) => place.map((part) => part.toFixed(1)).join()).join(" ")} class="line" />
      {last && <circle cx={x} cy={y} r={2.2} class="last" />}
    </svg>
  );
}
