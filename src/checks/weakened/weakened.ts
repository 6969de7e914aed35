/**
 * What the tests prove less than before: tests that are gone, skipped, or check less, and tests that keep all others from
 * being run. Only what is certain counts. A test that moved to another file, has another name and the same body, or lost
 * its assertions to a helper or to a new test next to it, proves as much as before.
 */

import type { Weakening } from "../../kernel/types/verdict.ts";
import { type Case, findHelpers, type Helpers, listCases, parseCases } from "./cases.ts";
import { configWeakenings, isRunnerConfig } from "./config.ts";
import { findLanguage } from "./languages.ts";

interface Change {
  path: string;
  from?: string;
  before: string | null;
  after: string | null;
}

/** By the names that runners look for. */
const RUN = [
  /\.(?:test|spec|e2e|cy|e2e-spec|test-d)\.[cm]?[jt]sx?$/,
  /[_-](?:test|spec)\.[cm]?[jt]sx?$/,
  /(?:^|\/)__tests__\/(?:.*\/)?[^/]+\.[cm]?[jt]sx?$/,
  /(?:^|\/)(?:test_[^/]*|[^/]*_test|tests)\.py$/,
  /_test\.go$/,
  /\.rs$/,
  /(?:Test|Cest)\.php$/,
  /(?:_spec|_test)\.rb$|(?:^|\/)test_[^/]*\.rb$/,
  /(?:^|\/)(?:Test[A-Z][^/]*|[^/]*(?:Test|Tests|TestCase|IT|Spec))\.(?:java|kt)$/,
  /Tests?\.cs$/,
];
const TEST_FOLDER = /(?:^|\/)(?:tests?|specs?|__tests__|e2e|[\w.]*\.Tests)\//i;

const isNamedTest = (path: string) => RUN.some((pattern) => pattern.test(path));

/**
 * What the strength of the tests depends on: test files, sources of a test folder, settings of the runners. Rust keeps
 * tests next to the code, so each of its files may hold some.
 */
export function isTestFile(path: string): boolean {
  return isNamedTest(path) || isRunnerConfig(path) || (TEST_FOLDER.test(path) && findLanguage(path) !== null);
}

/** A file that a runner found by its name, and does not find any more. */
function isFound(path: string, oldPath: string): boolean {
  if (isNamedTest(path)) return true;
  return !isNamedTest(oldPath) && (TEST_FOLDER.test(path) || !TEST_FOLDER.test(oldPath));
}

export function weakenings(changes: Change[]): Weakening[] {
  const before = read(changes, "before");
  const after = read(changes, "after");
  const pairs = matched(before, after);
  const kept = new Set([...pairs.values()]);
  const added = after.filter((one) => !kept.has(one));
  const lost = new Set(before.filter((one) => !pairs.has(one)).map(({ path, full }) => `${path}\n${full}`));
  const elsewhere = new Set(added.filter(({ skipped }) => skipped === null).flatMap(({ assertions }) => assertions));
  const results = [
    ...before
      .filter((one) => pairs.has(one) || !isPart(one, lost))
      .flatMap((one) => compared(one, pairs.get(one), elsewhere)),
    ...added.flatMap(listFocused),
    ...changes.flatMap(unread),
    ...changes.flatMap(settings),
  ];
  return [...new Map(results.map((one) => [JSON.stringify([one.kind, one.path, one.what]), one])).values()];
}

/** Gone with the test around it. */
function isPart({ path, full }: Case, lost: Set<string>): boolean {
  for (let at = full.lastIndexOf(" > "); at > 0; at = full.lastIndexOf(" > ", at - 1)) {
    if (lost.has(`${path}\n${full.slice(0, at)}`)) return true;
  }
  return false;
}

function read(changes: Change[], side: "before" | "after"): Case[] {
  const files = changes.flatMap((change) => {
    const text = change[side];
    const path = side === "before" ? (change.from ?? change.path) : change.path;
    if (text === null || (!isTestFile(path) && !isTestFile(change.from ?? path))) return [];
    if (side === "after" && !isFound(path, change.from ?? path)) return [];
    const source = parseCases(path, text);
    return source === null ? [] : [{ path: change.path, source }];
  });
  const helpers: Helpers = new Map(files.flatMap(({ source }) => [...findHelpers(source)]));
  return files.flatMap(({ path, source }) => listCases(path, source, helpers));
}

// ── Which is which ──────────────────────────────────────────────────────────

const LIKE_ENOUGH = 0.6;
const SAME_NAME_LIKE_ENOUGH = 0.4;
const MOST_COMPARISONS = 20_000;

/** By which a test is known again, from the surest to the weakest. */
const SIGNS: ((one: Case) => string)[] = [
  ({ path, full, body }) => `${path}\n${full}\n${body}`,
  ({ path, full }) => `${path}\n${full}`,
  ({ path, name, body }) => `${path}\n${name}\n${body}`,
  ({ path, name }) => `${path}\n${name}`,
  ({ full, body }) => `${full}\n${body}`,
  ({ full }) => full,
  ({ name }) => name,
  ({ body, assertions }) => (assertions.length > 0 || body.length > 20 ? body : ""),
];

/** Each test is taken once. */
function matched(before: Case[], after: Case[]): Map<Case, Case> {
  const pairs = new Map<Case, Case>();
  const free = new Set(after);
  for (const key of SIGNS) {
    const places = Map.groupBy(free, key);
    for (const one of before) {
      const found = pairs.has(one) || key(one) === "" ? undefined : places.get(key(one))?.shift();
      if (!found) continue;
      pairs.set(one, found);
      free.delete(found);
    }
  }
  const lost = before.filter((one) => !pairs.has(one));
  if (lost.length * free.size > MOST_COMPARISONS) return pairs;
  pairTables(lost, pairs, free);
  pairLike(lost, pairs, free);
  return pairs;
}

/** Another name, and most of what the old one said. Whether it checks less is another question. */
function pairLike(before: Case[], pairs: Map<Case, Case>, free: Set<Case>): void {
  for (const one of before) {
    if (pairs.has(one)) continue;
    const [best] = [...free]
      .filter(({ path }) => path === one.path)
      .map((other) => ({ other, score: shared(one.words, other.words), name: sharedNames(one, other) }))
      .filter(({ score, name }) => score >= (name >= LIKE_ENOUGH ? SAME_NAME_LIKE_ENOUGH : LIKE_ENOUGH))
      .sort((a, b) => b.score - a.score);
    if (!best) continue;
    pairs.set(one, best.other);
    free.delete(best.other);
  }
}

const sharedNames = (a: Case, b: Case) => shared(splitWords(a.name), splitWords(b.name));
const splitWords = (name: string) => name.toLowerCase().match(/[a-z]+|\d+/g) ?? [];

/** How much of the first is in the second. */
const shared = (first: string[], second: string[]) =>
  (first.length - without(first, second).length) / Math.max(first.length, 1);

/** The first list without as many of each as the second has. */
function without(first: string[], second: string[]): string[] {
  const left = new Map<string, number>();
  for (const word of second) left.set(word, (left.get(word) ?? 0) + 1);
  return first.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count <= 0;
  });
}

/** Several tests that became the rows of one table, about the same things. */
function pairTables(before: Case[], pairs: Map<Case, Case>, free: Set<Case>): void {
  for (const table of [...free].filter(({ rows, assertions }) => rows > 1 && assertions.length > 0)) {
    const about = subjects(table);
    const lost = before.filter(
      (one) => !pairs.has(one) && one.path === table.path && subjects(one).some((word) => about.includes(word)),
    );
    if (lost.length === 0 || lost.length > table.rows) continue;
    for (const one of lost) pairs.set(one, table);
    free.delete(table);
  }
}

const subjects = ({ body }: Case) =>
  (body.match(/[A-Za-z_]\w{2,}(?=\()/g) ?? []).filter((word) => !/assert|expect|^to[A-Z]|^await/i.test(word));

// ── What became of one ──────────────────────────────────────────────────────

function compared(before: Case, after: Case | undefined, elsewhere: Set<string>): Weakening[] {
  // What was not run proved nothing.
  if (!after) return before.skipped === null ? [{ kind: "removed", path: before.path, what: before.name }] : [];
  const { path } = after;
  const results: Weakening[] = [];
  if (before.skipped === null && after.skipped !== null) results.push({ kind: "skipped", path, what: after.skipped });
  else if (before.skipped === null && after.leaves > before.leaves)
    results.push({ kind: "skipped", path, what: after.name });
  if (before.focused === null) results.push(...listFocused(after));
  if (checksLess(before, after, elsewhere)) results.push({ kind: "assertions", path, what: after.name });
  return results;
}

const listFocused = ({ focused, path }: Case): Weakening[] =>
  focused === null ? [] : [{ kind: "focused", path, what: focused }];

function checksLess(before: Case, after: Case, elsewhere: Set<string>): boolean {
  if (before.body !== "" && after.body === "" && before.rows === after.rows) return true;
  if (after.rows > before.rows || after.unknown) return false;
  const deficit = before.assertions.length - after.assertions.length;
  if (deficit <= 0) return false;
  const dropped = without(before.assertions, after.assertions);
  return dropped.filter((text) => elsewhere.has(text)).length < deficit;
}

// ── Files as a whole ────────────────────────────────────────────────────────

/** A test file that is too long to read, or whose tests are of no known kind, still counts as one. */
function unread({ path, from, before, after }: Change): Weakening[] {
  const old = from ?? path;
  const gone = after === null || !isFound(path, old);
  if (before === null || !gone || !isNamedTest(old) || findLanguage(old) === "rust") return [];
  const source = parseCases(old, before);
  if (source !== null && (source.code.trim() === "" || listCases(old, source, new Map()).length > 0)) return [];
  return [{ kind: "removed", path: old, what: old.slice(old.lastIndexOf("/") + 1) }];
}

function settings({ path, from, before, after }: Change): Weakening[] {
  if (before === null || after === null || !isRunnerConfig(path) || !isRunnerConfig(from ?? path)) return [];
  return configWeakenings(path, before, after);
}
