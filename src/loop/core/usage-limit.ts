/** When a usage limit ends, read from the text that reports it. */
import { attempt } from "../../kernel/attempt.ts";
import { DAY, HOUR, MINUTE, parseZone, SECOND } from "../../kernel/time/calendar.ts";

/** The longest limits there are end after a week. */
const FARTHEST = 8 * DAY;
/** A reset that has just passed: clocks differ a little. */
const JUST_NOW = MINUTE;

const LIMITS = [
  /\b(?:usage|session|weekly|daily|hourly|monthly|5-hour|five-hour|spend|credit|fast|opus|sonnet|premium request)s?\b.{0,12}\blimits?\b/i,
  /\bhit your\b.{0,40}\blimit\b/i,
  /(?<!context )\blimit reached\b/i,
  /\brate.?limit/i,
  /\btoo many requests\b/i,
  /\bquota\b/i,
  /\bRESOURCE_EXHAUSTED\b/,
  /\busage allocation\b/i,
  /\brequest rejected \(429\)/i,
  /\b(?:status|error|code|http)\b[ :=("']*429\b/i,
  /\bTerminalQuotaError\b/,
];

/** Only for what a client reports as a failure: an agent may well talk of limits. */
export const isLimit = (text: string): boolean => LIMITS.some((pattern) => pattern.test(text));

/** Milliseconds to wait, a little longer than the text says because clocks differ; null: it names no time. */
export function resetIn(text: string, at: string): number | null {
  const reset = resetTime(text, at, localOffset(at));
  if (reset === null) return null;
  const ms = Math.max(0, Date.parse(reset) - Date.parse(at));
  return ms + Math.min(30 * SECOND, Math.max(SECOND, ms / 20));
}

/** `local`: minutes that the local clock is ahead of UTC, for times without a zone. */
export function resetTime(text: string, at: string, local: number): string | null {
  const now = Date.parse(at);
  if (Number.isNaN(now)) return null;
  const found = instantIn(text) ?? delayIn(text, now) ?? clockIn(text, now, local);
  if (found === null || !(found >= now - JUST_NOW && found - now <= FARTHEST)) return null;
  return new Date(Math.max(found, now)).toISOString();
}

// ── Zones ───────────────────────────────────────────────────────────────────

/** Minutes that a zone's clock is ahead of UTC at a moment; null: no such zone. */
export function zoneOffset(timeZone: string, at: number): number | null {
  const format = attempt(() => new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" }), null);
  const name = format?.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value;
  return name === undefined ? null : parseZone(name) / MINUTE;
}

export const localOffset = (at: string): number => 0 - new Date(at).getTimezoneOffset();

// ── A moment ────────────────────────────────────────────────────────────────

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const EPOCH = /(?:limit reached\||reset[a-z_ -]{0,12}["']?\s*[:=]\s*["']?)(\d{10}|\d{13})\b/i;
const ISO = /\b(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d))/;
const HTTP_DATE = /\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\b/;

function instantIn(text: string): number | null {
  const epoch = EPOCH.exec(text)?.[1];
  if (epoch !== undefined) return Number(epoch) * (epoch.length === 10 ? SECOND : 1);
  const iso = ISO.exec(text)?.[1];
  const date = iso ?? HTTP_DATE.exec(text)?.[0];
  return date === undefined ? null : Date.parse(date);
}

// ── A while ─────────────────────────────────────────────────────────────────

const UNITS: [RegExp, number][] = [
  [/^(?:ms|millis)/i, 1],
  [/^d/i, DAY],
  [/^h/i, HOUR],
  [/^m/i, MINUTE],
  [/^s/i, SECOND],
];
const ONE = String.raw`\d+(?:\.\d+)?\s*(?:milliseconds?|ms|days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])`;
const WHILE = new RegExp(
  String.raw`(?:\b(?:again|retry(?:ing)?|resets?|available|wait|continue)(?: again)?\s*(?:in|after|for)?|retry-?delay["']?\s*:)\s*["']?(?:about |~)?(${ONE}(?:(?:,? and |,?\s*)${ONE})*)`,
  "i",
);
const RETRY_AFTER = /\bretry[-_ ]after["']?\s*[:=]?\s*["']?(\d{1,6})(?!\d|[.:]\d|[ \t]*(?:ms|mi|m\b|h|d))/i;

function delayIn(text: string, now: number): number | null {
  const seconds = RETRY_AFTER.exec(text)?.[1];
  if (seconds !== undefined) return now + Number(seconds) * SECOND;
  const found = WHILE.exec(text)?.[1];
  if (found === undefined) return null;
  const pieces = [...found.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)];
  return now + Math.ceil(pieces.reduce((total, [, count, unit]) => total + Number(count) * unitLength(unit!), 0));
}

const unitLength = (unit: string): number => UNITS.find(([pattern]) => pattern.test(unit))?.[1] ?? 0;

// ── A time of day, perhaps with a day ───────────────────────────────────────

const DATE = String.raw`(?:(?:on\s+)?(?:(?<month>[A-Z][a-z]{2})[a-z]*\.?\s+(?<day>\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(?<year>\d{4}))?|(?<weekday>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun))[a-z]*|(?<word>today|tomorrow))(?:,|\s)*(?:at\s+)?)?`;
const TIME = String.raw`(?:(?<hour>\d{1,2})(?::(?<minute>\d\d))?(?::\d\d)?\s*(?<half>[ap]\.?m\b\.?)?)`;
const ZONE = String.raw`(?:\s*\(?(?<zone>UTC|GMT|Z\b|[A-Z][A-Za-z_]+(?:\/[A-Za-z_+-]+\d*)+)\)?)?`;
const CLOCK = new RegExp(
  String.raw`\b(?:resets?|again|available|until|retry|after|back|renews?)\b(?:\s+(?:again|at|on|by|after))*[:\s]+${DATE}(?:at\s+)?${TIME}${ZONE}`,
  "gi",
);

type Groups = Record<string, string | undefined>;

function clockIn(text: string, now: number, local: number): number | null {
  for (const { groups } of text.matchAll(CLOCK)) {
    const found = groups ? readClock(groups, now, local) : null;
    if (found !== null) return found;
  }
  return null;
}

function readClock(groups: Groups, now: number, local: number): number | null {
  const time = timeOfDay(groups);
  const offset = (moment: number) => offsetAt(groups.zone, moment, local);
  if (time === null || offset(now) === null) return null;
  // The offset of that zone may be another one by then: summer time.
  const clock = onClock(groups, time, now + offset(now)! * MINUTE);
  if (clock === null) return null;
  const guess = clock - offset(now)! * MINUTE;
  return clock - offset(guess)! * MINUTE;
}

/** A bare number is no time: it needs minutes, am or pm. */
function timeOfDay({ hour, minute, half }: Groups): number | null {
  if (minute === undefined && half === undefined) return null;
  const [hours, minutes] = [Number(hour), Number(minute ?? 0)];
  if (minutes > 59 || hours > (half === undefined ? 23 : 12) || (half !== undefined && hours === 0)) return null;
  const full = half === undefined ? hours : (hours % 12) + (/^p/i.test(half) ? 12 : 0);
  return full * HOUR + minutes * MINUTE;
}

function onClock(groups: Groups, time: number, clock: number): number | null {
  const { month, day, year, weekday, word } = groups;
  const today = Math.floor(clock / DAY) * DAY;
  if (word !== undefined) return today + (/tomorrow/i.test(word) ? DAY : 0) + time;
  if (weekday !== undefined) {
    const ahead = (DAYS.indexOf(weekday.toLowerCase()) + 7 - new Date(clock).getUTCDay()) % 7;
    const then = today + ahead * DAY + time;
    return then < clock ? then + 7 * DAY : then;
  }
  if (month === undefined) return today + time < clock ? today + time + DAY : today + time;
  const nth = MONTHS.indexOf(month.toLowerCase());
  if (nth < 0) return null;
  const inYear = (which: number) => Date.UTC(which, nth, Number(day)) + time;
  if (year !== undefined) return inYear(Number(year));
  const here = new Date(clock).getUTCFullYear();
  return inYear(here) < clock - DAY ? inYear(here + 1) : inYear(here);
}

function offsetAt(zone: string | undefined, moment: number, local: number): number | null {
  if (zone === undefined) return local;
  return /^(?:UTC|GMT|Z)$/i.test(zone) ? 0 : zoneOffset(zone, moment);
}
