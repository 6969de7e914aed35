/** What would run for some gates, as data, and the hash that stands for it. */
import { hashOf } from "./files.ts";

export interface ClosureScript {
  /** relative to the root */
  path: string;
  /** "file", "package.json scripts.test" … */
  what: string;
  /** "" where there is no content to take it from; `what` says why */
  sha256: string;
  /** short ones, for showing */
  text?: string;
}

export interface ClosureItem {
  gate: string;
  kind: "command" | "shell";
  /** argv as JSON, or the shell line */
  text: string;
  /** relative to the root; "." is the root */
  cwd: string;
  env: Record<string, string>;
  scripts: ClosureScript[];
}

/** Everything that would run for these gates, resolved: what `pawl trust` shows and hashes. */
export interface Closure {
  /** "" where nothing would run */
  hash: string;
  items: ClosureItem[];
}

/** The name of the gate is not in it: the same command is the same command. */
export function itemHash({ kind, text, cwd, env, scripts }: ClosureItem): string {
  const variables = Object.entries(env).toSorted(byFirst);
  const named = scripts.map(({ path, what, sha256 }) => [path, what, sha256]).toSorted(byFirst);
  return hashOf(JSON.stringify([kind, text, cwd, variables, named]));
}

/** Neither the order of the gates nor a command that two of them share matters. */
export function closureHash(items: ClosureItem[]): string {
  return items.length === 0 ? "" : hashOf([...new Set(items.map(itemHash))].toSorted().join("\n"));
}

const byFirst = (a: unknown[], b: unknown[]) => {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
  return left < right ? -1 : left > right ? 1 : 0;
};
