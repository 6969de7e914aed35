/**
 * `tests`: a test runner. Every test is known by its name where a reporter of ours was heard, and compared with the
 * beginning of the run; else the runner's own summary counts. Exit 0 alone proves nothing.
 */

import { safeText } from "../../../kernel/text/safe-text.ts";
import type { BaselineFact, NamedReport, Tally, Weakening } from "../../../kernel/types/verdict.ts";
import type { Gate } from "../../../kernel/types/workflow.ts";
import { compareTests, countTests, failedTests, incompleteness } from "../compare.ts";
import { commandKind, quoted, type RanFact } from "./command.ts";
import { testCount, testCounts, tooFew } from "./counts.ts";
import { type Background, type Finding, fail, pass, unproven } from "./kind.ts";
import { judgeOldTests, listNames } from "./old-tests.ts";

export const tests = commandKind(
  ({ argv, optional }) =>
    optional(
      argv,
      "A test runner as a list of words. Each test is known by its name, or its own summary is read: exit 0 without passed tests proves nothing.",
    ),
  (gate, fact, background) =>
    fact.ran.named && gate.proof !== "exit"
      ? judgeNamed(gate, fact, fact.ran.named, background)
      : judgeCounted(gate, fact, background),
  {
    options: (words) => ({
      ...testCounts(words),
      fewer: words.optional(words.word("allow"), "allow: fewer tests than at an earlier check of this run are fine."),
      weakened: words.optional(
        words.word("allow"),
        "allow: tests may be removed, skipped, focused or lose assertions during the run.",
      ),
      old_tests: words.optional(
        words.word("ask", "allow", "fail"),
        "If tests of the beginning do not pass as they were on the new code. ask: sent back once, then you decide; allow: not compared; fail: sent back.",
        "ask",
      ),
      proof: words.optional(words.word("exit"), "exit: exit 0 is enough, for a runner whose tests cannot be counted."),
      failing: words.optional(
        words.word("known"),
        "known: tests that failed at the beginning of the first run may fail until they have passed once. Only where tests are known by name; /pawl:until ignores it.",
      ),
    }),
    name: (gate) => quoted(gate.tests!),
    command: (gate) => ({ argv: gate.tests! }),
  },
);

// ── Test by test ────────────────────────────────────────────────────────────

function judgeNamed(gate: Gate, fact: RanFact, named: NamedReport, background: Background): Finding {
  const { passed, failed, skipped } = tallyOf(named);
  const measured = { tests: tallyOf(named), proof: "named" as const };
  const known = new Set(fact.baseline?.known);
  const bad = failedTests(named).filter((name) => !known.has(name));
  if (bad.length > 0) {
    const why = `${bad.length} of ${testCount(passed + failed)} failed: ${listNames(bad)}`;
    return { ...measured, ...fail(why) };
  }
  const problem = exitProblem(fact, named, failed > 0) ?? tooFew(gate, passed, skipped);
  if (passed === 0) return { ...measured, ...unproven("no test passed") };
  if (problem !== null) return { ...measured, ...fail(problem) };
  const exit = fact.ran.attempts.at(-1)!.exit;
  const missing = incompleteness(named, exit, fact.baseline?.base ?? null);
  if (missing !== null) return { ...measured, ...unproven(missing) };
  return { ...measured, ...judgeCompared(gate, fact, named, background) };
}

const tallyOf = (named: NamedReport): Tally => ({
  runner: named.runners.join(", "),
  passed: countTests(named, "passed"),
  failed: countTests(named, "failed"),
  skipped: countTests(named, "skipped"),
});

/** Another runner may have failed that no reporter of ours heard. `excused`: tests that are known to fail did. */
function exitProblem({ ran, suite }: RanFact, named: NamedReport, excused: boolean): string | null {
  const { exit, signal } = ran.attempts.at(-1)!;
  if (excused) return null;
  if (exit === null) return `it was ended by ${signal ?? "a signal"}`;
  const unsaid = suite?.verdict === "fail" && (suite.tally?.failed ?? 0) > 0 ? suite.why : null;
  if (exit === 0) return unsaid;
  return unsaid ?? `exit ${exit}, although ${testCount(countTests(named, "passed"))} passed and none failed`;
}

function judgeCompared(gate: Gate, { baseline }: RanFact, named: NamedReport, background: Background): Finding {
  const count = countTests(named, "passed");
  const passed = `${testCount(count)} passed`;
  if (baseline === undefined || baseline.base === null) {
    const fewer = fewerTests(gate, background.most_tests[gate.id] ?? 0, count);
    if (fewer !== null) return fail(fewer);
  }
  if (baseline === undefined) return pass(passed);
  const compared = compareTests(named, baseline);
  if (compared.why !== null) return unproven(`${passed}, but not compared with the beginning: ${compared.why}`);
  return judgeOldTests({ gate, compared, baseline, background, passed });
}

// ── By the runner's summary ─────────────────────────────────────────────────

function judgeCounted(gate: Gate, fact: RanFact, { most_tests }: Background): Finding {
  const { verdict, why, tally } = fact.suite ?? { verdict: "none", why: "its output was not read", tally: null };
  const tests = tally ? { tests: tally } : {};
  const reasons = [
    verdict === "fail" ? why : null,
    tally && fewerTests(gate, most_tests[gate.id] ?? 0, tally.passed + tally.failed),
    gate.weakened === "allow" ? null : weakenedTests(fact.weakened),
    verdict === "pass" && tally ? tooFew(gate, tally.passed, tally.skipped) : null,
  ].filter((reason) => reason !== null);
  if (reasons.length > 0) return { ...tests, ...fail(reasons.join("; ")) };
  if (gate.proof === "exit" && verdict === "none" && fact.ran.attempts.at(-1)?.exit === 0)
    return { ...tests, proof: "green", ...pass("exit 0, tests not counted") };
  if (verdict !== "pass") return { ...tests, ...unproven(why) };
  const lost = gate.proof === "exit" ? null : uncompared(fact.baseline);
  if (lost !== null) return { ...tests, ...unproven(`${why}, but ${lost}`) };
  const changed = (fact.baseline?.changed.length ?? 0) > 0 ? "; changed tests were not compared by name" : "";
  return { ...tests, proof: "counted", ...pass(`${why}${changed}`) };
}

/** What the beginning reached is demanded, and a beginning that was there has to be there still. */
function uncompared(baseline: BaselineFact | undefined): string | null {
  const why = baseline ? compareTests(null, baseline).why : null;
  return why === null ? null : `not compared with the beginning: ${why}`;
}

function fewerTests(gate: Gate, before: number, count: number): string | null {
  return gate.fewer !== "allow" && count < before ? `${testCount(count)} (${before} before)` : null;
}

const KINDS = { removed: "removed from", skipped: "skipped in", focused: "focused in", assertions: "weaker in" };

function weakenedTests(weakened: Weakening[]): string | null {
  if (weakened.length === 0) return null;
  const named = weakened
    .slice(0, 3)
    .map(({ kind, path, what }) => `${KINDS[kind]} ${safeText(path)}: ${safeText(what)}`);
  const more = weakened.length > 3 ? ` and ${weakened.length - 3} more` : "";
  return `tests were weakened (${named.join("; ")}${more})`;
}
