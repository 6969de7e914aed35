/**
 * One renamed function keeps a whole package of old tests from being compiled. So each changed test file is tried alone, as it
 * was, without the others: what passes there still holds, and what is left is listed with the compiler's reason.
 */

import type { BaselineFact, Ran, TestStatus } from "../../kernel/types/verdict.ts";
import { compareTests, incompleteness } from "../core/compare.ts";
import { worst } from "../core/named.ts";
import type { PlaceSpec } from "./place.ts";

const COMPILED = /\.(?:go|rs)$/;
const MOST_FILES = 4;

/** In each place there are old tests only, so a name that passes there is the test of the beginning. */
function placesPerFile(tests: PlaceSpec): PlaceSpec[] {
  const files = tests.restore.filter((path) => COMPILED.test(path));
  if (files.length === 0 || files.length > MOST_FILES) return [];
  const only = (kept: string | null) => ({
    ...tests,
    restore: tests.restore.filter((path) => path === kept || !COMPILED.test(path)),
    remove: [...tests.remove, ...files.filter((path) => path !== kept)],
  });
  // Alone, without any: what the unchanged files hold.
  return [...(files.length > 1 ? files : []), null].map(only);
}

/** null: a run has not ended yet. */
export function tryPerFile(
  fact: BaselineFact,
  now: NonNullable<Ran["named"]>,
  tests: PlaceSpec,
  runIn: (name: string, place: PlaceSpec) => Ran | null,
): BaselineFact | null {
  const missing = compareTests(now, fact).listed.flatMap(({ name, what }) => (what === "cannot run" ? [name] : []));
  const report = fact.old?.report;
  if (missing.length === 0 || !report) return fact;
  const found: Record<string, TestStatus> = {};
  for (const [at, place] of placesPerFile(tests).entries()) {
    const ran = runIn(`f${at}`, place);
    if (ran === null) return null;
    const { named, error } = ran;
    if (error !== undefined || !named || incompleteness(named, null, null) !== null) continue;
    for (const name of missing)
      if (named.tests[name] !== undefined) found[name] = worst(named.tests[name], found[name] ?? "skipped");
  }
  return { ...fact, old: { ...fact.old!, report: { ...report, tests: { ...report.tests, ...found } } } };
}
