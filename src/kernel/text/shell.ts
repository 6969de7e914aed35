/** Which commands a shell line runs, what they are wrapped in, and what their exit status becomes. */

import { type Token, tokensOf } from "./shell-words.ts";

export interface Command {
  words: string[];
  /** what joins it to the command before and after: "" at the ends */
  before: string;
  after: string;
  /** its output goes into a file, not to the reader */
  redirected: boolean;
  /** `! command`, or run in the background, or as a condition */
  negated: boolean;
}

export interface ShellLine {
  commands: Command[];
  /** loops, conditions, functions, or a group with something after it: the exit status says nothing about one command */
  complex: boolean;
}

const OPENERS = new Set(["if", "then", "elif", "else", "while", "until", "do", "{", "!"]);
const CONDITIONS = new Set(["if", "elif", "while", "until", "!"]);
const CLOSERS = new Set(["fi", "done", "esac", "}"]);
const HEADS = new Set(["for", "case", "select", "function"]);
const DEEPEST = 4;
/** no one types more; what a longer line runs is not known */
const LONGEST = 100_000;

export function parseShell(line: string, depth = 0): ShellLine {
  if (line.length > LONGEST) return { commands: [], complex: true };
  const shell: ShellLine = { commands: [], complex: false };
  let before = "";
  let current: Token[] = [];
  let closed = false;
  for (const token of [...tokensOf(line), { kind: "op", text: "" } as Token]) {
    if (token.kind !== "op") {
      if (closed) shell.complex = true;
      current.push(token);
      continue;
    }
    const added = addCommand(shell, current, before, token.text, depth);
    if (token.text === ")") closed = true;
    // a group's own exit status and pipes are not followed
    else if (closed && token.text !== "" && token.text !== "\n") shell.complex = true;
    if (token.text === "(" && current.length > 0) shell.complex = true;
    if (added || current.length > 0 || token.text !== "\n") before = token.text;
    current = [];
  }
  return shell;
}

function addCommand(shell: ShellLine, tokens: Token[], before: string, after: string, depth: number): boolean {
  const words = tokens.flatMap((token) => (token.kind === "word" ? [token] : []));
  let start = 0;
  let negated = after === "&";
  for (const word of words) {
    if (word.quoted || !OPENERS.has(word.text)) break;
    if (word.text !== "{") shell.complex = true;
    if (CONDITIONS.has(word.text)) negated = true;
    start++;
  }
  const own = words.slice(start).map((word) => word.text);
  const head = words[start]?.quoted === false ? own[0]! : "";
  if (HEADS.has(head) || CLOSERS.has(head)) {
    if (head !== "}" || after !== "") shell.complex = true;
    return true;
  }
  const bare = unwrap(own);
  if (bare.length === 0) return start > 0;
  const command = {
    words: bare,
    before: joint(before),
    after: joint(after),
    redirected: tokens.some(redirectsOutput),
    negated,
  };
  shell.commands.push(...inner(shell, command, depth));
  return true;
}

function joint(operator: string): string {
  return operator === "\n" || operator === ";;" ? ";" : operator === "(" || operator === ")" ? "" : operator;
}

function redirectsOutput(token: Token): boolean {
  if (token.kind !== "redirect" || !token.op.startsWith(">")) return false;
  if (token.fd !== "" && token.fd !== "1" && token.fd !== "&") return false;
  return !/^(?:[12]|\/dev\/(?:stdout|stderr|tty|fd\/[12]))$/.test(token.target);
}

/** `bash -c '…'` runs what is in the quotes. */
function inner(shell: ShellLine, command: Command, depth: number): Command[] {
  const script = scriptOf(command.words);
  if (script === null || depth >= DEEPEST) return [command];
  const parsed = parseShell(script, depth + 1);
  const { commands } = parsed;
  if (parsed.complex || (commands.length > 1 && command.after !== "")) shell.complex = true;
  return commands.map((each, index) => ({
    ...each,
    before: index === 0 ? command.before : each.before,
    after: index === commands.length - 1 ? command.after : each.after,
    redirected: each.redirected || command.redirected,
    negated: each.negated || command.negated,
  }));
}

function scriptOf(words: string[]): string | null {
  if (!/^(?:ba|z|da)?sh$/.test(nameOf(words[0]))) return null;
  const flag = words.findIndex((word) => /^-[a-z]*c$/.test(word));
  return flag > 0 ? (words[flag + 1] ?? null) : null;
}

export function nameOf(word: string | undefined): string {
  return (word ?? "").replace(/^.*\//, "");
}

// ── Wrappers ────────────────────────────────────────────────────────────────

/** how many words after the name belong to the wrapper itself, besides its flags */
const WRAPPERS: Record<string, { args: number; valued: RegExp }> = {
  time: { args: 0, valued: /^-[fo]$/ },
  timeout: { args: 1, valued: /^(?:-[ks]|--signal|--kill-after)$/ },
  sudo: { args: 0, valued: /^-[ugCpTD]$/ },
  env: { args: 0, valued: /^-[uC]$/ },
  nice: { args: 0, valued: /^-n$/ },
  nohup: { args: 0, valued: /^$/ },
  stdbuf: { args: 0, valued: /^-[ioe]$/ },
  command: { args: 0, valued: /^$/ },
  exec: { args: 0, valued: /^-a$/ },
  npx: { args: 0, valued: /^(?:-p|--package)$/ },
  bunx: { args: 0, valued: /^(?:-p|--package)$/ },
  "xvfb-run": { args: 0, valued: /^-[ens]$/ },
  "cross-env": { args: 0, valued: /^$/ },
};
/** two words that hand on to the rest */
const PAIRS =
  /^(?:pnpm exec|pnpm dlx|yarn exec|yarn dlx|npm exec|bun x|poetry run|uv run|pipenv run|hatch run|rye run|pdm run|bundle exec)$/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

function unwrap(words: string[]): string[] {
  let rest = words;
  for (;;) {
    const next = unwrapOnce(rest);
    if (next === rest) return rest;
    rest = next;
  }
}

function unwrapOnce(words: string[]): string[] {
  if (words.length === 0) return words;
  if (ASSIGNMENT.test(words[0]!)) return words.slice(1);
  const name = nameOf(words[0]);
  if (PAIRS.test(`${name} ${words[1]}`)) return afterFlags(words, 2, /^(?:--with|-p|--package|--python)$/);
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name]! : null;
  if (wrapper === null) return words;
  const rest = afterFlags(words, 1, wrapper.valued);
  return rest.slice(wrapper.args);
}

function afterFlags(words: string[], from: number, valued: RegExp): string[] {
  let at = from;
  while (words[at]?.startsWith("-")) {
    if (words[at] === "--") return words.slice(at + 1);
    at += valued.test(words[at]!) ? 2 : 1;
  }
  return words.slice(at);
}

/**
 * Which commands a line really runs, each as its words: assignments, redirections, `cd` and wrappers
 * such as `timeout 60` or `npx` are taken off, `bash -c '…'` is opened.
 */
export function commandsOf(line: string): string[][] {
  return parseShell(line)
    .commands.map((command) => command.words)
    .filter((words) => words[0] !== "cd");
}

const SHELLS = /^(?:bash|shell|run_shell_command|local_shell|exec_command|execute_command|run_terminal_cmd)$/i;

/** By the name of the tool, in every host that we know of. */
export const isShell = (tool: string) => SHELLS.test(tool);
