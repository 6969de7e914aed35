/** The tests of a file, and how much each of them checks. */
import { assertionsIn, helpersIn } from "./tests-assertions.ts";
import { callUnits, rubyUnits } from "./tests-calls.ts";
import { type Language, languageOf, readSource, type Source } from "./tests-source.ts";
import { functionUnits, pythonUnits, type Unit } from "./tests-units.ts";

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
  rows: number;
}

/** Helpers by name, with the assertions they make. */
export type Helpers = Map<string, string[]>;

export function sourceOf(path: string, text: string): Source | null {
  const language = languageOf(path);
  return language === null ? null : readSource(text.replaceAll("\r\n", "\n"), language);
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
  return units.flatMap((unit, i) => {
    if (unit.group) return [];
    const around = units
      .slice(0, i)
      .filter((other) => other.start <= unit.start && other.end >= unit.end && other !== unit);
    return [caseOf(path, source, unit, around, line, helpers)];
  });
}

function caseOf(path: string, source: Source, unit: Unit, around: Unit[], line: string | null, helpers: Helpers): Case {
  const outside = [...around, unit];
  const { found, unknown } = assertionsIn(source, unit.body, helpers);
  return {
    path,
    name: unit.name,
    full: outside.map(({ name }) => name).join(" > "),
    skipped: line ?? outside.find(({ skipped }) => skipped)?.name ?? null,
    focused: outside.find(({ focused }) => focused)?.name ?? null,
    leaves: leavesIn(source, unit.body),
    assertions: found,
    unknown,
    body: source.code.slice(...unit.body).replace(/\s+/g, ""),
    rows: unit.rows,
  };
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

function leavesIn({ language, bare }: Source, body: Unit["body"]): number {
  const text = bare.slice(...body);
  const returned =
    /^(?:\s|["']{2,}|["']\s*["'])*return\b[ \t]*(?:nil|None|null|undefined|true|false|\(\))?[ \t]*(?:;|\n|$)/.exec(
      text,
    );
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
