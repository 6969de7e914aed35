import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { mayClaim } from "../../../src/fast-path.ts";
import { claimsCompletion } from "../../../src/guard/core/completion.ts";
import { ownTime } from "../../harness/own-time.ts";

interface Corpus {
  claims: string[];
  traps: string[];
}

const corpus: Corpus = parse(readFileSync(join(import.meta.dir, "../../corpus/completion.yaml"), "utf8"));

test("the corpus is large, and half of it are traps", () => {
  expect(corpus.claims.length + corpus.traps.length).toBeGreaterThanOrEqual(150);
  expect(corpus.traps.length).toBeGreaterThanOrEqual(corpus.claims.length);
});

describe("a claim", () => {
  test.each(corpus.claims)("%j", (message) => expect(claimsCompletion(message)).toBe(true));
});

describe("no claim", () => {
  test.each(corpus.traps)("%j", (message) => expect(claimsCompletion(message)).toBe(false));
});

describe("the first look of the hook lets every claim through", () => {
  test.each(corpus.claims)("%j", (message) => expect(mayClaim(message)).toBe(true));
});

test("and spares ordinary answers the rest", () => {
  const spared = corpus.traps.filter((message) => !mayClaim(message));
  expect(spared).toContain("There are two ways to do this. Which one do you prefer?");
  expect(spared).toContain("I read the file. It exports one function.");
});

describe("time does not explode", () => {
  const hostile: [string, string][] = [
    ["backticks", "` ".repeat(20_000)],
    ["quotes", '"a '.repeat(20_000)],
    ["stars", "*_".repeat(20_000)],
    ["one long sentence", "all tests now still all ".repeat(2_000)],
    ["numbers", "1 of 1 ".repeat(6_000)],
    ["dots", "a.".repeat(20_000)],
    ["German", `ist ${"a ".repeat(20_000)}`],
  ];
  test.each(hostile)("%s", (_, text) => {
    expect(ownTime(() => void claimsCompletion(text))).toBeLessThan(2_000);
    expect(ownTime(() => void mayClaim(text))).toBeLessThan(2_000);
  });
});
