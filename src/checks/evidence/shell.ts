/**
 * Which commands a shell line really runs, and how they hang together: assignments, redirections and wrappers such as
 * `timeout 60` or `npx` are taken off, `bash -c '…'` is opened.
 */

import {
  type AndOr,
  forEachChild,
  type Pipeline,
  parse,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Command as Typed,
} from "unbash";

export interface Command {
  /** none: it only sets variables or redirects */
  words: string[];
  /** what joins it to the command before: "" at the beginning */
  before: string;
  /** files that its output goes into, instead of to the reader */
  targets: string[];
  /** `! command`, or run in the background, or as a condition */
  negated: boolean;
  /** `set -o pipefail` holds for the pipe it is in */
  pipefail: boolean;
  /** `set -e` holds */
  errexit: boolean;
}

export interface ShellLine {
  commands: Command[];
  /** loops, conditions, functions, or a group with something after it: the exit status says nothing about one command */
  complex: boolean;
  /** a shell refuses the line, or stops in the middle of it: what comes after that is not known */
  broken: boolean;
}

/** What `set` and `exec` changed, for all that the same shell runs after that. */
interface ShellState {
  pipefail: boolean;
  errexit: boolean;
  /** where `exec >x` sent all output */
  targets: string[];
}

/** How a command hangs together with what is around it. */
interface CommandPlace extends Omit<Command, "words" | "errexit"> {
  /** nothing follows it */
  last: boolean;
  /** how many `bash -c '…'` it is in */
  depth: number;
  state: ShellState;
}

const DEEPEST = 4;
/** no one types more; what a longer line runs is not known */
const LONGEST = 100_000;

export function parseShell(line: string): ShellLine {
  const shell: ShellLine = { commands: [], complex: false, broken: false };
  const state = { pipefail: false, errexit: false, targets: [] };
  addScript(shell, line, { before: "", targets: [], negated: false, pipefail: false, last: true, depth: 0, state });
  return shell;
}

function addScript(shell: ShellLine, line: string, place: CommandPlace): void {
  const script = line.length > LONGEST ? null : parse(line.replaceAll("\r\n", "\n"));
  if (script === null || script.errors) shell.complex = shell.broken = true;
  addList(shell, script?.commands ?? [], place);
}

function addList(shell: ShellLine, list: readonly Statement[], place: CommandPlace): void {
  for (const [at, { command, background }] of list.entries()) {
    const before = at === 0 ? place.before : list[at - 1]!.background ? "&" : ";";
    const last = place.last && at === list.length - 1;
    addNode(shell, command, { ...place, before, last, negated: place.negated || background === true });
  }
}

function addNode(shell: ShellLine, node: SyntaxNode, place: CommandPlace): void {
  if (node.type === "Command") addCommand(shell, node, place);
  else if (node.type === "AndOr" || node.type === "Pipeline") addChain(shell, node, place);
  else if (node.type === "Redirected")
    addNode(shell, node.command, { ...place, targets: [...place.targets, ...listTargets(node.redirects)] });
  else if (node.type === "Subshell" || node.type === "BraceGroup") {
    // A group's own exit status and pipes are not followed.
    if (!place.last) shell.complex = true;
    addList(shell, node.body.commands, node.type === "Subshell" ? inSubshell(place) : place);
  } else if (node.type === "TestCommand" || node.type === "ArithmeticCommand") addWords(shell, ["[["], place);
  else addParts(shell, node, place);
}

function addChain(shell: ShellLine, node: AndOr | Pipeline, place: CommandPlace): void {
  const isNegated = node.type === "Pipeline" && node.prefixes.some(({ type }) => type === "Negation");
  if (isNegated) shell.complex = true;
  const isPipe = node.type === "Pipeline" && node.commands.length > 1;
  for (const [at, command] of node.commands.entries()) {
    const before = at === 0 ? place.before : node.operators[at - 1]!.replace("|&", "|");
    const last = place.last && at === node.commands.length - 1;
    const own = isPipe ? { ...inSubshell(place), pipefail: place.state.pipefail } : place;
    addNode(shell, command, { ...own, before, last, negated: place.negated || isNegated });
  }
}

const inSubshell = (place: CommandPlace): CommandPlace => ({ ...place, state: { ...place.state } });

/** Of a loop, a condition or a function: every list of commands in it. Words are none, whatever they would run. */
function addParts(shell: ShellLine, node: SyntaxNode, place: CommandPlace): void {
  shell.complex = true;
  forEachChild(node, (child) => {
    const isCondition = "clause" in node && child === node.clause;
    const inside = { ...place, last: false, negated: place.negated || isCondition };
    if (child.type === "CompoundList") addList(shell, child.commands, inside);
    else if (child.type !== "Word") addNode(shell, child, inside);
  });
}

/** `bash -c '…'` runs what is in the quotes. */
function addCommand(shell: ShellLine, { name, args, redirects }: Typed, place: CommandPlace): void {
  const written = name === undefined ? args : [name, ...args];
  const given = written.map((word) => (word.type === "Word" ? word.value : word.text));
  const words = unwrap(given);
  const targets = listTargets(redirects);
  if (given[0] === "exec" && words.length === 0) place.state.targets = [...place.state.targets, ...targets];
  const own = { ...place, targets: [...place.targets, ...targets] };
  const script = place.depth < DEEPEST ? readScript(words) : null;
  const first = shell.commands.length;
  if (script === null) addWords(shell, words, own);
  else {
    const state = { pipefail: false, errexit: false, targets: place.state.targets };
    setOptions(words.slice(1, script.place), state);
    addScript(shell, script.text, { ...own, depth: place.depth + 1, state });
  }
  if (!place.last && shell.commands.length > first + 1) shell.complex = true;
}

function addWords(shell: ShellLine, words: string[], { state, ...place }: CommandPlace): void {
  if (words[0] === "set" && place.before !== "||") setOptions(words.slice(1), state);
  const targets = [...new Set([...state.targets, ...place.targets])];
  shell.commands.push({ ...place, words, targets, errexit: state.errexit });
}

/** `-e`, `+e`, `-euo pipefail` */
function setOptions(args: string[], state: ShellState): void {
  for (const [at, word] of args.entries()) {
    if (!/^[-+][a-z]+$/i.test(word)) continue;
    const isOn = word.startsWith("-");
    const named = word.includes("o") ? args[at + 1] : "";
    if (word.includes("e") || named === "errexit") state.errexit = isOn;
    if (named === "pipefail") state.pipefail = isOn;
  }
}

/** What is sent to the reader all the same. */
const READER = /^(?:[12]|\/dev\/(?:stdout|stderr|tty|fd\/[12]))$/;

/** `>x`, `1>x`, `&>x`; not `2>x`, which leaves the output where it is. */
function listTargets(redirects: readonly Redirection[]): string[] {
  return redirects.flatMap(({ operator, descriptor, ...one }) => {
    const target = "target" in one ? (one.target?.value ?? "") : "";
    const isOutput = descriptor === undefined || (descriptor.type === "FileDescriptor" && descriptor.value === 1);
    return /^&?>/.test(operator) && isOutput && !READER.test(target) ? [target] : [];
  });
}

/** `place`: of the word in which the script is. */
function readScript(words: string[]): { text: string; place: number } | null {
  if (!/^(?:ba|z|da)?sh$/.test(programName(words[0]))) return null;
  const place = words.findIndex((word) => /^-[a-z]*c$/.test(word)) + 1;
  const text = place > 0 ? words[place] : undefined;
  return text === undefined ? null : { text, place };
}

export function programName(word: string | undefined): string {
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
  const name = programName(words[0]);
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

const SHELLS = /^(?:bash|shell|run_shell_command|local_shell|exec_command|execute_command|run_terminal_cmd)$/i;

/** By the name of the tool, in every host that we know of. */
export const isShell = (tool: string) => SHELLS.test(tool);
