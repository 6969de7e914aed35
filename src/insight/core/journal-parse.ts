/** Journal lines as the JSON they are: whatever was written by anyone is looked at before it is used. */

import type { Json } from "../../kernel/types/run.ts";
import { type Clock, TIME_LENGTH, timeIn } from "./journal-time.ts";
import { LONGEST_NAME } from "./journal-words.ts";

export interface LineKey {
  at: number;
  run: string;
  seq: number;
  i: number;
  kind: string;
}

/** null: no record of a journal. */
export function keyIn(clock: Clock, value: Record<string, Json | undefined>): LineKey | null {
  const { v, run, kind, seq, i } = value;
  const at = typeof value.at === "string" && value.at.length === TIME_LENGTH ? timeOf(clock, value.at) : -1;
  if (v !== 1 || at === -1 || !isName(run) || !isName(kind) || !isCount(seq) || !isCount(i)) return null;
  return { at, run, seq, i, kind };
}

const TIME = new DataView(new ArrayBuffer(TIME_LENGTH));

function timeOf(clock: Clock, at: string): number {
  for (let n = 0; n < TIME_LENGTH; n++) TIME.setUint8(n, Math.min(255, at.charCodeAt(n)));
  return timeIn(clock, TIME, 0);
}

const isName = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "" && value.length <= LONGEST_NAME;
export const nameOf = (value: Json | undefined) => (typeof value === "string" ? value.slice(0, LONGEST_NAME) : "");
const isCount = (value: Json | undefined): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value < 1e9;

export function parseObject(text: string): Record<string, Json | undefined> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, Json>)
      : null;
  } catch {
    return null;
  }
}
