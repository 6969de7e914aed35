/** The Gregorian calendar in UTC, counted: core has no clock to ask. */

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Days since 1970-01-01; years begin in March, so that a leap day comes last. `month` from 1. */
export function daysTo(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const leaps = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return years * 365 + leaps + Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1 - 719_468;
}

export function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  return day <= 28 || day <= daysTo(month === 12 ? year + 1 : year, (month % 12) + 1, 1) - daysTo(year, month, 1);
}

function dateOf(days: number): [year: number, month: number, day: number] {
  let year = 1970 + Math.floor(days / 365.2425);
  while (daysTo(year + 1, 1, 1) <= days) year++;
  while (daysTo(year, 1, 1) > days) year--;
  let month = 12;
  while (daysTo(year, month, 1) > days) month--;
  return [year, month, days - daysTo(year, month, 1) + 1];
}

export const yearOf = (ms: number): number => dateOf(Math.floor(ms / DAY))[0];

/** 0 is Sunday. */
export const weekdayOf = (days: number): number => (((days + 4) % 7) + 7) % 7;

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)$/;

/** RFC 3339, also without seconds, to milliseconds since 1970; null: something else. */
export function instantOf(text: string): number | null {
  const found = INSTANT.exec(text);
  if (found === null) return null;
  const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0)) as Six;
  if (!isDate(year, month, day) || hour > 23 || minute > 59 || second > 59) return null;
  const thousandths = Number((found[7] ?? "").padEnd(3, "0").slice(0, 3));
  const time = hour * HOUR + minute * MINUTE + second * SECOND + thousandths;
  return daysTo(year, month, day) * DAY + time - zoneOf(found[8]!);
}

type Six = [number, number, number, number, number, number];

/** How far `+02:00` is ahead of UTC, in milliseconds; `Z` and whatever is none are not. */
export function zoneOf(zone: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)/.exec(zone) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * MINUTE);
}

/** Years of four digits. */
export function isoOf(ms: number): string {
  const [year, month, day] = dateOf(Math.floor(ms / DAY));
  const rest = ms - Math.floor(ms / DAY) * DAY;
  const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const time = `${two(rest / HOUR)}:${two((rest % HOUR) / MINUTE)}:${two((rest % MINUTE) / SECOND)}`;
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}T${time}.${String(rest % SECOND).padStart(3, "0")}Z`;
}
