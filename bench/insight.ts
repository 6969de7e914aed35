/** Insight: the first fold of a large journal against reading it, what is added later, and every question with 100,000 runs. */
import { closeSync, mkdirSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Insight, openInsight } from "../src/insight/query.ts";
import type { Counted } from "./contention.ts";
import { writeJournal } from "./journal-lines.ts";
import { median } from "./measure.ts";
import { ENV } from "./prepare.ts";

const ROUNDS = 5;
const MOST_FOLD = 1.5;
const MOST_REFRESH_MS = 20;
const MOST_QUERY_MS = 50;
const MANY_RUNS = 100_000;
const CHUNK = 4 * 1024 * 1024;
const FILE = "2026-01.jsonl";

function timed<T>(work: () => T): { ms: number; value: T } {
  const began = Bun.nanoseconds();
  const value = work();
  return { ms: (Bun.nanoseconds() - began) / 1e6, value };
}

// ── Reading, and folding ────────────────────────────────────────────────────

function readRaw(path: string): void {
  const fd = openSync(path, "r");
  const chunk = Buffer.allocUnsafe(CHUNK);
  while (readSync(fd, chunk, 0, CHUNK, null) > 0);
  closeSync(fd);
}

/** What any program does that reads its lines. */
function readParsed(path: string): number {
  const fd = openSync(path, "r");
  const chunk = Buffer.allocUnsafe(CHUNK);
  let held = 0;
  let seqs = 0;
  for (let got = readSync(fd, chunk, 0, CHUNK, null); got > 0; got = readSync(fd, chunk, held, CHUNK - held, null)) {
    const bytes = chunk.subarray(0, held + got);
    let from = 0;
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      if (end > from) seqs += (JSON.parse(bytes.toString("utf8", from, end)) as { seq: number }).seq;
      from = end + 1;
    }
    held = bytes.length - from;
    chunk.copyWithin(0, from, bytes.length);
  }
  closeSync(fd);
  return seqs;
}

interface Place {
  root: string;
  path: string;
  db: string;
}

function newPlace(folder: string, name: string): Place {
  const root = join(folder, name);
  mkdirSync(root, { recursive: true });
  return { root, path: join(root, ".pawl/journal", FILE), db: join(folder, `${name}.db`) };
}

function openAnew({ root, db }: Place): Insight {
  for (const end of ["", "-wal", "-shm"]) rmSync(`${db}${end}`, { force: true });
  return openInsight({ path: db, projects: [root] });
}

function measureFold(place: Place, lines: number, runs: number): Counted {
  const times = { raw: [] as number[], parsed: [] as number[], fold: [] as number[] };
  const problems: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    times.raw.push(timed(() => readRaw(place.path)).ms);
    times.parsed.push(timed(() => readParsed(place.path)).ms);
    const insight = openAnew(place);
    const { ms, value } = timed(() => insight.sync());
    times.fold.push(ms);
    const counted = insight.counts({});
    insight.close();
    if (value.events !== lines || value.skipped !== 0 || counted.completed !== runs)
      problems.push(`${value.events} of ${lines} lines, ${counted.completed} of ${runs} runs`);
  }
  const fold = median(times.fold);
  const against = (of: number[]) => fold / median(of);
  const mb = statSync(place.path).size / 1e6;
  const ofMin = Math.min(...times.fold) / Math.min(...times.parsed);
  const word = against(times.parsed) <= MOST_FOLD ? "ok" : "OVER";
  const result = [
    `${word} ${against(times.parsed).toFixed(2)} of ${MOST_FOLD} x parsing its lines (of min ${ofMin.toFixed(2)})`,
    `${against(times.raw).toFixed(1)} x reading its bytes`,
    `${fold.toFixed(0)} ms, ${(lines / fold / 1000).toFixed(2)} million lines a second, ${(mb / fold).toFixed(2)} GB/s`,
  ].join("; ");
  return { name: `insight, first fold of ${lines} lines (${mb.toFixed(0)} MB)`, result, problems };
}

/** What a person waits for: a new process, which has nothing at hand. */
function measureStats(binary: string, place: Place): Counted {
  const env = { ...ENV, HOME: join(place.root, "home") };
  const { ms, value } = timed(() =>
    Bun.spawnSync([binary, "stats", "--since", "2026-01-01", "--json"], { cwd: place.root, env }),
  );
  return {
    name: "insight, `pawl stats` for the first time",
    result: `${ms.toFixed(0)} ms`,
    problems: value.exitCode === 0 ? [] : [value.stderr.toString()],
  };
}

// ── A thousand more ─────────────────────────────────────────────────────────

function measureRefresh(place: Place, first: number): Counted {
  const insight = openInsight({ path: place.db, projects: [place.root] });
  const times: number[] = [];
  const problems: string[] = [];
  let next = first;
  for (let round = 0; round < ROUNDS * 3; round++) {
    const { lines, runs } = writeJournal(place.path, { lines: 1000, first: next });
    next += runs;
    const { ms, value } = timed(() => {
      const synced = insight.sync();
      insight.stageStats({});
      return synced;
    });
    times.push(ms);
    if (value.events !== lines) problems.push(`${value.events} lines read instead of ${lines}`);
  }
  insight.close();
  const ms = median(times);
  const result = `${ms <= MOST_REFRESH_MS ? "ok" : "OVER"} ${ms.toFixed(1)} of ${MOST_REFRESH_MS} ms, nothing read twice`;
  return { name: "insight, statistics after about 1,000 more lines", result, problems };
}

// ── Questions ───────────────────────────────────────────────────────────────

function questions(insight: Insight, root: string): Record<string, () => unknown> {
  const half = insight.runs({ until: "2026-05-01T00:00:00.000Z", limit: 1 });
  const { id } = half.rows[0]!;
  const month = { since: "2026-04-03T07:00:00.000Z", until: "2026-05-03T07:00:00.000Z" };
  return {
    projects: () => insight.projects(),
    "first page": () => insight.runs({}),
    "a page in the middle": () => insight.runs({ after: half.next! }),
    "a page of one workflow": () => insight.runs({ workflow: "auto-workflow", project: root }),
    "a page of nothing": () => insight.runs({ workflow: "no such", project: root }),
    "failed runs": () => insight.runs({ status: "failed" }),
    "one run": () => insight.run(root, id),
    counts: () => insight.counts({}),
    "counts of a month": () => insight.counts({ ...month, project: root, workflow: "complete-work" }),
    "all stages": () => insight.stageStats({}),
    "stages of a month": () => insight.stageStats(month),
    "stages of three days": () => insight.stageStats({ ...month, until: "2026-04-06T07:00:00.000Z" }),
    "trend of all time": () => insight.trend({}, 30),
    "trend of a month": () => insight.trend(month, 30),
    bottleneck: () => insight.bottleneck({}),
    loops: () => insight.loops({}),
  };
}

function measureQuestions(place: Place): Counted {
  const { runs } = writeJournal(place.path, { runs: MANY_RUNS, short: true });
  const insight = openAnew(place);
  insight.sync();
  const asked = Object.entries(questions(insight, place.root)).map(([name, ask]) => {
    ask();
    return { name, ms: median(Array.from({ length: ROUNDS * 2 }, () => timed(ask).ms)) };
  });
  const counted = insight.counts({}).runs;
  insight.close();
  asked.sort((a, b) => b.ms - a.ms);
  const word = asked[0]!.ms <= MOST_QUERY_MS ? "ok" : "OVER";
  const figures = asked.map(({ name, ms }) => `${name} ${ms.toFixed(1)}`).join(", ");
  const problems = counted === runs ? [] : [`${counted} of ${runs} runs`];
  return {
    name: `insight, questions with ${runs} runs`,
    result: `${word} each of ${MOST_QUERY_MS} ms: ${figures}`,
    problems,
  };
}

export function measureInsight(folder: string, lines: number, binary: string): Counted[] {
  const large = newPlace(folder, "insight-large");
  const written = writeJournal(large.path, { lines });
  const counted = [
    measureFold(large, written.lines, written.runs),
    measureStats(binary, large),
    measureRefresh(large, written.runs),
    measureQuestions(newPlace(folder, "insight-many")),
  ];
  for (const name of ["insight-large", "insight-many"])
    for (const end of ["", ".db", ".db-wal", ".db-shm"])
      rmSync(join(folder, name + end), { recursive: true, force: true });
  return counted;
}
