/** Statistics as a screen and as CSV, and where most time is lost. Figures that are not exact are marked ≈. */
import { countColumns, fit, wrapped } from "../../kernel/text/columns.ts";
import { counted } from "../../kernel/text/counted.ts";
import { safeText } from "../../kernel/text/safe-text.ts";
import type { LoopFigures, RunFigures, StageStat, StatsView } from "../types.ts";

export interface ShownStats {
  /** the project's path, or how many there are */
  place: string;
  /** as it was asked for, and as a time */
  asked: string;
  since: string;
  columns: number;
  /** of which there are runs at all; only looked at where none is shown */
  workflows: string[];
}

/** Fewer stays in stages than this say nothing about a habit. */
export const ENOUGH_ATTEMPTS = 5;
const STAGE = 18;
const BAR = 24;

export function statsText(view: StatsView, shown: ShownStats): string {
  const about = view.workflow === null ? "" : ` of ${fit(view.workflow, 40)}`;
  const top = `Statistics${about} in ${shown.place}, since ${shown.asked} (${shown.since})`;
  const attempts = sum(view.stages, (one) => one.attempts);
  const blocks = [
    [fit(top, shown.columns)],
    runLines(view, shown.workflows),
    ...(attempts === 0 ? [] : tableBlocks(view, shown.columns)),
    ...(attempts === 0 ? [] : [timeLines(view.stages)]),
    bottleneckLines(view, attempts, shown.columns),
    trendLines(view, shown.columns),
    loopLines(view.loops, view.loops_before),
    noteLines(view),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.flatMap((line) => wrapped(line, shown.columns)).join("\n")}\n`)
    .join("\n");
}

const sum = <T>(all: T[], of: (one: T) => number) => all.reduce((total, one) => total + of(one), 0);
const stageKey = ({ workflow, stage }: { workflow: string; stage: string }) => `${workflow}\0${stage}`;

// ── Runs ────────────────────────────────────────────────────────────────────

function runLines({ runs, runs_before: before, stages, workflow }: StatsView, known: string[]): string[] {
  if (runs.runs === 0 && workflow !== null && !known.includes(workflow)) return [unknown(workflow, known)];
  if (runs.runs === 0) return ["No run in this time: there is nothing to count yet. `--since 90d` looks farther back."];
  const line = `${counted(runs.runs, "run")}: ${outcomes(runs)}${against(runs, before)}`;
  if (stages.some(({ attempts }) => attempts > 0)) return [line];
  return [line, "Too little to say more: no stage of them is over yet."];
}

function unknown(workflow: string, known: string[]): string {
  const names = known.slice(0, MOST_NAMES).map((one) => fit(one, 40) || "(no name)");
  const others =
    names.length === 0 ? "" : ` Known workflows: ${names.join(", ")}${known.length > MOST_NAMES ? ", …" : ""}.`;
  return `No runs of ${fit(workflow, 40) || "(no name)"} here.${others}`;
}

const MOST_NAMES = 8;

function outcomes({ completed, failed, aborted, other, live }: RunFigures): string {
  const parts: [number, string][] = [
    [completed, "completed"],
    [failed, "failed"],
    [aborted, "aborted"],
    [other, "ended otherwise"],
    [live, "open"],
  ];
  return parts.flatMap(([count, word]) => (count > 0 ? [`${count} ${word}`] : [])).join(", ");
}

function against({ runs }: RunFigures, before: RunFigures): string {
  if (before.runs === 0) return " (none in the time before)";
  return ` (${arrow(before.runs, runs)} ${before.runs} in the time before, ${before.completed} completed)`;
}

const arrow = (before: number, now: number) => (now > before ? "↑" : now < before ? "↓" : "=");

// ── Stages ──────────────────────────────────────────────────────────────────

const COURSE = "p50 over time";
const HEADINGS = ["runs", "tries", "success", "p50", "p95", "sent on", "asked", "gate ✗", "waited", COURSE];
const WIDTHS = [5, 6, 8, 9, 9, 8, 6, 7, 9, COURSE.length + 2];
/** What a narrow screen goes without, first the first. */
const LESSER = [COURSE, "asked", "sent on", "runs", "gate ✗"];

function tableBlocks({ stages, courses }: StatsView, columns: number): string[][] {
  const workflows = [...new Set(stages.map(({ workflow }) => workflow))];
  const without = leftOut(columns);
  const shown = (texts: string[]) =>
    texts
      .map(placed)
      .filter((_, at) => !without.includes(HEADINGS[at]!))
      .join("");
  const blocks = workflows.map((workflow) => {
    const own = stages.filter((one) => one.workflow === workflow);
    const title = fit(workflow, STAGE) || "(no name)";
    return [
      `${padded(title, STAGE)}${shown(HEADINGS)}`,
      ...own.map((one) => `  ${name(one.stage)}${shown([...figures(one), renderCourse(one, courses)])}`),
    ];
  });
  return without.length === 0 ? blocks : [...blocks, [`Not shown (screen too narrow): ${without.join(", ")}.`]];
}

function leftOut(columns: number): string[] {
  const width = (without: string[]) =>
    HEADINGS.reduce((sum, one, at) => sum + (without.includes(one) ? 0 : WIDTHS[at]!), STAGE);
  const least = LESSER.findIndex((_, count) => width(LESSER.slice(0, count)) <= columns);
  return LESSER.slice(0, least === -1 ? LESSER.length : least);
}

const name = (stage: string) => padded(fit(stage, STAGE - 3), STAGE - 2);
const placed = (text: string, at: number) => (HEADINGS[at] === COURSE ? `  ${text}` : text.padStart(WIDTHS[at]!));
/** Wide signs make a table crooked, never wrong. */
const padded = (text: string, width: number) => text + " ".repeat(Math.max(0, width - countColumns(text)));

function figures(one: StageStat): string[] {
  const about = one.approximate ? "≈" : "";
  const time = (ms: number | null) => (ms === null ? "–" : `${about}${span(ms)}`);
  return [
    `${one.runs || one.open}`,
    `${one.attempts}`,
    percent(one.success_rate),
    ...[time(one.p50_ms), time(one.p95_ms)],
    ...[one.continues, one.asks, one.gate_fails].map(String),
    one.waited_ms === 0 ? "–" : span(one.waited_ms),
  ];
}

const percent = (rate: number | null) => (rate === null ? "–" : `${Math.round(rate * 100)} %`);

const BLOCKS = "▁▂▃▄▅▆▇█";

function renderCourse(stage: StageStat, courses: StatsView["courses"]): string {
  const { medians = [] } = courses.find((one) => stageKey(one) === stageKey(stage)) ?? {};
  const most = Math.max(0, ...medians.map((ms) => ms ?? 0));
  const block = (ms: number) => BLOCKS[most === 0 ? 0 : Math.min(7, Math.floor((ms / most) * 7.999))]!;
  return medians.map((ms) => (ms === null ? "·" : block(ms))).join("");
}

function timeLines(stages: StageStat[]): string[] {
  const all = sum(stages, (one) => one.total_ms);
  if (all <= 0) return [];
  const longest = stages
    .filter(({ total_ms }) => total_ms > 0)
    .toSorted((a, b) => b.total_ms - a.total_ms)
    .slice(0, 6);
  const most = longest[0]!.total_ms;
  return [
    "Where the time goes",
    ...longest.map((one) => {
      // Of `BAR` columns; what is there at all is seen.
      const share = one.total_ms / most;
      const eighths = Math.max(share > 0 ? 1 : 0, Math.round(share * BAR * 8));
      const bar = `${"█".repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8]}`.padEnd(BAR);
      return `  ${name(one.stage)}${bar} ${percent(one.total_ms / all).padStart(5)}  ${span(one.total_ms)} (${fit(one.workflow, 24)})`;
    }),
  ];
}

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

function bottleneckLines({ bottleneck, runs }: StatsView, attempts: number, columns: number): string[] {
  if (bottleneck !== null) {
    const evidence = safeText(bottleneck.evidence).split("; ");
    return [`Bottleneck: ${safeText(bottleneck.sentence)}`, ...flowing("  ", evidence, "; ", Math.min(90, columns))];
  }
  if (runs.runs === 0 || attempts === 0 || attempts >= ENOUGH_ATTEMPTS) return [];
  return [`Not enough data for a bottleneck: ${attempts} of ${ENOUGH_ATTEMPTS} finished stages.`];
}

/** The parts, as many in a line as fit. */
function flowing(start: string, parts: string[], between: string, columns: number): string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const longer = `${lines.at(-1)}${between}${part}`;
    if (lines.length === 0) lines.push(`${start}${part}`);
    else if (countColumns(longer) > columns) lines.push(`${" ".repeat(countColumns(start))}${part}`);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

// ── Trend ───────────────────────────────────────────────────────────────────

/** Only what can be compared: a few tries on either side prove nothing. */
function trendLines({ stages, stages_before, runs }: StatsView, columns: number): string[] {
  if (runs.runs === 0) return [];
  const known = new Map(stages_before.filter(isEnough).map((one) => [stageKey(one), one]));
  const pairs = stages.filter(isEnough).flatMap((now) => {
    const before = known.get(stageKey(now));
    return before === undefined ? [] : [{ now, before }];
  });
  if (pairs.length === 0)
    return [`No trend: no stage has ${ENOUGH_ATTEMPTS} tries both in this time and in the time before it.`];
  const told = pairs.flatMap(({ now, before }) =>
    flowing(`  ${name(now.stage)}`, trendParts(now, before), "   ", columns),
  );
  return ["Compared with the period before, of the same length", ...told];
}

const isEnough = ({ attempts }: StageStat) => attempts >= ENOUGH_ATTEMPTS;

function trendParts(now: StageStat, before: StageStat): string[] {
  const about = now.approximate || before.approximate ? "≈" : "";
  const [old, fresh] = [before.p50_ms ?? 0, now.p50_ms ?? 0];
  const rates = [before.success_rate ?? 0, now.success_rate ?? 0] as const;
  return [
    `p50 ${about}${span(old)} → ${about}${span(fresh)} ${arrow(old, fresh)}`,
    `success ${percent(rates[0])} → ${percent(rates[1])} ${arrow(rates[0], rates[1])}`,
    `tries ${before.attempts} → ${now.attempts} ${arrow(before.attempts, now.attempts)}`,
  ];
}

// ── Loops ───────────────────────────────────────────────────────────────────

function loopLines(now: LoopFigures, before: LoopFigures): string[] {
  if (now.loops === 0) return [];
  const ends = Object.entries(now.outcomes).map(([outcome, count]) => `${count} ${fit(outcome, 20)}`);
  const compared =
    before.loops === 0 ? "" : ` (${arrow(before.iterations, now.iterations)} ${before.iterations} before)`;
  const failures = now.failures === 0 ? "" : `, ${now.failures} failed`;
  return [
    `Loops: ${now.capped ? "the newest " : ""}${now.loops}, ${ends.join(", ")}; ${counted(now.iterations, "iteration")}${failures}${compared}; ${formatCost(now)}`,
  ];
}

function formatCost({ cost_usd, unknown, loops }: LoopFigures): string {
  if (unknown === loops && cost_usd === 0) return "cost unknown";
  return `${unknown > 0 ? "at least " : ""}$${cost_usd.toFixed(2)}`;
}

function noteLines({ stages, problems }: StatsView): string[] {
  return [
    ...(stages.some(({ approximate }) => approximate) ? ["≈ not exact: from daily totals, or lines are missing."] : []),
    ...problems.slice(0, 3).map((problem) => `Not read: ${fit(problem, 80)}`),
  ];
}

export function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${(minutes / 60).toFixed(1)} h` : `${(hours / 24).toFixed(1)} d`;
}

// ── Bottleneck ──────────────────────────────────────────────────────────────

/** In one sentence with its figures. */
export function findBottleneck(stats: StageStat[]): { sentence: string; evidence: string } | null {
  const attempts = sum(stats, (one) => one.attempts);
  if (attempts < ENOUGH_ATTEMPTS) return null;
  const all = sum(stats, (one) => one.total_ms);
  const worst = stats.reduce((a, b) => (lostIn(b) > lostIn(a) ? b : a));
  if (lostIn(worst) <= 0 || all <= 0) return null;
  return { sentence: writeSentence(worst, all), evidence: describeEvidence(worst, all) };
}

/** What it usually takes, as often as it happened; one night of waiting counts as what it was. */
const lostIn = ({ p50_ms, attempts, waited_ms }: StageStat) => Math.max((p50_ms ?? 0) * attempts, waited_ms);

function writeSentence(stat: StageStat, all: number): string {
  const name = `${stat.stage} (${stat.workflow})`;
  const { waited_ms, total_ms, gate_fails, attempts, runs, p50_ms } = stat;
  if (waited_ms * 2 > total_ms)
    return `Most time is lost in ${name} waiting for you: ${duration(waited_ms)} of the ${duration(total_ms)} spent there.`;
  if (gate_fails * 2 >= attempts)
    return `Most time is lost in ${name}, where checks fail: ${counted(gate_fails, "failure")} in ${counted(attempts, "attempt")}.`;
  if (attempts >= runs * 1.5)
    return `Most time is lost in ${name}, which is done over and over: ${counted(attempts, "attempt")} in ${counted(runs, "run")}.`;
  const each = duration(p50_ms ?? total_ms / attempts);
  return `Most time is spent in ${name}: ${each} each time, ${share(total_ms, all)} of all time in stages.`;
}

/** Half a second of waiting is how long a hook takes. */
const SHORTEST_WAIT_MS = 1_000;

function describeEvidence(stat: StageStat, all: number): string {
  const { attempts, runs, p50_ms, p95_ms, total_ms, waited_ms, gate_fails, approximate } = stat;
  const about = approximate ? "about " : "";
  const parts = [
    `${counted(attempts, "attempt")} in ${counted(runs, "run")}`,
    p50_ms !== null && p95_ms !== null && `p50 ${about}${duration(p50_ms)}, p95 ${about}${duration(p95_ms)}`,
    `${duration(total_ms)} in all, ${share(total_ms, all)} of the time in stages`,
    waited_ms >= SHORTEST_WAIT_MS && `${duration(waited_ms)} waiting for you`,
    gate_fails > 0 && counted(gate_fails, "gate failure"),
  ];
  return parts.filter(Boolean).join("; ");
}

function share(part: number, all: number): string {
  const percent = Math.round((part / all) * 100);
  return percent === 0 ? "less than 1 %" : `${percent} %`;
}

function duration(ms: number): string {
  const minutes = Math.round(Math.round(ms / 1000) / 60);
  if (minutes < 60) return span(ms);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours >= 48) return withRest(Math.floor(hours / 24), "d", hours % 24, "h");
  return withRest(hours, "h", rest, "min");
}

const withRest = (count: number, unit: string, rest: number, smaller: string) =>
  rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${smaller}`;

// ── CSV ─────────────────────────────────────────────────────────────────────

const COLUMNS = [
  ...(["workflow", "stage", "runs", "attempts", "open", "success_rate", "p50_ms", "p95_ms", "total_ms"] as const),
  ...(["claims", "continues", "asks", "gate_fails", "waited_ms", "approximate"] as const),
];
const BEFORE = ["attempts", "success_rate", "p50_ms", "p95_ms"] as const;

/** RFC 4180, one line a stage. No cell is taken for a formula by whoever opens it as a spreadsheet. */
export function statsCsv({ stages, stages_before }: StatsView): string {
  const known = new Map(stages_before.map((one) => [stageKey(one), one]));
  const rows = stages.map((one) => {
    const before = known.get(stageKey(one));
    return [...COLUMNS.map((key) => one[key]), ...BEFORE.map((key) => before?.[key] ?? null)];
  });
  const head = [...COLUMNS, ...BEFORE.map((key) => `before_${key}`)];
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

function cell(value: string | number | boolean | null): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = safeText(value);
  const safe = /^[\s]*[=+\-@\t\r|%]/.test(text) ? `'${text}` : text;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
