import { describe, expect, test } from "bun:test";
import { isLimit, localOffset, resetTime, zoneOffset } from "../../../src/loop/core/usage-limit.ts";

/** A Tuesday. */
const AT = "2026-03-03T10:15:30.000Z";
const BERLIN = 60;

type Row = [text: string, expected: string | null, at?: string, offset?: number];

const ROWS: Row[] = [
  // a moment
  ["Claude AI usage limit reached|1772546400", "2026-03-03T14:00:00.000Z"],
  ["usage limit reached|1772546400000", "2026-03-03T14:00:00.000Z"],
  ['{"type":"usage_limit_reached","resets_at":1772546400}', "2026-03-03T14:00:00.000Z"],
  ["x-ratelimit-reset: 1772546400", "2026-03-03T14:00:00.000Z"],
  ["limit reached|1772532929", "2026-03-03T10:15:30.000Z"],
  ["quota resets at 2026-03-04T09:00:00Z", "2026-03-04T09:00:00.000Z"],
  ["quota resets at 2026-03-04T09:00:00+01:00", "2026-03-04T08:00:00.000Z"],
  ["Retry-After: Wed, 04 Mar 2026 07:28:00 GMT", "2026-03-04T07:28:00.000Z"],
  // a while
  ["Retry-After: 120", "2026-03-03T10:17:30.000Z"],
  ["HTTP/1.1 429\nretry-after: 120\nDate: today", "2026-03-03T10:17:30.000Z"],
  ["retry_after=30", "2026-03-03T10:16:00.000Z"],
  ["retry after 120 seconds", "2026-03-03T10:17:30.000Z"],
  ["try again in 2 hours 5 minutes", "2026-03-03T12:20:30.000Z"],
  ["Try again in 1 day 3 hours and 2 minutes.", "2026-03-04T13:17:30.000Z"],
  ["You've hit your usage limit. Upgrade to Pro or try again in 3 days 4 hours.", "2026-03-06T14:15:30.000Z"],
  ["Rate limit reached. Please try again in 20s. Visit …", "2026-03-03T10:15:50.000Z"],
  ["Please try again in 350ms", "2026-03-03T10:15:30.350Z"],
  ["Please retry in 35.201s.", "2026-03-03T10:16:05.201Z"],
  ['"retryDelay":"35s"', "2026-03-03T10:16:05.000Z"],
  ["Your quota will reset after 10h23m14s.", "2026-03-03T20:38:44.000Z"],
  ["limit reached · resets in 4h 12m", "2026-03-03T14:27:30.000Z"],
  ["Please wait about 5 minutes", "2026-03-03T10:20:30.000Z"],
  // a time of day
  ["limit reached ∙ resets 3pm (Europe/Berlin)", "2026-03-03T14:00:00.000Z"],
  ["You've hit your session limit · resets 3:30pm (America/New_York)", "2026-03-03T20:30:00.000Z"],
  ["5-hour limit reached ∙ resets 9am", "2026-03-04T08:00:00.000Z"],
  ["resets at 14:30", "2026-03-03T13:30:00.000Z"],
  ["resets at 14:30", "2026-03-03T22:30:00.000Z", AT, -480],
  ["resets at 11:15", "2026-03-04T10:15:00.000Z"],
  ["resets at 11:16", "2026-03-03T10:16:00.000Z"],
  ["resets at 12:00 AM", "2026-03-03T23:00:00.000Z"],
  ["resets at 12pm", "2026-03-03T11:00:00.000Z"],
  ["resets at 14:30 UTC", "2026-03-03T14:30:00.000Z"],
  ["try again at 3:42 PM.", "2026-03-03T14:42:00.000Z"],
  ["available again tomorrow at 9am", "2026-03-04T08:00:00.000Z"],
  // a day
  ["available again on Mar 3 at 9pm", "2026-03-03T20:00:00.000Z"],
  ["available again on March 5th at 9am", "2026-03-05T08:00:00.000Z"],
  ["You've hit your weekly limit · resets Mar 9, 9am (Europe/Berlin)", "2026-03-09T08:00:00.000Z"],
  ["try again at Mar 7th, 2026 7:14 PM.", "2026-03-07T18:14:00.000Z"],
  ["resets Monday 9:00 AM", "2026-03-09T08:00:00.000Z"],
  ["resets Tue 9:00 AM", "2026-03-10T08:00:00.000Z"],
  ["resets Tue 3pm", "2026-03-03T14:00:00.000Z"],
  ["resets Jan 2, 9am", "2027-01-02T08:00:00.000Z", "2026-12-30T10:00:00.000Z"],
  // summer time begins on 2026-03-29 at 01:00 UTC
  ["resets 9am (Europe/Berlin)", "2026-03-29T07:00:00.000Z", "2026-03-28T12:00:00.000Z"],
  ["resets Feb 29 at 9am", "2028-02-29T08:00:00.000Z", "2028-02-28T12:00:00.000Z"],
  // nonsense
  ["", null],
  ["usage limit reached", null],
  ["resets 3", null],
  ["resets at 25:00", null],
  ["resets at 14:75", null],
  ["resets 13pm", null],
  ["resets 0am", null],
  ["resets 3pm (Mars/Olympus)", null],
  ["limit reached|1736539200", null],
  ["limit reached|9999999999", null],
  ["available again on Mar 20 at 9am", null],
  ["available again on Mar 1 at 9am", null],
  ["try again in 400 hours", null],
  ["Retry-After: 999999", null],
  ["resets Foo 3 at 9am", null],
  ["port 8080:14:30", null],
];

test.each(ROWS)("%s → %s", (text, expected, at = AT, offset = BERLIN) => {
  expect(resetTime(text, at, offset)).toBe(expected);
});

test("a moment that is none gives nothing", () => {
  expect(resetTime("resets 3pm", "yesterday", 0)).toBeNull();
});

test("every day of 60 years is the calendar's own", () => {
  for (let day = Date.UTC(1999, 0, 1); day < Date.UTC(2059, 0, 1); day += 86_400_000 * 3 + 1_234_567) {
    const at = new Date(day).toISOString();
    expect(resetTime("try again in 25 hours", at, 0)).toBe(new Date(day + 25 * 3_600_000).toISOString());
  }
});

describe("zones", () => {
  test.each([
    ["Europe/Berlin", "2026-01-01T00:00:00Z", 60],
    ["Europe/Berlin", "2026-07-01T00:00:00Z", 120],
    ["America/New_York", "2026-01-01T00:00:00Z", -300],
    ["Asia/Kolkata", "2026-01-01T00:00:00Z", 330],
    ["UTC", "2026-01-01T00:00:00Z", 0],
    ["Mars/Olympus", "2026-01-01T00:00:00Z", null],
  ])("%s at %s", (zone, at, expected) => expect(zoneOffset(zone, Date.parse(at))).toBe(expected));

  test("the machine's own", () => {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    for (const at of ["2026-01-01T00:00:00Z", "2026-07-01T00:00:00Z"])
      expect(localOffset(at)).toBe(zoneOffset(zone, Date.parse(at))!);
  });
});

test.each([
  ["You've hit your limit · resets 3pm", true],
  ["5-hour limit reached", true],
  ["Rate limit exceeded", true],
  ["429 Too Many Requests", true],
  ["You exceeded your current quota", true],
  ["status code 429", true],
  ["Reached maximum number of turns (2)", false],
  ["Context limit reached", false],
  ["connection refused", false],
  ["file 429.txt was not found", false],
])("a limit? %s", (text, expected) => expect(isLimit(text)).toBe(expected));
