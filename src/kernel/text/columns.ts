/** Lines that fit a screen. */
import { safeText } from "./safe-text.ts";

/** Signs without a width count too: terminals disagree about them, and a line that is too short does no harm. */
export const countColumns = (line: string): number => Math.max([...line].length, Bun.stringWidth(line));

/** One line of at most so many columns, without control characters. */
export function fit(text: string, columns: number): string {
  const line = safeText(text.slice(0, columns * 40))
    .replace(/\s+/g, " ")
    .trim();
  return cut(line, columns, countColumns);
}

/** The beginning of a line that fits, with a sign that something is missing. */
export function cut(line: string, columns: number, count: (line: string) => number = Bun.stringWidth): string {
  if (count(line) <= columns) return line;
  let kept = "";
  for (const sign of line) {
    if (count(`${kept}${sign}…`) > columns) break;
    kept += sign;
  }
  return columns < 1 ? "" : `${kept}…`;
}

/** the fewest columns in which a text still says something */
const FEW = 16;

/** `start` and `middle` are cut to what fits; `end` is never cut. */
export function between(start: string, middle: string, end: string, columns: number): string {
  const room = Math.max(FEW, columns - countColumns(end) - FEW);
  const indent = start.length - start.trimStart().length;
  const begin =
    countColumns(start) <= room ? start : `${" ".repeat(indent)}${fit(start, Math.max(FEW, room - indent))} `;
  return `${begin}${fit(middle, Math.max(1, columns - countColumns(begin) - countColumns(end)))}${end}`;
}

/** Breaks a line of ours at blanks, or inside a word that is too long. All lines but the first are indented. */
export function wrapped(line: string, columns: number): string[] {
  const indent = " ".repeat(line.length - line.trimStart().length + 2);
  const lines: string[] = [];
  let rest = line;
  while (countColumns(rest) > columns && rest.length > columns) {
    const blank = rest.lastIndexOf(" ", columns);
    const end = blank > indent.length ? blank : columns;
    lines.push(rest.slice(0, end).trimEnd());
    rest = `${indent}${rest.slice(end).trimStart()}`;
  }
  return [...lines, rest];
}
