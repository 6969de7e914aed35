/** Source text with its comments and strings taken out, so that only code is looked at. Places stay as they are. */
import type { Language } from "./languages.ts";

export interface Source {
  language: Language;
  text: string;
  /** comments and the inside of strings are blank */
  bare: string;
  /** comments are blank */
  code: string;
  /** for each bracket in `bare` the place of its partner; -1: it has none */
  partner: Int32Array;
}

const blank = (text: string) => text.replace(/[^\n]/g, " ");

export function readSource(text: string, language: Language): Source {
  const hidden = new RegExp(`(?<comment>${language.comments})|(?:${language.strings})`, "g");
  const isComment = (groups: unknown[]) => (groups.at(-1) as Record<string, string | undefined>).comment !== undefined;
  const code = text.replace(hidden, (found, ...groups) => (isComment(groups) ? blank(found) : found));
  const bare = text.replace(hidden, (found, ...groups) =>
    isComment(groups) ? blank(found) : found[0] + blank(found.slice(1, -1)) + found.at(-1),
  );
  return { language, text, bare, code, partner: partnersIn(bare) };
}

const OPENING = "([{";
const CLOSING = ")]}";

function partnersIn(bare: string): Int32Array {
  const partner = new Int32Array(bare.length).fill(-1);
  const open: number[] = [];
  for (let at = 0; at < bare.length; at++) {
    if (OPENING.includes(bare[at]!)) open.push(at);
    else if (CLOSING.includes(bare[at]!)) {
      const start = open.pop();
      if (start === undefined) continue;
      partner[start] = at;
      partner[at] = start;
    }
  }
  return partner;
}

/** Where the bracket at `open` is closed; the end of the text where it is not. */
export function closingIndex({ bare, partner }: Source, open: number): number {
  const close = partner[open] ?? -1;
  return close < 0 ? bare.length : close;
}

/** How many things are in the list that begins at `open`. */
export function countElements(source: Source, open: number): number {
  const { bare } = source;
  const end = closingIndex(source, open);
  let count = 0;
  let start = open + 1;
  for (let at = start; at <= end; at++) {
    if (at < end && OPENING.includes(bare[at]!)) at = Math.min(closingIndex(source, at), end);
    if (at < end && bare[at] !== ",") continue;
    if (bare.slice(start, at).trim() !== "") count += 1;
    start = at + 1;
  }
  return count;
}
