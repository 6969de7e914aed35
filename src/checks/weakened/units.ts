/** Where a source file has its tests, which of them are run, and how much each of them checks. */
import { TRIVIAL } from "./languages.ts";
import { closingIndex, countElements, type Source } from "./source.ts";

/** A test, a group of tests, or another function. All numbers are places in the text. */
interface Unit {
  what: "test" | "group" | "other";
  name: string;
  start: number;
  end: number;
  skipped: boolean;
  focused: boolean;
  /** how many times a table lets it run */
  rows: number;
}

export interface Case {
  path: string;
  name: string;
  /** it is run: neither it nor its group is skipped, and it does not give itself up */
  live: boolean;
  /** its own name or its group's */
  focused: string | null;
  rows: number;
  /** real assertions, those of helpers included, for all rows */
  assertions: number;
  /** what it calls that may check more */
  checks: string[];
}

/** Functions that are no tests, with the number of assertions that each makes. */
export type Helpers = Map<string, number>;

function declaredUnits(source: Source): Unit[] {
  const { bare, text, language } = source;
  const found = [
    ...[...bare.matchAll(language.groups ?? /(?!)/g)].map((match) => ({ match, group: true })),
    ...[...bare.matchAll(language.declared)].map((match) => ({ match, group: false })),
  ].sort((a, b) => a.match.index - b.match.index);
  let before = 0;
  let functionEnd = 0;
  return found.flatMap(({ match, group }) => {
    // A function inside a function of Python is no test.
    if (language.indented === "python" && match.index < functionEnd) return [];
    const declaration = match[0];
    const start = match.index;
    const lineEnd = endOfLine(bare, start);
    const headFrom = Math.max(before, start - 1_000);
    const head = language.indented === "ruby" ? source.bare.slice(start, lineEnd) : bare.slice(headFrom, start);
    const { from, end } = bodyOf(source, start, declaration);
    before = group || language.indented === "ruby" ? from : end;
    if (!group) functionEnd = end;
    const isTest = !group && language.isTest?.(declaration, head, text.slice(headFrom, start)) === true;
    const unit: Unit = {
      what: group ? "group" : isTest ? "test" : "other",
      name: nameOf(source, match),
      start,
      end,
      skipped: language.skipped?.test(head) ?? false,
      focused: language.focused?.test(head) ?? false,
      rows: rowsIn(source, headFrom, head),
    };
    return [unit];
  });
}

/** Written out, or a string after the word. */
function nameOf({ text }: Source, match: RegExpExecArray): string {
  const rest = text.slice(match.index, endOfLine(text, match.index));
  const name = match[1] ?? match[2];
  if (name !== undefined && !/["']/.test(name)) return name.replaceAll("`", "").trim();
  return /(["'])(.*?)\1/.exec(rest)?.[2] ?? rest.replace(/^\s*\w+\s*/, "").trim();
}

function rowsIn(source: Source, headFrom: number, head: string): number {
  const { rows } = source.language;
  if (rows?.global) return Math.max(1, head.match(rows)?.length ?? 0);
  const table = rows?.exec(head);
  return table ? Math.max(1, countElements(source, headFrom + table.index + table[0].length)) : 1;
}

const endOfLine = (text: string, at: number) => {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
};

/** Python: up to a line that is not deeper. Ruby: up to the `end` below it. Else: what the next brace holds, or the line. */
function bodyOf(source: Source, start: number, declaration: string): { from: number; end: number } {
  const { bare, language } = source;
  const at = start + declaration.length;
  const line = endOfLine(bare, at);
  const indent = /^[ \t]*/.exec(bare.slice(start, line))![0].length;
  if (language.indented === "python") {
    const open = bare.indexOf("(", start);
    const from = open >= 0 && open < line ? closingIndex(source, open) : line;
    return { from, end: nextMatch(bare, new RegExp(String.raw`\n[ \t]{0,${indent}}[^\s)\]}]`, "g"), from) };
  }
  if (language.indented === "ruby") {
    const brace = /\{[^|]*$|\{\s*\|/.test(bare.slice(start, line)) && !/\bdo\b/.test(bare.slice(start, line));
    if (brace) return { from: at, end: closingIndex(source, bare.indexOf("{", start)) };
    if (/\bend\s*$/.test(bare.slice(start, line))) return { from: at, end: line };
    return { from: line, end: nextMatch(bare, new RegExp(String.raw`\n[ \t]{${indent}}end\b`, "g"), line) };
  }
  const after = declaration.endsWith("(")
    ? closingIndex(source, at - 1) + 1
    : at - (declaration.endsWith("=>") ? 2 : 1);
  const open = /[{;]|=>?/.exec(bare.slice(after, after + 500));
  if (!open || open[0] === ";") return { from: at, end: at };
  const brace = open[0] === "{" ? after + open.index : bare.indexOf("{", after);
  if (brace >= 0 && brace <= endOfLine(bare, after + open.index))
    return { from: brace, end: closingIndex(source, brace) };
  return { from: at, end: endOfLine(bare, after + open.index) };
}

function nextMatch(bare: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(bare)?.index ?? bare.length;
}

// ── Calls with a name and a function ────────────────────────────────────────

const PART = /\s{0,100}(?:\.\s{0,40}(\w+)|[(`])/y;
/** Of the same object, with a name and a function, but no tests. */
const NO_TEST = /^(?:step|use|extend|slow|info|configure|expect|mock|(?:before|after)(?:Each|All)?)$/;
const SKIPPING = /^(?:x\w+|skip|todo|fixme|failing|fails|skipIf|runIf|todoIf)$/;

function callUnits(source: Source): Unit[] {
  return [...source.bare.matchAll(source.language.calls ?? /(?!)/g)].flatMap((match) => callUnit(source, match) ?? []);
}

/** Over ".only", ".each(table)" and ".each`table`" to the brackets with the name and the function. */
function callUnit(source: Source, { 0: word, index: start }: RegExpExecArray): Unit | null {
  const { bare, text } = source;
  const words: string[] = [];
  let rows = 1;
  PART.lastIndex = start + word.length;
  for (let part = PART.exec(bare); part; part = PART.exec(bare)) {
    if (part[1]) {
      words.push(part[1]);
      continue;
    }
    const open = PART.lastIndex - 1;
    const close = bare[open] === "`" ? bare.indexOf("`", open + 1) : closingIndex(source, open);
    if (close < 0) return null;
    const isTable = words.length > 0 && /^\s*[(`]/.test(bare.slice(close + 1, close + 100));
    if (!isTable) return readCall(source, [word, ...words], { start, end: close, rows }, open);
    const list = bare.indexOf("[", open);
    // The head of a table that is a text is a line, too.
    if (bare[open] === "`") rows = Math.max(1, text.slice(open, close).trim().split("\n").length - 2);
    else if (list > open && list < close) rows = Math.max(1, countElements(source, list));
    PART.lastIndex = close + 1;
  }
  return null;
}

function readCall(
  source: Source,
  words: string[],
  place: Pick<Unit, "start" | "end" | "rows">,
  open: number,
): Unit | null {
  const { bare, text } = source;
  const close = place.end;
  if (close === bare.length || words.some((one) => NO_TEST.test(one))) return null;
  const own = bare.slice(open, close);
  const body = own.search(/=>|\bfunction\b|\bfunc\b|\bfn\b/);
  const name = /^\s*(["'`])((?:\\.|(?!\1)[\s\S])*)\1/.exec(text.slice(open + 1, close))?.[2];
  if (name === undefined && body < 0) return null;
  const options = body < 0 ? "" : own.slice(0, body);
  const after = bare.slice(close + 1, close + 200).split(";")[0]!;
  return {
    what: /describe|context|suite/.test(words.join(" ")) ? "group" : "test",
    name: name ?? text.slice(open + 1, open + 1 + /^[^,]{0,100}/.exec(own.slice(1))![0].length).trim(),
    ...place,
    skipped:
      words.some((one) => SKIPPING.test(one)) ||
      (body < 0 && !/,/.test(own)) ||
      /\b(?:skip|todo)\s{0,9}:\s{0,9}(?!\s|false)/.test(options) ||
      /->(?:skip|todo)\(/.test(after),
    focused:
      /^f(?!eature)/.test(words[0]!) ||
      words.includes("only") ||
      /\bonly\s{0,9}:\s{0,9}true/.test(options) ||
      /->only\(/.test(after),
  };
}

// ── What they check ─────────────────────────────────────────────────────────

const CALL = /(?<![\w$])([A-Za-z_]\w*)\s{0,9}!?\s{0,9}\(/g;
const CHECKING = /^(?:assert|expect|check|verify|ensure|should|must)(?:_|[A-Z])\w/;
/** What the usual libraries call theirs. */
const KNOWN =
  /^(?:assert_\w+|(?:assert|expect)(?:That|\w*Equals?|Not\w*|True|False|Null|Same|Throws|\w*Contains|Raises|In|Is\w*|Almost\w*|Array\w*|Count|Empty|Does\w*|All|Greater\w*|Less\w*|Regex\w*|String\w*|Instance\w*|Has\w*|Status|Json\w*|Exception\w*|TypeOf|Error))$/;
/** A test that gives itself up at once. */
const RETURNS =
  /^[^{;]{0,300}?[{:]\s*(?:["'][^\n]*\s*)?return\b[ \t]*(?:nil|None|null|undefined|true|false|\(\))?[ \t]*(?:;|\n)/;

const listUnits = (source: Source): Unit[] =>
  [...declaredUnits(source), ...callUnits(source)].sort((a, b) => a.start - b.start || b.end - a.end);

const callsIn = (bare: string) => [...bare.matchAll(CALL)].map((match) => match[1]!);

function ownAssertions({ bare, code, language }: Source, from: number, to: number): number {
  const all = bare.slice(from, to).match(language.assertions)?.length ?? 0;
  return all === 0 ? 0 : all - (code.slice(from, to).match(TRIVIAL)?.length ?? 0);
}

export function findHelpers(source: Source): Helpers {
  const others = listUnits(source).filter(({ what, name }) => what === "other" && name !== "");
  return new Map(others.map(({ name, start, end }) => [name, ownAssertions(source, bodyStart(source, start), end)]));
}

/** Behind its own name, which may be that of an assertion. */
const bodyStart = ({ bare }: Source, start: number) =>
  start + (/^[^(\n]*\(?/.exec(bare.slice(start, start + 300))?.[0].length ?? 0);

/** Real tests are not nested as deep as this. */
const DEEPEST = 30;

export function listCases(path: string, source: Source, helpers: Helpers): Case[] {
  const isOut = source.language.fileLine?.test(source.bare) ?? false;
  const units = listUnits(source).filter(({ what }) => what !== "other");
  const open: Unit[] = [];
  return units.flatMap((unit, i) => {
    while (open.length > 0 && open.at(-1)!.end < unit.end) open.pop();
    if (open.length >= DEEPEST) return [];
    open.push(unit);
    if (unit.what === "group") return [];
    // What is inside another test is counted there.
    const inner = units[i + 1];
    const end = inner && inner.what === "test" && inner.start < unit.end ? inner.start : unit.end;
    return [{ path, ...readCase(source, unit, end, open, helpers, isOut) }];
  });
}

function readCase(source: Source, unit: Unit, end: number, around: Unit[], helpers: Helpers, isOut: boolean) {
  const { bare, language } = source;
  const own = bare.slice(unit.start, end);
  const calls = callsIn(bare.slice(bodyStart(source, unit.start), end));
  const twice = (name: string) => (helpers.has(name) && `${name}(`.match(language.assertions) ? 1 : 0);
  // A helper that has the name of an assertion is counted by what it does.
  const lent = calls.reduce((sum, name) => sum + (helpers.get(name) ?? 0) - twice(name), 0);
  return {
    name: unit.name,
    live: !isOut && !around.some(({ skipped }) => skipped) && !language.leaves?.test(own) && !RETURNS.test(own),
    focused: around.find(({ focused }) => focused)?.name ?? null,
    rows: unit.rows,
    assertions: unit.rows * (ownAssertions(source, bodyStart(source, unit.start), end) + lent),
    checks: calls.filter((name) => CHECKING.test(name) && !KNOWN.test(name) && !helpers.has(name)),
  };
}
