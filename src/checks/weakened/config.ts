/** Lines in the settings of test runners that take tests out, by file. */
import type { Weakening } from "../../kernel/types/verdict.ts";

const JEST = "testPathIgnorePatterns|testNamePattern|modulePathIgnorePatterns";
const LISTS = `exclude|testIgnore|excludeSpecPattern|grepInvert|excludedTests|ignore|grep|invert|${JEST}`;
const listIn = (keys: string) => new RegExp(String.raw`["']?\b(?:${keys})\b["']?\s*:\s*(?:\[[^\]]*|[^,\n}]+)`, "g");

const LINES: [file: RegExp, line: RegExp][] = [
  [
    /(?:^|\/)(?:(?:vitest|vite|jest|playwright|cypress|karma|ava|wdio)[\w.-]*\.(?:config|workspace|conf)[\w.]*\.\w+|\.mocharc[\w.]*)$/,
    listIn(LISTS),
  ],
  [/(?:^|\/)package\.json$/, listIn(JEST)],
  [
    /(?:^|\/)(?:\.?pytest\.ini|setup\.cfg|tox\.ini|pyproject\.toml|conftest\.py)$/,
    /--(?:ignore|ignore-glob|deselect)\b[=\s]*[^\s"',\]]*|(?:^|[\s"'=])-(?:k\b|m[\s"'\\]+not\b)[^\n]*|\bcollect_ignore(?:_glob)?\b[^\n]*|\bnorecursedirs\b[^\n]*/g,
  ],
  [/(?:^|\/)phpunit(?:\.dist)?\.xml(?:\.dist)?$/, /<exclude\b[^\n]*/g],
  [/(?:^|\/)\.rspec$/, /(?:--tag|-t)[ =]+~\S+|--exclude-pattern\s*\S+/g],
  [/(?:^|\/)bunfig\.toml$/, /\b(?:pathIgnorePatterns|testNamePattern|root)\b[^\n]*/gi],
  [
    /(?:^|\/)(?:pom\.xml|build\.gradle(?:\.kts)?)$/,
    /<(?:skipTests|maven\.test\.skip)>\s*true|<excludedGroups>[^\n]*|<exclude>[^\n]*(?:Test|IT)[^\n]*|\bexclude(?:TestsMatching|Tags)\b[^\n]*|\bexclude\s*\(?["'][^\n]*Test[^\n]*/g,
  ],
];

const LONGEST_TEXT = 1 << 16;
/** Comments, and what is measured or bundled and not run. */
const OTHER =
  /^\s*(?:[#;]|\/\/).*$|<!--[\s\S]{0,5000}?-->|\b(?:coverage|watch\w*|server|optimizeDeps|build|deps)\s*:\s*\{[^{}]*\}/gm;

export function configWeakenings(path: string, before: string, after: string): Weakening[] {
  if (Math.max(before.length, after.length) > LONGEST_TEXT) return [];
  const pattern = LINES.find(([file]) => file.test(path))?.[1];
  if (pattern === undefined) return [];
  const marks = (text: string) =>
    (text.replace(OTHER, "").match(pattern) ?? []).flatMap((found) => found.split(/[[,\]]/)).map((mark) => mark.trim());
  const old = new Set(marks(before));
  const added = marks(after).filter((mark) => mark !== "" && !/[:=]$/.test(mark) && !old.has(mark));
  return added.map((what) => ({ kind: "skipped", path, what }));
}
