/** What a message says in its own words, where no tool could show it. Negations, plans, parts and quotations say nothing. */

import { isDoubtful, leavesOpen, ownLines, withoutQuotes } from "../../kernel/text/doubt.ts";
import { excerpt } from "../../kernel/text/safe-text.ts";
import { literally } from "./shell-status.ts";

/** A longer sentence does not say anything plainly. */
const LONGEST = 600;

const OPEN_BOX = /^\s*(?:[-*+]|\d+[.)])\s*\[[ >~!-]?\]/;
const LIST_ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(?!\[[xX]\])/;

export function saysOne(message: string, phrases: string[]): string | null {
  const lines = ownLines(message).map((line) => withoutQuotes(line));
  if (lines.some((line) => OPEN_BOX.test(line) || leavesOpen(line.slice(0, LONGEST)))) return null;
  const patterns = phrases.map(buildPattern);
  const said = lines.filter((line) => !LIST_ITEM.test(line)).flatMap(splitSentences);
  const found = said.find((one) => patterns.some((pattern) => pattern.test(one)) && !isDoubtful(one));
  return found === undefined || isTakenBack(said, found) ? null : `it says “${excerpt(found.trim(), 80)}”`;
}

/** Sentences, not file names: a full stop ends one only before a blank. */
const splitSentences = (line: string) =>
  line.split(/(?<=[.!?:;。！？])\s+|(?<=[。！？])/).filter((one) => one.length <= LONGEST);

/** Its words one after another, with nothing but a word of emphasis or decoration between them. */
function buildPattern(phrase: string): RegExp {
  const parts = phrase.trim().split(/\s+/).map(literally);
  const gap = "[\\s*_]+(?:(?:now|fully|all|both|completely|100%|been)[\\s*_]+)*";
  return new RegExp(`(?<![\\p{L}\\p{N}_-])${parts.join(gap)}d?(?![\\p{L}\\p{N}_-])`, "iu");
}

const TAKES_BACK =
  /^\W*(?:no|not|nope|almost|nearly|well|wait|actually|sorry|just kidding|correction|nein|fast|nicht)\b/i;

/** "Implementation complete: no." and "Implementation complete. Not quite." */
function isTakenBack(sentences: string[], found: string): boolean {
  const place = sentences.indexOf(found);
  const before = sentences[place - 1] ?? "";
  const next = sentences[place + 1] ?? "";
  if (TAKES_BACK.test(next) || (/:\s*$/.test(found) && isDoubtful(next))) return true;
  return /:\s*$/.test(before) && isDoubtful(before);
}
