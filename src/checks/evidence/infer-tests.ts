/** Which test runs count, which red ones are still red, and what was changed after them. */

import type { ToolCall } from "../../kernel/types/run.ts";
import { listChanges } from "./edits.ts";
import { readCommandLine, type TestRun, testRuns } from "./evidence.ts";
import { parseShell, programName } from "./shell.ts";
import { testCommand } from "./test-commands.ts";

export interface TestState {
  last: TestRun | null;
  /** a failed run that no later passing run of the same tests made good */
  red: TestRun | null;
  /** what was changed after the last run */
  changed: string | null;
}

interface Located {
  run: TestRun;
  runners: string[];
  /** where the line went first: "" is not known */
  folder: string;
}

export function testState(calls: ToolCall[]): TestState {
  let red: Located[] = [];
  let last: TestRun | null = null;
  let from = 0;
  for (const [place, call] of calls.entries()) {
    const runs = located(call);
    for (const one of runs) {
      if (one.run.verdict === "fail") red.push(one);
      if (one.run.verdict === "pass") red = red.filter((old) => !makesGood(one, old));
    }
    if (runs.length > 0) {
      last = runs.at(-1)!.run;
      from = place;
    }
  }
  return { last, red: red.at(-1)?.run ?? null, changed: lastChange(calls.slice(from)) };
}

/** From the end: mostly it is near. */
function lastChange(calls: ToolCall[]): string | null {
  for (const call of calls.toReversed()) {
    const found = behindTests(call);
    if (found !== null) return found;
  }
  return null;
}

function located(call: ToolCall): Located[] {
  const runs = testRuns([call]);
  if (runs.length === 0) return [];
  const { commands } = parseShell(readCommandLine(call.input));
  const folder = commands.find(({ words }) => words[0] === "cd")?.words[1] ?? "";
  const seen = runs.at(-1)!.tally?.runner.split("+");
  return runs.map((run) => ({ run, folder, runners: seen ?? testCommand(run.command.split(" "))?.runners ?? [] }));
}

function makesGood(green: Located, red: Located): boolean {
  if (green.folder !== red.folder && green.folder !== "" && red.folder !== "") return false;
  return green.run.command === red.run.command || green.runners.some((runner) => red.runners.includes(runner));
}

/** Files a call changed, or may have changed. */
export function changedBy(call: ToolCall): string[] {
  return [
    ...listChanges(call)
      .flatMap((change) => change.edited)
      .filter(isInside),
    ...writersIn(call, 0),
  ];
}

/** Scratch files are not the work. */
export const isInside = (path: string) =>
  !/^(?:\/tmp\/|\/var\/tmp\/|\/dev\/)|(?:^|\/)session\.md$|(?:^|\/)\.(?:claude|beads|pawl)\//.test(path);

function behindTests(call: ToolCall): string | null {
  const changes = listChanges(call);
  const later = changes.slice(changes.findLastIndex((change) => change.tests) + 1);
  const edited = later.flatMap((change) => change.edited).findLast(isInside);
  const { commands } = parseShell(readCommandLine(call.input));
  const tested = commands.findLastIndex(({ words }) => testCommand(words) !== null);
  return edited ?? writersIn(call, tested + 1).at(-1) ?? null;
}

// ── What writes without naming its files ────────────────────────────────────

const FORMATTERS: Record<string, RegExp> = {
  prettier: /^(?:--write|-w)$/,
  eslint: /^--fix$/,
  biome: /^(?:--write|--fix|--apply.*)$/,
  stylelint: /^--fix$/,
  ruff: /^(?:format|--fix)$/,
  black: /^(?!--check|--diff)/,
  isort: /^(?!--check|--diff|-c$)/,
  gofmt: /^-w$/,
  goimports: /^-w$/,
  cargo: /^(?:fmt|fix|add|remove|update)$/,
  rustfmt: /^(?!--check)/,
  go: /^(?:fmt|generate|get)$/,
  npm: /^(?:i|install|uninstall|update|format|fmt|lint:fix|generate|codegen)$/,
  pnpm: /^(?:i|install|add|remove|update|format|fmt|lint:fix|generate|codegen)$/,
  yarn: /^(?:install|add|remove|upgrade|format|fmt|lint:fix|generate|codegen)$/,
};
const INTERPRETERS = /^(?:python[\d.]*|node|ruby|perl|php|deno|bun)$/;

function writersIn(call: ToolCall, from: number): string[] {
  const line = readCommandLine(call.input);
  if (line === "" || call.name === "Read") return [];
  const commands = parseShell(line).commands.slice(from);
  return commands
    .map(({ words }) => words)
    .filter((words) => mayWrite(words, line))
    .map((words) => words.join(" ").slice(0, 60));
}

/** A formatter that writes, or a script in the line itself: what it did cannot be seen. */
function mayWrite(words: string[], line: string): boolean {
  const name = programName(words[0]);
  const args = words.slice(1);
  if (INTERPRETERS.test(name))
    return args.some((word) => /^(?:-c|-e|-i|--eval|-)$/.test(word)) || (args.length === 0 && /<<|\|/.test(line));
  const writes = Object.hasOwn(FORMATTERS, name) ? FORMATTERS[name]! : null;
  if (writes === null || args.some((word) => /^--(?:check|diff|dry-run|help|version)$/.test(word))) return false;
  return args.some((word) => writes.test(word));
}
