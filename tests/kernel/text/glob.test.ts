import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { matchesGlob } from "../../../src/kernel/text/glob.ts";

describe("globs", () => {
  const piece = fc.constantFrom("a", "b", "ab", "*", "**", "?", "/", ".");
  test("mean what Bun's mean, where those are not special", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "b", "*", "?", "/"), { maxLength: 6 }),
        fc.string({ unit: fc.constantFrom("a", "b", "/"), maxLength: 6 }),
        (pieces, text) => {
          const glob = pieces.join("").replace(/\*+/g, "*");
          fc.pre(glob !== "" && text !== "" && !/\/\/|^\/|\/$/.test(glob) && !/\/\/|^\/|\/$/.test(text));
          expect(matchesGlob(text, glob)).toBe(new Bun.Glob(glob).match(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["src/a/b.ts", "src/**", true],
    ["src/b.ts", "src/**/*.ts", true],
    ["src/a/c/b.ts", "src/**/*.ts", true],
    ["srcs/b.ts", "src/**", false],
    ["a/src/b.ts", "**/b.ts", true],
    ["b.ts", "**/b.ts", true],
    ["a.ts", "*.js", false],
    ["a/b.ts", "*.ts", false],
    ["feature/x", "feature/*", true],
    ["feature/x/y", "feature/*", false],
  ])("%s and %s: %p", (text, glob, fits) => {
    expect(matchesGlob(text, glob)).toBe(fits);
  });

  test("no pattern makes it slow", () => {
    const began = Bun.nanoseconds();
    matchesGlob(`${"a".repeat(4000)}c`, `${"*a".repeat(200)}b`);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => void matchesGlob("ab/".repeat(30), pieces.join(""))),
    );
    expect(Bun.nanoseconds() - began).toBeLessThan(5e9);
  });
});
