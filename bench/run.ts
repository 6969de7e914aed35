/** `bun bench/run.ts [--rounds N] [--quick] [--binary PATH] [--only GROUP] [--lines N]`: one interleaved run, one table. Exits 1 on wrong results only. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Counted, countLines, countMoves } from "./contention.ts";
import { measureHistory } from "./history.ts";
import { measureInsight } from "./insight.ts";
import { measureFlood, measureIteration, measureReading } from "./loop.ts";
import {
  measure,
  median,
  peakMemory,
  quantile,
  roundsToPrepare,
  type Sample,
  timesOf,
  wrongResults,
} from "./measure.ts";
import { armProject, buildEmpty, copiesOf, makeTemplate, PAWL, systemTool } from "./prepare.ts";
import { AGAIN, type Bound, EMPTY, GROUP_NAMES, type Measured, makeRows, PYTHON, type Setting } from "./rows.ts";
import { compareTrees } from "./tree.ts";

const MOST_MEMORY_MB = 40;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "60" },
    quick: { type: "boolean", default: false },
    binary: { type: "string", default: PAWL },
    only: { type: "string", default: "" },
    lines: { type: "string", default: "1000000" },
  },
});

let interrupted = false;

interface Line {
  row: Measured;
  times: number[];
  memory: number | null;
}

function settingIn(folder: string, rounds: number): Setting {
  const python = systemTool("python3");
  const jq = systemTool("jq");
  const bash = systemTool("bash");
  if (python === null) console.log("no python3 in /usr/bin: its row, its ratios and the memory column are left out");
  if (jq === null || bash === null) console.log("no jq or bash in /usr/bin: the shell row is left out");
  return {
    folder,
    template: makeTemplate(folder),
    rounds: roundsToPrepare(rounds),
    empty: copiesOf(buildEmpty(folder), folder, "empty"),
    pawl: copiesOf(resolve(values.binary), folder, "pawl"),
    python,
    bash: jq === null ? null : bash,
    gigabyte: !values.quick,
  };
}

// ── Table ───────────────────────────────────────────────────────────────────

function ratio(lines: Line[], line: Line, against: string, of: (times: number[]) => number): number | null {
  const other = lines.find(({ row }) => row.name === against);
  return other ? of(line.times) / of(other.times) : null;
}

const shown = (value: number | null, digits: number) => (value === null ? "-" : value.toFixed(digits));
const least = (times: number[]) => quantile(times, 0);

function verdict(lines: Line[], line: Line, { against, most }: Bound): string {
  const got = ratio(lines, line, against, median);
  if (got === null) return `${most} x ${against}: not measured`;
  return `${got <= most ? "ok  " : "OVER"} ${got.toFixed(2)} of ${most} x ${against}`;
}

const HEAD = ["row", "median ms", "min", "p95", "x empty", "(of min)", "x python3", "MB", "budget"];

function cells(lines: Line[], line: Line): string[] {
  const { row, times, memory } = line;
  return [
    row.name,
    shown(median(times), 2),
    shown(least(times), 2),
    shown(quantile(times, 0.95), 2),
    shown(ratio(lines, line, EMPTY, median), 2),
    shown(ratio(lines, line, EMPTY, least), 2),
    shown(ratio(lines, line, PYTHON, median), 2),
    shown(memory, 0),
    row.bounds.map((bound) => verdict(lines, line, bound)).join("; "),
  ];
}

function printTable(table: string[][]): void {
  const widths = HEAD.map((_, column) => Math.max(...table.map((row) => row[column]!.length)));
  const last = HEAD.length - 1;
  const pad = (cell: string, column: number) => {
    if (column === last) return cell;
    return column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!);
  };
  for (const row of table) console.log(row.map(pad).join("  ").trimEnd());
}

function printMemory(lines: Line[]): void {
  const peaks = lines.flatMap(({ row, memory }) => (row.hook && memory !== null ? [{ name: row.name, memory }] : []));
  const ordinary = peaks.filter(({ name }) => !name.includes("8 MB"));
  if (ordinary.length === 0) return;
  const most = Math.max(...ordinary.map(({ memory }) => memory));
  console.log(
    `${most <= MOST_MEMORY_MB ? "ok  " : "OVER"} memory of a hook: ${most.toFixed(0)} of ${MOST_MEMORY_MB} MB`,
  );
}

function printNoise(lines: Line[]): void {
  const again = lines.find(({ row }) => row.name === AGAIN)!;
  const off = Math.abs(ratio(lines, again, EMPTY, median)! - 1) * 100;
  const useless = off > 5 ? " (too much: the machine is busy, run it again)" : "";
  console.log(`noise: the empty binary differs from itself by ${off.toFixed(1)} %${useless}`);
}

// ── All of it ───────────────────────────────────────────────────────────────

async function main(folder: string): Promise<string[]> {
  const rounds = values.quick ? 15 : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`no number of rounds: ${values.rounds}`);
  const groups = [...GROUP_NAMES, "insight"];
  if (values.only !== "" && !groups.includes(values.only))
    throw new Error(`no group ${values.only}: there are ${groups.join(", ")}`);
  if (values.only === "insight") return insightAlone(folder);
  const setting = settingIn(folder, rounds);
  const rows = makeRows(setting, values.only);
  const samples = await measure(rows, rounds, () => interrupted);
  const of = (row: Measured): Sample[] => samples.get(row.name)!;
  const wrong = rows.flatMap((row) => wrongResults(row, of(row)));
  const lines = rows.map((row) => ({
    row,
    times: timesOf(row, of(row)),
    memory: peakMemory(row, rounds, setting.python),
  }));
  printTable([HEAD, ...lines.map((line) => cells(lines, line))]);
  console.log(`\n${rounds} rounds, in each all rows in random order`);
  printNoise(lines);
  printMemory(lines);
  return values.only === "" ? [...wrong, ...(await theRest(setting, rounds))] : wrong;
}

/** What has no row: counts, rates, and what is compared in this process. */
async function theRest({ folder, template, pawl, python }: Setting, rounds: number): Promise<string[]> {
  const wrong: string[] = [];
  const contended = armProject(pawl(0), template, folder, "contended");
  for (const counted of [await countMoves(contended), await countLines(contended)])
    wrong.push(...printCounted(counted));
  wrong.push(...printCounted(await measureHistory(pawl(0), folder, values.quick, python)));
  for (const counted of compareTrees(folder, Math.min(rounds, 25))) wrong.push(...printCounted(counted));
  for (const counted of [...measureReading(), measureFlood(values.quick), await measureIteration(rounds)])
    wrong.push(...printCounted(counted));
  wrong.push(...insightAlone(folder));
  return wrong;
}

function insightAlone(folder: string): string[] {
  return measureInsight(folder, values.quick ? 200_000 : Number(values.lines), values.binary).flatMap(printCounted);
}

function printCounted({ name, result, problems }: Counted): string[] {
  console.log(`${problems.length === 0 ? "ok  " : "WRONG"} ${name}: ${result}`);
  return problems.map((problem) => `${name}: ${problem}`);
}

if (!existsSync(values.binary)) throw new Error(`${values.binary} is not there: npm run build`);
// Ctrl-C ends it after the round, so that the folder with its gigabyte is removed.
process.on("SIGINT", () => {
  interrupted = true;
});
const folder = mkdtempSync(join(tmpdir(), "pawl-bench-"));
try {
  const wrong = await main(folder);
  for (const problem of wrong.slice(0, 20)) console.error(`WRONG ${problem}`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
