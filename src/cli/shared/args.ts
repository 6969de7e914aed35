import { realpathSync } from "node:fs";
import { suggest } from "../../definitions/problem.ts";
import { attempt } from "../../kernel/attempt.ts";
import { visibleJson } from "../../kernel/text/safe-text.ts";
import { UserError } from "../../kernel/user-error.ts";
import { findRoot } from "../../store/place.ts";

/** What every command gets: its words, and the terminal. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  cwd: string;
  isTTY: boolean;
  /** whose workflows count, after the project's; the person's own home if left out */
  home?: string;
}

export interface Parsed {
  words: string[];
  flags: Set<string>;
  values: Record<string, string>;
  /** every value of an option that may be given more than once */
  lists: Record<string, string[]>;
}

export interface Command {
  usage: string;
  /** flags as "--json", options with a value as "--why="; left out: the command parses its words itself */
  options?: string[];
  /** at most one of each */
  exclusive?: string[][];
  maxWords?: number;
  /** wrong usage is answered with the whole usage, too */
  showsUsage?: boolean;
  run(parsed: Parsed, io: Io): number | Promise<number>;
}

/** What the first words of a command with several actions stand for. */
export interface Action {
  options: string[];
  run(root: string, parsed: Parsed, io: Io): number | Promise<number>;
}

export function readArgs(args: string[], name: string, command: Command): Parsed {
  const { options, exclusive = [], maxWords = Number.POSITIVE_INFINITY } = command;
  if (!options) return { words: args, flags: new Set(), values: {}, lists: {} };
  const parsed = parseArgs(args, options);
  const { words, flags, values } = parsed;
  if (words.length > maxWords)
    throw new UserError(`unknown argument ${words[maxWords]}`, `\`pawl ${name} --help\` shows how`);
  for (const choice of exclusive) {
    const chosen = choice.filter((option) => flags.has(option) || values[option] !== undefined);
    if (chosen.length > 1) throw new UserError(`${chosen.join(" and ")} cannot be used together`, "use one of them");
  }
  return parsed;
}

/** Everything after "--" is a word. */
export function parseArgs(args: string[], known: string[]): Parsed {
  const parsed: Parsed = { words: [], flags: new Set(), values: {}, lists: {} };
  for (let i = 0; i < args.length; i++) {
    if (args[i] === "--") {
      parsed.words.push(...args.slice(i + 1));
      break;
    }
    const arg = args[i]!;
    const at = arg.startsWith("--") ? arg.indexOf("=") : -1;
    const [name = "", inline] = at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
    if (!name.startsWith("-")) parsed.words.push(args[i]!);
    else if (known.includes(`${name}=`)) {
      const value = inline ?? args[++i];
      if (value === undefined) throw new UserError(`${name} needs a value`, `write ${name} <value>`);
      parsed.values[name] = value;
      parsed.lists[name] = [...(parsed.lists[name] ?? []), value];
    } else if (known.includes(name) && inline === undefined) parsed.flags.add(name);
    else throw new UserError(`unknown option ${name}`, suggest(name, known, "valid options"));
  }
  return parsed;
}

export function projectRoot(io: Io): string {
  try {
    return findRoot(io.cwd);
  } catch (error) {
    throw new UserError((error as Error).message, "run pawl from a folder that exists");
  }
}

/** Links followed; a path that does not exist stays as it is. */
export const realPath = (path: string) => attempt(() => realpathSync(path), path);

/** The result, for a program or for a person; `code` is what the command returns. */
export function print(io: Io, { flags }: Parsed, data: unknown, text: () => string, code = 0): number {
  io.out(flags.has("--json") ? `${visibleJson(data)}\n` : text());
  return code;
}

export async function readInput(missing: string, hint: string): Promise<string> {
  if (process.stdin.isTTY) throw new UserError(missing, hint);
  return await Bun.stdin.text();
}
