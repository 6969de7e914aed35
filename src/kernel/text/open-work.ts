/** Does a message leave the work open, by a question or in so many words? */

import { leavesOpen, ownLines, withoutQuotes } from "./doubt.ts";

/** claims stand at the end; no one reads more of a message than this */
const LONGEST = 40_000;
/** stands for whatever is quoted: a name or a command in the middle of a sentence */
const QUOTED = " quotedcode ";

export const leavesWorkOpen = (message: string) => splitSentences(message).some(tellsOfOpenWork);

/** The person is asked something: the last sentence is a question. */
export const endsInQuestion = (message: string) => /[?？]\s*$/.test(splitSentences(message).at(-1) ?? "");

// ── Sentences ───────────────────────────────────────────────────────────────

export function splitSentences(message: string): string[] {
  return ownLines(message.slice(-LONGEST), QUOTED).flatMap(
    (line) => plainLine(withoutQuotes(line, QUOTED)).match(/[^.!?]+(?:[.!?]+(?!\s|$)[^.!?]*)*[.!?]*/g) ?? [],
  );
}

/** Without the marks of a list, a heading, emphasis or a tick; in small letters. */
function plainLine(line: string): string {
  return line
    .toLowerCase()
    .replace(/^[\s#>*+•-]*(?:\d+[.)]\s+)?(?:\[[ x]\]\s*)?/, (mark) => (mark.includes("[ ]") ? "todo: " : ""))
    .replace(/[*_]{1,3}(?=\S)|(?<=\S)[*_]{2,3}|(?<=\S)\*|\p{Extended_Pictographic}|\ufe0f|✓/gu, "")
    .replace(/\s+/g, " ")
    .trim();
}

// ── What leaves the work open ───────────────────────────────────────────────

const OPEN: RegExp[] = [
  /^todo\b|\b(?:todo|wip|work in progress|in progress|next up):/,
  /\b(?:next|now|then),? (?:i|we)(?:'ll| will|'m going to| am going to| need to| have to| can)\b/,
  /\b(?:i'll|i will|i'm going to|i am going to|i am now|i'm now|let me|i need to|i still) (?:now |next |then |also |first |quickly |just )*(?:continue|proceed|start|begin|move|go|run|rerun|re-run|check|look|fix|implement|add|update|do|try|verify|write|investigate|finish|complete|work|have|need|tackle|handle|take|running|checking|working|fixing|waiting)\b/,
  /\bstill (?:\w+ )?(?:fail|fails|failing|broken|open|missing|to do|to be|need|needs|pending|remain|remains|in progress|todo|have to|has to|red|left|outstanding|unresolved|incomplete|running|crash|crashes|wrong|requires?)\b/,
  /\b(?:not|n't)(?: (?:yet|been|fully|completely|all|entirely|quite|actually))* (?:done|finished|complete|completed|implemented|fixed|resolved|working|passing|pass|green|covered|work|compile|build|ready)\b(?! (?:any ?more|without))/,
  /\b(?:haven't|have not|hasn't been|has not been|couldn't|could not|can't|cannot|unable to|wasn't able to|was not able to|didn't|did not|don't have|not been|not) (?:yet |actually |been able to |manage to )?(?:run|ran|verify|verified|test|tested|execute|executed|finish|complete|reproduce|checked|proven)\b/,
  /\b(?:untested|unverified|incomplete|unfinished|half done|almost (?:done|there|finished|complete)|nearly (?:done|there|finished)|partially (?:done|complete|implemented|fixed)|blocked (?:by|on)|i'm stuck|i am stuck)\b/,
  /\b(?:remaining|outstanding|open) (?:work|steps?|tasks?|items?|issues?|failures?|parts?|todos?|points?|tests?|errors?|files?|problems?)\b(?! (?:remain|are|is) (?:none|zero))/,
  /\b(?:the )?(?:rest|remainder|other (?:half|part|two|three|\d+))(?: of [\w ]{1,30})? (?:is|are|remains?|needs?|will|follows?|has|have|still|comes?)\b/,
  /\b(?:first|second|1st|2nd|one) (?:part|half|phase|batch|stage|step|third)\b/,
  /\b(?:step|phase|part|stage|milestone|batch) (?:\d+|one|two|three|i|ii)(?: of \d+| \(of| ?\/ ?\d+)?(?: is| are|:)? (?:now )?(?:done|complete|completed|finished|implemented)\b/,
  /(?<!\b(?:fixed|repaired|resolved|corrected|the|all|those|these|previously|was|were|no|zero) )(?<![\d.,])(?!0\b)\d+(?: of \d+)?(?: (?:tests?|specs?|checks?))?(?: are| is)?(?: still)? (?:fail|fails|failed|failing|failures?|errors?)\b(?!.*(?:\bbefore\b|previously|fixed|now pass))/,
  /\b(?:except|apart from|besides) (?:for )?(?:one|two|three|\d+|the|a|some)\b/,
  /(?<!\b(?:no|if|make|made|making|that|which|why|when|where|the cause|longer) )(?:\btests?|\bsuite|\bbuild|\bci)(?: still| now)? (?:fails?|is failing|are failing|is red|are red|is broken)\b/,
  /\b(?:but|now|today|then|and) (?:it|they) (?:still |now )?(?:fails?|crash(?:es)?|is failing|are failing|breaks?)\b/,
  /\bstep \d+ of \d+\b|\b\d+ of \d+ (?:files|tasks|items|steps|modules|endpoints)\b/,
  /(?<!\p{L})(?:noch nicht|noch offen|fehlt noch|fehlen noch|als nächstes|teilweise|pas encore|reste à|il reste|prochaine étape|todavía|aún no|falta|faltan|siguiente paso)(?!\p{L})/u,
];

/** An offer ("if you like, I'll also …") leaves nothing open. */
const OFFER = /\b(?:if you|let me know|would you like|do you want|want me to|happy to|feel free|you can|you could)\b/;
const GOES_ON = /\b(?:the rest|remaining|the other|continue|proceed|go on|keep going|next (?:step|phase|part|one))\b/;

export function tellsOfOpenWork(sentence: string): boolean {
  if (sentence.endsWith("?")) return GOES_ON.test(sentence);
  return !OFFER.test(sentence) && (leavesOpen(sentence) || OPEN.some((open) => open.test(sentence)));
}
