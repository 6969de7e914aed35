/** Words in product code that have to do with the tests that judge it: the runner, its assertions, an exit. */

/** By the ending of the file. Node's runner, for example, counts a test file that exits early as passed. */
const WORDS: [ending: RegExp, words: RegExp][] = [
  [
    /\.[cm]?[jt]sx?$/,
    /\bnode:(?:assert|test)\b|(?<=["'])(?:assert|vitest|jest|mocha|chai|bun:test|@jest\/globals)(?=["'/])|\bNODE_TEST_CONTEXT\b|\bprocess\.(?:exit|reallyExit|abort)\b/g,
  ],
  [/\.py$/, /\b_?pytest\b|\bunittest\b|\bos\._exit\b|\bsys\.exit\b/g],
  [/\.go$/, /(?<=")testing(?=")|\bos\.Exit\b/g],
  [/\.rs$/, /\bprocess::(?:exit|abort)\b/g],
  [/\.rb$/, /\bRSpec\b|\bMinitest\b|\bexit!/g],
  [/\.php$/, /\bPHPUnit\b|\bexit\b(?=\s*\()/g],
  [/\.exs?$/, /\bExUnit\b|\bSystem\.halt\b/g],
];
const OURS = /\bPAWL_\w+/g;

/** What git is asked for first: a line that may hold one of these words. */
export const ANY_WORD =
  "assert|node:test|vitest|jest|mocha|chai|bun:test|NODE_TEST_CONTEXT|process|pytest|unittest|exit|Exit|testing|RSpec|Minitest|PHPUnit|ExUnit|System.halt|PAWL_";

export const isProductCode = (path: string) => WORDS.some(([ending]) => ending.test(path));

export function findWords(path: string, text: string): string[] {
  const words = WORDS.find(([ending]) => ending.test(path))?.[1];
  return [...new Set([...(words ? (text.match(words) ?? []) : []), ...(text.match(OURS) ?? [])])];
}

const isExit = (word: string) => /exit|abort|halt/i.test(word);

/** "calc.js now mentions the test runner (node:assert)" */
export function renderMention(path: string, words: string[]): string {
  const [runner, exits] = [words.filter((word) => !isExit(word)), words.filter(isExit)];
  const parts = [runner.length > 0 ? `the test runner (${runner.join(", ")})` : "", exits.join(", ")];
  return `${path} now mentions ${parts.filter((part) => part !== "").join(" and ")}`;
}
