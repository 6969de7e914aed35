/** Times of the journal, from their bytes: core has no clock to ask, and this is done for every commit. */

export const TIME_LENGTH = 24;
const ZERO = 48;

/** The day of the last time, and its beginning in milliseconds: the next one is mostly of the same day. */
export interface Clock {
  day: number;
  dayMs: number;
}

const two = (bytes: Uint8Array, at: number) => (bytes[at]! - ZERO) * 10 + bytes[at + 1]! - ZERO;
const DAY_MS = 86_400_000;

/** `2026-01-31T12:00:00.000Z` → milliseconds; -1: something else. Without the clock's help, as core has none. */
export function timeIn(clock: Clock, bytes: Uint8Array, at: number): number {
  if (bytes[at + 4] !== 45 || bytes[at + 7] !== 45 || bytes[at + 10] !== 84) return -1;
  if (bytes[at + 13] !== 58 || bytes[at + 16] !== 58 || bytes[at + 19] !== 46 || bytes[at + 23] !== 90) return -1;
  for (const n of DIGIT_PLACES) if (bytes[at + n]! < ZERO || bytes[at + n]! > 57) return -1;
  const day = (two(bytes, at) * 100 + two(bytes, at + 2)) * 10_000 + two(bytes, at + 5) * 100 + two(bytes, at + 8);
  if (day !== clock.day) {
    const days = daysBefore(Math.floor(day / 10_000), Math.floor(day / 100) % 100, day % 100);
    if (days === null) return -1;
    clock.day = day;
    clock.dayMs = days * DAY_MS;
  }
  const [hours, minutes, seconds] = [two(bytes, at + 11), two(bytes, at + 14), two(bytes, at + 17)];
  if (hours > 23 || minutes > 59 || seconds > 59) return -1;
  const thousandths = two(bytes, at + 20) * 10 + bytes[at + 22]! - ZERO;
  return clock.dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + thousandths;
}

const DIGIT_PLACES = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22];
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const leapsUpTo = (year: number) => Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);

/** Days since 1970; null: no such day, or before it. */
function daysBefore(year: number, month: number, day: number): number | null {
  if (year < 1970 || month < 1 || month > 12 || day < 1) return null;
  const february = isLeap(year) ? 1 : 0;
  if (day > MONTH_DAYS[month - 1]! + (month === 2 ? february : 0)) return null;
  const years = (year - 1970) * 365 + leapsUpTo(year - 1) - leapsUpTo(1969);
  const months = MONTH_DAYS.slice(0, month - 1).reduce((sum, one) => sum + one, 0) + (month > 2 ? february : 0);
  return years + months + day - 1;
}
