import { statsCsv, statsText } from "../insight/core/stats-text.ts";
import { type Filter, type Insight, type LoopRow, openInsight } from "../insight/query.ts";
import type { LoopFigures, StatsView } from "../insight/types.ts";
import { counted } from "../kernel/text/counted.ts";
import { visible } from "../kernel/text/safe-text.ts";
import { UserError } from "../kernel/user-error.ts";
import { knownProjects } from "../store/projects.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { clockTime, openProgress, projectPath, screenColumns, sinceAsked } from "./shared/screen.ts";

export const usage = `usage: pawl stats [--since TIME] [--workflow NAME] [--project NAME | --all] [--json | --csv]

Show figures from the journals. Per stage: runs and tries, how many advanced, median (p50) and 95th percentile of the time,
how often the agent was sent on or you were asked, failed gates, time spent waiting for you. Also the bottleneck in one
sentence with its evidence, loops, and a comparison with the period before, of the same length. Figures that are not exact
are marked ≈. Says so when there is not enough data.

  --since TIME      start time (default 30d): 20:00, 2h, 3d, 1w, yesterday, monday, 2026-01-31, 2026-01-31T20:00
  --workflow NAME   only this workflow
  --project NAME    another project, by its folder or its name; default: this one
  --all             all projects that Pawl knows, together
  --json            print JSON: {at, since, before_since, project, workflow, runs, runs_before, stages, stages_before,
                    courses, bottleneck, loops, loops_before, problems}; times in milliseconds, rates from 0 to 1
  --csv             one line per stage (RFC 4180); no cell starts like a formula

Exit codes: 0 shown, 2 wrong usage.`;

const PARTS = 10;
/** A long history takes a while to be read the first time; only then the terminal shows how far it is. */
const SLOW_MS = 500;

export const options = ["--since=", "--workflow=", "--project=", "--all", "--json", "--csv"];
export const exclusive = [
  ["--json", "--csv"],
  ["--all", "--project"],
];
export const maxWords = 0;

export function run(parsed: Parsed, io: Io): number {
  const { flags, values } = parsed;
  const asked = values["--since"] ?? "30d";
  const { since, at } = sinceAsked(asked);
  const here = projectRoot(io);
  const insight = openInsight({ projects: [...new Set([here, ...knownProjects()])] });
  try {
    const problems = readJournals(insight, flags.has("--json") || flags.has("--csv"));
    const project = flags.has("--all") ? null : findProject(insight, values["--project"], here);
    const view = buildView(insight, { since, at, project, workflow: values["--workflow"] ?? null, problems });
    const text = () => statsText(view, { ...shownAs(insight, view, asked), columns: screenColumns(io) });
    return print(io, parsed, view, () => (flags.has("--csv") ? statsCsv(view) : text()));
  } finally {
    insight.close();
  }
}

function readJournals(insight: Insight, isQuiet: boolean): StatsView["problems"] {
  const progress = openProgress();
  const began = performance.now();
  const { problems } = insight.sync((share) => {
    if (isQuiet || performance.now() - began < SLOW_MS || share === 1) return;
    progress.show(`reading the journals: ${Math.floor(share * 100)} %`);
  });
  progress.clear();
  return problems;
}

function shownAs(insight: Insight, { project, since, at, runs }: StatsView, asked: string) {
  const count = insight.projects().filter(({ runs }) => runs > 0).length;
  const place = project === null ? counted(count, "project") : projectPath(project);
  const workflows = runs.runs > 0 ? [] : insight.workflows(project === null ? {} : { project });
  return { place, asked, since: clockTime(since, at), workflows };
}

/** By its folder, or by its name if only one project has it. */
function findProject(insight: Insight, asked: string | undefined, here: string): string {
  if (asked === undefined) return here;
  const all = insight.projects();
  const found = all.filter(({ root, name }) => root === asked.replace(/(.)\/+$/, "$1") || name === asked);
  if (found.length === 1) return found[0]!.root;
  const names = all.map(({ name }) => visible(name)).slice(0, 8);
  throw new UserError(`unknown project ${visible(asked)}`, `known projects: ${names.join(", ") || "none"}`);
}

type StatsRequest = Pick<StatsView, "since" | "at" | "project" | "workflow" | "problems">;

function buildView(insight: Insight, asked: StatsRequest): StatsView {
  const { since, at, project, workflow } = asked;
  const length = Date.parse(at) - Date.parse(since);
  const before_since = new Date(Date.parse(since) - length).toISOString();
  const about: Filter = { ...(project !== null && { project }), ...(workflow !== null && { workflow }) };
  const now: Filter = { ...about, since, until: at };
  // Both ends of a time belong to it: what happened at `since` is of now.
  const before: Filter = { ...about, since: before_since, until: new Date(Date.parse(since) - 1).toISOString() };
  return {
    ...{ at, since, before_since, project, workflow },
    runs: insight.counts(now),
    runs_before: insight.counts(before),
    stages: insight.stageStats(now),
    stages_before: insight.stageStats(before),
    courses: insight.trend(now, PARTS).map((one) => ({
      ...{ workflow: one.workflow, stage: one.stage },
      medians: one.points.map(({ p50_ms }) => p50_ms),
    })),
    bottleneck: insight.bottleneck(now),
    loops: loopFigures(insight.loops({ ...now, limit: MOST_LOOPS })),
    loops_before: loopFigures(insight.loops({ ...before, limit: MOST_LOOPS })),
    problems: asked.problems,
  };
}

const MOST_LOOPS = 500;

function loopFigures(rows: LoopRow[]): LoopFigures {
  const outcomes: Record<string, number> = {};
  for (const { outcome } of rows) outcomes[outcome ?? "open"] = (outcomes[outcome ?? "open"] ?? 0) + 1;
  const total = (of: (row: LoopRow) => number) => rows.reduce((sum, row) => sum + of(row), 0);
  return {
    loops: rows.length,
    capped: rows.length >= MOST_LOOPS,
    iterations: total((row) => row.iterations),
    failures: total((row) => row.failures),
    cost_usd: total((row) => row.cost_usd ?? 0),
    unknown: total((row) => (row.cost_usd === null || row.approximate ? 1 : 0)),
    outcomes,
  };
}
