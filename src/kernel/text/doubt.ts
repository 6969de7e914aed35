/**
 * The words that take a statement back: negations, conditions, plans, parts, and what leaves work open. One list for all
 * texts that are read for what they claim: the agent's last message, a stage's end in prose, a review. In doubt nothing
 * is claimed.
 */

import { proseLines } from "./signal.ts";

const words = (...list: string[]) => new RegExp(`(?<![\\p{L}\\p{N}_])(?:${list.join("|")})(?![\\p{L}\\p{N}_])`, "iu");

const NEGATION = words(
  "not|never|no|none|neither|nor|nothing|cannot|without|hardly|barely|\\p{L}+n't|n't",
  "far (?:away )?from|a (?:long|good) way (?:away |off )?(?:from|to)|nowhere (?:near|close)|anything but|(?:short|shy) of",
  "weit (?:weg |entfernt )?(?:von|davon)|alles andere als|loin d(?:e|'\\p{L}+)|tout sauf|lejos de|далеко",
  "nicht|kein\\p{L}*|nie|ohne|nein|pas|jamais|aucun\\p{L}*|ningun\\p{L}*|nunca|tampoco|non|не|нет",
);
/** Chinese, Japanese and Korean are written without blanks. */
const NEGATION_INSIDE = /[没沒未不]|ない|ません|まだ|안 |않|아직/u;
const UNDONE = /[❌✗✘🚫⏳⌛🔲☐⬜🚧⚠⛔]|~~|\?/u;
const CONDITION = words(
  "before|until|once|unless|if|when|whenever|as soon as|provided|assum(?:e|ing)|subject to|pending|awaiting|waiting",
  "after|supposed|shall|conditional\\p{L}*|would|should|could|must|might|may|can be",
  "needs? to|to be|except|but|however|although|though|only|whether|think|believe|guess|hope|hopefully|seems?|appears?",
  "probably|perhaps|maybe|likely|presumably|doubt|unsure|almost|nearly|about to|close to|partial\\p{L}*|partly|mostly",
  "half|so far|for now|reservations?|conditions?|caveats?|yet to|premature(?:ly)?",
  "(?:steps?|hours?|days?|weeks?|minutes?) from|(?:steps?|hours?|days?|weeks?|minutes?|commits?|tests?) away|en route|on (?:my|our|the) way to",
  "wenn|falls|sobald|bis|bevor|fast|noch|teilweise|vielleicht|aber|soll|sollte|muss|müssen|würde|si|quand|presque|mais",
  "dès que|lorsque|doit|devrait|partiellement|casi|cuando|pero|aún|todavía|debe|debería|parcialmente|hasta",
  "если|когда|почти|еще|ещё",
);
const PLAN = words(
  "will|going to|gonna|next|todo|to-do|to do|plan(?:s|ned|ning)?|soon|let me|let's|\\p{L}+'ll|remaining|remains|left to",
  "goals?|targets?|criteria|criterion|definition of|expects?|(?<!as )expected|ensures?|verify that|check that|mak(?:e|ing) sure",
  "wants?|try|trying|says?|said|claims?|claimed|according to|asks?|asked|means?|example|e\\.g|template|heading|title[ds]?",
  "status field|wird|werde|werden|sera|va|será|будет",
);
const PART = words(
  "some|few|several|most|many|first|second|third|half|halfway|other than|apart from|all but",
  "(?:step|phase|part|milestone|chunk|stage|round|item|iteration) (?:\\d+|one|two|a|b)",
  "of (?:step|phase|part|the first|the \\p{L}+ (?:part|half|module|layer|step))",
);
const SHARE = /(\d+)\s*(?:\/|of|out of|von)\s*(?:the )?(\d+)|(\d+)\s*%/giu;
const COUNTED =
  /(?<!all\s|the\s|all the\s)(?<![\d/]|of )\b(?:\d+|one|two|three|four|five|six) (?:requirements?|of)\b/iu;

export const isNegated = (line: string) => NEGATION.test(line) || NEGATION_INSIDE.test(line) || UNDONE.test(line);
export const isConditional = (line: string) => CONDITION.test(line);

export function isDoubtful(sentence: string): boolean {
  if (isNegated(sentence) || isConditional(sentence) || PLAN.test(sentence) || PART.test(sentence)) return true;
  const isPart = ([, part, all, percent]: RegExpMatchArray) =>
    part !== all || (percent !== undefined && percent !== "100");
  return COUNTED.test(sentence) || [...sentence.matchAll(SHARE)].some(isPart);
}

/** Somewhere in a message: then nothing in it is the end of the work. */
const OPEN = words(
  "still (?:need\\p{L}*|to|missing|fail\\p{L}*|open|work\\p{L}*|ha(?:ve|s)|broken|red|lacks?|in progress|unclear|pending)",
  "not yet|todo|left to do|unfinished|incomplete|(?<!\\b(?:no|nothing) )(?:remaining|remains|outstanding)|(?<!good )to go",
  "isn't (?:done|finished|complete)|(?:are|is) (?:still )?(?:missing|failing|broken)|noch nicht",
);
export const leavesOpen = (line: string) => OPEN.test(line);

// ── The writer's own words ──────────────────────────────────────────────────

const INLINE_CODE = /(?<!`)`[^`\n]+`(?!`)/g;
const QUOTED = /"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|‘[^’\n]*’|(?<![\p{L}\p{N}])'[^'\n]*'(?![\p{L}\p{N}])/gu;

/** What is in inline code only gives way to `mask`: the rest of its line counts. */
export const ownLines = (text: string, mask = "·"): string[] =>
  proseLines(text.replace(INLINE_CODE, mask)).map((line) => line.replace(/[’ʼ`´]/g, "'"));
export const withoutQuotes = (line: string, mask = "·"): string => line.replace(QUOTED, mask);
