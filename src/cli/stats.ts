import { statsCsv, statsText } from "../insight/core/stats-text.ts";
import type { LoopFigures, StatsView } from "../insight/core/stats-view.ts";
import { type Filter, type Insight, type LoopRow, openInsight } from "../insight/query.ts";
import { UserError } from "../kernel/user-error.ts";
import { knownProjects } from "../store/projects.ts";
import { type Io, parseArgs, rootOf } from "./shared/args.ts";
import { tellReading } from "./shared/reading.ts";
import { screenColumns } from "./shared/screen.ts";
import { clockTime, projectPath, sinceAsked } from "./shared/since.ts";
import { visible, visibleJson } from "./shared/visible.ts";

export const summary = "show how long each stage takes, how often it runs, what fails and where time goes";
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

export function run(args: string[], io: Io): number {
  const known = ["--since=", "--workflow=", "--project=", "--all", "--json", "--csv"];
  const { flags, values, words } = parseArgs(args, known);
  if (words.length > 0) throw new UserError(`unknown argument ${words[0]}`, "`pawl stats --help` shows how");
  if (flags.has("--json") && flags.has("--csv")) throw new UserError("--json and --csv together", "take one of them");
  if (flags.has("--all") && values["--project"] !== undefined)
    throw new UserError("--all and --project together", "take one of them");
  const asked = values["--since"] ?? "30d";
  const { since, at } = sinceAsked(asked);
  const here = rootOf(io);
  const insight = openInsight({ projects: [...new Set([here, ...knownProjects()])] });
  try {
    const reading = tellReading(io, flags.has("--json") || flags.has("--csv"));
    const { problems } = insight.sync(reading.told);
    reading.clear();
    const project = flags.has("--all") ? null : projectOf(insight, values["--project"], here);
    const view = viewOf(insight, { since, at, project, workflow: values["--workflow"] ?? null, problems });
    if (flags.has("--json")) io.out(`${visibleJson(view)}\n`);
    else if (flags.has("--csv")) io.out(statsCsv(view));
    else io.out(statsText(view, { ...shownAs(insight, view, asked), columns: screenColumns(io) }));
  } finally {
    insight.close();
  }
  return 0;
}

function shownAs(insight: Insight, { project, since, at, runs }: StatsView, asked: string) {
  const count = insight.projects().filter(({ runs }) => runs > 0).length;
  const place = project === null ? `${count} ${count === 1 ? "project" : "projects"}` : projectPath(project);
  const workflows = runs.runs > 0 ? [] : insight.workflows(project === null ? {} : { project });
  return { place, asked, since: clockTime(since, at), workflows };
}

/** By its folder, or by its name if only one project has it. */
function projectOf(insight: Insight, asked: string | undefined, here: string): string {
  if (asked === undefined) return here;
  const all = insight.projects();
  const found = all.filter(({ root, name }) => root === asked.replace(/(.)\/+$/, "$1") || name === asked);
  if (found.length === 1) return found[0]!.root;
  const names = all.map(({ name }) => visible(name)).slice(0, 8);
  throw new UserError(`unknown project ${visible(asked)}`, `known projects: ${names.join(", ") || "none"}`);
}

type Asked = Pick<StatsView, "since" | "at" | "project" | "workflow" | "problems">;

function viewOf(insight: Insight, asked: Asked): StatsView {
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
    courses: insight.trend(now, PARTS).map(({ points, ...one }) => ({
      ...{ workflow: one.workflow, stage: one.stage },
      medians: points.map(({ p50_ms }) => p50_ms),
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
