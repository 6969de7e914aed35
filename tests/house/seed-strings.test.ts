/** Tags, markers, instructions and lines that were prescribed to the letter are still in what Pawl says. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const REPOSITORY = join(import.meta.dir, "../..");
const FOLDERS = ["src", "workflows", "prompts", "plugin", "fragments", "procedures"];
const texts = FOLDERS.flatMap((folder) =>
  readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(tsx?|md|yaml|json)$/.test(name))
    .map((name) => readFileSync(join(REPOSITORY, folder, name), "utf8")),
).join("\n");

const prescribed: Record<string, string[]> = parse(readFileSync(join(import.meta.dir, "seed-strings.yaml"), "utf8"));

test.each(Object.entries(prescribed))("%s: every prescribed string is there", (_name, strings) => {
  expect(strings.length).toBeGreaterThan(3);
  expect(strings.filter((text) => !texts.includes(text))).toEqual([]);
});
