/** Every text that tells a person or an agent what to type names something that exists. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { COMMANDS } from "../../src/cli/index.ts";
import { WORKFLOWS } from "../../src/definitions/builtin/workflows.ts";
import { SHIPPED } from "../../src/setup/install/texts.ts";

const ROOT = join(import.meta.dir, "../..");
const FILES = "{src,prompts,workflows,procedures,fragments,plugin,docs,examples}/**/*.{ts,tsx,md,yaml}";
const TEXTS = [...new Bun.Glob(FILES).scanSync(ROOT), "README.md", "SECURITY.md"].map((file) => ({
  file,
  text: readFileSync(join(ROOT, file), "utf8"),
}));

/** What is found, with the files it is in: each word once. */
function found(pattern: RegExp): Map<string, string> {
  const words = TEXTS.flatMap(({ file, text }) => [...text.matchAll(pattern)].map((hit) => [hit[1]!, file] as const));
  return new Map(words);
}
const unknown = (words: Map<string, string>, isKnown: (word: string) => boolean) =>
  [...words].filter(([word]) => !isKnown(word));

test("commands, in backticks or on a line of their own", () => {
  const words = found(/(?:`|^\$ |^ {4})pawl ([a-z][a-z-]*)/gm);
  expect(words.size).toBeGreaterThan(20);
  const called = ["help", "hook", "rewake", "job", "version"];
  expect(unknown(words, (word) => Object.hasOwn(COMMANDS, word) || called.includes(word))).toEqual([]);
});

test("their options, and what runs, task and help are asked to do", async () => {
  const problems: string[] = [];
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    const { usage, options: own = [] } = await load();
    const options = found(new RegExp(`\`pawl ${name}(?: [a-z|\${}]+)* (--[a-z-]+)`, "g"));
    problems.push(
      ...unknown(options, (word) => word === "--help" || usage.includes(word) || own.includes(word)).map(
        (one) => `${name} ${one.join(" in ")}`,
      ),
    );
    if (!["runs", "task", "helper"].includes(name)) continue;
    const actions = found(new RegExp(`\`pawl ${name} ([a-z]+)\\b`, "g"));
    const isKnown = (word: string) => new RegExp(`pawl ${name} [a-z|[]*\\b${word}\\b`).test(usage);
    problems.push(...unknown(actions, isKnown).map((one) => `${name} ${one.join(" in ")}`));
  }
  expect(problems).toEqual([]);
});

test("words for the agent's client", () => {
  const shipped = SHIPPED.map(({ path }) => path.replace(/\/SKILL\.md$|\.md$/g, "").replace(/^\.claude\/\w+\//, "/"));
  const names = shipped.map((path) => path.replace("/pawl/", "/pawl:"));
  const own = ["/clear", "/compact", "/goal", "/hooks", "/plugin", "/resume"];
  const examples = ["/ship", "/plan", "/pawl:x"];
  const isKnown = (word: string) =>
    [...names, ...own, ...examples].includes(word) || names.includes(word.replace("/pawl:", "/"));
  // What is followed by "/" is a path, by ":" and no word a part of a template.
  const typed = found(/(?:[Tt]ype |[^\w$]`|\\`)(\/[a-z][a-z-]+(?::[a-z-]+)?)(?=[\s`\\,.;)]|$)/gm);
  const words = new Map([...typed, ...found(/(\/pawl:[a-z-]+)/g)]);
  expect(words.size).toBeGreaterThan(8);
  expect(unknown(words, isKnown)).toEqual([]);
});

test("a built-in workflow is begun by a word that is installed", () => {
  const names = SHIPPED.map(({ path }) => path);
  for (const text of WORKFLOWS.values()) {
    const [first = ""] = /^arm: \["(\/[^"]+)"/m.exec(text)?.slice(1) ?? [];
    const name = first.replace("/pawl:", "pawl/").replace(/^\//, "");
    if (name !== "")
      expect(names.some((path) => path.endsWith(`commands/${name}.md`) || path.includes(`skills/${name}/`))).toBe(true);
  }
});
