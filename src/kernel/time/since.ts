/** What a person writes after `--since`, as milliseconds since 1970. */
import { DAY, HOUR, MINUTE, parseDay, parseZone, SECOND } from "./calendar.ts";

export interface Clock {
  now: number;
  /** minutes east of UTC at a given moment: it changes twice a year */
  offset(ms: number): number;
}

export type Since = { ok: true; ms: number } | { ok: false; why: string };

export const SINCE_WAYS =
  "20:00, 2h, 30m, 3d, 1w, yesterday, “yesterday 18:00”, monday, 2026-01-31 or 2026-01-31T20:00";

const SPANS: Record<string, number> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: 7 * DAY };
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const TIME = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/;
const MOMENT = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d{1,9})?(Z|[+-]\d\d:?\d\d)?)?$/i;

export function parseSince(text: string, clock: Clock): Since {
  const asked = text.trim().toLowerCase();
  const ms = parseSpan(asked, clock) ?? parseDate(asked, clock) ?? parseWeekday(asked, clock);
  if (ms === null) return { ok: false, why: "not a time" };
  return ms > clock.now ? { ok: false, why: "it is in the future" } : { ok: true, ms };
}

/** `2h`: so long ago. A day is 24 hours here, whatever the clocks did. */
function parseSpan(asked: string, { now }: Clock): number | null {
  const [, count, unit] = /^(\d{1,5})\s?(s|m|h|d|w)$/.exec(asked) ?? [];
  return unit === undefined ? null : now - Number(count) * SPANS[unit]!;
}

/** `2026-01-31`, with a time and a zone or without; without a zone it is local. */
function parseDate(asked: string, clock: Clock): number | null {
  const [, date, clockTime = "0:00", zone] = MOMENT.exec(asked) ?? [];
  const day = date === undefined ? null : parseDay(date);
  const time = parseTime(clockTime);
  if (day === null || time === null) return null;
  return zone === undefined ? fromLocal(day + time, clock) : day + time - parseZone(zone);
}

/** `20:00`, `yesterday`, `monday 9:00`: the last time that it was so. */
function parseWeekday(asked: string, clock: Clock): number | null {
  const [found, word = "", clockTime] = /^([a-z]*)\s*(\d{1,2}:.*)?$/.exec(asked) ?? [];
  const time = parseTime(clockTime ?? "0:00");
  if (!found || time === null) return null;
  const today = new Date(clock.now + clock.offset(clock.now) * MINUTE).setUTCHours(0, 0, 0, 0);
  const at = (day: number) => fromLocal(day + time, clock);
  if (word === "") return at(today) > clock.now ? at(today - DAY) : at(today);
  if (word === "today") return at(today);
  if (word === "yesterday") return at(today - DAY);
  const weekday = WEEKDAYS.findIndex((name) => name === word || (word.length === 3 && name.startsWith(word)));
  if (weekday < 0) return null;
  const last = today - ((new Date(today).getUTCDay() + 7 - weekday) % 7) * DAY;
  return at(last) > clock.now ? at(last - 7 * DAY) : at(last);
}

function parseTime(text: string): number | null {
  const [, hour, minute, second = "0"] = TIME.exec(text) ?? [];
  return hour === undefined ? null : Number(hour) * HOUR + Number(minute) * MINUTE + Number(second) * SECOND;
}

/** The second look is for the days on which the clocks change. */
function fromLocal(local: number, { offset }: Clock): number {
  const first = local - offset(local) * MINUTE;
  return local - offset(first) * MINUTE;
}
