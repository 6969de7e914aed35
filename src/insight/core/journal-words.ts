/** Names that come again and again in journals are made once. */

const QUOTE = 34;
const BACKSLASH = 92;
export const LONGEST_NAME = 200;
const MOST_WORDS = 50_000;
const SLOTS = 1 << 16;
const RECENT = 1 << 9;
const RECENT_SHIFT = 32 - 9;
/** an odd number that spreads what is multiplied by it: 2^32 divided by the golden ratio */
const SPREAD = 0x9e3779b1;

export interface Word<Meaning> {
  text: string;
  /** the n-th that was made */
  number: number;
  /** its first and last four letters, as numbers; 0: it is shorter */
  first: number;
  last: number;
  /** if it is a kind */
  meaning: Meaning;
  next: Word<Meaning> | null;
}

/** The same bytes twice. */
export interface Source {
  bytes: Uint8Array;
  view: DataView;
}

export interface Words<Meaning> {
  slots: (Word<Meaning> | null)[];
  /** by their first letters, the last one each */
  recent: (Word<Meaning> | null)[];
  count: number;
  decoder: TextDecoder;
  meaningOf: (text: string) => Meaning;
}

export const newWords = <Meaning>(meaningOf: (text: string) => Meaning): Words<Meaning> => ({
  slots: new Array(SLOTS).fill(null),
  recent: new Array(RECENT).fill(null),
  count: 0,
  decoder: new TextDecoder(),
  meaningOf,
});

/** Printable, and neither the end of a string nor an escape in it. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 32 && byte <= 126 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** As `word`, for names of which there are few: found by their first four letters, if they are as long. */
export function commonWord<M>(words: Words<M>, source: Source, from: number, to: number): Word<M> | null {
  const { view } = source;
  if (from + 4 > to) return word(words, source, from, to);
  const first = view.getInt32(from);
  const slot = Math.imul(first, SPREAD) >>> RECENT_SHIFT;
  const recent = words.recent[slot]!;
  if (recent !== null && recent.first === first && isWord(recent, view, from, to)) return recent;
  const found = word(words, source, from, to);
  if (found !== null && found.text.length >= 4) words.recent[slot] = found;
  return found;
}

/** Up to the next quote. null: not plain. */
export function word<M>(words: Words<M>, { bytes, view }: Source, from: number, to: number): Word<M> | null {
  const end = Math.min(to, from + LONGEST_NAME);
  let at = from;
  let hash = 17;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (IS_PLAIN[byte] === 0) break;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  if (at === end || bytes[at] !== QUOTE) return null;
  const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  for (let one = words.slots[slot]!; one !== null; one = one.next!) if (isWord(one, view, from, to)) return one;
  return addWord(words, slot, words.decoder.decode(bytes.subarray(from, at)), view, from);
}

function isWord({ text, first, last }: Word<unknown>, view: DataView, from: number, to: number): boolean {
  const end = from + text.length;
  if (end >= to || view.getUint8(end) !== QUOTE) return false;
  const isShort = text.length < 4;
  if (!isShort && (view.getInt32(from) !== first || view.getInt32(end - 4) !== last)) return false;
  for (let n = isShort ? 0 : 4; n < text.length - (isShort ? 0 : 4); n++)
    if (text.charCodeAt(n) !== view.getUint8(from + n)) return false;
  return true;
}

function addWord<M>(words: Words<M>, slot: number, text: string, view: DataView, from: number): Word<M> {
  if (words.count >= MOST_WORDS) {
    words.slots.fill(null);
    words.count = 0;
  }
  const isShort = text.length < 4;
  const first = isShort ? 0 : view.getInt32(from);
  const last = isShort ? 0 : view.getInt32(from + text.length - 4);
  const meaning = words.meaningOf(text);
  const added: Word<M> = { text, number: words.count, first, last, meaning, next: words.slots[slot]! };
  words.slots[slot] = added;
  words.count++;
  return added;
}
