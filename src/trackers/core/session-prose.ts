/**
 * A large session.md is mostly prose, which says nothing about tasks. Of each stretch of it one dot is left, which ends a
 * task's text as the stretch did: the tasks stay the same, and the rest is quick to read. Works on bytes, so that prose
 * need not be decoded first, and looks for signs instead of lines: the engine finds a byte faster than we count lines.
 */

const codeOf = (sign: string) => sign.charCodeAt(0);
const [NEWLINE, TAB, BLANK, DELETE, DASH] = [10, 9, 32, 127, codeOf("-")];
/** Each line that tells something has one of these: the box of a task, a heading, a fence, a comment. */
const SIGNS = [..."]#`~<>"].map(codeOf);
const [BOX, LESS, GREATER] = [0, 4, 5];
const BULLETS = new Set([..."-*+"].map(codeOf));
const BEGINS = new Set([..."#`~"].map(codeOf));

/** From where to where prose stands, in pairs; it begins and ends with lines that cannot be a task's text. `lines`: whole ones. */
export function proseIn(lines: Uint8Array): number[] {
  const stretches: number[] = [];
  const places = SIGNS.map(() => -1);
  let kept = 0;
  for (let seen = 0; ; ) {
    const at = nextSign(lines, places, seen);
    const begin = at === lines.length ? at : lines.lastIndexOf(NEWLINE, at) + 1;
    const end = endOfLine(lines, at);
    if (at === lines.length || isTelling(lines, places, begin, end)) {
      const from = afterText(lines, kept, begin);
      const to = beforeText(lines, from, begin);
      if (to > from) stretches.push(from, to);
      kept = endOfLine(lines, end + NEAR);
    }
    if (at === lines.length) return stretches;
    seen = Math.max(kept, end);
  }
}

/** Where one task is, there are more: so near to one nothing is looked for, and all is kept. */
const NEAR = 256;

/** `places`: where each sign was found last. */
function nextSign(lines: Uint8Array, places: number[], from: number): number {
  let next = lines.length;
  for (let sign = 0; sign < SIGNS.length; sign++) {
    let place = places[sign]!;
    if (place < from) {
      place = lines.indexOf(SIGNS[sign]!, from);
      if (place < 0) place = lines.length;
      places[sign] = place;
    }
    if (place < next) next = place;
  }
  return next;
}

function isTelling(lines: Uint8Array, places: number[], begin: number, end: number): boolean {
  let at = begin;
  while (lines[at] === BLANK || lines[at] === TAB) at++;
  const first = lines[at]!;
  if (BEGINS.has(first) || (places[BOX]! < end && BULLETS.has(first))) return true;
  return (places[LESS]! < end || places[GREATER]! < end) && hasComment(lines.subarray(begin, end));
}

/** `<!-` and `->` are enough: a line too many is kept. */
function hasComment(line: Uint8Array): boolean {
  for (let at = line.indexOf(SIGNS[LESS]!); at >= 0; at = line.indexOf(SIGNS[LESS]!, at + 1))
    if (line[at + 2] === DASH) return true;
  for (let at = line.indexOf(SIGNS[GREATER]!); at >= 0; at = line.indexOf(SIGNS[GREATER]!, at + 1))
    if (line[at - 1] === DASH) return true;
  return false;
}

/** A line that may be a task's text, or blank. Letters that are not ASCII may be blanks of some kind, or a part of one. */
const mayBeText = (code: number) => code <= BLANK || code >= DELETE;

function afterText(lines: Uint8Array, begin: number, end: number): number {
  let from = begin;
  while (from < end && mayBeText(lines[from]!)) from = endOfLine(lines, from);
  return from;
}

function beforeText(lines: Uint8Array, begin: number, end: number): number {
  let to = end;
  while (to > begin) {
    const from = to < 2 ? 0 : lines.lastIndexOf(NEWLINE, to - 2) + 1;
    if (!mayBeText(lines[from]!)) break;
    to = from;
  }
  return to;
}

const endOfLine = (lines: Uint8Array, from: number) => lines.indexOf(NEWLINE, from) + 1 || lines.length;

// ── Changes ─────────────────────────────────────────────────────────────────

/** What stood from a place to another is `by` now. */
export interface Splice {
  from: number;
  to: number;
  by: string;
}

/** The one place in which two texts differ; never between the halves of a sign. */
export function spliceBetween(before: string, after: string): Splice {
  let from = commonStart(before, after);
  if (isHigh(before.charCodeAt(from - 1))) from--;
  let same = commonEnd(before, after, Math.min(before.length, after.length) - from);
  if (isLow(before.charCodeAt(before.length - same))) same--;
  return { from, to: before.length - same, by: after.slice(from, after.length - same) };
}

const isHigh = (code: number) => (code & 0xfc00) === 0xd800;
const isLow = (code: number) => (code & 0xfc00) === 0xdc00;

/** Compared by the thousand first: sign by sign takes long before the engine has compiled it. */
const STEP = 4_096;

function commonStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.slice(at, at + STEP) === b.slice(at, at + STEP)) at += STEP;
  const most = Math.min(a.length, b.length);
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return Math.min(at, most);
}

function commonEnd(a: string, b: string, most: number): number {
  let size = 0;
  const part = (text: string) => text.slice(text.length - size - STEP, text.length - size);
  while (size + STEP <= most && part(a) === part(b)) size += STEP;
  while (size < most && a.charCodeAt(a.length - 1 - size) === b.charCodeAt(b.length - 1 - size)) size++;
  return size;
}
