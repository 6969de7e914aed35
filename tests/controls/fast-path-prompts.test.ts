/** What the quick path lets go must never be a shortcut; what it keeps should hardly ever be an ordinary prompt. */
import { expect, test } from "bun:test";
import { findShortcut, SHORTCUTS, withOverrides } from "../../src/controls/core/shortcut.ts";
import { mayBeShortcut } from "../../src/fast-path.ts";

const ALL = withOverrides(SHORTCUTS, [
  { c: "on", y: "on", "b:": "on", "q:": "on", "learn:": "on", "abcdefghij:": "Own." },
]);

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

test("every shortcut passes the first look", () => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const next = random(seed);
  const pieces = [
    "",
    " ",
    "\n",
    "\t",
    "x",
    "hc",
    "?",
    "d:",
    "learn:",
    "abcdefghij:",
    " ".repeat(80),
    "text",
    "::",
    "é",
    "ab c",
  ];
  const pick = () => pieces[Math.floor(next() * pieces.length)]!;
  for (let n = 0; n < 50_000; n++) {
    const prompt = Array.from({ length: 1 + Math.floor(next() * 5) }, pick).join("");
    if (findShortcut(prompt, ALL) !== null && !mayBeShortcut(prompt))
      throw new Error(`seed ${seed}: ${JSON.stringify(prompt)} is a shortcut, and was let go`);
  }
});

test("ordinary prompts are let go", () => {
  const ordinary = [
    "next?",
    "fix the login bug",
    "see https://example.org: it is broken",
    "D:\\x",
    "please",
    "Note that this: matters",
  ];
  expect(ordinary.filter(mayBeShortcut)).toEqual([]);
});
