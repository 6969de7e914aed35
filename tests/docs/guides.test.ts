/** The guides are played as they are written: every command, every file, every word of a session. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { removePlaces } from "../harness/harness.ts";
import { blocksOf, compare, play } from "./guides.ts";

const REPOSITORY = resolve(import.meta.dir, "../..");
const GUIDES = join(REPOSITORY, "docs/guides");
const guides = readdirSync(GUIDES).filter((name) => name.endsWith(".md"));

afterAll(removePlaces);

describe("a guide does what it says", () => {
  test.each(guides)("%s", (name) => expect(play(readFileSync(join(GUIDES, name), "utf8"))).toEqual([]), 60_000);
});

describe("shown and real output", () => {
  test.each<[string, string[], boolean]>([
    ["a\nb\n", ["a", "b"], true],
    ["a\nb\n", ["a"], false],
    ["a\nb\n", ["b", "a"], false],
    ["a\nb\n", ["…"], true],
    ["a\nb\nc\n", ["a", "…", "c"], true],
    ["a\nc\n", ["a", "…", "c"], true],
    ["a\nb\n", ["…", "c"], false],
    ["in 12 ms.\n", ["in … ms."], true],
    ["in 12 s.\n", ["in … ms."], false],
    ["a+b\n", ["a.b"], false],
    ["", [], true],
    ["a\n", [], false],
  ])("%j shown as %j: %p", (actual, shown, fits) => {
    expect(compare("", actual, shown).length === 0).toBe(fits);
  });
});

test.each<[string, string]>([
  ["another output", "```console\n$ echo a\nb\n```\n"],
  ["a command that says something", "```console\n$ echo a\n```\n"],
  ["no such command", "```console\n$ pawl nope\n```\n"],
  ["a block nobody plays", "```sh\necho a\n```\n"],
  ["another answer", "```session\nyou ▸ /complete-work\npawl ▸ Hello\n```\n"],
  ["an answer that is not shown", "```session\nyou ▸ /complete-work\n```\n"],
  ["an answer that does not come", "```session\nyou ▸ hello\npawl ▸ Hello\n```\n"],
  ["a change of what is not there", "```diff README.md\n-nothing\n+something\n```\n"],
])("a guide is found out: %s", (_, markdown) => {
  expect(play(markdown)).not.toEqual([]);
});

describe("links lead somewhere", () => {
  const pages = [
    "README.md",
    ...["docs/guides", "docs/reference", "examples/review-gate"].flatMap((folder) =>
      readdirSync(join(REPOSITORY, folder))
        .filter((name) => name.endsWith(".md"))
        .map((name) => `${folder}/${name}`),
    ),
  ];
  test.each(pages)("%s", (page) => {
    const text = readFileSync(join(REPOSITORY, page), "utf8");
    const targets = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!);
    expect(targets.filter((target) => !existsSync(join(REPOSITORY, dirname(page), target)))).toEqual([]);
  });
});

test("what writing-a-workflow.md writes is examples/review-gate", () => {
  const blocks = blocksOf(readFileSync(join(GUIDES, "writing-a-workflow.md"), "utf8"));
  const files = blocks.filter(({ path, language }) => path !== "" && language !== "diff");
  expect(files.map(({ path }) => path)).toEqual([".pawl/workflows/ship.yaml"]);
  for (const { path, text } of files) {
    const example = readFileSync(join(REPOSITORY, "examples/review-gate", path), "utf8");
    expect(text.replace("to: comit }", "to: commit }")).toBe(example);
  }
});

test("blocks know their language, their file and their line", () => {
  expect(blocksOf("one\n\n```yaml a/b.yaml\nx: 1\n```\n\n```\nplain\n```\n")).toEqual([
    { line: 3, language: "yaml", path: "a/b.yaml", text: "x: 1\n" },
    { line: 7, language: "", path: "", text: "plain\n" },
  ]);
});
