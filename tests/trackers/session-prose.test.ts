/** A large session.md is read without its prose: that must change none of its tasks. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseSessionFile, tasksOf, withoutProse } from "../../src/core/tasks.ts";

const read = (text: string) => tasksOf(parseSessionFile(text));
const asBytes = (text: string) => Buffer.from(text).toString("latin1");
const fromBytes = (bytes: string) => Buffer.from(bytes, "latin1").toString();

const LINES = [
  ...["- [ ] **A** — `c` | opus", "  * [x] b #l", "- [>] **C** <!-- x", "## Pending Tasks", "# Else", "## Tasks -->"],
  ...[
    "```",
    "~~~",
    "   ```",
    "<!--",
    "-->",
    "",
    "   ",
    "  body",
    "\tbody",
    "\u00a0",
    "\u000b",
    "é",
    "1. one",
    "-",
    "~",
  ],
  ...["prose", "prose <!-- begins", "ends --> here", "[link]", "| a | b |", "> said"],
];
const text = fc
  .tuple(
    fc.constantFrom("", "\uFEFF"),
    fc.constantFrom("\n", "\r\n"),
    fc.array(fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...LINES) }, fc.string()), { maxLength: 14 }),
  )
  .map(([bom, end, lines]) => bom + lines.join(end));

test("without its prose it has the same tasks", () => {
  fc.assert(
    fc.property(text, (whole) => {
      expect(read(fromBytes(withoutProse(asBytes(whole))))).toEqual(read(whole));
    }),
    { numRuns: 5000 },
  );
});

test("of each stretch of prose one line is left", () => {
  const whole = "# S\none\ntwo\n- [ ] **A**\n  body\nthree\nfour";
  expect(withoutProse(whole)).toBe("# S\n.\n- [ ] **A**\n  body\n.\n");
});
