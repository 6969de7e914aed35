/** Dates as people write them, against `Date`. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseDay, parseInstant, parseZone } from "../../../src/kernel/time/calendar.ts";

const RUNS = { numRuns: 2_000 };
/** any moment of the years 0000 to 9999 */
const moment = fc.integer({ min: Date.parse("0000-01-01T00:00:00Z"), max: Date.parse("9999-12-31T23:59:59.999Z") });
const date = fc.record({
  year: fc.integer({ min: 0, max: 9999 }),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 31 }),
});

const two = (value: number) => String(value).padStart(2, "0");
const utc = (year: number, month: number, day: number) => new Date(0).setUTCFullYear(year, month - 1, day);

describe("like Date", () => {
  test("which days there are", () => {
    const isReal = (year: number, month: number, day: number) =>
      month >= 1 && month <= 12 && day >= 1 && new Date(utc(year, month, day)).getUTCDate() === day;
    const compare = (year: number, month: number, day: number) => {
      const text = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
      expect([text, parseDay(text)]).toEqual([text, isReal(year, month, day) ? utc(year, month, day) : null]);
    };
    fc.assert(
      fc.property(date, ({ year, month, day }) => compare(year, month, day)),
      RUNS,
    );
    for (const year of [1900, 2000, 2023, 2024, 2100])
      for (let month = 0; month <= 13; month++) for (let day = 0; day <= 32; day++) compare(year, month, day);
  });

  test("moments", () => {
    fc.assert(
      fc.property(moment, (ms) => {
        const text = new Date(ms).toISOString();
        expect(parseInstant(text)).toBe(ms);
      }),
      RUNS,
    );
  });

  test("zones", () => {
    const zone = fc.tuple(fc.constantFrom("+", "-"), fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
    fc.assert(
      fc.property(moment, zone, (ms, [sign, hours, minutes]) => {
        const text = `${new Date(ms).toISOString().slice(0, -1)}${sign}${two(hours)}:${two(minutes)}`;
        expect(parseInstant(text)).toBe(Date.parse(text));
        expect(parseInstant(text.replace(/:(\d\d)$/, "$1"))).toBe(Date.parse(text));
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
])("%p", (text, ms) => expect(parseInstant(text)).toBe(ms));

test("Z is no offset", () =>
  expect(["Z", "+01:30", "-0200", ""].map(parseZone)).toEqual([0, 5_400_000, -7_200_000, 0]));
