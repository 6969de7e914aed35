/** Terminal escape sequences: what stands between them is the text. */

/** Longer ones are taken as text. */
export const LONGEST_ESCAPE = 256;
const WHOLE =
  /\x1b(?:\[[0-?]{0,200}[ -/]{0,20}[@-~]|\][^\x07\x1b]{0,240}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,240}\x1b\\|[ -/]{1,20}[0-~]|[0-OQ-WYZ\\`-~])/;
const EVERY = new RegExp(WHOLE.source, "g");
const FIRST = new RegExp(WHOLE.source, "y");

export const withoutEscapes = (text: string) =>
  text.includes("\x1b") ? text.replace(EVERY, "").replaceAll("\x1b", "") : text;

export const ESCAPE = 0x1b;

/** Copies what stands before `to` and the next sequence; gives how much it was. Four bytes at a time: twice as fast. */
export function copyToEscape(bytes: Buffer, from: number, to: number, target: Buffer, targetFrom: number): number {
  let at = from;
  let end = targetFrom;
  for (; at + 4 <= to; at += 4, end += 4) {
    const four = bytes.readInt32LE(at);
    if (hasEscape(four)) break;
    target.writeInt32LE(four, end);
  }
  while (at < to && bytes[at] !== ESCAPE) target[end++] = bytes[at++]!;
  return at - from;
}

/** A byte of the difference is 0 where an escape begins; what follows is the usual question whether one is. */
function hasEscape(four: number): boolean {
  const difference = four ^ 0x1b1b1b1b;
  return ((difference - 0x01010101) & ~difference & 0x80808080) !== 0;
}

/** How long the sequence is that begins here; 0: it is not whole. */
export function escapeLength(bytes: Buffer, at: number): number {
  const next = bytes[at + 1];
  if (next === 0x5b) return controlLength(bytes, at);
  // No sequence goes on with anything else: a flood of them alone is not worth a text each.
  if (next === undefined || next < 0x20 || next > 0x7e) return 0;
  FIRST.lastIndex = 0;
  return FIRST.exec(bytes.toString("latin1", at, at + LONGEST_ESCAPE))?.[0].length ?? 0;
}

/** Colours and the like come by the million, so they are not worth a regular expression each. */
function controlLength(bytes: Buffer, at: number): number {
  let end = at + 2;
  while (end < at + 202 && bytes[end]! >= 0x30 && bytes[end]! <= 0x3f) end++;
  for (const most = end + 20; end < most && bytes[end]! >= 0x20 && bytes[end]! <= 0x2f; ) end++;
  return bytes[end]! >= 0x40 && bytes[end]! <= 0x7e ? end + 1 - at : 0;
}
