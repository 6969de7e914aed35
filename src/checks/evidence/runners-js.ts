/** The summaries of the JavaScript test runners, as they print them. */

import { add, countsIn, match } from "./test-output.ts";

export interface Summary {
  runner: string;
  passed: number;
  failed: number;
  skipped: number;
  /** places of its first and last line */
  first: number;
  last: number;
  /** why it proves nothing unless the exit status is known to be 0 */
  open?: string;
  /** several of these with different keys are parts of one run */
  part?: string;
}

/** All complete summaries in a stream, in order. */
export type Reader = (lines: string[]) => Summary[];

const COVERAGE_TABLE = /^-+\|-+\|/;
const CUT_SHORT = "its summary is not complete";
/** Of runners that sum up each part and never the whole: one that hangs, or was never begun, leaves no trace. */
export const NO_TOTAL = "it prints no total, and the exit status is not known";

/** Asks each line whether a summary begins there. */
export function eachLine(read: (lines: string[], at: number) => Summary | null): Reader {
  return (lines) => lines.flatMap((_, at) => read(lines, at) ?? []);
}

function withOpen(summary: Summary, open: string | null): Summary {
  return open === null ? summary : { ...summary, open };
}

// ── vitest ──────────────────────────────────────────────────────────────────

/** "1 failed | 2 passed (3)", "no tests" */
function vitestCounts(text: string): Record<string, number> | null {
  if (text.trim() === "no tests") return {};
  const found = /^(.*\S) +\(\d+\)$/.exec(text);
  return found ? countsIn(found[1]!, " | ") : null;
}

export const vitest = eachLine((lines, at) => {
  const files = match(lines[at], /^ *Test Files {2}(\S.*)$/);
  const tests = files && match(lines[at + 1], /^ *Tests {2}(\S.*)$/);
  const suites = files && vitestCounts(files[1]!);
  const counts = tests && vitestCounts(tests[1]!);
  if (!suites || !counts) return null;
  let last = at + 1;
  let errors = 0;
  while (match(lines[last + 1], /^ *(?:Errors|Type Errors|Start at|Duration) {2}/)) {
    last++;
    errors += Number(match(lines[last], /^ *(?:Type )?Errors {2}(\d+)/)?.[1] ?? 0);
  }
  // A file that could not be loaded has no tests to count.
  const failed = add(counts, "failed") || add(suites, "failed") || errors;
  const skipped = add(counts, "skipped", "todo");
  const summary = { runner: "vitest", passed: add(counts, "passed"), failed, skipped, first: at, last };
  return withOpen(summary, match(lines[last], /^ *Duration {2}/) ? null : CUT_SHORT);
});

// ── jest ────────────────────────────────────────────────────────────────────

/** "1 failed, 2 passed, 3 total", "1 failed, 1 of 2 total" */
function jestCounts(text: string): { counts: Record<string, number>; all: boolean } | null {
  const found = /^(?:(.*), )?(?:(\d+) of )?(\d+) total$/.exec(text);
  const counts = found && (found[1] === undefined ? {} : countsIn(found[1], ", "));
  return counts ? { counts, all: found![2] === undefined || found![2] === found![3] } : null;
}

export const jest = eachLine((lines, at) => {
  const suiteLine = match(lines[at], /^Test Suites: +(\d.*)$/);
  const testLine = suiteLine && match(lines[at + 1], /^Tests: +(\d.*)$/);
  const suites = suiteLine && jestCounts(suiteLine[1]!);
  const tests = testLine && jestCounts(testLine[1]!);
  if (!suites || !tests) return null;
  const snapshots = match(lines[at + 2], /^Snapshots: +\d/);
  const whole = snapshots && match(lines[at + 3], /^Time: +[\d.]+ ?m?s/);
  const failed = add(tests.counts, "failed") || add(suites.counts, "failed");
  const skipped = add(tests.counts, "skipped", "pending", "todo");
  const last = whole ? at + 3 : at + 1;
  const summary = { runner: "jest", passed: add(tests.counts, "passed"), failed, skipped, first: at, last };
  if (!suites.all) return withOpen(summary, "not every suite was run");
  if (!whole) return withOpen(summary, CUT_SHORT);
  return withOpen(summary, snapshots?.input.includes("obsolete") ? "obsolete snapshots may fail the run" : null);
});

// ── bun ─────────────────────────────────────────────────────────────────────

const BUN_LINE = /^ *(\d+) (pass|skip|todo|filtered out|fail|errors?)$/;

export const bun: Reader = (lines) => {
  const table = lines.findIndex((line) => match(line, COVERAGE_TABLE));
  return eachLine((all, at) => bunBlock(all, at, table >= 0 && table < at))(lines);
};

function bunBlock(lines: string[], at: number, isCovered: boolean): Summary | null {
  if (!match(lines[at], /^ *\d+ pass$/)) return null;
  const counts: Record<string, number> = {};
  let last = at;
  for (let found = match(lines[last], BUN_LINE); found; found = match(lines[++last], BUN_LINE))
    counts[found[2]!] = Number(found[1]);
  while (match(lines[last], /^snapshots: |^ *\d+ expect\(\) calls$|^ *\d+ snapshots?\b/)) last++;
  const ran = match(lines[last], /^Ran (\d+) tests? across \d+ files?\./);
  if (!ran || counts.fail === undefined) return null;
  const passed = add(counts, "pass");
  const failed = counts.fail || add(counts, "error", "errors");
  const skipped = add(counts, "skip", "todo", "filtered out");
  if (failed === 0 && Number(ran[1]) < passed) return null;
  const open = isCovered ? "a coverage threshold is enforced without a word" : null;
  return withOpen({ runner: "bun", passed, failed, skipped, first: at, last }, open);
}

// ── node --test ─────────────────────────────────────────────────────────────

const NODE_KEYS = ["tests", "suites", "pass", "fail", "cancelled", "skipped", "todo", "duration_ms"];

export const node = eachLine((lines, at) => {
  const mark = match(lines[at], /^([ℹ#]) tests \d+$/)?.[1];
  if (mark === undefined) return null;
  const counts: Record<string, number> = {};
  let last = at - 1;
  for (const key of NODE_KEYS) {
    const found = match(lines[last + 1], /^([ℹ#]) (\w+) ([\d.]+)$/);
    if (found?.[1] === mark && found[2] === key) counts[found[2]] = Number(found[3]);
    else if (key !== "suites") return null;
    else continue;
    last++;
  }
  const passed = counts.pass!;
  const failed = add(counts, "fail", "cancelled");
  const skipped = add(counts, "skipped", "todo");
  if (failed === 0 && passed + skipped !== counts.tests) return null;
  return { runner: "node", passed, failed, skipped, first: at, last };
});

// ── mocha ───────────────────────────────────────────────────────────────────

export const mocha: Reader = (lines) => {
  const body = lines.findIndex((line) => match(line, /^ +[✔✓√] \S|^ {2}[.,!]+$/));
  const failure = lines.findIndex((line) => match(line, /^ {2,}\d+\) \S|^ {2}[.,!]*![.,!]*$/));
  return eachLine((all, at) => mochaBlock(all, at, body < 0 || body > at || (failure >= 0 && failure < at)))(lines);
};

function mochaBlock(lines: string[], at: number, isDoubtful: boolean): Summary | null {
  const passing = match(lines[at], /^ {0,2}(\d+) passing \([\d.]+\w+\)$/);
  if (!passing) return null;
  const counts: Record<string, number> = {};
  let last = at;
  for (let found = matchMocha(lines[last + 1]); found; found = matchMocha(lines[last + 1])) {
    counts[found[2]!] = Number(found[1]);
    last++;
  }
  const [failed, skipped] = [add(counts, "failing"), add(counts, "pending")];
  const summary = { runner: "mocha", passed: Number(passing[1]), failed, skipped, first: at, last };
  return withOpen(summary, isDoubtful ? "what is above it does not show that none failed" : null);
}

function matchMocha(line: string | undefined): RegExpExecArray | null {
  return match(line, /^ {0,2}(\d+) (pending|failing)$/);
}

// ── playwright ──────────────────────────────────────────────────────────────

const PLAYWRIGHT_LINE =
  /^ {2}(\d+) (failed|flaky|interrupted|skipped|did not run|passed|errors? (?:was|were) not a part of any test.*)(?: \([\d.]+\w+\))?$/;

const PLAYWRIGHT_NAME = /^ {4}\S/;

/** Counts with the tests' names under them, ended by "2 passed (1.8s)". Read from its end upwards. */
export const playwright: Reader = (lines) => {
  const announced: number[] = [];
  for (const line of lines) {
    const found = match(line, /^Running (\d+) tests? using \d+ workers?/);
    announced.push(found ? Number(found[1]) : (announced.at(-1) ?? -1));
  }
  const listed = lines.findIndex((line) => match(line, /^ +[✓✔-] +\d+ \S/));
  const isSeen = (at: number) => announced[at]! >= 0 || (listed >= 0 && listed < at);
  return eachLine((all, at) => playwrightBlock(all, at, announced[at]!, isSeen(at)))(lines);
};

function inPlaywrightBlock(line: string | undefined): boolean {
  return match(line, PLAYWRIGHT_LINE) !== null || match(line, PLAYWRIGHT_NAME) !== null;
}

function playwrightBlock(lines: string[], at: number, announced: number, isSeen: boolean): Summary | null {
  if (!inPlaywrightBlock(lines[at]) || inPlaywrightBlock(lines[at + 1])) return null;
  const counts: Record<string, number> = {};
  let first = at;
  for (; first >= 0 && inPlaywrightBlock(lines[first]); first--) {
    const found = match(lines[first], PLAYWRIGHT_LINE);
    if (found) counts[found[2]!.replace(/^errors? .*/, "error")] = Number(found[1]);
  }
  if (Object.keys(counts).length === 0) return null;
  const passed = add(counts, "passed", "flaky");
  const failed = add(counts, "failed", "interrupted", "error");
  const skipped = add(counts, "skipped", "did not run");
  const isEnded = counts.passed === undefined || match(lines[at], /^ {2}\d+ (?:passed \(|error)/) !== null;
  if (failed === 0 && (!isEnded || (announced >= 0 && passed + skipped !== announced))) return null;
  const summary = { runner: "playwright", passed, failed, skipped, first: first + 1, last: at };
  return withOpen(summary, first >= 0 && isSeen ? null : CUT_SHORT);
}
