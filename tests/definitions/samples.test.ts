import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { compileWorkflow, type Problem } from "../../src/definitions/compile.ts";
import { promptReader } from "../../src/definitions/sources.ts";

const SAMPLES = join(import.meta.dir, "../samples");

function samples(kind: "valid" | "invalid"): { file: string; text: string; problems: Problem[] }[] {
  const folder = join(SAMPLES, kind);
  const files = readdirSync(folder).filter((file) => file.endsWith(".yaml"));
  return files.sort().map((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    const compiled = compileWorkflow(text, file, promptReader(folder));
    return { file, text, problems: "errors" in compiled ? compiled.errors : [] };
  });
}

describe("a valid sample has no problems", () => {
  test.each(samples("valid"))("$file", ({ problems }) => {
    expect(problems).toEqual([]);
  });
});

/** `# expect: [file:]line:column message | hint`: beginnings are enough, but every problem is listed. */
describe("an invalid sample has exactly the problems it expects", () => {
  test.each(samples("invalid"))("$file", ({ file, text, problems }) => {
    const expected = [...text.matchAll(/^# expect: (.*)$/gm)].map((match) => match[1]!);
    expect(expected.length).toBeGreaterThan(0);
    const shown = problems.map((problem) => asExpectation(problem, file));
    expect(shown.map((line, index) => (matches(line, expected[index]) ? expected[index] : line))).toEqual(expected);
  });
});

function asExpectation(problem: Problem, file: string): string {
  const where = problem.file === file ? "" : `${problem.file}:`;
  return `${where}${problem.line}:${problem.column} ${problem.message} | ${problem.hint}`;
}

function matches(shown: string, expected = "nothing"): boolean {
  const [message = "", hint = ""] = expected.split(" | ");
  const [shownMessage = "", shownHint = ""] = shown.split(" | ");
  return shownMessage.startsWith(message) && shownHint.includes(hint);
}
