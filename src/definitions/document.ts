/** A YAML text and a shape → plain values, or every problem with its place. Cold path: this loads `yaml`. */
import { type Document, parseDocument } from "yaml";
import { type Problem, problemAt } from "./problem.ts";
import { type Draft, type Reading, readShape } from "./read.ts";
import type { Shape } from "./schema/words.ts";
import type { PromptReader } from "./template.ts";

const MAX_BYTES = 256 * 1024;
const MAX_SYNTAX_PROBLEMS = 10;

/** A value without problems: nothing of it is missing. */
export type Read<T> = { value: T } | { errors: Problem[] };

/** `check` proves what the form alone cannot. */
export function readDocument<T>(
  text: string,
  file: string,
  shape: Shape<T>,
  readPrompt: PromptReader,
  check: (reading: Reading, draft: Draft<T>) => void,
): Read<T> {
  if (Buffer.byteLength(text) > MAX_BYTES) return { errors: [tooLarge(file)] };
  try {
    return readParsed(parse(text), text, file, shape, readPrompt, check);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { errors: [problemAt(file, text, 0, "this is nested too deeply", "a workflow needs about six levels")] };
  }
}

function parse(text: string): Document {
  return parseDocument(text, { schema: "core", uniqueKeys: true, prettyErrors: false });
}

function tooLarge(file: string): Problem {
  const message = `the file is larger than ${MAX_BYTES / 1024} KB`;
  return { file, line: 1, column: 1, message, hint: "move long texts into .md files next to it", excerpt: "" };
}

function readParsed<T>(
  document: Document,
  text: string,
  file: string,
  shape: Shape<T>,
  readPrompt: PromptReader,
  check: (reading: Reading, draft: Draft<T>) => void,
): Read<T> {
  const syntax = syntaxProblems(document, text, file);
  if (document.errors.some((error) => error.code !== "DUPLICATE_KEY")) return { errors: syntax };
  const reading: Reading = {
    file,
    text,
    document,
    readPrompt,
    problems: syntax,
    places: new Map(),
    refused: new Set(),
    badTexts: new Set(),
    aliases: 0,
    broken: false,
  };
  const draft = readShape(reading, document.contents, shape);
  if (draft) check(reading, draft);
  if (!draft || reading.problems.length > 0) return { errors: inOrder(reading.problems, file) };
  return { value: draft as T };
}

function syntaxProblems(document: Document, text: string, file: string): Problem[] {
  const first = [...document.errors, ...document.warnings].slice(0, 10 * MAX_SYNTAX_PROBLEMS);
  const problems = first.map((error) => {
    const [message, hint] = SYNTAX_WORDS[error.code] ?? [`this is not valid YAML: ${firstLine(error.message)}`, ""];
    return problemAt(file, text, error.pos[0], message, hint || "check the indentation, quotes and brackets here");
  });
  return firstOfEachLine(problems).slice(0, MAX_SYNTAX_PROBLEMS);
}

/** The rest of a line that could not be read is mostly a consequence. */
function firstOfEachLine(problems: Problem[]): Problem[] {
  return problems.filter((problem, index) => problems.findIndex((other) => other.line === problem.line) === index);
}

const SYNTAX_WORDS: Partial<Record<string, [string, string]>> = {
  DUPLICATE_KEY: ["this key is here twice", "keep one of the two"],
  MULTIPLE_DOCS: ["a second YAML document begins here", "one file holds one workflow: remove the ---"],
  TAB_AS_INDENT: ["a tab indents this line", "YAML is indented with spaces"],
  TAG_RESOLVE_FAILED: ["this tag means nothing here", "remove the ! tag"],
  RESOURCE_EXHAUSTION: ["this is nested too deeply", "a workflow needs about six levels"],
};

function firstLine(message: string): string {
  return message.split("\n", 1)[0] ?? "";
}

function unique(problems: Problem[]): Problem[] {
  const byText = new Map(problems.map((p) => [`${p.file}:${p.line}:${p.column}:${p.message}`, p]));
  return [...byText.values()];
}

/** In the order of the workflow file, then those of its prompts. */
function inOrder(problems: Problem[], file: string): Problem[] {
  const rank = (problem: Problem) => (problem.file === file ? 0 : 1);
  return unique(problems).sort((a, b) => rank(a) - rank(b) || a.line - b.line || a.column - b.column);
}
