/**
 * No ordinary prompt is taken for a shortcut. Ordinary means: built by the grammar below, every branch of which is no
 * shortcut by the way it is made. It knows the keys as a list of its own, and nothing of how they are looked for.
 */
import { expect, test } from "bun:test";
import { findShortcut, SHORTCUTS, withOverrides } from "../../../src/controls/core/shortcut.ts";
import { mayBeShortcut } from "../../../src/fast-path.ts";

const SEED = 20_260_207;
const PROMPTS = 100_000;
const COMMANDS = ["s", "x", "xc", "r", "h", "hc", "ci", "?", "c", "y"];
const DIRECTIVES = ["d", "p", "b", "q", "learn"];

type Random = (below: number) => number;

function generator(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const WORDS =
  "the a do you think please fix login bug x s r h ci hc xc d p y c status commit handoff why is it so look at test README.md src/app.ts next? what's next? yes no ok go on continue and then in of Größe 日本語 don't i++ x, d; p. s/x/y/ `x` (x) $HOME --help 42 d: p: q:".split(
    " ",
  );
const LABELS =
  "note TODO FIXME http https file error warning Re Fwd PS D P X Q B LEARN dd pd dp xd ad learned unlearn discuss pending question brainstorm fix feat chore a e i o C E Z de ex std d1 _d".split(
    " ",
  );
const BLANKS = ["", "", "", " ", "  ", "\n", "\r\n", "\n\n", " \n"];
const CODE = [
  "x",
  "s",
  "d: 1",
  "p: 2",
  "  d: {",
  "const x = 1;",
  "?",
  "if (x) {",
  "learn: true",
  "- x",
  "}",
  "x = d[s:r]",
];

const pick = <T>(random: Random, some: readonly T[]): T => some[random(some.length)]!;
const many = <T>(random: Random, least: number, most: number, one: () => T): T[] =>
  Array.from({ length: least + random(most - least + 1) }, one);
const words = (random: Random, least: number, most = 12) =>
  many(random, least, most, () => pick(random, WORDS)).join(" ");
const code = (random: Random) => many(random, 1, 5, () => pick(random, CODE)).join("\n");
/** a word that could begin a sentence: no directive, however it goes on */
const opening = (random: Random) =>
  pick(
    random,
    WORDS.filter((word) => !word.endsWith(":")),
  );

/** Each branch says why it is no shortcut. */
const BRANCHES: Record<string, (random: Random) => string> = {
  "two words or more, the first without a colon": (r) => `${opening(r)} ${words(r, 1)}`,
  "two lines or more, the first without a colon": (r) => `${opening(r)}\n${words(r, 1)}\n${code(r)}`,
  "a label that is no directive": (r) => `${pick(r, LABELS)}: ${words(r, 0)}`,
  "a directive's letter in capitals": (r) => `${pick(r, ["D", "P", "B", "Q", "Learn", "LEARN"])}: ${words(r, 1)}`,
  "no blank after the colon": (r) =>
    `${pick(r, DIRECTIVES)}:${pick(r, ["x", "\\path", "//host", "/a b", ":", ")", "1 2"])}`,
  "nothing after the colon": (r) => `${pick(r, DIRECTIVES)}:${pick(r, ["", " ", "\n", "\t \n"])}`,
  "a blank before the colon": (r) => `${pick(r, DIRECTIVES)} : ${words(r, 1)}`,
  "an address": (r) =>
    `${pick(r, ["http", "https", "file", "d", "p"])}://${pick(r, ["x", "host/x: y", "localhost:80 d: x"])}`,
  "a fence": (r) => `${pick(r, ["```", "```yaml", "~~~"])}\n${code(r)}\n${pick(r, ["```", "~~~", ""])}`,
  "a quotation": (r) => `>${pick(r, ["", " "])}${pick(r, CODE)}\n${code(r)}`,
  "indented code with a directive": (r) =>
    `${pick(r, ["    ", "\t", "\n    ", "\n\t", "      "])}${pick(r, DIRECTIVES)}: ${words(r, 1)}`,
  "a log": (r) =>
    many(r, 1, 4, () => `${pick(r, ["12:03:44", "[info]", "E/x:", "at x (d:1:2)", "npm ERR!"])} ${words(r, 1)}`).join(
      "\n",
    ),
  "a list": (r) => many(r, 1, 4, () => `${pick(r, ["-", "*", "1.", "+"])} ${pick(r, CODE)}`).join("\n"),
  "a command in capitals": (r) => pick(r, ["S", "X", "XC", "Xc", "xC", "R", "H", "HC", "CI", "Ci", "C", "Y"]),
  "a command with a sign": (r) => `${pick(r, COMMANDS)}${pick(r, [".", "!", "?", ",", ";", ")", "1", "\\", "`"])}`,
  "a sign with a command": (r) => `${pick(r, [".", "!", "/", "#", "-", "`", "1", "\\", "\u200b"])}${pick(r, COMMANDS)}`,
  "a command twice": (r) => pick(r, COMMANDS).repeat(2 + r(3)),
  "two commands": (r) => `${pick(r, COMMANDS)}${pick(r, [" ", "\n", ", ", "\n\n"])}${pick(r, COMMANDS)}`,
  "a short answer": (r) =>
    pick(r, "a b d e f g i k n p q z 1 2 3 no ok go ja si oui yes j/n ... : :) d p: +1 👍 é".split(" ")),
  nothing: (r) => pick(r, ["", " ", "\n", "\t\n "]),
};

/** Every shortcut there is: who has switched on all of them has none of these either. */
const TABLE = withOverrides(SHORTCUTS, [Object.fromEntries(SHORTCUTS.map(({ key }) => [key, "on"]))]);

test(`none of ${PROMPTS} ordinary prompts is a shortcut (seed ${SEED})`, () => {
  expect(TABLE.map(({ key }) => key).sort()).toEqual([...COMMANDS, ...DIRECTIVES.map((key) => `${key}:`)].sort());
  const random = generator(SEED);
  const names = Object.keys(BRANCHES);
  const seen = new Map<string, number>();
  for (let i = 0; i < PROMPTS; i++) {
    const branch = names[i % names.length]!;
    const text = BRANCHES[branch]!(random);
    // Blanks in front would not make a shortcut of it, but could end an indentation.
    const prompt = `${branch.startsWith("indented") ? "" : pick(random, BLANKS)}${text}${pick(random, BLANKS)}`;
    const found = findShortcut(prompt, TABLE);
    if (found)
      throw new Error(`seed ${SEED}, prompt ${i} (${branch}): ${JSON.stringify(prompt)} is ${found.shortcut.key}`);
    if (mayBeShortcut(prompt)) seen.set(branch, (seen.get(branch) ?? 0) + 1);
  }
  // Sentences, code and logs must be let go at the first look.
  for (const branch of ["two words or more, the first without a colon", "a fence", "an address"])
    expect([branch, (seen.get(branch) ?? 0) / (PROMPTS / names.length) < 0.02]).toEqual([branch, true]);
});

const KEY_CHARACTERS = [..."abxyzABZ019_?!.#-+*é§"];

test(`whatever is found was worth a look, with any keys that may be configured (seed ${SEED})`, () => {
  const random = generator(SEED + 1);
  const wordKey = (r: Random) => many(r, 1, 10, () => pick(r, [..."abxyzABZ019_"])).join("");
  let matches = 0;
  for (let i = 0; i < 20_000; i++) {
    const command = many(random, 1, 3, () => pick(random, KEY_CHARACTERS)).join("");
    const directive = `${wordKey(random)}:`;
    const table = withOverrides(SHORTCUTS, [{ [command]: "Do this.", [directive]: "Do that.", "learn:": "on" }]);
    const key = pick(random, [command, directive, ...table.map((one) => one.key)]);
    const blank = () =>
      many(random, 0, 3, () => pick(random, [" ", "\n", "\t", "\r", "\u00a0", "\ufeff", "\u2003"])).join("");
    const prompt = `${blank()}${key}${blank()}${pick(random, ["", "", words(random, 1)])}${blank()}`;
    const found = findShortcut(prompt, table);
    if (!found) continue;
    matches++;
    if (!mayBeShortcut(prompt)) throw new Error(`seed ${SEED + 1}, ${i}: ${JSON.stringify(prompt)} was let go`);
  }
  expect(matches).toBeGreaterThan(5_000);
});
