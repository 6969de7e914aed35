/**
 * Does the agent's last message say that the work is done? Only its own prose counts, sentence by sentence; plans,
 * questions, conditions, parts, and messages that themselves tell of open or unchecked work claim nothing.
 * In doubt there is no claim: a false alarm costs a person's attention.
 */

import { isDoubtful, leavesOpen, ownLines, withoutQuotes } from "../../kernel/text/doubt.ts";

/** claims stand at the end; no one reads more of a message than this */
const LONGEST = 40_000;
/** stands for whatever is quoted: a name or a command in the middle of a sentence */
const QUOTED = " quotedcode ";

export function claimsCompletion(message: string): boolean {
  const sentences = ownLines(message.slice(-LONGEST), QUOTED).flatMap(
    (line) => plainLine(withoutQuotes(line, QUOTED)).match(/[^.!?]+(?:[.!?]+(?!\s|$)[^.!?]*)*[.!?]*/g) ?? [],
  );
  return sentences.some(claims) && !sentences.some(tellsOfOpenWork);
}

// ── Sentences ───────────────────────────────────────────────────────────────

/** Without the marks of a list, a heading, emphasis or a tick; in small letters. */
function plainLine(line: string): string {
  return line
    .toLowerCase()
    .replace(/^[\s#>*+•-]*(?:\d+[.)]\s+)?(?:\[[ x]\]\s*)?/, (mark) => (mark.includes("[ ]") ? "todo: " : ""))
    .replace(/[*_]{1,3}(?=\S)|(?<=\S)[*_]{2,3}|(?<=\S)\*|\p{Extended_Pictographic}|\ufe0f|✓/gu, "")
    .replace(/\s+/g, " ")
    .trim();
}

// ── What claims ─────────────────────────────────────────────────────────────

const ADVERBS = "(?:(?:now|just|also|already|successfully|fully|completely|both|all|then|finally|again|still|each) )*";
const STRONG =
  "done|fixed|completed|finished|implemented|resolved|solved|refactored|migrated|rewritten|repaired|addressed";
const CHANGED =
  "fixed|completed|finished|implemented|resolved|solved|refactored|migrated|rewrote|rewritten|repaired|addressed|added|updated|changed|created|removed|renamed|replaced|moved|converted|corrected|extracted|adjusted|built|introduced|switched|wired";
const WORK =
  "bugs?|issues?|leaks?|races?|typos?|warnings?|exception|deadlock|failures?|problems?|features?|tasks?|work|changes?|implementation|fix(?:es)?|refactor(?:ing)?|migration|code|everything|errors?|crash|regression|request|ticket|requirements|items|todos|rewrite|cleanup|upgrade|endpoint|module|it|this|that|both|quotedcode";
const CHECKED =
  "tests?|specs?|suites?|checks|ci|build|lint(?:er)?|type ?checks?|everything|all of them|all \\d+(?: [a-z]+){0,2}|quotedcode";

const END = "(?: ?[:,–—].*| - .*|[.! ]*)$";
/** letters with accents know no \b */
const START = String.raw`(?<!\p{L})`;

const CLAIMS: RegExp[] = [
  // Done. Fixed! All done: …  It's done.
  `^(?:(?:ok|okay|great|perfect|excellent|alright|and|so),? )?(?:(?:it|that|this|everything|all|we|i)(?:'s|'re|'m| is| are| am)? )?${ADVERBS}(?:${STRONG}|complete|all set|good to go)(?: now)?(?: [.!]*| ?[:,–—].*| - .*|[.!]*)$`,
  `^(?:${STRONG}) (?:in|by|with|and|for|as|on) `,
  String.raw`^(?:successfully )?(?:fixed|completed|finished|implemented|resolved|refactored|migrated|rewrote) (?:the|a|an|all|both|this|that|your|every|it|quotedcode|#\d|issue|bug)\b`,
  String.raw`\b(?:i|we)(?:'ve| have)? ${ADVERBS}(?:${CHANGED})\b`,
  String.raw`\b(?:successfully|(?:has|have) been) ${ADVERBS}(?:${CHANGED})\b`,
  String.raw`(?<!\w)(?:${WORK})(?: (?:you asked for|requested))?(?: has been| have been| is| are| was| were|'s|'re) ${ADVERBS}(?:${STRONG}|complete|in place|working|applied|closed|ready(?! to (?:start|begin|try)))(?!\w)`,
  String.raw`\b(?:implementation|task|work|fix|migration|refactor(?:ing)?|feature|changes?|rewrite|upgrade) ?:? (?:complete|completed|done|finished|applied)\b(?! the\b)`,
  String.raw`(?<!\w)(?:${CHECKED})(?: in quotedcode)?(?: is| are| have| has|'re)? ${ADVERBS}(?:pass(?:es|ed|ing)?(?! (?:the|a|an|it|them|in|on|to|data|args?|arguments|quotedcode)\b)|green|succeeds?|succeeded|clean)(?!\w)`,
  String.raw`\b\d+(?:/\d+)?(?: (?:tests?|specs?|checks?))? (?:are )?(?:passed|passing|pass|green)\b`,
  String.raw`\b(?:is|are) now ${ADVERBS}(?:${STRONG}|complete|in place)\b`,
  String.raw`\b(?:now works?|works? (?:now|again|correctly|as expected|as intended)|working (?:now|again|correctly|as expected))\b`,
  String.raw`\b(?:all set|good to go|ready (?:for review|to merge|to ship|for use))\b`,
  // a few forms of other languages
  `^(?:alles |das ist |ist |so, )?(?:fertig|erledigt|abgeschlossen|behoben|umgesetzt|implementiert)${END}`,
  String.raw`${START}(?:ist|sind|wurden?|habe|haben)(?: \p{L}+){0,6} (?:fertig|erledigt|abgeschlossen|behoben|umgesetzt|implementiert|korrigiert|repariert|eingebaut|angepasst)(?!\p{L})`,
  String.raw`${START}(?:alle tests|die tests|testsuite)(?: \p{L}+){0,2} (?:grün|durch|erfolgreich|bestanden)(?!\p{L})`,
  String.raw`${START}alle tests (?:jetzt |nun )?(?:bestehen|laufen)(?!\p{L})`,
  `^(?:c'est |voilà, c'est |tout est )?(?:fait|terminé|fini|corrigé|implémenté)e?${END}`,
  String.raw`${START}(?:j'ai|est|sont|a été|ont été)(?: (?:bien|maintenant|tout))? (?:terminé|corrigé|implémenté|fini|résolu|ajouté|réparé)e?s?(?!\p{L})`,
  String.raw`${START}(?:tous )?les tests (?:passent|sont (?:tous )?(?:verts|au vert))(?!\p{L})`,
  `^(?:todo |ya está |está )?(?:listo|hecho|terminado|completado|arreglado|corregido|implementado)${END}`,
  String.raw`${START}(?:he|está|están|ha sido|han sido|queda)(?: (?:ya|todo))? (?:terminad|implementad|corregid|arreglad|completad|resuelt|añadid)[oa]s?(?!\p{L})`,
  String.raw`${START}(?:tod[oa]s )?(?:las pruebas|los tests) (?:ya |ahora )?(?:pasan|están en verde)(?!\p{L})`,
].map((claim) => new RegExp(claim, "u"));

/** Before a claim these, too, make it a question or a purpose; after it they explain it. */
const TAKEN_BACK =
  /(?<![\p{L}'])(?:so|how|why|which|can|need(?:s|ed)?|looks? like|to (?:see|check|verify|confirm))(?![\p{L}'])/u;

/** Someone else's work, or a step on the way. */
const NOT_THE_WORK =
  /\b(?:upstream|by someone else|already (?:fixed|done|implemented|resolved)|in (?:version|release) \d|(?:added|inserted)(?: \w+){0,3} (?:logging|logs?|log lines?|log statements?|debug\w*|prints?|print statements?|breakpoints?)|to (?:find out|diagnose|narrow|reproduce|investigate))\b/;

function claims(sentence: string): boolean {
  if (sentence.endsWith("?") || sentence.startsWith("¿") || NOT_THE_WORK.test(sentence)) return false;
  return splitClauses(sentence).some((clause) =>
    CLAIMS.some((claim) => {
      const found = claim.exec(clause);
      if (found === null) return false;
      // "After the fix …" says when; "after I …" is still to come.
      const before = clause.slice(0, found.index + firstWords(found[0])).replace(/^after (?!(?:i|we|you) )/, "");
      return !TAKEN_BACK.test(before) && !isDoubtful(before);
    }),
  );
}

/** Up to where a claim can still be taken back from inside: the part before its own explanation. */
function firstWords(found: string): number {
  const end = found.search(/ ?[:,–—]| - /);
  return end < 0 ? found.length : end;
}

/** A condition applies to its own clause and to what follows a comma, so only words that begin a new thought split them. */
function splitClauses(sentence: string): string[] {
  if (
    /^(?:if|once|when|until|unless|as soon as|before|assuming|wenn|sobald|si|quand|cuando)(?![\p{L}])/u.test(sentence)
  )
    return [];
  return sentence.split(/;|, (?:and|but|so) | but | – | — | and (?=(?:all|the|every|both|i) )|: (?=\S)/);
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

function tellsOfOpenWork(sentence: string): boolean {
  if (sentence.endsWith("?")) return GOES_ON.test(sentence);
  return !OFFER.test(sentence) && (leavesOpen(sentence) || OPEN.some((open) => open.test(sentence)));
}
