/** How changes are told to a person. */
import { homeDir } from "../store/home.ts";
import type { Change } from "./apply.ts";

const verbOf = ({ before, after }: Change) => (before === null ? "create" : after === null ? "remove" : "edit");

/** Paths as a person would write them: below the project, below home, else whole. */
export function shown(path: string, base: string): string {
  const home = `${homeDir()}/`;
  if (base !== homeDir() && path.startsWith(`${base}/`)) return path.slice(base.length + 1);
  return path.startsWith(home) ? `~/${path.slice(home.length)}` : path;
}

export const listed = (changes: Change[], base: string) =>
  changes.map((change) => ({ action: verbOf(change), path: shown(change.path, base), why: change.why }));

export function listText(changes: Change[], base: string): string {
  const rows = listed(changes, base);
  const width = Math.max(0, ...rows.map(({ path }) => path.length));
  return rows.map(({ action, path, why }) => `  ${action.padEnd(7)} ${path.padEnd(width)}  ${why}\n`).join("");
}

/** New files whole, edited ones as a difference. */
export function contentsText(changes: Change[], base: string): string {
  return changes.map((change) => `\n── ${verbOf(change)} ${shown(change.path, base)}\n${bodyOf(change)}`).join("");
}

function bodyOf({ before, after }: Change): string {
  if (before === null) return ended(after ?? "");
  return ended(differences(linesOf(before), linesOf(after ?? "")).join("\n"));
}

const linesOf = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
const ended = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);

/** Enough for an edit that adds and removes whole lines: what both begin and end with is left out, save three lines. */
function differences(before: string[], after: string[]): string[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const around = (lines: string[]) => lines.map((line) => `  ${line}`);
  return [
    ...around(before.slice(Math.max(0, head - 3), head)),
    ...before.slice(head, before.length - tail).map((line) => `- ${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+ ${line}`),
    ...around(before.slice(before.length - tail, before.length - tail + 3)),
  ];
}
