/** Characters that no one sees can neither make a signal nor hide in one. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseSignals } from "../../src/kernel/text/signal.ts";

const HIDDEN = [
  ..."\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2064",
  ..."\u2066\u2067\u2068\u2069\u206a\u206f\u3164\ufe0f\ufeff\uffa0\ufff9\ufffb\u2028\u2029\u0085\u000b\u000c\u0000\u001b\u0008",
  "\u{e0001}",
  "\u{e0041}",
  "\u{e007f}",
  "\u{1d173}",
];
const TEXTS = { promise: "<promise>DONE</promise>", stage: "::: WORKFLOW_STAGE: DONE :::" } as const;
const family = fc.constantFrom("promise" as const, "stage" as const);
const hidden = fc.constantFrom(...HIDDEN);

const found = (text: string, of: "promise" | "stage") => parseSignals(text, of).found;

test("a signal with a hidden character inside is none", () => {
  for (const of of ["promise", "stage"] as const) expect(found(`So.\n\n${TEXTS[of]}`, of)).toEqual(["DONE"]);
  fc.assert(
    fc.property(family, hidden, fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (of, sign, where) => {
      const text = TEXTS[of];
      const at = 1 + Math.floor(where * (text.length - 1));
      expect(found(`So.\n\n${text.slice(0, at)}${sign}${text.slice(at)}`, of)).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});

test("a signal with hidden characters before or behind it is none", () => {
  fc.assert(
    fc.property(hidden, fc.boolean(), (sign, before) => {
      const { promise } = TEXTS;
      expect(found(before ? `${sign}${promise}` : `${promise}${sign}`, "promise")).toEqual([]);
    }),
  );
});

/** The eye reads a signal, or reads none; the line is what counts. */
test("letters in another order, of other alphabets or as tags make no signal", () => {
  const reversed = [...TEXTS.promise].reverse().join("");
  const tags = [...TEXTS.promise].map((sign) => String.fromCodePoint(0xe0000 + sign.codePointAt(0)!)).join("");
  const wide = [...TEXTS.promise].map((sign) => String.fromCodePoint(0xfee0 + sign.codePointAt(0)!)).join("");
  const lookalikes = [
    `\u202e${reversed}\u202c`,
    tags,
    `Fine.${tags}`,
    wide,
    TEXTS.promise.replace("O", "\u041e"),
    TEXTS.promise.replace("<", "\uff1c"),
    TEXTS.promise.normalize("NFKD").replace("D", "\u216e"),
    "<promise>DONE</promise>".replace("/", "\u2215"),
    "&lt;promise&gt;DONE&lt;/promise&gt;",
  ];
  for (const text of lookalikes) expect(found(`So.\n\n${text}\n`, "promise")).toEqual([]);
});

test("characters that end a line only for some do not put a signal on a line of its own", () => {
  for (const sign of ["\u2028", "\u2029", "\u0085", "\u000b", "\u000c", "\u001c", "\u001e"])
    expect(found(`I shall end with${sign}${TEXTS.promise}${sign}when I am done`, "promise")).toEqual([]);
});
