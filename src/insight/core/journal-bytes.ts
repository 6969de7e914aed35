/**
 * Text in bytes, compared eight at a time: as floating point numbers, which is exact as long as one side is ASCII without
 * zeros (no number of that kind is NaN, or equal to another).
 */

export interface Key {
  length: number;
  first: number;
  middle: number;
  last: number;
}

/** Eight to 24 letters. */
export function keyOf(text: string): Key {
  const view = new DataView(new ArrayBuffer(text.length));
  for (let n = 0; n < text.length; n++) view.setUint8(n, text.charCodeAt(n));
  const end = text.length - 8;
  return { length: text.length, first: eight(view, 0), middle: eight(view, Math.min(8, end)), last: eight(view, end) };
}

const eight = (view: DataView, at: number) => view.getFloat64(at, true);

export function standsAt(key: Key, view: DataView, at: number, to: number): boolean {
  const { length } = key;
  if (at + length > to || eight(view, at) !== key.first || eight(view, at + length - 8) !== key.last) return false;
  return length <= 16 || eight(view, at + 8) === key.middle;
}

/** A text that may come again. Empty or at least eight letters long. */
export interface Kept {
  view: DataView;
  length: number;
}

export const newKept = (longest: number): Kept => ({ view: new DataView(new ArrayBuffer(longest)), length: 0 });

/** Plain text only. */
export function keep(kept: Kept, view: DataView, from: number, to: number): void {
  const length = to - from;
  for (let n = 0; n < length - 8; n += 8) kept.view.setFloat64(n, eight(view, from + n), true);
  kept.view.setFloat64(length - 8, eight(view, to - 8), true);
  kept.length = length;
}

/** The end differs more often than the beginning, so it is looked at first. */
export function isKept({ view: kept, length }: Kept, view: DataView, at: number, to: number): boolean {
  if (length === 0 || at + length > to) return false;
  if (eight(view, at + length - 8) !== eight(kept, length - 8)) return false;
  for (let n = 0; n < length - 8; n += 8) if (eight(view, at + n) !== eight(kept, n)) return false;
  return true;
}
