/** What a message says in its own words, where no tool could show it. Negations, plans, parts and quotations say nothing. */

import { excerpt } from "../../kernel/text/safe-text.ts";
import { proseLines } from "../../kernel/text/signal.ts";

/** A longer sentence does not say anything plainly. */
const LONGEST = 600;

const words = (...list: string[]) => new RegExp(`(?<![\\p{L}\\p{N}_])(?:${list.join("|")})(?![\\p{L}\\p{N}_])`, "iu");

const NEGATION = words(
  "not|never|no|none|neither|nor|nothing|cannot|without|hardly|barely|\\p{L}+n't|n't",
  "nicht|kein\\p{L}*|nie|ohne|nein|pas|jamais|aucun\\p{L}*|ningun\\p{L}*|nunca|tampoco|non|не|нет",
);
/** Chinese, Japanese and Korean are written without blanks. */
const NEGATION_INSIDE = /[没沒未不]|ない|ません|まだ|안 |않|아직/u;
const CONDITION = words(
  "before|until|once|unless|if|when|whenever|after|as soon as|provided|assuming|subject to|pending|awaiting|waiting",
  "conditional\\p{L}*|would|should|could|must|might|may|can be|needs? to|to be|except|but|however|although|though|only",
  "whether|think|believe|guess|hope|hopefully|seems?|appears?|probably|perhaps|maybe|likely|presumably|doubt|unsure",
  "almost|nearly|about to|close to|partial\\p{L}*|partly|mostly|half|so far|for now|reservations?|conditions?|caveats?",
  "wenn|falls|sobald|bis|bevor|fast|noch|teilweise|vielleicht|aber|si|quand|presque|mais|casi|cuando|pero|aún|todavía",
  "если|когда|почти|еще|ещё",
);
const PLAN = words(
  "will|going to|gonna|next|todo|to-do|to do|plan(?:s|ned|ning)?|soon|let me|let's|i'll|we'll|remaining|remains|left to",
  "goals?|targets?|criteria|criterion|definition of done|expects?|expected|ensure|verify that|check that|make sure",
  "says?|said|claims?|claimed|according to|asks?|asked|means?|example|e\\.g|template|heading|title[ds]?|status field",
  "wird|werde|werden|sera|será|будет",
);
const PART = words(
  "some|few|several|most|many|first|second|third|half|halfway|other than|apart from|all but",
  "(?:step|phase|part|milestone|chunk|stage|round|item|iteration) (?:\\d+|one|two|a|b)",
  "of (?:step|phase|part|the first|the \\p{L}+ (?:part|half|module|layer|step))",
);
const UNDONE = /[❌✗✘🚫⏳⌛🔲☐⬜🚧⚠⛔]|~~|\?/u;
/** Somewhere else in the message: then nothing in it is the end of the work. */
const STILL_OPEN = words(
  "still (?:need\\p{L}*|to|missing|fail\\p{L}*|open|work\\p{L}*|ha(?:ve|s)|broken|red|lacks?|in progress|unclear|pending)",
  "not yet|todo|left to do|unfinished|incomplete|remaining|remains|outstanding|isn't (?:done|finished|complete)|noch nicht",
  "(?:are|is) (?:still )?(?:missing|failing|broken)|to go",
);
const OPEN_BOX = /^\s*(?:[-*+]|\d+[.)])\s*\[[ >~!-]?\]/;
const LIST_ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(?!\[[xX]\])/;
const SHARE = /(\d+)\s*(?:\/|of|out of|von)\s*(?:the )?(\d+)|(\d+)\s*%/giu;
const COUNTED =
  /(?<!all\s|the\s|all the\s)(?<![\d/]|of )\b(?:\d+|one|two|three|four|five|six) (?:requirements?|of)\b/iu;
const INLINE_CODE = /(?<!`)`[^`\n]+`(?!`)/g;
const QUOTED = /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|‘[^’\n]*’|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu;

/** The writer's own lines; what is in inline code is only blanked, the rest of its line counts. */
export const ownLines = (text: string): string[] =>
  proseLines(text.replace(INLINE_CODE, "·")).map((line) => line.replace(/[’ʼ`´]/g, "'"));

export const isNegated = (line: string) => NEGATION.test(line) || NEGATION_INSIDE.test(line) || UNDONE.test(line);
export const isConditional = (line: string) => CONDITION.test(line);

export function saysOne(message: string, phrases: string[]): string | null {
  const lines = ownLines(message).map((line) => line.replace(QUOTED, "·"));
  if (lines.some((line) => OPEN_BOX.test(line) || STILL_OPEN.test(line.slice(0, LONGEST)))) return null;
  const patterns = phrases.map(patternOf);
  const said = lines.filter((line) => !LIST_ITEM.test(line)).flatMap(sentencesOf);
  const found = said.find((one) => patterns.some((pattern) => pattern.test(one)) && !isDoubtful(one));
  return found === undefined || isTakenBack(said, found) ? null : `it says “${excerpt(found.trim(), 80)}”`;
}

/** Sentences, not file names: a full stop ends one only before a blank. */
const sentencesOf = (line: string) =>
  line.split(/(?<=[.!?:;。！？])\s+|(?<=[。！？])/).filter((one) => one.length <= LONGEST);

/** Its words one after another, with nothing but a word of emphasis or decoration between them. */
function patternOf(phrase: string): RegExp {
  const parts = phrase
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"));
  const gap = "[\\s*_]+(?:(?:now|fully|all|both|completely|100%|been)[\\s*_]+)*";
  return new RegExp(`(?<![\\p{L}\\p{N}_-])${parts.join(gap)}d?(?![\\p{L}\\p{N}_-])`, "iu");
}

export function isDoubtful(sentence: string): boolean {
  if (isNegated(sentence) || isConditional(sentence) || PLAN.test(sentence) || PART.test(sentence)) return true;
  return (
    COUNTED.test(sentence) ||
    [...sentence.matchAll(SHARE)].some(
      ([, part, all, percent]) => part !== all || (percent !== undefined && percent !== "100"),
    )
  );
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
