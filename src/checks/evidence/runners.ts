/** The summaries of test runners for Python, Go, Rust, PHP, Ruby, Java and .NET, and the list of all readers. */

import { readGo } from "./runners-go.ts";
import {
  bun,
  eachLine,
  jest,
  mocha,
  NO_TOTAL,
  node,
  playwright,
  type Reader,
  type Summary,
  vitest,
} from "./runners-js.ts";
import { LINE_READERS } from "./runners-lines.ts";
import { above, add, countsIn, match, readNumbers } from "./test-output.ts";

// ── Python ──────────────────────────────────────────────────────────────────

const PYTEST_WORDS =
  /^(?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun|retried|subtests? (?:passed|failed|skipped))$/;
const PYTEST_LINE = /^(=+ )?(no tests ran|\d[\w ,]*) in \d+\.\d+s(?: \([\d:]+\))?( =+)?$/;
const PYTEST_HEAD = /^=+ test session starts =+$/;
const PYTEST_ENDED = /^!{3,} .*(?:Interrupt|Exit|stopping|crash).* !{3,}$/;

interface PytestSession {
  /** places of the newest heading, of the newest word about an early end */
  head: number;
  ended: number;
  collected: number;
}

const pytest: Reader = (lines) => {
  const session: PytestSession = { head: -1, ended: -1, collected: -1 };
  return lines.flatMap((line, at) => {
    if (match(line, PYTEST_HEAD)) Object.assign(session, { head: at, collected: -1 });
    if (match(line, PYTEST_ENDED)) session.ended = at;
    const collected = match(line, /^collected (\d+) items?\b/);
    if (collected && session.head >= 0) session.collected = Number(collected[1]);
    return pytestLine(line, at, session) ?? [];
  });
};

function pytestLine(line: string, at: number, session: PytestSession): Summary | null {
  const found = match(line, PYTEST_LINE);
  const counts = found && (found[2] === "no tests ran" ? {} : countsIn(found[2]!, ", "));
  if (!counts || !Object.keys(counts).every((word) => PYTEST_WORDS.test(word))) return null;
  const passed = add(counts, "passed", "xpassed");
  const failed = add(counts, "failed", "error", "errors", "subtest failed", "subtests failed");
  const skipped = add(counts, "skipped", "deselected", "xfailed");
  // a session that began with a heading ends with a framed line; a failure is believed in any shape
  const isFramed = found[1] !== undefined && found[3] !== undefined;
  const isOdd = (session.head >= 0 && !isFramed) || (session.collected >= 0 && passed > session.collected);
  if (failed === 0 && isOdd) return null;
  const summary = { runner: "pytest", passed, failed, skipped, first: at, last: at };
  return session.ended > session.head ? { ...summary, open: "the run was ended early" } : summary;
}

const unittest = eachLine((lines, at) => {
  const ran = match(lines[at], /^Ran (\d+) tests? in \d+\.\d+s$/);
  if (!ran || !match(lines[at - 1], /^-{70}$/)) return null;
  const end = at + 2;
  const found = lines[at + 1] === "" ? match(lines[end], /^(OK|FAILED|NO TESTS RAN)(?: \(([^)]*)\))?$/) : null;
  if (!found) return null;
  const counts: Record<string, number> = {};
  for (const [, word, count] of (found[2] ?? "").matchAll(/([a-z ]+)=(\d+)/g)) counts[word!.trim()] = Number(count);
  const counted = add(counts, "failures", "errors", "unexpected successes");
  const failed = found[1] === "FAILED" ? Math.max(1, counted) : counted;
  const skipped = add(counts, "skipped", "expected failures");
  const passed = Math.max(0, Number(ran[1]) - counted - skipped);
  return { runner: "unittest", passed, failed, skipped, first: at - 1, last: end };
});

// ── Rust ────────────────────────────────────────────────────────────────────

const CARGO_LINE =
  /^test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured; (\d+) filtered out(?:; finished in .*)?$/;

/** One per binary, and no total. Each must agree with what its binary announced. */
const cargo: Reader = (lines) => {
  let announced = -1;
  return lines.flatMap((line, at) => {
    const running = match(line, /^running (\d+) tests?$/);
    if (running) announced = Number(running[1]);
    const found = match(line, CARGO_LINE);
    if (!found) return [];
    const [passed, failures, ignored, measured, filtered] = readNumbers(found, 2);
    const agrees = announced < 0 || announced === passed + failures + ignored + measured;
    if (found[1] === "ok" && !agrees) return [];
    announced = -1;
    const failed = found[1] === "FAILED" ? Math.max(1, failures) : failures;
    return [{ runner: "cargo", passed, failed, skipped: ignored + filtered, first: at, last: at, open: NO_TOTAL }];
  });
};

// ── PHP, Ruby ───────────────────────────────────────────────────────────────

const PHPUNIT_HEAD = /^(?:OK, but .*!|FAILURES!|ERRORS!|WARNINGS!)$/;

const phpunit = eachLine((lines, at) => {
  const fine = match(lines[at], /^OK \((\d+) tests?, \d+ assertions?\)$/);
  if (fine) {
    if (!match(lines[above(lines, at)], /^Time: .*Memory: /)) return null;
    return { runner: "phpunit", passed: Number(fine[1]), failed: 0, skipped: 0, first: at, last: at };
  }
  const head = match(lines[at - 1], PHPUNIT_HEAD);
  const found = head && match(lines[at], /^Tests: (\d+), Assertions: \d+(?:, [A-Za-z ]+: \d+)*\.$/);
  if (!found) return null;
  const counts: Record<string, number> = {};
  for (const [, word, count] of found[0].matchAll(/([A-Za-z ]+): (\d+)/g)) counts[word!.trim()] = Number(count);
  const counted = add(counts, "Errors", "Failures");
  const failed = /^(?:FAIL|ERR)/.test(head[0]) ? Math.max(1, counted) : counted;
  const skipped = add(counts, "Skipped", "Incomplete", "Risky", "Warnings");
  const passed = Math.max(0, Number(found[1]) - counted - skipped);
  const summary = { runner: "phpunit", passed, failed, skipped, first: at - 1, last: at };
  const isStrict = /Risky|Warnings|Deprecations|Notices/.test(found[0]);
  return isStrict ? { ...summary, open: "risky tests or warnings may fail the run" } : summary;
});

const RSPEC_LINE =
  /^ *(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside of examples)?$/;

const rspec = eachLine((lines, at) => {
  const found = match(lines[at], RSPEC_LINE);
  if (!found) return null;
  const [examples, failures, skipped, errors] = readNumbers(found);
  const failed = failures + errors;
  if (failed === 0 && !match(lines[at - 1], /^ *Finished in \d/)) return null;
  const passed = Math.max(0, examples - failures - skipped);
  return { runner: "rspec", passed, failed, skipped, first: at, last: at };
});

// ── Java ────────────────────────────────────────────────────────────────────

const MAVEN_LINE = /^(?:\[(?:INFO|WARNING|ERROR)\] )?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$/;

/** The line without a time is a module's total. */
const maven: Reader = (lines) => {
  const success = lines.findLastIndex((line) => match(line, /^(?:\[INFO\] )?BUILD SUCCESS$/));
  const read = eachLine((all, at) => {
    const found = match(all[at], MAVEN_LINE);
    if (!found) return null;
    const [ran, failures, errors, skipped] = readNumbers(found);
    const failed = failures + errors;
    return { runner: "maven", passed: Math.max(0, ran - failed - skipped), failed, skipped, first: at, last: at };
  });
  return read(lines).map((summary) =>
    success > summary.last ? summary : { ...summary, open: "the build did not say that it succeeded" },
  );
};

/** Gradle counts only what failed; the rest has to be counted line by line. */
const gradle: Reader = (lines) => {
  const counts: Record<string, number> = {};
  return lines.flatMap((line, at) => {
    const test = match(line, /^\S.* > \S.* (PASSED|FAILED|SKIPPED)$/);
    if (test) counts[test[1]!] = (counts[test[1]!] ?? 0) + 1;
    const completed = match(line, /^(\d+) tests? completed, (\d+) failed(?:, (\d+) skipped)?$/);
    if (completed) return [gradleFailure(completed, at)];
    if (test || !match(line, /^BUILD SUCCESSFUL in /) || Object.keys(counts).length === 0) return [];
    const [passed, failed, skipped] = [add(counts, "PASSED"), add(counts, "FAILED"), add(counts, "SKIPPED")];
    return [{ runner: "gradle", passed, failed, skipped, first: at, last: at }];
  });
};

function gradleFailure(found: RegExpExecArray, at: number): Summary {
  const [ran, failed, skipped] = readNumbers(found);
  return { runner: "gradle", passed: Math.max(0, ran - failed - skipped), failed, skipped, first: at, last: at };
}

// ── .NET ────────────────────────────────────────────────────────────────────

const DOTNET_PROJECT =
  /^ *(Passed|Failed|Skipped)! +- Failed: +(\d+), Passed: +(\d+), Skipped: +(\d+), Total: +\d+(?:, Duration: .*?)?(?: - (.*))?$/;
const DOTNET_SUMMARY =
  /^ *Test summary: total: (\d+), failed: (\d+), succeeded: (\d+), skipped: (\d+)(?:, duration: .*)?$/;

const dotnet = eachLine((lines, at) => {
  const project = match(lines[at], DOTNET_PROJECT);
  const place = { runner: "dotnet", first: at, last: at };
  if (project) {
    const [failures, passed, skipped] = readNumbers(project, 2);
    const failed = project[1] === "Failed" ? Math.max(1, failures) : failures;
    return { ...place, passed, failed, skipped, open: NO_TOTAL, ...(project[5] ? { part: project[5] } : {}) };
  }
  const summary = match(lines[at], DOTNET_SUMMARY);
  if (!summary) return dotnetTotals(lines, at);
  const [, failed, passed, skipped] = readNumbers(summary);
  return { ...place, passed, failed, skipped };
});

/** The long form: "Test Run Successful.", "Total tests: 3", and one line per kind. */
function dotnetTotals(lines: string[], at: number): Summary | null {
  const head = match(lines[at], /^Test Run (Successful|Failed|Aborted)\.$/);
  const total = head && match(lines[at + 1], /^Total tests: (\d+|Unknown)$/);
  if (!total) return null;
  const counts: Record<string, number> = {};
  let last = at + 1;
  for (;;) {
    const found = match(lines[last + 1], /^ *(Passed|Failed|Skipped): (\d+)$/);
    if (!found) break;
    counts[found[1]!] = Number(found[2]);
    last++;
  }
  if (match(lines[last + 1], /^ *Total time: /)) last++;
  const failed = head[1] === "Successful" ? add(counts, "Failed") : Math.max(1, add(counts, "Failed"));
  const [passed, skipped] = [add(counts, "Passed"), add(counts, "Skipped")];
  return { runner: "dotnet", passed, failed, skipped, first: at, last, open: NO_TOTAL };
}

export const READERS: Reader[] = [
  pytest,
  unittest,
  vitest,
  jest,
  bun,
  node,
  mocha,
  playwright,
  readGo,
  cargo,
  phpunit,
  rspec,
  maven,
  gradle,
  dotnet,
  ...LINE_READERS,
];
