/** Runners whose whole summary is one line, each a row of a table; and two (gtest, ava) that need a few more. */

import { eachLine, NO_TOTAL, type Reader, type Summary } from "./runners-js.ts";
import { add, countsIn, match } from "./test-output.ts";

/**
 * Named groups of `line`: `total` or `passed`; `failed`, `errors`, `invalid`, `skipped`, `ignored`; `bad`: it failed,
 * whatever it counted. "-" is 0. `counts`: "1 failed, 2 passed" in words; `kinds`: "2 properties, 3 tests".
 */
interface LineRule {
  runner: string;
  line: RegExp;
  /** a pass needs such a line above it; a failure only if the line could be of another runner (`strict`) */
  above?: RegExp;
  strict?: true;
  /** each such line is a test that was skipped */
  skips?: RegExp;
  /** a pass needs such a line below it */
  below?: RegExp;
  open?: string;
  part?: string;
}

const RULES: LineRule[] = [
  {
    runner: "exunit",
    line: /^(?<kinds>\d+ (?!examples?,)[a-z]+(?:, \d+ [a-z]+)*), (?<failed>\d+) failures?(?:, (?<invalid>\d+) invalid)?(?:, (?<skipped>\d+) skipped)?(?:, (?<ignored>\d+) excluded)?(?:, (?<invalid2>\d+) invalid)?(?:, (?<skipped2>\d+) skipped)?(?: \(\d+ excluded\))?$/,
    above: /^Finished in [\d.]+ seconds/,
    strict: true,
    open: "the line may be cut before what is invalid",
  },
  {
    runner: "bats",
    line: /^(?<total>\d+) tests?, (?<failed>\d+) failures?(?:, (?<skipped>\d+) skipped)?(?: in [\d.]+ seconds)?$/,
    above: /^ (?:✓|✗|-) \S/,
    strict: true,
  },
  {
    runner: "minitest",
    line: /^(?<total>\d+) (?:runs|tests), \d+ assertions, (?<failed>\d+) failures, (?<errors>\d+) errors, (?<skipped>\d+) (?:skips|pendings)(?:, (?<ignored>\d+) omissions, \d+ notifications)?$/,
    above: /^Finished in [\d.]+ ?s/,
  },
  {
    runner: "pest",
    line: /^ {2}Tests: {2,}(?<counts>\d[\w ,]*) \(\d+ assertions?\)$/,
    below: /^ {2}Duration: /,
  },
  {
    runner: "dart",
    line: /^(?:\d+:)?\d\d:\d\d \+(?<passed>\d+)(?: ~(?<skipped>\d+))?(?: -(?<failed>\d+))?: (?:All tests passed!|All other tests passed!|All tests skipped\.|(?<bad>Some tests failed\.))$/,
  },
  {
    runner: "swift",
    line: /^\t? *Executed (?<total>\d+) tests?, with (?:(?<skipped>\d+) tests? skipped and )?(?<failed>\d+) failures? \(\d+ unexpected\) in /,
    above: /^Test Suite '(?:All tests|Selected tests)' passed at /,
    open: NO_TOTAL,
    part: "XCTest",
  },
  {
    runner: "swift",
    line: /^(?:[✔✘] |\S* ?)Test run with (?<total>\d+) tests?(?: in \d+ suites?)? (?:passed|(?<bad>failed)) after [\d.]+ seconds(?: with (?<failed>\d+) issues?)?\.$/,
    open: NO_TOTAL,
    part: "Swift Testing",
  },
  { runner: "xcodebuild", line: /^\*\* (?<bad>TEST FAILED) \*\*$/ },
  {
    runner: "pester",
    line: /^Tests Passed: (?<passed>\d+), Failed: (?<failed>\d+), Skipped: (?<skipped>\d+),? (?:Pending: \d+, )?Inconclusive: (?<invalid>\d+)(?:, NotRun: (?<ignored>\d+))?$/,
    above: /^Tests completed in /,
  },
  {
    runner: "deno",
    line: /^(?:ok|(?<bad>FAILED)) \| (?<passed>\d+) passed(?: \(\d+ steps?\))? \| (?<failed>\d+) failed(?: \(\d+ steps?\))?(?: \| (?<skipped>\d+) ignored(?: \(\d+ steps?\))?)?(?: \| \d+ measured)?(?: \| (?<ignored>\d+) filtered out)? \([\dhms ]+\)$/,
  },
  {
    runner: "cypress",
    line: /^ *(?:✔ {2}All specs passed!|(?<bad>\S+ {2}\d+ of \d+ failed \(\d+%\))) +[\d:]+(?:ms)? +(?<total>[\d-]+) +(?<passed>[\d-]+) +(?<failed>[\d-]+) +(?<skipped>[\d-]+) +(?<ignored>[\d-]+)$/,
    above: /^ *\(Run Finished\)$/,
  },
  {
    runner: "ctest",
    line: /^\d+% tests passed, (?<failed>\d+) tests? failed out of (?<total>\d+)$/,
    above: /^ *\d+\/\d+ Test +#\d+: /,
    below: /^Total Test time \(real\) = /,
    skips: /^ *\d+\/\d+ Test +#\d+: .*\*\*\*(?:Skipped|Not Run)/,
  },
  {
    runner: "nextest",
    line: /^ *Summary \[ *[\d.]+s\] +(?:\d+(?<bad>\/\d+)?) tests? run: (?<counts>\d[\w ,()]*)$/,
    above: /^ *Nextest run ID |^ *Starting \d+ tests? across /,
  },
  {
    runner: "prove",
    line: /^Files=\d+, Tests=(?<passed>\d+), /,
    above: /^\S+ \.{2,} (?:ok|skipped)/,
    below: /^Result: (?:PASS|NOTESTS)$/,
    skips: /^\S+ \.{2,} skipped/,
  },
  { runner: "prove", line: /^Result: (?<bad>FAIL)$/ },
];

const GOOD = ["passed", "flaky"];
const BAD = ["failed", "timed out", "exec failed", "errors", "error"];
const NOT_RUN = ["skipped", "todo", "todos", "incomplete", "risky", "warnings", "deprecated", "notice", "notices"];

type Tests = Pick<Summary, "passed" | "failed" | "skipped">;

function countGroups(groups: Record<string, string | undefined>, skips: number): Tests | null {
  if (groups.counts !== undefined) return countWords(groups.counts);
  const number = (name: string) => Number(groups[name]?.replace("-", "0") ?? 0);
  const failed = number("failed") + number("errors") + number("invalid") + number("invalid2");
  const skipped = number("skipped") + number("skipped2") + number("ignored") + skips;
  const kinds = groups.kinds === undefined ? null : countsIn(groups.kinds, ", ");
  const total = kinds === null ? number("total") : add(kinds, ...Object.keys(kinds));
  const passed = groups.passed === undefined ? Math.max(0, total - failed - skipped) : number("passed");
  return { passed, failed, skipped };
}

/** "2 passed (1 slow), 1 skipped"; null where a word is not known. */
function countWords(text: string): Tests | null {
  const counts = countsIn(text.replace(/ \([^)]*\)/g, ""), ", ");
  const words = counts && Object.keys(counts);
  if (!words?.every((word) => [...GOOD, ...BAD, ...NOT_RUN].includes(word))) return null;
  return { passed: add(counts!, ...GOOD), failed: add(counts!, ...BAD), skipped: add(counts!, ...NOT_RUN) };
}

const readRule =
  (rule: LineRule): Reader =>
  (lines) => {
    let headed = rule.above === undefined;
    let skips = 0;
    return lines.flatMap((line, at) => {
      headed ||= match(line, rule.above!) !== null;
      if (rule.skips && match(line, rule.skips)) skips++;
      const found = match(line, rule.line);
      return found ? (ruleSummary(rule, { lines, at, found, headed, skips }) ?? []) : [];
    });
  };

const FARTHEST_BELOW = 30;

interface Hit {
  lines: string[];
  at: number;
  found: RegExpExecArray;
  /** the line that belongs above it was seen */
  headed: boolean;
  skips: number;
}

function ruleSummary(rule: LineRule, { lines, at, found, headed, skips }: Hit): Summary | null {
  const counted = countGroups(found.groups ?? {}, skips);
  if (counted === null || (rule.strict && !headed)) return null;
  const end = rule.below ? lines.slice(at + 1, at + FARTHEST_BELOW).findIndex((line) => match(line, rule.below!)) : -1;
  const isWhole = headed && (rule.below === undefined || end >= 0);
  const failed = found.groups?.bad === undefined ? counted.failed : Math.max(1, counted.failed);
  if (failed === 0 && !isWhole) return null;
  const { runner, open, part } = rule;
  const summary: Summary = { runner, ...counted, failed, first: at, last: at + end + 1 };
  return { ...summary, ...(open && { open }), ...(part && { part }) };
}

// ── More than one line ──────────────────────────────────────────────────────

/** One block per binary, and no total. */
const gtest = eachLine((lines, at) => {
  if (!match(lines[at], /^\[={10}\] \d+ tests? from \d+ test (?:suites?|cases?) ran\./)) return null;
  const counts: Record<string, number> = {};
  let last = at;
  for (let line = at + 1; line < lines.length; line++) {
    const found = match(lines[line], /^\[ {2}(PASSED|SKIPPED|FAILED) {1,2}\] (?:(\d+) tests?\b.*|\S.*)$/);
    if (!found && !match(lines[line], /^ *\d+ FAILED TESTS?$|^$|^ {2}YOU HAVE \d+ DISABLED TESTS?$/)) break;
    if (found?.[2] !== undefined) counts[found[1]!] = Number(found[2]);
    if (found) last = line;
  }
  if (counts.PASSED === undefined) return null;
  const [passed, failed, skipped] = [add(counts, "PASSED"), add(counts, "FAILED"), add(counts, "SKIPPED")];
  return { runner: "gtest", passed, failed, skipped, first: at, last, open: NO_TOTAL };
});

const AVA_LINE =
  /^ {2}(\d+) (?:known )?(?:tests?|hooks?|uncaught exceptions?|unhandled rejections?)(?: (passed|failed|skipped|todo|failures?|remaining.*))?$/;

/** After a short rule: one line per kind. */
const ava = eachLine((lines, at) => {
  if (lines[at] !== "  ─") return null;
  const counts: Record<string, number> = {};
  let last = at;
  for (let line = at + 1; line < lines.length; line++) {
    const found = match(lines[line], AVA_LINE);
    if (!found && lines[line] !== "") break;
    if (found) counts[found[2] ?? "thrown"] = Number(found[1]) + (counts[found[2] ?? "thrown"] ?? 0);
    if (found) last = line;
  }
  if (last === at) return null;
  const passed = add(counts, "passed");
  const failed = add(counts, "failed", "thrown");
  const skipped = add(counts, "skipped", "todo", "failure", "failures");
  return { runner: "ava", passed, failed, skipped, first: at, last, open: "a line below may tell of an exception" };
});

export const LINE_READERS: Reader[] = [...RULES.map(readRule), gtest, ava];
