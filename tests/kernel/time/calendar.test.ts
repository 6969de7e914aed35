/** The calendar against the one that the language has. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DAY, daysTo, instantOf, isDate, isoOf, weekdayOf, yearOf, zoneOf } from "../../../src/kernel/time/calendar.ts";

const RUNS = { numRuns: 2_000 };
/** any moment of the years 0000 to 9999 */
const moment = fc.integer({ min: Date.parse("0000-01-01T00:00:00Z"), max: Date.parse("9999-12-31T23:59:59.999Z") });
const date = fc.record({
  year: fc.integer({ min: 0, max: 9999 }),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 31 }),
});

const utc = (year: number, month: number, day: number) => new Date(0).setUTCFullYear(year, month - 1, day);

describe("like Date", () => {
  test("days", () => {
    fc.assert(
      fc.property(date, ({ year, month, day }) => expect(daysTo(year, month, day) * DAY).toBe(utc(year, month, day))),
      RUNS,
    );
  });

  test("which days there are", () => {
    const isReal = (year: number, month: number, day: number) => new Date(utc(year, month, day)).getUTCDate() === day;
    fc.assert(
      fc.property(date, ({ year, month, day }) => expect(isDate(year, month, day)).toBe(isReal(year, month, day))),
      RUNS,
    );
    for (const year of [1900, 2000, 2023, 2024, 2100])
      for (let month = 0; month <= 13; month++)
        for (let day = 0; day <= 32; day++) {
          const known = month >= 1 && month <= 12 && day >= 1 && isReal(year, month, day);
          expect([year, month, day, isDate(year, month, day)]).toEqual([year, month, day, known]);
        }
  });

  test("moments, there and back", () => {
    fc.assert(
      fc.property(moment, (ms) => {
        const text = new Date(ms).toISOString();
        expect(isoOf(ms)).toBe(text);
        expect(instantOf(text)).toBe(ms);
        expect(yearOf(ms)).toBe(new Date(ms).getUTCFullYear());
        expect(weekdayOf(Math.floor(ms / DAY))).toBe(new Date(ms).getUTCDay());
      }),
      RUNS,
    );
  });

  test("zones", () => {
    const two = (value: number) => String(value).padStart(2, "0");
    const zone = fc.tuple(fc.constantFrom("+", "-"), fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
    fc.assert(
      fc.property(moment, zone, (ms, [sign, hours, minutes]) => {
        const text = `${new Date(ms).toISOString().slice(0, -1)}${sign}${two(hours)}:${two(minutes)}`;
        expect(instantOf(text)).toBe(Date.parse(text));
        expect(instantOf(text.replace(/:(\d\d)$/, "$1"))).toBe(Date.parse(text));
      }),
      RUNS,
    );
  });
});

test.each<[string, number | null]>([
  ["1970-01-01T00:00Z", 0],
  ["1970-01-01T00:00:01.5Z", 1_500],
  ["1970-01-01T00:00:00.123456789Z", 123],
  ["1970-01-01T00:00:00", null],
  ["1970-01-01", null],
  ["1970-02-29T00:00:00Z", null],
  ["1970-13-01T00:00:00Z", null],
  ["1970-01-01T24:00:00Z", null],
  ["1970-01-01T00:60:00Z", null],
  [" 1970-01-01T00:00:00Z", null],
  ["", null],
])("%p", (text, ms) => expect(instantOf(text)).toBe(ms));

test("Z is no offset", () => expect(["Z", "+01:30", "-0200", ""].map(zoneOf)).toEqual([0, 5_400_000, -7_200_000, 0]));
