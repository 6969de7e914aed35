/** Files that hold code or packages and settings of tests: only the part about tests is put back as it was. */

import { attempt } from "../../kernel/attempt.ts";

/** The text of now with the test part of the beginning, where "" is a file that was not there. null: this file has no such part. */
export function withOldPart(path: string, before: string, now: string): string | null {
  const swap = SHARED.find(([pattern]) => pattern.test(path))?.[1];
  return swap ? swap(before, now) : null;
}

export const hasTestPart = (path: string) => SHARED.some(([pattern]) => pattern.test(path));

type Swap = (before: string, now: string) => string;

const SHARED: [RegExp, Swap][] = [
  [/(?:^|\/)package\.json$/, swapKeys],
  [
    /(?:^|\/)pyproject\.toml$/,
    (before, now) => swapTables(before, now, /^tool\.(?:pytest|coverage|tox|nox|hatch\.envs)\b/),
  ],
  [/(?:^|\/)Cargo\.toml$/, swapCargo],
  [/\.rs$/, swapTestModules],
  // They hold too much else to be put back: only what they leave out is looked at, where tests have no names.
  [/(?:^|\/)(?:pom\.xml|build\.gradle(?:\.kts)?)$/, (_before, now) => now],
];

// ── package.json ────────────────────────────────────────────────────────────

const KEYS = ["jest", "mocha", "ava", "vitest", "tap", "c8", "nyc", "cypress", "playwright", "babel"];

function swapKeys(before: string, now: string): string {
  const [old, current] = [parsed(before) ?? {}, parsed(now)];
  if (current === null) return now;
  const part = (value: Record<string, unknown>) => JSON.stringify(KEYS.map((key) => value[key]));
  if (part(old) === part(current)) return now;
  const rest = Object.entries(current).filter(([key]) => !KEYS.includes(key));
  const swapped = {
    ...Object.fromEntries(rest),
    ...Object.fromEntries(Object.entries(old).filter(([key]) => KEYS.includes(key))),
  };
  return `${JSON.stringify(swapped, null, 2)}\n`;
}

function parsed(text: string): Record<string, unknown> | null {
  const value = attempt(() => JSON.parse(text) as unknown, null);
  return typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown> | null) : null;
}

// ── TOML ────────────────────────────────────────────────────────────────────

interface Table {
  name: string;
  lines: string[];
}

/** Each header with the lines below it; the first has no header. */
function tablesIn(text: string): Table[] {
  const tables: Table[] = [{ name: "", lines: [] }];
  for (const line of text.split("\n")) {
    const header = /^\s*\[\[?\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/.exec(line)?.[1];
    if (header === undefined) tables.at(-1)!.lines.push(line);
    else tables.push({ name: header.replace(/["'\s]/g, ""), lines: [line] });
  }
  return tables;
}

const join = (tables: Table[]) => tables.map(({ lines }) => lines.join("\n")).join("\n");
const meaning = (tables: Table[]) =>
  join(tables)
    .replace(/^\s*#.*$/gm, "")
    .replace(/\s+/g, " ")
    .trim();

function swapTables(before: string, now: string, wanted: RegExp): string {
  const pick = (text: string) => tablesIn(text).filter(({ name }) => wanted.test(name));
  if (meaning(pick(before)) === meaning(pick(now))) return now;
  return join([...tablesIn(now).filter(({ name }) => !wanted.test(name)), ...pick(before)]);
}

const CARGO_LINE = /^\s*(?:autotests|autobenches|test|doctest|harness)\s*=/;

/** Whole tables about tests, and single lines of others that switch tests off. */
function swapCargo(before: string, now: string): string {
  const swapped = swapTables(before, now, /^(?:test|bench)$/);
  const lines = (text: string) =>
    new Map(tablesIn(text).map(({ name, lines: all }) => [name, all.filter((line) => CARGO_LINE.test(line))]));
  const [old, current] = [lines(before), lines(swapped)];
  const same = [...current].every(([name, found]) => found.join("\n") === (old.get(name) ?? []).join("\n"));
  if (same) return swapped;
  return join(
    tablesIn(swapped).map(({ name, lines: all }) => {
      const rest = all.filter((line) => !CARGO_LINE.test(line));
      return { name, lines: [...rest.slice(0, 1), ...(old.get(name) ?? []), ...rest.slice(1)] };
    }),
  );
}

// ── Rust ────────────────────────────────────────────────────────────────────

const MODULE =
  /^[ \t]*#\[cfg\((?:test|all\(test\b[^\n]*)\)\]\s*(?:#\[[^\n]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{/gm;

/** Modules for tests; what is around them is the code. */
function swapTestModules(before: string, now: string): string {
  const [old, current] = [splitModules(before), splitModules(now)];
  if (old.modules.join("\n") === current.modules.join("\n")) return now;
  return [current.code.trimEnd(), ...old.modules, ""].join("\n\n");
}

function splitModules(text: string): { code: string; modules: string[] } {
  const modules: string[] = [];
  let code = "";
  let at = 0;
  for (const match of text.matchAll(MODULE)) {
    if (match.index < at) continue;
    const end = blockEnd(text, match.index + match[0].length);
    code += text.slice(at, match.index);
    modules.push(text.slice(match.index, end).trimEnd());
    at = end;
  }
  return { code: code + text.slice(at), modules };
}

/** After the brace that closes the block; braces in strings, characters and comments do not count. */
function blockEnd(text: string, from: number): number {
  const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|r(#*)"[\s\S]*?"\1|"(?:\\[\s\S]|[^"\\])*"|'(?:\\.[^']*|[^'\\])'|[{}]/g;
  token.lastIndex = from;
  let depth = 1;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    if (match[0] === "{") depth++;
    if (match[0] === "}" && --depth === 0) return token.lastIndex;
  }
  return text.length;
}
