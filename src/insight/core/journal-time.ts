/** Times of the journal, from their bytes: core has no clock to ask, and this is done for every commit. */
import { DAY, daysTo, isDate } from "../../kernel/time/calendar.ts";

export const TIME_LENGTH = 24;
const ZERO = 48;
const DASH = 45;
const POINT = 46;
const COLON = 58;
const T = 84;
const Z = 90;

/** The day of the last time, and its beginning in milliseconds: the next one is mostly of the same day. */
export interface Clock {
  /** `2026-01-31T`, of which the first eight and the last eight letters are all */
  first: number;
  last: number;
  dayMs: number;
}

export const newClock = (): Clock => ({ first: Number.NaN, last: Number.NaN, dayMs: 0 });

/** `2026-01-31T12:00:00.000Z` → milliseconds; -1: something else. Without the clock's help, as core has none. */
export function timeIn(clock: Clock, view: DataView, at: number): number {
  const first = view.getFloat64(at);
  const last = view.getFloat64(at + 3);
  if (first !== clock.first || last !== clock.last) {
    const days = dayIn(view, at);
    if (days === -1) return -1;
    clock.first = first;
    clock.last = last;
    clock.dayMs = days * DAY;
  }
  if (view.getUint8(at + 13) !== COLON || view.getUint8(at + 16) !== COLON) return -1;
  if (view.getUint8(at + 19) !== POINT || view.getUint8(at + 23) !== Z) return -1;
  const [hours, minutes, seconds] = [two(view, at + 11), two(view, at + 14), two(view, at + 17)];
  const thousandths = two(view, at + 20) * 10 + digit(view, at + 22);
  if (hours > 23 || minutes > 59 || seconds > 59 || thousandths > 999) return -1;
  return clock.dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + thousandths;
}

/** Far too much for whatever it is part of, if it is no digit. */
function digit(view: DataView, at: number): number {
  const value = view.getUint8(at) - ZERO;
  return value >= 0 && value <= 9 ? value : 100_000;
}

const two = (view: DataView, at: number) => digit(view, at) * 10 + digit(view, at + 1);

/** Days since 1970; -1: no day. */
function dayIn(view: DataView, at: number): number {
  if (view.getUint8(at + 4) !== DASH || view.getUint8(at + 7) !== DASH || view.getUint8(at + 10) !== T) return -1;
  const [year, month, day] = [two(view, at) * 100 + two(view, at + 2), two(view, at + 5), two(view, at + 8)];
  return year < 1970 || year > 9999 || !isDate(year, month, day) ? -1 : daysTo(year, month, day);
}
