/** What a line's exit status and output say about one command in it. */

import { programName, type ShellLine } from "./shell.ts";

/** The place of the last command of the pipeline this one is in. */
function endOfPipe(shell: ShellLine, place: number): number {
  let end = place;
  while (shell.commands[end + 1]?.before === "|") end++;
  return end;
}

function startOfPipe(shell: ShellLine, place: number): number {
  let start = place;
  while (start > 0 && shell.commands[start]!.before === "|") start--;
  return start;
}

/** The command's own exit status, as far as the line's says it; null: it does not. */
export function ownExit(shell: ShellLine, place: number, lineExit: number): number | null {
  if (shell.complex) return null;
  const end = endOfPipe(shell, place);
  const rest = shell.commands.slice(end + 1);
  const handsOn =
    rest.length === 1 && rest[0]!.words[0] === "exit" && isOwnStatus(shell, place, rest[0]!.words[1] ?? "");
  if (handsOn) return lineExit;
  const { pipefail, errexit } = shell.commands[place]!;
  if (end > place && !pipefail) return null;
  if (shell.commands.slice(1, place + 1).some((command) => command.before === "||")) return null;
  if (rest.length === 0) return lineExit;
  // In the middle of a chain a failure does not end the shell.
  const stops = errexit && rest[0]!.before === ";";
  const isChain = stops || rest.every(({ before }) => before === "&&" || before === "|");
  return isChain && lineExit === 0 ? 0 : null;
}

/** `$?` right after a command, `${PIPESTATUS[0]}` right after its pipe. */
function isOwnStatus(shell: ShellLine, place: number, word: string): boolean {
  const end = endOfPipe(shell, place);
  if (word === "$?" || word === "$status") return end === place;
  return word === `\${PIPESTATUS[${place - startOfPipe(shell, place)}]}`;
}

// ── echo ────────────────────────────────────────────────────────────────────

const STATUS = /\$\?|\$status\b|\$\{PIPESTATUS\[\d+\]\}/g;

/** The last word of many lines: `; echo "exit: $?"`. Its line is taken off, its number taken at its word. */
export function echoedStatus(
  shell: ShellLine,
  place: number,
  output: string,
): { output: string; exit: number | null } | null {
  const end = endOfPipe(shell, place);
  const echo = shell.commands[end + 1];
  if (shell.complex || echo?.words[0] !== "echo" || shell.commands.length !== end + 2 || echo.before === "||")
    return null;
  const text = echo.words
    .slice(1)
    .filter((word) => !/^-[neE]+$/.test(word))
    .join(" ");
  const names = text.match(STATUS) ?? [];
  if (/[$`]/.test(text.replace(STATUS, "")) || text.trim() === "") return null;
  const lines = output.trimEnd().split(/\r?\n/);
  const pattern = text.trim().split(STATUS).map(literally).join("(\\d{1,3})");
  const found = new RegExp(`^${pattern}$`).exec(lines.at(-1)!.trim().slice(0, 1000));
  if (!found) return null;
  const own = names.findIndex((name) => isOwnStatus(shell, place, name));
  return { output: lines.slice(0, -1).join("\n"), exit: own < 0 ? null : Number(found[own + 1]) };
}

export function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

// ── Others in the line ──────────────────────────────────────────────────────

const PRINTERS =
  /^(?:cat|tac|bat|head|tail|less|more|printf|grep|egrep|fgrep|rg|ag|sed|awk|gawk|cut|jq|yq|curl|wget|gh|glab|find|xargs|diff|strings|nl|column|perl|docker|kubectl|ssh)$/;
const QUOTED_PASS = /pass|\bok\b|tests?:|examples?,|[$`]/i;

/** Another command of the line that may have printed somebody else's summary. */
export function isQuoting(shell: ShellLine, place: number, tests: number[], echoIsKnown: boolean): boolean {
  const { words, targets } = shell.commands[place]!;
  const isFilter = tests.some((test) => place > test && place <= endOfPipe(shell, test));
  if (targets.length > 0 || isFilter || tests.includes(place)) return false;
  const name = programName(words[0]);
  if (name === "echo") {
    const isKnown = echoIsKnown && place === shell.commands.length - 1;
    return !isKnown && QUOTED_PASS.test(words.slice(1).join(" ").replace(STATUS, ""));
  }
  if (name === "git") return words.some((word) => /^(?:log|show|diff|blame|reflog|stash|grep|cat-file)$/.test(word));
  if (/^(?:python[\d.]*|node|ruby|php|bun|deno)$/.test(name))
    return words.some((word) => /^(?:-c|-e|-p|--eval|--print|-r)$/.test(word));
  return PRINTERS.test(name);
}

/** A filter after the command that may have dropped the bad part of its output; null: none. */
export function weakFilter(shell: ShellLine, place: number): string | null {
  const end = endOfPipe(shell, place);
  const filters = shell.commands.slice(place + 1, end + 1);
  if (shell.complex && shell.commands.some((command) => command.before === "|")) return "|";
  return (
    filters
      .find(({ words }) => !keepsFailures(words))
      ?.words.slice(0, 2)
      .join(" ") ?? null
  );
}

/** trailing blank lines get lost on the way to the transcript */
const SLACK = 4;

/** A `tail` after the command that may have cut the beginning of its output. */
export function isBeheaded(shell: ShellLine, place: number, output: string): boolean {
  const filters = shell.commands.slice(place + 1, endOfPipe(shell, place) + 1);
  const tails = filters.filter(({ words }) => programName(words[0]) === "tail");
  const length = output.trimEnd().split("\n").length;
  return tails.some(({ words }) => length > tailLines(words.slice(1)) - SLACK);
}

function tailLines(args: string[]): number {
  const text = args.join(" ");
  if (/\+\d|-c|--bytes/.test(text)) return 0;
  return Number(/\d+/.exec(text)?.[0] ?? 10);
}

function keepsFailures(words: string[]): boolean {
  const name = programName(words[0]);
  const args = words.slice(1);
  if (name === "tee") return true;
  const operands = args.filter(
    (word, at) => !word.startsWith("-") && !/^-[nc]$|^--(?:lines|bytes)$/.test(args[at - 1] ?? ""),
  );
  if (name === "cat" || name === "less" || name === "more") return operands.length === 0;
  if (name === "tail")
    return operands.every((word) => /^\+?\d+$/.test(word)) && !args.some((word) => /^-[fF]$/.test(word));
  if (!/^(?:grep|egrep|rg)$/.test(name) || operands.length !== 1) return false;
  const isPlain = args.every(
    (word) => !word.startsWith("-") || /^(?:-[EinaP]+|-[ABC]\d+|--color=?\w*|--line-buffered)$/.test(word),
  );
  return isPlain && /fail/i.test(operands[0]!) && /err/i.test(operands[0]!);
}
