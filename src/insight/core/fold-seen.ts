/** Doubles of the journal: a crash lets a commit's records be written again, up to some hundred commits back. */
import type { SeenRecords } from "./fold-types.ts";

/** Farther back than a recovery ever reaches. */
const REMEMBERED = 512;
const BITS = 31;
const MOST_FAR = 1000;

export const newSeen = (seq: number): SeenRecords => ({ first: Math.max(0, seq - REMEMBERED), masks: [], far: [] });

/** The newest commit of which a record was seen; -1: none. */
export const newestSeen = ({ first, masks }: SeenRecords): number =>
  masks.length === 0 ? -1 : first + masks.length - 1;

/** Notes the record. false: it was seen before, or it is too old to tell. */
export function noteSeen(seen: SeenRecords, seq: number, i: number): boolean {
  if (seq < seen.first) return false;
  reach(seen, seq);
  if (i >= BITS) return noteFar(seen, seq, i);
  const at = seq - seen.first;
  const bit = 1 << i;
  const mask = seen.masks[at] as number;
  if ((mask & bit) !== 0) return false;
  seen.masks[at] = mask | bit;
  return true;
}

function reach(seen: SeenRecords, seq: number): void {
  if (seq - seen.first >= 2 * REMEMBERED) forget(seen, seq - REMEMBERED + 1);
  while (seen.first + seen.masks.length <= seq) seen.masks.push(0);
}

/** Seldom and then by half, so that a long run does not pay with each commit. */
function forget(seen: SeenRecords, first: number): void {
  seen.masks.splice(0, first - seen.first);
  seen.far = seen.far.filter(([seq]) => seq >= first);
  seen.first = first;
}

function noteFar(seen: SeenRecords, seq: number, i: number): boolean {
  if (seen.far.some(([commit, record]) => commit === seq && record === i)) return false;
  if (seen.far.length >= MOST_FAR) seen.far.shift();
  seen.far.push([seq, i]);
  return true;
}
