/** The tests of a file, and how much each of them checks. */
import { assertionsIn, helpersIn } from "./assertions.ts";
import { callUnits, rubyUnits } from "./calls.ts";
import { type Language, languageOf, readSource, type Source } from "./source.ts";
import { functionUnits, pythonUnits, type Unit } from "./units.ts";

export interface Case {
  path: string;
  name: string;
  /** the names of its groups, outermost first, and its own */
  full: string;
  /** what keeps it from being run: its own name, a group's, or a line; null: nothing */
  skipped: string | null;
  focused: string | null;
  /** places inside it where it gives itself up */
  leaves: number;
  /** each real assertion as it is written, those of helpers included */
  assertions: string[];
  /** it calls something that may check more, and that is in no file at hand */
  unknown: boolean;
  /** without comments and white space */
  body: string;
  /** its words in order */
  words: string[];
  rows: number;
}

/** Helpers by name, with the assertions they make. */
export type Helpers = Map<string, string[]>;

const LONGEST_TEXT = 1 << 19;

/** null: no language that is known, or more than anyone writes. */
export function sourceOf(path: string, text: string): Source | null {
  const language = languageOf(path);
  return language === null || text.length > LONGEST_TEXT ? null : readSource(text.replaceAll("\r\n", "\n"), language);
}

const FINDERS: Partial<Record<Language, (source: Source) => Unit[]>> = {
  js: callUnits,
  python: pythonUnits,
  ruby: rubyUnits,
};

function unitsOf(source: Source): Unit[] {
  const find = FINDERS[source.language] ?? ((one: Source) => [...functionUnits(one), ...callUnits(one)]);
  return find(source).sort((a, b) => a.start - b.start || b.end - a.end);
}

export function helpersOf(source: Source): Helpers {
  return helpersIn(source, unitsOf(source));
}

export function casesOf(path: string, source: Source, helpers: Helpers): Case[] {
  const units = unitsOf(source);
  const line = skippedFile(source);
  const open: Unit[] = [];
  return units.flatMap((unit, i) => {
    while (open.length > 0 && open.at(-1)!.end < unit.end) open.pop();
    if (open.length >= DEEPEST) return [];
    const around = [...open];
    open.push(unit);
    return unit.group ? [] : [caseOf(path, source, unit, { around, inside: testsInside(units, i), line }, helpers)];
  });
}

/** Real tests are not nested as deep as this. */
const DEEPEST = 30;

function testsInside(units: Unit[], i: number): Unit[] {
  const inside: Unit[] = [];
  for (let j = i + 1; j < units.length && units[j]!.start < units[i]!.end; j++)
    if (!units[j]!.group) inside.push(units[j]!);
  return inside;
}

interface Setting {
  around: Unit[];
  /** tests of their own inside this one */
  inside: Unit[];
  line: string | null;
}

function caseOf(path: string, source: Source, unit: Unit, { around, inside, line }: Setting, helpers: Helpers): Case {
  const outside = [...around, unit];
  const checks = gapsOf(unit.body, inside).map((gap) => assertionsIn(source, gap, helpers));
  const code = source.code.slice(...unit.body);
  return {
    path,
    name: unit.name,
    full: outside.map(({ name }) => name).join(" > "),
    skipped: line ?? outside.find(({ skipped }) => skipped)?.name ?? null,
    focused: outside.find(({ focused }) => focused)?.name ?? null,
    leaves: leavesIn(source, unit.body, inside),
    assertions: checks.flatMap(({ found }) => found),
    unknown: checks.some(({ unknown }) => unknown),
    body: code.replace(/\s+/g, ""),
    words: code.match(/\w+/g) ?? [],
    rows: unit.rows,
  };
}

/** What is left of a body between the tests inside it. */
function gapsOf([from, to]: Unit["body"], inside: Unit[]): Unit["body"][] {
  const gaps: Unit["body"][] = [];
  let at = from;
  for (const { start, end } of inside) {
    if (start > at) gaps.push([at, start]);
    at = Math.max(at, end);
  }
  return [...gaps, [at, Math.max(at, to)]];
}

// ── Giving up ───────────────────────────────────────────────────────────────

const LEAVES: Record<Language, RegExp> = {
  js: /\b(?:this|t|ctx|context|test|it|testInfo)\s*\.\s*(?:skip|fixme|todo)\s*\(/g,
  python: /\b(?:pytest\s*\.\s*(?:skip|xfail|importorskip)|self\s*\.\s*skipTest)\s*\(|\bSkipTest\b/g,
  go: /\.\s*Skip(?:f|Now)?\s*\(/g,
  rust: /(?!)/g,
  php: /\b(?:markTestSkipped|markTestIncomplete)\s*\(/g,
  ruby: /^[ \t]*(?:skip|pending)\b/gm,
  java: /\bassum(?:e|ing)\w*\s*\(/g,
  kotlin: /\bassum(?:e|ing)\w*\s*\(/g,
  csharp: /\bAssert\s*\.\s*(?:Ignore|Inconclusive)\s*\(|\bSkip\s*\.\s*\w+\s*\(/g,
};

function leavesIn({ language, bare }: Source, body: Unit["body"], inside: Unit[]): number {
  const text = gapsOf(body, inside)
    .map((gap) => bare.slice(...gap))
    .join("");
  const returned = /^[\s"']*return\b[ \t]*(?:nil|None|null|undefined|true|false|\(\))?[ \t]*(?:;|\n|$)/.exec(text);
  const early = returned && text.slice(returned[0].length).replace(/[}\s]/g, "") !== "" ? 1 : 0;
  return (text.match(LEAVES[language])?.length ?? 0) + early;
}

/** A line that takes the whole file out. */
function skippedFile({ language, bare, text }: Source): string | null {
  const found = FILE_LINES[language]?.exec(language === "go" ? text : bare);
  return found ? text.slice(found.index, found.index + found[0].length).trim() : null;
}

const FILE_LINES: Partial<Record<Language, RegExp>> = {
  python:
    /^(?:pytestmark[ \t]*=[^\n]*\b(?:skip\w*|xfail)\b|(?:pytest\s*\.\s*(?:skip|importorskip)\s*\(|raise[ \t]+(?:unittest\s*\.\s*)?SkipTest\b))[^\n]*/m,
  go: /^\/\/(?:go:build|[ \t]*\+build)[ \t][^\n]*/m,
  rust: /^#!\[\s*cfg\s*\((?!\s*test\s*\))[^\n]*/m,
  js: /^(?:describe|test|it)\s*\.\s*skip\s*\(\s*\)/m,
};
