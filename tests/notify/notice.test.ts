/** Words that may go far: short, plain, and without what looks like a secret. */
import { describe, expect, test } from "bun:test";
import { formatAlert } from "../../src/notify/call.ts";
import { buildMessage, formatTitle, type Notice, safeExcerpt } from "../../src/notify/notice.ts";

const notice = (fields: Partial<Notice> = {}): Notice => ({
  what: "question",
  text: "shop: ship needs you",
  root: "/home/me/shop",
  run: "r1",
  session: "s1",
  at: "2026-01-01T00:00:00.000Z",
  ...fields,
});

describe("an excerpt", () => {
  test.each<[string, string]>([
    ["the tests fail in 3 files", "the tests fail in 3 files"],
    ["two\nlines\u001b[31m red\u202e", "two lines red"],
    ["Authorization: Bearer abcdefgh12345678", "Authorization: [hidden]"],
    ["API_KEY=hunter2 npm test", "[hidden] npm test"],
    ["the password: hunter2, again", "the [hidden], again"],
    ["see https://me:pw@example.org/x", "see https[hidden]example.org/x"],
    ["sk-ant-REDACTED is it", "[hidden] is it"],
    ["ghp_abcdefghijklmnopqrstuvwxyz012345", "[hidden]"],
    ["the commit 1f0c2a9 is missing", "the commit 1f0c2a9 is missing"],
    [
      "tests/some-very-long-folder-name/another.test.ts fails",
      "tests/some-very-long-folder-name/another.test.ts fails",
    ],
  ])("of %j", (text, shown) => expect(safeExcerpt(text)).toBe(shown));

  test("is short", () => expect([...safeExcerpt("word ".repeat(1000))].length).toBe(100));
});

test("a folder's name cannot write into the terminal", () => {
  const alert = formatAlert(notice({ root: "/tmp/\u001b]0;evil\u0007\u009b31m\u0007x" }));
  expect(alert).toBe("\u001b]0;Pawl: 31mx needs you\u0007\u0007");
});

describe("several at once", () => {
  test("one says itself", () =>
    expect(buildMessage([notice()])).toMatchObject({ title: "Pawl: shop needs you", what: "question" }));

  test("many are counted and cut", () => {
    const many = Array.from({ length: 13 }, (_, i) => notice({ text: `shop: ${i}`, root: `/home/me/${i % 2}` }));
    const { title, text, what, project } = buildMessage(many);
    expect({ title, what, project }).toEqual({ title: "Pawl: 13 things to look at", what: "several", project: "" });
    expect(text.split("\n").slice(-2)).toEqual(["shop: 9", "and 3 more"]);
  });

  test("what lies in the spool is not taken for clean", () =>
    expect(buildMessage([notice({ text: "a\u0007\nb\u001b[2J" })]).text).toBe("a b"));
});

test.each<[Notice["what"], string]>([
  ["completed", "Pawl: shop is done"],
  ["failed", "Pawl: shop failed"],
  ["loop", "Pawl: a loop of shop ended"],
  ["silent", "Pawl: shop needs you"],
])("%s: %s", (what, title) => expect(formatTitle(notice({ what }))).toBe(title));
