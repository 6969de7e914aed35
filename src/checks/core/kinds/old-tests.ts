/** What follows where tests of the beginning do not pass as they were: back to the agent once, then the person decides. */

import { safeText, visibleLines } from "../../../kernel/text/safe-text.ts";
import type { BaselineFact, OldTest } from "../../../kernel/types/verdict.ts";
import type { Gate } from "../../../kernel/types/workflow.ts";
import type { Comparison } from "../compare.ts";
import { testCount } from "./counts.ts";
import { type Background, type Finding, fail, pass, unproven } from "./kind.ts";

interface OldTestsCase {
  gate: Gate;
  compared: Comparison;
  baseline: BaselineFact;
  background: Background;
  /** "214 tests passed" */
  passed: string;
}

const MOST_NAMED = 3;
/** Of these the person can decide; a longer list goes back to the agent until the rounds are over. */
const MOST_KEPT = 200;
const MOST_SHOWN = 20;

export const listNames = (names: string[]) =>
  [
    ...names.slice(0, MOST_NAMED).map(safeText),
    ...(names.length > MOST_NAMED ? [`and ${names.length - MOST_NAMED} more`] : []),
  ].join("; ");

export function judgeOldTests(found: OldTestsCase): Finding {
  const { gate, compared, baseline, background, passed } = found;
  const { before } = compared;
  const accepted = new Set(background.accepted);
  const listed = compared.listed.filter(({ sign }) => !accepted.has(sign));
  if (listed.length === 0) return { before, ...pass(`${passed}${renderHeld(compared, baseline)}`) };
  const measured = {
    before,
    old_tests: listed.slice(0, MOST_KEPT).map(withFewDiffs),
    ...(baseline.old?.tail && { tail: baseline.old.tail }),
  };
  const decidable = baseline.changed.length > 0 && (gate.old_tests ?? "ask") === "ask";
  const told = new Set(background.earlier?.[gate.id]?.old_tests?.map(({ name }) => name));
  if (decidable && listed.every(({ name }) => told.has(name)))
    return {
      ...measured,
      ...unproven(`${renderList(listed, baseline)}; the person decides`),
      open: "person",
      ask: renderQuestion(gate, listed),
    };
  return { ...measured, ...fail(renderList(listed, baseline)), ways: renderWays(listed, decidable) };
}

/** Every commit of the run holds them. */
function withFewDiffs(one: OldTest, at: number, all: OldTest[]): OldTest {
  const { diff, ...rest } = one;
  const isFirst = all.findIndex(({ file }) => file === one.file) === at;
  return diff !== undefined && isFirst && at < MOST_SHOWN ? one : rest;
}

/** ", including all 209 that existed before (4 renamed or removed)" */
function renderHeld({ before, gone, listed }: Comparison, { base, no_base, known, unstable }: BaselineFact): string {
  if (no_base !== undefined) return `; not compared with the beginning: ${safeText(no_base)}`;
  if (base === null || before === 0) return known.length > 0 ? ` (${known.length} known to fail)` : "";
  const notes = [
    gone > 0 ? `${gone} renamed or removed` : "",
    listed.length > 0 ? `${listed.length} changed, as approved` : "",
    known.length > 0 ? `${known.length} known to fail` : "",
    unstable.length > 0 ? `${unstable.length} not stable` : "",
  ].filter((note) => note !== "");
  const held = before - listed.length;
  const which = held === 1 ? "the one" : `all ${held}`;
  return `, including ${which} that existed before${notes.length > 0 ? ` (${notes.join(", ")})` : ""}`;
}

function renderList(listed: OldTest[], { base, old, changed }: BaselineFact): string {
  const of = (what: OldTest["what"]) => listed.filter((one) => one.what === what).map(({ name }) => name);
  const exist = (count: number) => `${count} existing test${count === 1 ? "" : "s"}`;
  const [fails, cannot, lost] = [of("fails"), of("cannot run"), of("not run")];
  const all = Object.keys(base?.tests ?? {}).length;
  const parts = [
    fails.length > 0
      ? `${exist(fails.length)} fail${fails.length === 1 ? "s" : ""} on your code: ${listNames(fails)}`
      : "",
    cannot.length > 0
      ? `${exist(cannot.length)} cannot be run with your code${old?.reason ? ` (${old.reason})` : ""}: ${listNames(cannot)}`
      : "",
    lost.length > 0
      ? `${testCount(lost.length)} that ran at the beginning ${lost.length === 1 ? "is" : "are"} not run any more: ${listNames(lost)} (${all - lost.length} of ${all} run)`
      : "",
    of("settings").length > 0
      ? `with the test settings of the beginning the command ends with exit ${old?.exit ?? "by a signal"}, although every test passes`
      : "",
  ].filter((part) => part !== "");
  const where = changed.length > 0 ? ` (changed test files: ${listNames(changed)})` : ", and no test file was changed";
  return `${parts.join("; ")}${where}`;
}

function renderWays(listed: OldTest[], decidable: boolean): string[] {
  if (listed.every(({ what }) => what === "not run") && !decidable) return ["Run them again."];
  const way = "They were run as they were at the beginning, on the code of now. If the code is wrong, fix it.";
  if (!decidable) return [way];
  return [
    way,
    "If the behavior was meant to change, leave the tests as they are now, say for each why, and claim again: a person decides.",
  ];
}

const MOST_DIFFS = 5;

function renderQuestion(gate: Gate, listed: OldTest[]): string {
  const head = `${gate.name} passes, but the agent changed what ${listed.length === 1 ? "1 test demands" : `${listed.length} tests demand`}:`;
  return [head, ...renderOldTests(listed), "Accept this?"].join("\n");
}

/** For a person: each test, then how its file was changed, with all that is there. */
export function renderOldTests(listed: OldTest[]): string[] {
  const tests = listed.map(
    ({ name, what }, at) => `  ${at + 1}. ${name === "" ? "the test settings" : safeText(name)} (${WHAT[what]})`,
  );
  const shown = new Map(listed.flatMap(({ file, diff }) => (file && diff ? [[file, diff] as const] : [])));
  const diffs = [...shown]
    .slice(0, MOST_DIFFS)
    .flatMap(([file, diff]) => [safeText(file), ...visibleLines(diff).map((line) => `    ${line}`)]);
  const more = tests.length > MOST_SHOWN ? [`  … and ${tests.length - MOST_SHOWN} more`] : [];
  return [...tests.slice(0, MOST_SHOWN), ...more, ...diffs];
}

const WHAT: Record<OldTest["what"], string> = {
  fails: "fails as it was",
  "cannot run": "cannot be run as it was",
  "not run": "is not run any more",
  settings: "the command fails with them as they were",
};
