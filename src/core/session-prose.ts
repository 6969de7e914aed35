/**
 * A large session.md is mostly prose, which says nothing about tasks. Of each stretch of it one dot is left, which ends a
 * task's text as the stretch did: the tasks stay the same, and the rest is quick to read. Works on bytes, so that prose
 * need not be decoded first.
 */

const [NEWLINE, BLANK, DELETE, LESS, GREATER, DASH] = [10, 32, 127, 60, 62, 45];
/** What a task, a heading or a fence begins with. */
const TELLING = new Set([..."-*+#`~"].map((sign) => sign.charCodeAt(0)));
/** Letters that are not ASCII may be blanks of some kind, or a part of one: they stay. */
const IS_KEPT = Uint8Array.from({ length: 256 }, (_, code) =>
  code <= BLANK || code >= DELETE || TELLING.has(code) ? 1 : 0,
);

/** From where to where lines of prose stand, in pairs. `lines`: whole ones; those with an end of a comment are none. */
export function proseIn(lines: Uint8Array): number[] {
  const stretches: number[] = [];
  const nextComment = comments(lines);
  let begun = -1;
  for (let from = 0; from < lines.length; ) {
    const next = lines.indexOf(NEWLINE, from) + 1 || lines.length;
    const isProse = IS_KEPT[lines[from]!] === 0 && nextComment(from) >= next;
    if (isProse && begun < 0) begun = from;
    if (!isProse && begun >= 0) stretches.push(begun, from);
    if (!isProse) begun = -1;
    from = next;
  }
  if (begun >= 0) stretches.push(begun, lines.length);
  return stretches;
}

/** Where the next comment begins or ends from a place on; to be asked from the begin to the end. */
function comments(lines: Uint8Array): (from: number) => number {
  let [begins, ends] = [nextBegin(lines, 0), nextEnd(lines, 0)];
  return (from) => {
    if (begins < from) begins = nextBegin(lines, from);
    if (ends < from) ends = nextEnd(lines, from);
    return Math.min(begins, ends);
  };
}

/** `<!-` is enough: a line too many is kept. */
function nextBegin(lines: Uint8Array, from: number): number {
  let at = lines.indexOf(LESS, from);
  while (at >= 0 && lines[at + 2] !== DASH) at = lines.indexOf(LESS, at + 1);
  return at < 0 ? lines.length : at;
}

/** `->` is enough. */
function nextEnd(lines: Uint8Array, from: number): number {
  let at = lines.indexOf(GREATER, from);
  while (at >= 0 && lines[at - 1] !== DASH) at = lines.indexOf(GREATER, at + 1);
  return at < 0 ? lines.length : at;
}

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
