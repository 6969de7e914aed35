import { UserError } from "../../kernel/user-error.ts";
import { findRoot } from "../../store/place.ts";

/** What every command gets: its words, and the terminal. */
export interface Io {
  out(text: string): void;
  err(text: string): void;
  cwd: string;
  isTTY: boolean;
  /** whose workflows count besides the project's; the person's own home if left out */
  home?: string;
}

export interface Parsed {
  words: string[];
  flags: Set<string>;
  values: Record<string, string>;
  /** every value of an option that may be given more than once */
  lists: Record<string, string[]>;
}

/** `known`: flags as "--json", options with a value as "--why=". What stands behind "--" is words. */
export function parseArgs(args: string[], known: string[]): Parsed {
  const parsed: Parsed = { words: [], flags: new Set(), values: {}, lists: {} };
  const last = args.indexOf("--");
  for (let i = 0; i < args.length; i++) {
    if (i === last) {
      parsed.words.push(...args.slice(last + 1));
      break;
    }
    const [name = "", inline] = splitOption(args[i]!);
    if (!name.startsWith("-")) parsed.words.push(args[i]!);
    else if (known.includes(`${name}=`)) {
      const value = inline ?? args[++i];
      if (value === undefined) throw new UserError(`${name} needs a value`, `write ${name} <value>`);
      parsed.values[name] = value;
      parsed.lists[name] = [...(parsed.lists[name] ?? []), value];
    } else if (known.includes(name) && inline === undefined) parsed.flags.add(name);
    else throw new UserError(`unknown option ${name}`, `valid options: ${known.join(", ") || "none"}`);
  }
  return parsed;
}

function splitOption(arg: string): [string, string | undefined] {
  const at = arg.startsWith("--") ? arg.indexOf("=") : -1;
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

export function rootOf(io: Io): string {
  try {
    return findRoot(io.cwd);
  } catch (error) {
    throw new UserError((error as Error).message, "run pawl from a folder that exists");
  }
}
