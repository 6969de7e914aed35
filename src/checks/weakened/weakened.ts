/**
 * Do the tests prove less than before? Only asked where no reporter names the tests: else every test of the beginning is
 * run as it was. So tests and assertions are counted here, over all changed test files together: whatever was moved,
 * renamed or written in another way proves as much as before.
 */

import type { Weakening } from "../../kernel/types/verdict.ts";
import { isNamedTest, isTestClass } from "../core/test-class.ts";
import { configWeakenings } from "./config.ts";
import { findLanguage } from "./languages.ts";
import { readSource, type Source } from "./source.ts";
import { type Case, findHelpers, type Helpers, listCases } from "./units.ts";

interface Change {
  path: string;
  from?: string;
  before: string | null;
  after: string | null;
}

const NONE: ReadonlySet<string> = new Set();
/** Rust keeps tests next to the code. */
const mayHoldTests = (path: string) => isTestClass(path, NONE) || path.endsWith(".rs");
/** A runner found it by its name, and still does. */
const isFound = (path: string, old: string) => mayHoldTests(path) && (isNamedTest(path) || !isNamedTest(old));

export function weakenings(changes: Change[]): Weakening[] {
  const before = read(changes, "before");
  const after = read(changes, "after");
  const lost = lostTests(before, after);
  const results = [
    ...lost,
    ...focusedTests(before, after),
    ...lostAssertions(before, after, new Set(lost.map(({ what }) => what))),
    ...changes.flatMap(unread),
    ...changes.flatMap(settings),
  ];
  return [...new Map(results.map((one) => [JSON.stringify(one), one])).values()];
}

function read(changes: Change[], side: "before" | "after"): Case[] {
  const files = changes.flatMap((change) => {
    const { path, from = path } = change;
    const text = change[side];
    const counts = side === "before" ? mayHoldTests(from) : isFound(path, from);
    const source = text === null || !counts ? null : parse(side === "before" ? from : path, text);
    return source === null ? [] : [{ path, source }];
  });
  const helpers: Helpers = new Map(files.flatMap(({ source }) => [...findHelpers(source)]));
  return files.flatMap(({ path, source }) => listCases(path, source, helpers));
}

const LONGEST_TEXT = 1 << 19;

/** null: no language that is known, or more than anyone writes. */
function parse(path: string, text: string): Source | null {
  const language = findLanguage(path);
  return language === null || text.length > LONGEST_TEXT ? null : readSource(text.replaceAll("\r\n", "\n"), language);
}

const isLive = ({ live }: Case) => live;
const total = (cases: Case[], of: "rows" | "assertions") => cases.reduce((sum, one) => sum + one[of], 0);

/** Those of the first list whose names the second has not as often. */
function missing(first: Case[], second: Case[]): Case[] {
  const left = new Map<string, number>();
  for (const { name } of second) left.set(name, (left.get(name) ?? 0) + 1);
  return first.filter(({ name }) => {
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}

function lostTests(before: Case[], after: Case[]): Weakening[] {
  const [old, now] = [before.filter(isLive), after.filter(isLive)];
  if (total(now, "rows") >= total(old, "rows")) return [];
  return missing(old, now).map(({ path, name }) => {
    const there = after.find((one) => one.name === name);
    return { kind: there ? "skipped" : "removed", path: there?.path ?? path, what: name };
  });
}

function focusedTests(before: Case[], after: Case[]): Weakening[] {
  const old = new Set(before.map(({ focused }) => focused));
  return after.flatMap(({ focused, path }) =>
    focused === null || old.has(focused) ? [] : [{ kind: "focused", path, what: focused }],
  );
}

/** `lost` are told already. A check of an unknown name may hold any number of assertions. */
function lostAssertions(before: Case[], after: Case[], lost: Set<string>): Weakening[] {
  const old = before.filter(({ live, name }) => live && !lost.has(name));
  const now = after.filter(isLive);
  if (total(now, "assertions") >= total(old, "assertions")) return [];
  const known = new Set(before.flatMap(({ checks }) => checks));
  if (now.some(({ checks }) => checks.some((name) => !known.has(name)))) return [];
  const weaker = old.filter(({ name, assertions }) => {
    const same = now.filter((one) => one.name === name);
    return same.length > 0 && same.every((one) => one.assertions < assertions);
  });
  const named = weaker.length > 0 ? weaker : missing(old, now);
  return named.map(({ path, name }) => ({ kind: "assertions", path, what: name }));
}

/** A test file that is too long to read, or whose tests are of no known kind, still counts as one. */
function unread({ path, from = path, before, after }: Change): Weakening[] {
  const gone = after === null || !isFound(path, from);
  if (before === null || !gone || !isNamedTest(from)) return [];
  const source = parse(from, before);
  if (source !== null && (source.code.trim() === "" || listCases(from, source, new Map()).length > 0)) return [];
  return [{ kind: "removed", path: from, what: from.slice(from.lastIndexOf("/") + 1) }];
}

const settings = ({ path, before, after }: Change): Weakening[] =>
  before === null || after === null ? [] : configWeakenings(path, before, after);
