/** The tests of a file, and how much each of them checks. */
import { assertionsIn, helpersIn } from "./assertions.ts";
import { findLanguage, LANGUAGES } from "./languages.ts";
import { readSource, type Source } from "./source.ts";
import { listUnits, type Unit } from "./units.ts";

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
export function parseCases(path: string, text: string): Source | null {
  const language = findLanguage(path);
  return language === null || text.length > LONGEST_TEXT ? null : readSource(text.replaceAll("\r\n", "\n"), language);
}

export function findHelpers(source: Source): Helpers {
  return helpersIn(source, listUnits(source));
}

export function listCases(path: string, source: Source, helpers: Helpers): Case[] {
  const units = listUnits(source);
  const line = skippedFile(source);
  const open: Unit[] = [];
  return units.flatMap((unit, i) => {
    while (open.length > 0 && open.at(-1)!.end < unit.end) open.pop();
    if (open.length >= DEEPEST) return [];
    open.push(unit);
    return unit.group ? [] : [{ path, ...buildCase(source, [...open], testsInside(units, i), line, helpers) }];
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

/** `outside`: its groups and itself; `inside`: tests of their own inside this one; `line` takes the whole file out. */
function buildCase(
  source: Source,
  outside: Unit[],
  inside: Unit[],
  line: string | null,
  helpers: Helpers,
): Omit<Case, "path"> {
  const unit = outside.at(-1)!;
  const gaps = findGaps(unit.body, inside);
  const checks = gaps.map((gap) => assertionsIn(source, gap, helpers));
  const code = source.code.slice(...unit.body);
  return {
    name: unit.name,
    full: outside.map(({ name }) => name).join(" > "),
    skipped: line ?? outside.find(({ skipped }) => skipped)?.name ?? null,
    focused: outside.find(({ focused }) => focused)?.name ?? null,
    leaves: leavesIn(source, gaps),
    assertions: checks.flatMap(({ found }) => found),
    unknown: checks.some(({ unknown }) => unknown),
    body: code.replace(/\s+/g, ""),
    words: code.match(/\w+/g) ?? [],
    rows: unit.rows,
  };
}

/** What is left of a body between the tests inside it. */
function findGaps([from, to]: Unit["body"], inside: Unit[]): Unit["body"][] {
  const gaps: Unit["body"][] = [];
  let at = from;
  for (const { start, end } of inside) {
    if (start > at) gaps.push([at, start]);
    at = Math.max(at, end);
  }
  return [...gaps, [at, Math.max(at, to)]];
}

// ── Giving up ───────────────────────────────────────────────────────────────

function leavesIn({ language, bare }: Source, gaps: Unit["body"][]): number {
  const text = gaps.map((gap) => bare.slice(...gap)).join("");
  const returned = /^[\s"']*return\b[ \t]*(?:nil|None|null|undefined|true|false|\(\))?[ \t]*(?:;|\n|$)/.exec(text);
  const early = returned && text.slice(returned[0].length).replace(/[}\s]/g, "") !== "" ? 1 : 0;
  return (text.match(LANGUAGES[language].leaves ?? /(?!)/g)?.length ?? 0) + early;
}

/** A line that takes the whole file out. */
function skippedFile({ language, bare, text }: Source): string | null {
  const found = LANGUAGES[language].fileLine?.exec(language === "go" ? text : bare);
  return found ? text.slice(found.index, found.index + found[0].length).trim() : null;
}
