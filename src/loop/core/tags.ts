/** The two signals of a loop, and what was plainly meant as one and is none. */

export interface LoopSignals {
  success: boolean;
  failure: boolean;
  malformed: string[];
  /** exact tags that stood in code or in a quotation */
  quoted: string[];
}

/** Does this tag, at this place of the text told, come from the prompt? */
export type IsEcho = (at: number, tag: string) => boolean;

const MOST_KEPT = 10;
const LONGEST_KEPT = 120;
const EXACT = /<promise>(?:SUCCESS|FAILURE)<\/promise>/g;
const SUCCESS = "<promise>SUCCESS</promise>";
/** Closed, in whatever way; or never closed, but with one of the two words. All bounds keep hostile text cheap. */
const CLOSED = /<[ \t]{0,8}promise\b[^<>]{0,80}>([^<]{0,300})<[ \t]{0,8}\/?[ \t]{0,8}promise[ \t]{0,8}>/gi;
const UNCLOSED = /<[ \t]{0,8}promise\b[^<>]{0,80}?(?:>[^<>\w]{0,8})?(?:success|failure)[^<\n]{0,80}/gi;
/** "between <promise> and </promise>" speaks about tags; a word in capitals is meant as one. */
const MEANT = /[A-Z]{2}|[Ss]ucce|[Ff]ail|^\s*$/;

export const noSignals = (): LoopSignals => ({ success: false, failure: false, malformed: [], quoted: [] });

/** `own` is `text` with quotations masked, or "" if all of it is one. */
export function collectTags(signals: LoopSignals, text: string, own: string, isEcho: IsEcho): void {
  if (!/promise/i.test(text)) return;
  for (const { 0: tag, index } of text.matchAll(EXACT)) {
    if (isEcho(index, tag)) continue;
    if (!own.startsWith(tag, index)) keep(signals.quoted, tag);
    else if (tag === SUCCESS) signals.success = true;
    else signals.failure = true;
  }
  if (own !== "") collectMalformed(signals, own.replace(EXACT, masked), isEcho);
}

const masked = (tag: string) => "\u0001".repeat(tag.length);

function collectMalformed(signals: LoopSignals, own: string, isEcho: IsEcho): void {
  const closed = [...own.matchAll(CLOSED)].filter(({ 1: inside = "" }) => MEANT.test(inside));
  const rest = own.replace(CLOSED, masked);
  const found = [...closed, ...rest.matchAll(UNCLOSED)].sort((one, other) => one.index - other.index);
  for (const { 0: tag, index } of found) if (!isEcho(index, tag)) keep(signals.malformed, shortened(tag));
}

/** Masked words and control characters say nothing to whoever reads it. */
const shortened = (tag: string) =>
  tag
    .replace(/[\u0000-\u001f]+/g, " ")
    .slice(0, LONGEST_KEPT)
    .trimEnd();

function keep(list: string[], tag: string): void {
  if (list.length < MOST_KEPT) list.push(tag);
}
