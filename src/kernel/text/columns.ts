/** Lines that fit a screen. */
import { plain } from "./safe-text.ts";

/** Rather too wide than too narrow: what terminals may draw in two columns counts as two. */
const WIDE =
  /[\u1100-\u115f\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6]|[\ufe0f-\ufe6f]/;

const widthOf = (sign: string) => (sign.length > 1 || WIDE.test(sign) ? 2 : 1);

function columnsOf(line: string): number {
  let columns = 0;
  for (const sign of line) columns += widthOf(sign);
  return columns;
}

/** One line of at most so many columns, with nothing hidden in it. */
export function fit(text: string, columns: number): string {
  const line = plain(text.slice(0, columns * 40))
    .replace(/\s+/g, " ")
    .trim();
  let [kept, width] = ["", 0];
  for (const sign of line) {
    width += widthOf(sign);
    if (width > columns) return `${keepTo(kept, columns - 1)}…`;
    kept += sign;
  }
  return kept;
}

function keepTo(line: string, columns: number): string {
  const signs = [...line];
  let width = columnsOf(line);
  while (width > columns && signs.length > 0) width -= widthOf(signs.pop()!);
  return signs.join("");
}

/** The least that says something. */
const FEW = 16;

/** `start` and `middle` as far as there is room, and `end` whole. */
export function between(start: string, middle: string, end: string, columns: number): string {
  const room = Math.max(FEW, columns - columnsOf(end) - FEW);
  const indent = start.length - start.trimStart().length;
  const begin = columnsOf(start) <= room ? start : `${" ".repeat(indent)}${fit(start, Math.max(FEW, room - indent))} `;
  return `${begin}${fit(middle, Math.max(1, columns - columnsOf(begin) - columnsOf(end)))}${end}`;
}

/** A line of ours as several that fit: from the second on further in, and broken inside a word only where that is too long. */
export function wrapped(line: string, columns: number): string[] {
  const indent = " ".repeat(line.length - line.trimStart().length + 2);
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const blank = rest.lastIndexOf(" ", columns);
    const end = blank > indent.length ? blank : columns;
    lines.push(rest.slice(0, end).trimEnd());
    rest = `${indent}${rest.slice(end).trimStart()}`;
  }
  return [...lines, rest];
}
