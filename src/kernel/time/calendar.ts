/** Dates as people and trackers write them. `Date.parse` alone would take February 30 for March 2. */

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** `2026-01-31` in UTC, in milliseconds since 1970; null: there is no such day. */
export function parseDay(text: string): number | null {
  const ms = Date.parse(`${text}T00:00:00.000Z`);
  return Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(`${text}T`) ? null : ms;
}

const INSTANT = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** RFC 3339, also without seconds, in milliseconds since 1970; null: something else. */
export function parseInstant(text: string): number | null {
  const [found, day = "", , , , zone = ""] = INSTANT.exec(text) ?? [];
  const start = found === undefined ? null : parseDay(day);
  if (start === null) return null;
  return Date.parse(`${text.slice(0, -zone.length)}Z`) - parseZone(zone);
}

/** How far `+02:00` is ahead of UTC, in milliseconds. 0 for `Z` and for anything that is not an offset. */
export function parseZone(zone: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)/.exec(zone) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours ?? 0) * HOUR + Number(minutes ?? 0) * MINUTE);
}
