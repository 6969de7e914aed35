/** Where in a stretch of bytes something could matter to a signal. Everything here is about not looking at the rest. */

const NEWLINE = 0x0a;
const ANGLE = 0x3c;
const RAW_HTML = /^(?:pre|code|script|style|textarea|blockquote|details)/i;
const FIRST_OF_HTML: (true | undefined)[] = [];
for (const letter of "pcstbd") FIRST_OF_HTML[letter.charCodeAt(0)] = true;
const PROMISE = /^<[ \t]{0,8}promise/i;
const LONGEST_NAME = 20;

/** What is looked for, in bytes. */
export type Pattern = Buffer;

/** Remembers per pattern where it comes next, so that each is looked for once. */
export interface Seeker {
  bytes: Buffer;
  next: Map<Pattern, number>;
  /** no bracket before it opens anything */
  looked: number;
}

export const seekIn = (bytes: Buffer): Seeker => ({ bytes, next: new Map(), looked: 0 });

/** The nearest of these patterns; Infinity: none. */
export function nearest(seeker: Seeker, patterns: readonly Pattern[], from: number): number {
  let at = Number.POSITIVE_INFINITY;
  for (const pattern of patterns) at = Math.min(at, nextOf(seeker, pattern, from));
  return at;
}

function nextOf({ bytes, next }: Seeker, pattern: Pattern, from: number): number {
  const known = next.get(pattern) ?? -1;
  if (known >= from) return known;
  const found = bytes.indexOf(pattern, from);
  const at = found < 0 ? Number.POSITIVE_INFINITY : found;
  next.set(pattern, at);
  return at;
}

/** Where brackets stand close together, asking the machine for each costs more than looking. */
const CLOSE_BY = 16;

/** The nearest bracket that could open something, if it comes before `limit`; else that. */
export function nearestOpening(seeker: Seeker, from: number, limit: number): number {
  const most = Math.min(limit, seeker.bytes.length);
  const start = Math.max(from, seeker.looked);
  if (start >= most) return limit;
  const found = seekOpening(seeker.bytes.subarray(0, most), seeker.bytes, start);
  seeker.looked = found < 0 ? most : found;
  return found < 0 ? limit : found;
}

function seekOpening(part: Buffer, bytes: Buffer, from: number): number {
  let at = part.indexOf(ANGLE, from);
  while (at >= 0) {
    for (const end = Math.min(at + CLOSE_BY, part.length); at < end; at++)
      if (part[at] === ANGLE && isTelling(bytes, at)) return at;
    at = part.indexOf(ANGLE, at);
  }
  return at;
}

/** A promise in whatever spelling, a comment, raw HTML at the beginning of a line. */
function isTelling(bytes: Buffer, at: number): boolean {
  const next = bytes[at + 1] ?? 0;
  if (next === 0x21) return bytes[at + 2] === 0x2d && bytes[at + 3] === 0x2d;
  let name = at + 1;
  while (isSpace(bytes[name])) name++;
  const first = (bytes[name] ?? 0) | 0x20;
  if (first === 0x70 && PROMISE.test(bytes.toString("latin1", at, at + LONGEST_NAME))) return true;
  if (name > at + 1 || FIRST_OF_HTML[first] === undefined || !beginsLine(bytes, at)) return false;
  return RAW_HTML.test(bytes.toString("latin1", name, name + LONGEST_NAME));
}

const isSpace = (byte: number | undefined) => byte === 0x20 || byte === 0x09;

function beginsLine(bytes: Buffer, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && isSpace(bytes[before])) before--;
  return before < 0 || bytes[before] === NEWLINE || bytes[before] === 0x0d;
}

export const lineStart = (bytes: Buffer, at: number, least: number) =>
  at <= least ? least : Math.max(least, bytes.lastIndexOf(NEWLINE, at - 1) + 1);

export function lineEnd(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(NEWLINE, at);
  return end < 0 ? bytes.length : end;
}

/** Behind the last blank line before; a paragraph has to be read from its beginning. */
export function paragraphStart(bytes: Buffer, at: number, least: number): number {
  let start = lineStart(bytes, at, least);
  while (start > least) {
    const before = lineStart(bytes, start - 1, least);
    if (isBlank(bytes, before, start)) return start;
    start = before;
  }
  return start;
}

function isBlank(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++)
    if (bytes[at] !== NEWLINE && bytes[at] !== 0x0d && !isSpace(bytes[at])) return false;
  return true;
}

/** Behind the last blank line of all; 0: there is none. */
export function lastParagraph(bytes: Buffer): number {
  const plain = bytes.lastIndexOf("\n\n");
  if (plain >= 0) return plain + 2;
  const windows = bytes.lastIndexOf("\n\r\n");
  return windows < 0 ? 0 : windows + 3;
}

/** Where a line may be cut that is too long to be kept: not within a tag, a mark or a letter. */
export function cutInLine(bytes: Buffer, reach: number): number {
  const tag = bytes.lastIndexOf("<promise");
  const angle = bytes.lastIndexOf(ANGLE);
  if (tag > 0 && tag >= bytes.length - reach) return tag;
  if (angle > 0 && angle >= bytes.length - LONGEST_NAME) return angle;
  let cut = bytes.length;
  while (cut > bytes.length - reach && cut > 1 && isUnfinished(bytes[cut - 1]!)) cut--;
  return cut;
}

/** A letter of several bytes, or a mark that may go on: `-->`, a fence. */
const isUnfinished = (last: number) => last >= 0x80 || last === 0x2d || last === 0x60 || last === 0x7e;
