/** What people write behind --since, on any day and in any zone. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { type Clock, parseSince, SINCE_WAYS } from "../../../src/kernel/time/since.ts";

/** A Monday, 02:51 in UTC. */
const NOW = Date.parse("2026-11-16T02:51:00.000Z");
const clockAt = (now: number, minutes = 0): Clock => ({ now, offset: () => minutes });
const HOUR = 3_600_000;

const iso = (text: string, clock: Clock) => {
  const found = parseSince(text, clock);
  return found.ok ? new Date(found.ms).toISOString().replace(":00.000Z", "Z") : found.why;
};

describe("times", () => {
  test.each<[string, string]>([
    ["2h", "2026-11-16T00:51Z"],
    ["30m", "2026-11-16T02:21Z"],
    ["3d", "2026-11-13T02:51Z"],
    ["1w", "2026-11-09T02:51Z"],
    ["0m", "2026-11-16T02:51Z"],
    ["20:00", "2026-11-15T20:00Z"],
    ["02:51", "2026-11-16T02:51Z"],
    ["2:52", "2026-11-15T02:52Z"],
    ["today", "2026-11-16T00:00Z"],
    ["yesterday", "2026-11-15T00:00Z"],
    ["Yesterday 18:00", "2026-11-15T18:00Z"],
    ["monday", "2026-11-16T00:00Z"],
    ["mon 9:00", "2026-11-09T09:00Z"],
    ["tuesday", "2026-11-10T00:00Z"],
    ["sun", "2026-11-15T00:00Z"],
    ["2026-01-31", "2026-01-31T00:00Z"],
    ["2024-02-29", "2024-02-29T00:00Z"],
    ["2026-01-31T20:15", "2026-01-31T20:15Z"],
    ["2026-01-31 20:15", "2026-01-31T20:15Z"],
    ["2026-01-31T20:15:00Z", "2026-01-31T20:15Z"],
    ["2026-01-31T20:15:00.123+02:00", "2026-01-31T18:15Z"],
  ])("%s", (text, wanted) => expect(iso(text, clockAt(NOW))).toBe(wanted));

  test.each<[string, number, string]>([
    ["20:00", 120, "2026-11-15T18:00Z"],
    ["yesterday", -300, "2026-11-14T05:00Z"],
    ["2026-01-31", 345, "2026-01-30T18:15Z"],
    ["2026-01-31T20:15Z", 345, "2026-01-31T20:15Z"],
    ["2h", 345, "2026-11-16T00:51Z"],
  ])("%s, %p minutes east", (text, minutes, wanted) => expect(iso(text, clockAt(NOW, minutes))).toBe(wanted));

  test("on the day the clocks go back, and on the day after", () => {
    const change = Date.parse("2026-10-25T01:00:00Z");
    const offset = (ms: number) => (ms < change ? 120 : 60);
    const now = Date.parse("2026-10-26T07:00:00Z");
    expect(iso("yesterday", { now, offset })).toBe("2026-10-24T22:00Z");
    expect(iso("yesterday 18:00", { now, offset })).toBe("2026-10-25T17:00Z");
  });

  test("in the hours around the change in spring, east and west", () => {
    const changing = (at: string, before: number, after: number): Clock => ({
      now: Date.parse("2026-04-30T12:00:00Z"),
      offset: (ms) => (ms < Date.parse(at) ? before : after),
    });
    const berlin = changing("2026-03-29T01:00:00Z", 60, 120);
    expect(iso("2026-03-29T01:30", berlin)).toBe("2026-03-29T00:30Z");
    expect(iso("2026-03-29T03:30", berlin)).toBe("2026-03-29T01:30Z");
    const newYork = changing("2026-03-08T07:00:00Z", -300, -240);
    expect(iso("2026-03-08T01:30", newYork)).toBe("2026-03-08T06:30Z");
    expect(iso("2026-03-08T03:30", newYork)).toBe("2026-03-08T07:30Z");
  });

  test.each<[string, string]>([
    ["", "not a time"],
    ["soon", "not a time"],
    ["25:00", "not a time"],
    ["20:60", "not a time"],
    ["2026-02-30", "not a time"],
    ["2026-13-01", "not a time"],
    ["-2h", "not a time"],
    ["2x", "not a time"],
    ["999999d", "not a time"],
    ["2026-01-31T25:00", "not a time"],
    ["yesterday 7", "not a time"],
    ["constructor", "not a time"],
    ["2027-01-01", "it is in the future"],
    ["today 20:00", "it is in the future"],
  ])("not %j", (text, why) => expect(iso(text, clockAt(NOW))).toBe(why));
});

describe("always", () => {
  const clocks = fc
    .record({ now: fc.integer({ min: 0, max: 4_000_000_000_000 }), minutes: fc.integer({ min: -720, max: 840 }) })
    .map(({ now, minutes }) => clockAt(now, minutes));
  const two = (value: number) => String(value).padStart(2, "0");

  test("a time of day is the last one of its kind", () => {
    const times = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }));
    fc.assert(
      fc.property(clocks, times, (clock, [hour, minute]) => {
        const found = parseSince(`${hour}:${two(minute)}`, clock);
        if (!found.ok) throw new Error(found.why);
        const local = new Date(found.ms + clock.offset(0) * 60_000);
        expect([local.getUTCHours(), local.getUTCMinutes(), local.getUTCSeconds()]).toEqual([hour, minute, 0]);
        expect(clock.now - found.ms).toBeWithin(0, 24 * HOUR);
      }),
    );
  });

  test("a weekday is that weekday, and within the last week", () => {
    const names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    fc.assert(
      fc.property(clocks, fc.integer({ min: 0, max: 6 }), (clock, day) => {
        const found = parseSince(names[day]!, clock);
        if (!found.ok) throw new Error(found.why);
        expect(new Date(found.ms + clock.offset(0) * 60_000).getUTCDay()).toBe(day);
        expect(clock.now - found.ms).toBeWithin(0, 7 * 24 * HOUR);
      }),
    );
  });

  test("a date is what the calendar of the engine says, or none", () => {
    const parts = fc.tuple(
      fc.integer({ min: 1970, max: 2090 }),
      fc.integer({ min: 0, max: 13 }),
      fc.integer({ min: 0, max: 32 }),
    );
    fc.assert(
      fc.property(parts, ([year, month, day]) => {
        const text = `${year}-${two(month)}-${two(day)}`;
        const known = Date.parse(`${text}T00:00:00Z`);
        const isReal = !Number.isNaN(known) && new Date(known).toISOString().startsWith(text);
        const found = parseSince(text, clockAt(Date.parse("2100-01-01")));
        expect(found).toEqual(isReal ? { ok: true, ms: known } : { ok: false, why: "not a time" });
      }),
    );
  });

  test("nothing that is written lies in the future or throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom(...SINCE_WAYS.split(/[ ,“”]+/))), clocks, (text, clock) => {
        const found = parseSince(text, clock);
        if (found.ok) expect(found.ms).toBeLessThanOrEqual(clock.now);
      }),
    );
  });

  test("the ways that the message names are ways", () => {
    const ways = SINCE_WAYS.replaceAll(/[“”]/g, "").split(/, | or /);
    for (const way of ways) expect([way, parseSince(way, clockAt(NOW)).ok]).toEqual([way, true]);
  });
});
