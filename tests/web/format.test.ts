/** Times on the pages: short, and never without a unit. */
import { expect, test } from "bun:test";
import { span, ticking } from "../../src/web/page/format.ts";

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

test.each<[number, string]>([
  [-5, "0 s"],
  [0, "0 s"],
  [59_999, "59 s"],
  [MINUTE, "1 min 00 s"],
  [11 * MINUTE + SECOND, "11 min 01 s"],
  [HOUR - 1, "59 min 59 s"],
  [HOUR, "1 h 00 min"],
  [28 * HOUR + 5 * MINUTE + 59 * SECOND, "28 h 05 min"],
  [2 * DAY - 1, "47 h 59 min"],
  [2 * DAY, "2 d"],
  [40 * DAY, "40 d"],
])("a clock of %i ms says %s", (ms, text) => expect(ticking(ms)).toBe(text));

test("every span has a unit", () => {
  for (let ms = 0; ms < 100 * DAY; ms = ms * 1.3 + 7)
    for (const text of [span(ms), ticking(ms)])
      expect(text).toMatch(/^\d+(?:\.\d)? (?:ms|s|min|h|d)(?: \d+ (?:s|min|h))?$/);
});
