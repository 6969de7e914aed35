/**
 * The tests of now against those of the beginning, by name. Every test that ran at the beginning, passed or failed, must
 * pass: in the run of now if no test file was changed, else as it was, on the code of now.
 */

import type { BaselineFact, NamedReport, OldTest, TestOutcome } from "../../kernel/types/verdict.ts";

export interface Comparison {
  /** how many tests ran at the beginning and have to pass */
  before: number;
  /** of them: not run under this name any more, but it still passes as it was */
  gone: number;
  /** what does not pass, the failing ones first */
  listed: OldTest[];
  /** why nothing follows from it */
  why: string | null;
}

/** Tests that failed although the command may have ended with exit 0. */
export const failedTests = (report: NamedReport) => namesWith(report, "failed");
export const countTests = (report: NamedReport, status: NamedReport["tests"][string]) =>
  namesWith(report, status).length;

/** Of two runs: what did not end the same way. */
export const differentTests = (a: NamedReport, b: NamedReport) =>
  [...new Set([...Object.keys(a.tests), ...Object.keys(b.tests)])].filter((name) => a.tests[name] !== b.tests[name]);

const namesWith = ({ tests }: NamedReport, status: string) =>
  Object.keys(tests).filter((name) => tests[name] === status);
const ranTests = ({ tests }: NamedReport) => Object.keys(tests).filter((name) => tests[name] !== "skipped");

/** Why the report is not about all tests; null: it is. `base` tells how many there should be. */
export function incompleteness(report: NamedReport, exit: number | null, base: NamedReport | null): string | null {
  if (report.incomplete !== undefined) return report.incomplete;
  if (report.ended >= report.runners.length) return null;
  const all = base ? ` of ${Object.keys(base.tests).length}` : "";
  const count = Object.keys(report.tests).length;
  return `it ended with exit ${exit ?? "by a signal"} before the runner was done: ${count}${all} tests reported. Something calls exit`;
}

export function compareTests(now: NamedReport | null, baseline: BaselineFact): Comparison {
  const { base, old, known, unstable } = baseline;
  const spared = new Set([...known, ...unstable]);
  const demanded = base === null ? [] : ranTests(base).filter((name) => !spared.has(name));
  const found: Comparison = { before: demanded.length, gone: 0, listed: [], why: null };
  const why = whyNot(now, baseline);
  if (why !== null || now === null) return { ...found, why };
  if (old === null) return { ...found, listed: listMissing(demanded, now, baseline) };
  const listed = listBroken(demanded, old, spared, baseline);
  const gone = demanded.filter((name) => isGood(old.report!, name) && !isGood(now, name)).length;
  const excused = failedTests(old.report!).some((name) => spared.has(name));
  // Every old test passes, and the command does not: a threshold, for example.
  const settings = listed.length === 0 && old.exit !== 0 && !excused ? [oldTest("", "settings", baseline)] : [];
  return { ...found, gone, listed: [...listed, ...settings] };
}

/** What the beginning reached is demanded now. */
function whyNot(now: NamedReport | null, { base, old, why }: BaselineFact): string | null {
  if (why !== undefined) return why;
  if (now === null) return base === null ? null : "it named its tests at the beginning and does not now";
  if (old === null) return null;
  if (old.error !== undefined) return `the tests of the beginning could not be run (${old.error})`;
  if (old.report === null) return "the tests of the beginning could not be read on the code of now";
  const missing = incompleteness(old.report, old.exit, base);
  return missing === null ? null : `with the tests of the beginning ${missing}`;
}

const isGood = ({ tests }: NamedReport, name: string) => tests[name] === "passed";

function listMissing(demanded: string[], now: NamedReport, baseline: BaselineFact): OldTest[] {
  return demanded.filter((name) => !isGood(now, name)).map((name) => oldTest(name, "not run", baseline));
}

/** A test of the beginning that fails now counts even where the beginning could not run it. */
function listBroken(demanded: string[], old: TestOutcome, spared: Set<string>, baseline: BaselineFact): OldTest[] {
  const report = old.report!;
  const failed = failedTests(report).filter((name) => !spared.has(name));
  const rest = demanded.filter((name) => report.tests[name] === undefined || report.tests[name] === "skipped");
  return [
    ...failed.map((name) => oldTest(name, "fails", baseline)),
    ...rest.map((name) => oldTest(name, name in report.tests ? "not run" : "cannot run", baseline)),
  ];
}

function oldTest(name: string, what: OldTest["what"], { base, old, files, changed }: BaselineFact): OldTest {
  const named = [...(base?.files ?? []), ...(old?.report?.files ?? [])];
  const file = longest(named.filter((path) => name.startsWith(path) && path in files));
  const { sign, diff } = files[file ?? ""] ?? { sign: changed.map((path) => files[path]?.sign).join(" "), diff: "" };
  return { name, what, ...(file !== undefined && { file }), sign: `${name}\n${sign}`, ...(diff !== "" && { diff }) };
}

const longest = (paths: string[]) => paths.toSorted((a, b) => b.length - a.length)[0];
