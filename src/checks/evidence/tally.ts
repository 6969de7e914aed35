/** From a test run's output to one tally, and from there to a verdict. In doubt there is none. */

import type { Tally } from "../../kernel/types/verdict.ts";
import { READERS } from "./runners.ts";
import type { Summary } from "./runners-js.ts";
import {
  hintsFailure,
  isCutMark,
  isHarmless,
  isWatching,
  missesCoverage,
  type Stream,
  saysNoTests,
  splitLines,
  splitStreams,
  startsRun,
  startsRunner,
  unwrapLines,
} from "./test-output.ts";

/** What a run of a known test command shows. */
export type TestVerdict = { verdict: "pass" | "fail" | "none"; why: string; tally: Tally | null };

interface Scan {
  tally: Tally | null;
  /** how many summaries were summed up */
  count: number;
  /** why it proves nothing, whatever the exit status */
  void: string | null;
  /** why it proves nothing unless the exit status is 0 */
  open: string | null;
  noTests: boolean;
  /** without any summary: pieces of a failing one */
  broken?: boolean;
}

/** Ended from outside: by timeout, Ctrl-C, kill. Such a run proves nothing, not even a failure. */
const ENDED = new Set([124, 130, 137, 143]);
const NOT_STARTED = new Set([126, 127]);

/** The last complete summary that closes the output; null where it proves nothing. */
export function readTally(output: string): Tally | null {
  const scan = scanOutput(output);
  if (scan.tally !== null && scan.tally.failed > 0) return scan.tally;
  return scan.void === null && scan.open === null ? scan.tally : null;
}

/** How many summaries an output holds: as many as test commands ran, or some of them said nothing. */
export function countSummaries(output: string): number {
  return scanOutput(output).count;
}

/** `exit` null: not known, because of a pipe or of what came after. Then the summary alone has to prove it. */
export function judgeTests(output: string, exit: number | null): TestVerdict {
  const scan = scanOutput(output);
  const { tally } = scan;
  if (tally !== null && tally.failed > 0) return verdict("fail", describe(tally), tally);
  if (exit !== null && exit !== 0) return judgeFailure(scan, exit);
  // With exit status 0 a test may have printed it; a pipe leaves only the text.
  if (exit === null && scan.broken) return verdict("fail", "a line speaks of failures", null);
  if (tally === null) return verdict("none", scan.noTests ? "no tests were run" : "no summary of a test runner", null);
  const doubt = scan.void ?? (exit === null ? scan.open : null);
  if (doubt !== null) return verdict("none", doubt, null);
  if (tally.passed === 0) return verdict("none", `no test passed: ${describe(tally)}`, tally);
  return verdict("pass", describe(tally), tally);
}

function judgeFailure(scan: Scan, exit: number): TestVerdict {
  const { tally } = scan;
  if (ENDED.has(exit)) return verdict("none", `it was ended before its time (exit status ${exit})`, null);
  if (NOT_STARTED.has(exit)) return verdict("none", `it could not be started (exit status ${exit})`, null);
  const ran = tally !== null && tally.passed + tally.skipped > 0;
  if (!ran && (scan.noTests || tally !== null))
    return verdict("none", `no tests were run (exit status ${exit})`, tally);
  if (tally !== null && tally.passed === 0) return verdict("none", `no test passed: ${describe(tally)}`, tally);
  return verdict("fail", `exit status ${exit}${tally ? `, although: ${describe(tally)}` : ""}`, tally);
}

function verdict(word: TestVerdict["verdict"], why: string, tally: Tally | null): TestVerdict {
  return { verdict: word, why, tally };
}

function describe({ runner, passed, failed, skipped }: Tally): string {
  const parts = [`${passed} passed`];
  if (failed > 0) parts.unshift(`${failed} failed`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  return `${parts.join(", ")} (${runner})`;
}

// ── Scanning ────────────────────────────────────────────────────────────────

interface Part {
  stream: Stream;
  summaries: Summary[];
}

function scanOutput(output: string): Scan {
  const lines = splitLines(output);
  const parts = splitStreams(lines).map((stream) => ({ stream, summaries: findSummaries(stream.lines) }));
  const groups = parts.flatMap(groupSummaries);
  const noTests = saysNoTests(parts.flatMap((part) => part.stream.lines));
  const none = { tally: null, count: 0, void: null, open: null, noTests };
  if (groups.length === 0) return { ...none, broken: hintsFailure(lines) || hintsFailure(unwrapLines(output)) };
  const end = parts.reduce((place, part) => Math.max(place, lastPlace(part)), -1);
  return {
    tally: sum(groups),
    count: groups.length,
    void: findVoid(lines, parts),
    open: findOpen(lines, parts, end),
    noTests,
  };
}

function findSummaries(lines: string[]): Summary[] {
  return READERS.flatMap((read) => read(lines)).sort((a, b) => a.last - b.last);
}

function lastPlace({ stream, summaries }: Part): number {
  const last = summaries.at(-1);
  return last === undefined ? -1 : stream.places[last.last]!;
}

/**
 * Summaries of separate runs are summed up. Without a new beginning between two of them the earlier one
 * was printed by the tests themselves: the later one counts, but a failure is never forgotten.
 */
function groupSummaries({ stream, summaries }: Part): Summary[] {
  const groups: Summary[] = [];
  for (const summary of summaries) {
    const before = groups.at(-1);
    if (before === undefined || isSeparate(before, summary, stream.lines)) groups.push(summary);
    else groups[groups.length - 1] = summary.failed === 0 ? { ...summary, failed: before.failed } : summary;
  }
  return groups;
}

function isSeparate(before: Summary, next: Summary, lines: string[]): boolean {
  if (before.part !== undefined && next.part !== undefined && before.part !== next.part) return true;
  for (let at = before.last + 1; at < next.first; at++) if (startsRun(lines[at]!)) return true;
  return false;
}

function sum(groups: Summary[]): Tally {
  const total = (count: (summary: Summary) => number) => groups.reduce((all, summary) => all + count(summary), 0);
  return {
    runner: [...new Set(groups.map((summary) => summary.runner))].join("+"),
    passed: total((summary) => summary.passed),
    failed: total((summary) => summary.failed),
    skipped: total((summary) => summary.skipped),
  };
}

function findVoid(lines: string[], parts: Part[]): string | null {
  if (isWatching(lines)) return "it is still watching for changes";
  if (parts.some((part) => hintsFailure(part.stream.lines))) return "a line speaks of failures";
  for (const { stream, summaries } of parts) {
    const last = summaries.at(-1);
    if (last === undefined) continue;
    const rest = stream.lines.slice(last.last + 1);
    if (rest.some(startsRunner)) return "a later run has no summary";
    if (rest.some(isCutMark)) return "the output was cut after the summary";
  }
  return null;
}

function findOpen(lines: string[], parts: Part[], end: number): string | null {
  if (lines.some(isCutMark)) return "the output was cut";
  if (missesCoverage(lines)) return "a coverage threshold was not met";
  for (const { stream, summaries } of parts) {
    const open = summaries.find((summary) => summary.open !== undefined)?.open;
    if (open !== undefined) return open;
    const last = summaries.at(-1);
    const isRest = (_: string, at: number) => (last ? at > last.last : stream.places[at]! > end);
    if (!stream.lines.filter(isRest).every(isHarmless)) return "something was printed after the summary";
  }
  return null;
}
