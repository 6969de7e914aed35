/** Settings of test runners that take tests out. */

import type { Weakening } from "../../kernel/types/verdict.ts";
import { closingIndex, lineEnd, readSource, type Source, splitParts } from "./source.ts";

const SCRIPTED =
  /(?:^|\/)(?:(?:vitest|vite|jest|playwright|cypress|karma|ava|wdio)[\w.-]*\.(?:config|workspace|conf)[\w.]*\.[cm]?[jt]s|jest\.config\.json|\.mocharc\.[cm]?js(?:on)?)$/;
const PACKAGE = /(?:^|\/)package\.json$/;
/** Lines that take tests out, by file. */
const LINES: [file: RegExp, line: RegExp][] = [
  [
    /(?:^|\/)(?:pytest\.ini|\.pytest\.ini|setup\.cfg|tox\.ini|pyproject\.toml|conftest\.py)$/,
    /--(?:ignore|ignore-glob|deselect)\b[=\s]*[^\s"',\]]*|(?:^|[\s"'=])-(?:k\b|m[\s"'\\]+not\b)[^\n]*|\bcollect_ignore(?:_glob)?\b[^\n]*|\bnorecursedirs\b[^\n]*/g,
  ],
  [/(?:^|\/)phpunit(?:\.dist)?\.xml(?:\.dist)?$/, /<exclude\b[^\n]*/g],
  [/(?:^|\/)\.rspec$/, /(?:--tag|-t)[ =]+~\S+|--exclude-pattern\s*\S+/g],
  [/(?:^|\/)\.mocharc\.ya?ml$/, /^\s*(?:ignore|exclude|grep|invert)\b[^\n]*/gm],
  [/(?:^|\/)bunfig\.toml$/, /\b(?:pathIgnorePatterns|testNamePattern|root)\b[^\n]*/gi],
  [
    /(?:^|\/)pom\.xml$/,
    /<(?:skipTests|maven\.test\.skip)>\s*true[^\n]*|<excludedGroups>[^\n]*|<exclude>[^\n]*(?:Test|IT)[^\n]*/g,
  ],
  [
    /(?:^|\/)build\.gradle(?:\.kts)?$/,
    /\bexcludeTestsMatching\b[^\n]*|\bexcludeTags\b[^\n]*|\bexclude\s*\(?["'][^\n]*Test[^\n]*/g,
  ],
];

export const isRunnerConfig = (path: string) =>
  SCRIPTED.test(path) || PACKAGE.test(path) || LINES.some(([file]) => file.test(path));

const LONGEST_TEXT = 1 << 16;

export function configWeakenings(path: string, before: string, after: string): Weakening[] {
  if (Math.max(before.length, after.length) > LONGEST_TEXT) return [];
  const lines = LINES.flatMap(([file, line]) => (file.test(path) ? added(before, after, line) : []));
  const excluded = (text: string) => (SCRIPTED.test(path) || PACKAGE.test(path) ? exclusions(path, text) : []);
  const old = new Set(excluded(before).map(({ value }) => value));
  const lists = excluded(after).flatMap(({ value, line }) => (old.has(value) ? [] : [line]));
  const script = PACKAGE.test(path) ? changedScript(before, after) : [];
  return [...new Set([...lines, ...lists, ...script])].map((what) => ({ kind: "skipped", path, what }));
}

const withoutComments = (text: string) => text.replace(/^\s*[#;].*$/gm, "").replace(/<!--.{0,5000}?-->/gs, "");

/** The whole line, so that it can be found. */
function added(before: string, after: string, pattern: RegExp): string[] {
  const old = (withoutComments(before).match(pattern) ?? []).map(closed);
  const lines = withoutComments(after).split("\n");
  return lines.flatMap((line) => {
    const news = (line.match(pattern) ?? []).filter((found) => !old.includes(closed(found)));
    return news.length > 0 ? [line.trim()] : [];
  });
}

const closed = (text: string) => text.replace(/\s+/g, "");

// ── Lists in scripts ────────────────────────────────────────────────────────

const EXCLUDING =
  /["']?\b(exclude|testPathIgnorePatterns|testIgnore|excludeSpecPattern|grepInvert|testNamePattern|modulePathIgnorePatterns|ignore|excludedTests)\b["']?\s*:\s*/g;

function exclusions(path: string, text: string): { value: string; line: string }[] {
  const source = readSource(text, "js");
  const { code } = source;
  const scope = aboutTests(path, source);
  return [...scope.matchAll(EXCLUDING)].flatMap((match) => {
    const from = match.index + match[0].length;
    const list = code[from] === "[";
    const end = list ? closingIndex(source, from) : valueEnd(source, from);
    const parts = list ? splitParts(source, from + 1, end) : [[from, end] as [number, number]];
    return parts.map(([start, stop]) => ({
      value: `${match[1]}:${code.slice(start, stop).trim()}`,
      line: lineAt(code, start, stop),
    }));
  });
}

function valueEnd(source: Source, from: number): number {
  const { bare } = source;
  const [first] = splitParts(source, from, bare.length);
  const end = first?.[1] ?? bare.length;
  const stop = /[\n}]/.exec(bare.slice(from, end));
  return stop ? from + stop.index : end;
}

function lineAt(code: string, start: number, stop: number): string {
  const at = start + /^\s*/.exec(code.slice(start, stop))![0].length;
  return code.slice(code.lastIndexOf("\n", at) + 1, lineEnd(code, at)).trim();
}

/** What is measured or bundled is another matter; vite's file has a part for tests, package.json one for jest. */
function aboutTests(path: string, source: Source): string {
  const { bare, code } = source;
  const hide = (text: string, from: number, to: number) => text.slice(0, from) + " ".repeat(to - from) + text.slice(to);
  let scope = code;
  for (const match of bare.matchAll(
    /\b(?:coverage|watch\w*|server|optimizeDeps|build|deps|benchmark|typecheck)\s*:\s*\{/g,
  )) {
    const open = match.index + match[0].length - 1;
    scope = hide(scope, open, Math.min(closingIndex(source, open) + 1, code.length));
  }
  const part = PACKAGE.test(path)
    ? /["'](?:jest|mocha|ava|vitest)["']\s*:\s*\{/
    : /(?:^|\/)vite\./.test(path)
      ? /\btest\s*:\s*\{/
      : null;
  if (part === null) return scope;
  const found = part.exec(code);
  if (!found) return " ".repeat(code.length);
  const open = found.index + found[0].length - 1;
  return hide(hide(scope, 0, open), closingIndex(source, open), code.length);
}

// ── package.json ────────────────────────────────────────────────────────────

function changedScript(before: string, after: string): string[] {
  const old = testScript(before);
  const now = testScript(after);
  if (old === null || old.value === now?.value) return [];
  return [now?.line ?? old.line];
}

function testScript(text: string): { value: string; line: string } | null {
  const scripts = /"scripts"\s*:\s*\{/.exec(text);
  const found = scripts && /("test"\s*:\s*"((?:[^"\\]|\\.)*)")/.exec(text.slice(scripts.index));
  return found ? { value: found[2]!, line: found[1]! } : null;
}
