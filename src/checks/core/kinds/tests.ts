/** `tests`: a test runner, whose own summary is read: exit 0 alone proves nothing. */

import { plain } from "../../../kernel/text/safe-text.ts";
import type { Gate, Weakening } from "../../../kernel/types/run.ts";
import { commandKind, quoted, type RanFact } from "./command.ts";
import { testCount, testCounts, tooFew } from "./counts.ts";
import { type Background, type Finding, fail, pass, unproven } from "./kind.ts";

export const tests = commandKind(
  ({ argv, optional }) =>
    optional(
      argv,
      "A test runner as a list of words. Its own summary is read: exit 0 without passed tests proves nothing.",
    ),
  judgeSuite,
  {
    options: (words) => ({
      ...testCounts(words),
      fewer: words.optional(words.word("allow"), "allow: fewer tests than at an earlier check of this run are fine."),
      weakened: words.optional(
        words.word("allow"),
        "allow: tests may be removed, skipped, focused or lose assertions during the run.",
      ),
    }),
    name: (gate) => quoted(gate.tests!),
    command: (gate) => ({ argv: gate.tests! }),
  },
);

function judgeSuite(gate: Gate, { suite, weakened }: RanFact, { most_tests }: Background): Finding {
  const { verdict, why, tally } = suite ?? { verdict: "none", why: "its output was not read", tally: null };
  const tests = tally ? { tests: tally } : {};
  const reasons = [
    verdict === "fail" ? why : null,
    tally && fewerTests(gate, most_tests[gate.id] ?? 0, tally.passed + tally.failed),
    gate.weakened === "allow" ? null : weakenedTests(weakened),
    verdict === "pass" && tally ? tooFew(gate, tally.passed, tally.skipped) : null,
  ].filter((reason) => reason !== null);
  if (reasons.length > 0) return { ...tests, ...fail(reasons.join("; ")) };
  return { ...tests, ...(verdict === "pass" ? pass(why) : unproven(why)) };
}

function fewerTests(gate: Gate, before: number, count: number): string | null {
  return gate.fewer !== "allow" && count < before ? `${testCount(count)} (${before} before)` : null;
}

const KINDS = { removed: "removed from", skipped: "skipped in", focused: "focused in", assertions: "weaker in" };

function weakenedTests(weakened: Weakening[]): string | null {
  if (weakened.length === 0) return null;
  const named = weakened.slice(0, 3).map(({ kind, path, what }) => `${KINDS[kind]} ${plain(path)}: ${plain(what)}`);
  const more = weakened.length > 3 ? ` and ${weakened.length - 3} more` : "";
  return `tests were weakened (${named.join("; ")}${more})`;
}
