/** A YAML text and a shape → plain values, or every problem with its place. Cold path: this loads `yaml`. */
import { type Document, parseDocument } from "yaml";
import { readText } from "../store/files.ts";
import { type Problem, problemAt } from "./problem.ts";
import { type Draft, type Reading, readShape } from "./read.ts";
import type { Shape } from "./schema/words.ts";
import type { PromptReader } from "./template.ts";

const MAX_BYTES = 256 * 1024;
const MAX_SYNTAX_PROBLEMS = 10;

/** What is wrong at a path of the file, found out after it was read. */
export type ProblemAt = (path: string, message: string, hint: string) => Problem;
/** A value without problems: nothing of it is missing. */
export type DocumentRead<T> = { value: T; problemAt: ProblemAt } | { errors: Problem[] };
/** Proves what the form alone cannot. */
type Check<T> = (reading: Reading, draft: Draft<T>) => void;

/** A file of settings: the text of a missing one is empty. */
export function settingsText(path: string, file: string): { text: string } | { errors: Problem[] } {
  const read = readText(path, MAX_BYTES);
  if (read.ok || read.why === "missing") return { text: read.ok ? read.text : "" };
  const message = `the file cannot be read: ${read.detail ?? read.why}`;
  return { errors: [problemAt(file, "", 0, message, "check the file and its permissions")] };
}

/** A text without anything but comments says nothing. */
export const isBlank = (text: string) => text.replace(/^\s*#.*$/gm, "").trim() === "";

export function readDocument<T>(
  text: string,
  file: string,
  shape: Shape<T>,
  check: Check<T>,
  readPrompt: PromptReader = () => null,
): DocumentRead<T> {
  if (Buffer.byteLength(text) > MAX_BYTES) {
    const message = `the file is larger than ${MAX_BYTES / 1024} KB`;
    return { errors: [problemAt(file, "", 0, message, "move long texts into .md files next to it")] };
  }
  try {
    const document = parseDocument(text, { schema: "core", uniqueKeys: true, prettyErrors: false });
    const problems = syntaxProblems(document, text, file);
    if (document.errors.some((error) => error.code !== "DUPLICATE_KEY")) return { errors: problems };
    return readParsed({ file, text, document, readPrompt, problems }, shape, check);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { errors: [problemAt(file, text, 0, ...TOO_DEEP)] };
  }
}

type ParsedDocument = Pick<Reading, "file" | "text" | "document" | "readPrompt" | "problems">;

function readParsed<T>(parsed: ParsedDocument, shape: Shape<T>, check: Check<T>): DocumentRead<T> {
  const found = { places: new Map(), refused: new Set<string>(), badTexts: new Set<string>() };
  const reading: Reading = { ...parsed, ...found, aliases: 0, broken: false };
  const draft = readShape(reading, parsed.document.contents, shape);
  if (draft) check(reading, draft);
  if (!draft || reading.problems.length > 0) return { errors: inOrder(reading.problems, parsed.file) };
  const { file, text, places } = reading;
  return {
    value: draft as T,
    problemAt: (path, message, hint) => problemAt(file, text, places.get(path)?.offset ?? 0, message, hint),
  };
}

/** The first of each line: the rest of a line that could not be read is mostly a consequence. */
function syntaxProblems(document: Document, text: string, file: string): Problem[] {
  const first = [...document.errors, ...document.warnings].slice(0, 10 * MAX_SYNTAX_PROBLEMS);
  const problems = first.map((error) => {
    const unknown = `this is not valid YAML: ${error.message.split("\n", 1)[0]}`;
    const [message, hint] = SYNTAX_WORDS[error.code] ?? [unknown, "check the indentation, quotes and brackets here"];
    return problemAt(file, text, error.pos[0], message, hint);
  });
  return problems
    .filter(({ line }, index) => problems.findIndex((other) => other.line === line) === index)
    .slice(0, MAX_SYNTAX_PROBLEMS);
}

const TOO_DEEP: [string, string] = ["this is nested too deeply", "a workflow needs about six levels"];
const SYNTAX_WORDS: Partial<Record<string, [string, string]>> = {
  DUPLICATE_KEY: ["this key is here twice", "keep one of the two"],
  MULTIPLE_DOCS: ["a second YAML document begins here", "one file holds one workflow: remove the ---"],
  TAB_AS_INDENT: ["a tab indents this line", "YAML is indented with spaces"],
  TAG_RESOLVE_FAILED: ["this tag means nothing here", "remove the ! tag"],
  RESOURCE_EXHAUSTION: TOO_DEEP,
};

/** Each once, in the order of the workflow file, then those of its prompts. */
function inOrder(problems: Problem[], file: string): Problem[] {
  const unique = new Map(problems.map((one) => [`${one.file}:${one.line}:${one.column}:${one.message}`, one]));
  const rank = (problem: Problem) => (problem.file === file ? 0 : 1);
  return [...unique.values()].sort((a, b) => rank(a) - rank(b) || a.line - b.line || a.column - b.column);
}
