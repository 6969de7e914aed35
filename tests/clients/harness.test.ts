import { expect, test } from "bun:test";
import { makeScreen } from "./screen.ts";

const DRAWINGS: [string, string[], string][] = [
  ["lines", ["one\r\ntwo"], "one\ntwo"],
  ["a cursor that goes back", ["abcd\x1b[2DX"], "abXd"],
  ["an absolute position", ["\x1b[2;3Hx\x1b[Hy"], "y\n  x"],
  ["an erased line", ["old text\r\x1b[Knew"], "new"],
  ["an escape cut in two", ["ab\x1b[", "1Dc"], "ac"],
  ["colours and titles", ["\x1b]0;title\x07\x1b[38;5;1mred\x1b[0m"], "red"],
  ["a wide character", ["✅x\x1b[1Dy"], "✅y"],
  ["scrolling", ["a\r\nb\r\nc\r\nd"], "b\nc\nd"],
];

test.each(DRAWINGS)("the screen shows %s", (_, chunks, expected) => {
  const screen = makeScreen(20, 3);
  for (const chunk of chunks) screen.feed(chunk);
  expect(screen.text().trimEnd()).toBe(expected);
});
