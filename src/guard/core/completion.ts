/**
 * Does the agent's last message say that the work is done? Only its own prose counts, sentence by sentence; plans,
 * questions, conditions, parts, and messages that themselves tell of open or unchecked work claim nothing.
 * In doubt there is no claim: a false alarm costs a person's attention.
 */

import { isDoubtful } from "../../kernel/text/doubt.ts";
import { splitSentences, tellsOfOpenWork } from "../../kernel/text/open-work.ts";

export function claimsCompletion(message: string): boolean {
  const sentences = splitSentences(message);
  return sentences.some(claims) && !sentences.some(tellsOfOpenWork);
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
