/** docs/reference/ is what the program says of itself, today. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ENVIRONMENT } from "../scripts/reference/cli.ts";
import { EXAMPLES } from "../scripts/reference/journal.ts";
import { references } from "../scripts/reference.ts";
import { COMMANDS } from "../src/cli/index.ts";
import { WORDS } from "../src/cli/words.ts";

const REPOSITORY = resolve(import.meta.dir, "..");
const FOLDER = join(REPOSITORY, "docs/reference");
const generated = await references();

describe("is fresh; if not: node_modules/.bin/bun scripts/reference.ts", () => {
  test.each(Object.keys(generated))("%s", (name) => {
    expect(readFileSync(join(FOLDER, name), "utf8")).toBe(generated[name]!);
  });
  test("no page is left over", () => {
    expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(generated).sort());
  });
});

test("every command has its section with its usage", async () => {
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    expect(generated["cli.md"]).toContain(`## pawl ${name}\n`);
    expect(generated["cli.md"]).toContain((await load()).usage);
  }
});

const found = (text: string, pattern: RegExp) => [...new Set([...text.matchAll(pattern)].map((match) => match[1]!))];
const sorted = (names: string[]) => [...names].sort();

test("every variable that the sources read is explained, and no other", () => {
  expect(sorted(found(sources("src"), /\benv\.([A-Z][A-Z_]+)/g))).toEqual(sorted(Object.keys(ENVIRONMENT)));
});

test("every kind that core records has its words and its example, and no other", () => {
  const recorded = sorted(found(sources("src/core"), /\brecord\(draft, "(\w+)"/g));
  expect(sorted(Object.keys(WORDS))).toEqual(recorded);
  expect(sorted(Object.keys(EXAMPLES))).toEqual(recorded);
});

function sources(folder: string): string {
  const names = readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts"));
  return files.map((name) => readFileSync(join(REPOSITORY, folder, name), "utf8")).join("\n");
}
