/** Which files a command is told to look at, as against those that are the command. */

import { commandsIn } from "../checks/closure/command-words.ts";
import { commandOf } from "../checks/core/kinds/index.ts";
import type { Gate } from "../kernel/types/run.ts";
import { basename, join } from "../store/names.ts";

const SHELL = /^(sh|bash|dash|zsh|ksh)$/;
const INTERPRETER = /^(node|nodejs|bun|deno|python[\d.]*|ruby|perl|php|lua|tsx|ts-node)$/;
/** With one of these an interpreter looks at a file instead of running it. */
const ONLY_LOOKS = /^(--check|--test|-c|-n|-l|--lint|-m|test|lint|check)$/;

/** Relative to the project. Breaking one of these is fair; breaking the command itself would prove nothing. */
export function filesLookedAt(gate: Gate): Set<string> {
  const command = commandOf(gate) ?? { argv: [] };
  const commands = "shell" in command ? commandsIn(command.shell) : [command.argv];
  const words = commands.flatMap((words) => argumentsOf(words));
  const clean = words.map((word) => word.replace(/^(\.\/)+/, "").replace(/\/+$/, ""));
  return new Set(clean.map((word) => (gate.cwd ? join(gate.cwd, word) : word)));
}

/** Without the program, and without the script that an interpreter runs. */
function argumentsOf(words: string[]): string[] {
  const [first = "", ...rest] = words;
  const program = basename(first);
  const line = SHELL.test(program) ? rest.findIndex((word) => /^-[a-z]*c$/.test(word)) : -1;
  if (line >= 0) return commandsIn(rest[line + 1] ?? "").flatMap((inner) => argumentsOf(inner));
  if (!SHELL.test(program) && !INTERPRETER.test(program)) return rest;
  const script = rest.findIndex((word) => !word.startsWith("-"));
  return rest.slice(0, script + 1).some((word) => ONLY_LOOKS.test(word)) ? rest : rest.slice(script + 1);
}
