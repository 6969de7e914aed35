/** What `go test` prints: a line per package, with -v a line per test, with -json an object per step. */

import { attempt } from "../../kernel/attempt.ts";
import { NO_TOTAL, type Reader, type Summary } from "./runners-js.ts";
import { match } from "./test-output.ts";

const PACKAGE_OK = /^ok\s{2,}(\S+)\s+(?:\d[\d.]*s|\(cached\))(.*)$/;
const PACKAGE_BAD = /^FAIL\s+\S+\s+(?:\d[\d.]*s|\(cached\)|\[[a-z ]+ failed\])$/;
const PACKAGE_EMPTY = /^\?\s+\S+\s+\[no test files\]$/;
const RUN = /^=== RUN +(\S+)$/;
const RESULT = /^ *--- (PASS|FAIL|SKIP): (\S+) \(/;
/** a longer object is a test's own output */
const LONGEST_STEP = 20_000;

type Tests = Pick<Summary, "passed" | "failed" | "skipped">;

export const readGo: Reader = (lines) => {
  const steps = readSteps(lines);
  return steps === null ? readLines(lines) : [steps];
};

/** Go prints no totals: the whole stream is one summary. A bare FAIL ends every run that failed. */
function readLines(lines: string[]): Summary[] {
  const packages: Tests = { passed: 0, failed: 0, skipped: 0 };
  const tests: Tests = { passed: 0, failed: 0, skipped: 0 };
  const running = new Set<string>();
  let first = -1;
  let last = -1;
  let bare = false;
  let named = false;
  for (const [at, line] of lines.entries()) {
    countTest(line, running, tests);
    const ok = match(line, PACKAGE_OK);
    const isBad = match(line, PACKAGE_BAD) !== null;
    if (ok && !ok[2]!.includes("[no tests to run]")) packages.passed++;
    if (isBad) packages.failed++;
    if (line === "FAIL") bare = true;
    if (!ok && !isBad && line !== "FAIL" && !match(line, PACKAGE_EMPTY)) continue;
    if (ok || isBad) named = true;
    if (first < 0) first = at;
    last = at;
  }
  if (!named) return [];
  if (bare && packages.failed === 0) packages.failed = 1;
  return [{ ...inBestUnit(packages, tests), first, last, open: NO_TOTAL }];
}

/** A result counts only for a test that was announced: the word alone may be printed by anyone. */
function countTest(line: string, running: Set<string>, tests: Tests): void {
  const run = match(line, RUN);
  if (run) running.add(run[1]!);
  const result = match(line, RESULT);
  if (!result || !running.delete(result[2]!)) return;
  if (result[1] === "PASS") tests.passed++;
  else if (result[1] === "FAIL") tests.failed++;
  else tests.skipped++;
}

/** Without -v only packages can be counted; the name says so, so that they are not compared with tests. */
function inBestUnit(packages: Tests, tests: Tests): Tests & { runner: string } {
  const seen = tests.passed + tests.failed + tests.skipped;
  if (seen === 0) return { runner: "go packages", ...packages };
  return { runner: "go", ...tests, failed: tests.failed || packages.failed };
}

// ── -json ───────────────────────────────────────────────────────────────────

interface Step {
  Action: string;
  Package: string;
  Test?: unknown;
}

function readSteps(lines: string[]): Summary | null {
  const tests: Tests = { passed: 0, failed: 0, skipped: 0 };
  const open = new Set<string>();
  const bad = new Set<string>();
  let first = -1;
  let last = -1;
  for (const [at, line] of lines.entries()) {
    const step = parseStep(line);
    if (step === null) {
      if (match(line, PACKAGE_BAD)) bad.add(line);
      continue;
    }
    if (first < 0) first = at;
    last = at;
    takeStep(step, tests, open, bad);
  }
  if (first < 0) return null;
  const failed = tests.failed || bad.size;
  return { runner: "go", ...tests, failed, first, last, open: open.size === 0 ? NO_TOTAL : "a package did not finish" };
}

function takeStep(step: Step, tests: Tests, open: Set<string>, bad: Set<string>): void {
  if (typeof step.Test === "string") {
    open.add(step.Package);
    if (step.Action === "pass") tests.passed++;
    if (step.Action === "fail") tests.failed++;
    if (step.Action === "skip") tests.skipped++;
    return;
  }
  if (step.Action === "fail" || step.Action === "build-fail") bad.add(step.Package);
  if (step.Action === "pass" || step.Action === "fail" || step.Action === "skip") open.delete(step.Package);
  else open.add(step.Package);
}

function parseStep(line: string): Step | null {
  if (line.length > LONGEST_STEP || !line.startsWith('{"') || !line.includes('"Action":"')) return null;
  const value = attempt(() => JSON.parse(line) as Partial<Step> | null, null);
  return typeof value?.Action === "string" && typeof value.Package === "string" ? (value as Step) : null;
}
