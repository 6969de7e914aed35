/** Texts with {placeholders}, written in place or kept in a Markdown file. */
import { type Problem, problemAt, quote, suggest } from "./problem.ts";
import { PLACEHOLDERS } from "./schema/workflow.ts";

/** null: there is no such file, or it must not be read */
export type PromptReader = (path: string) => string | null;

/** Where the text is in the workflow file. */
interface TextPlace {
  file: string;
  text: string;
  offset: number;
  end: number;
}

const PROMPT_PATH = /^\S+\.md$/;
/** `${x}` is shell and `@{u}` is git: both appear in prompts and mean themselves. */
const PLACEHOLDER = /(?<![$@])\{([A-Za-z][A-Za-z0-9_-]*)\}/g;
const MAX_PER_TEXT = 20;
const KNOWN: ReadonlySet<string> = new Set(PLACEHOLDERS);

export function readTemplate(
  value: string,
  role: "template" | "prompt",
  place: TextPlace,
  readPrompt: PromptReader,
  problems: Problem[],
): string {
  if (role === "prompt" && PROMPT_PATH.test(value)) return readPromptFile(value, place, readPrompt, problems);
  for (const { name } of unknownPlaceholders(value)) {
    const written = place.text.indexOf(`{${name}}`, place.offset);
    const offset = written >= 0 && written < place.end ? written : place.offset;
    problems.push(unknownPlaceholder(place.file, place.text, offset, name));
  }
  return tidy(value);
}

function readPromptFile(path: string, place: TextPlace, readPrompt: PromptReader, problems: Problem[]): string {
  const refuse = (message: string, hint: string): string => {
    problems.push(problemAt(place.file, place.text, place.offset, message, hint));
    return path;
  };
  if (!isInside(path)) {
    return refuse(
      `the prompt ${quote(path)} is outside the workflow's folder`,
      'use a relative path without ".." parts; prompts live next to the workflow',
    );
  }
  const text = readPrompt(path);
  if (text === null) {
    return refuse(
      `there is no prompt ${quote(path)}`,
      "create the file, relative to the workflow's folder (links that lead out of it are not followed)",
    );
  }
  if (!text.trim()) return refuse(`the prompt ${quote(path)} is empty`, "write there what the agent should do");
  const file = promptFile(place.file, path);
  for (const { name, at } of unknownPlaceholders(text)) problems.push(unknownPlaceholder(file, text, at, name));
  return tidy(text);
}

export function isInside(path: string): boolean {
  const parts = path.split(/[/\\]/);
  return !/^[/\\~]|:|\0/.test(path) && parts.every((part) => part !== ".." && part.toLowerCase() !== ".git");
}

/** The prompt's path as a reader of the message would open it. */
function promptFile(workflowFile: string, path: string): string {
  if (workflowFile.startsWith("builtin:")) return `builtin:${path}`;
  const slash = workflowFile.lastIndexOf("/");
  return slash < 0 ? path : `${workflowFile.slice(0, slash)}/${path}`;
}

function unknownPlaceholders(text: string): { name: string; at: number }[] {
  return [...text.matchAll(PLACEHOLDER)]
    .map((match) => ({ name: match[1]!, at: match.index }))
    .filter(({ name }) => !KNOWN.has(name) && (name === name.toLowerCase() || KNOWN.has(name.toLowerCase())))
    .slice(0, MAX_PER_TEXT);
}

function unknownPlaceholder(file: string, text: string, offset: number, name: string): Problem {
  return problemAt(
    file,
    text,
    offset,
    `unknown placeholder {${name}}`,
    suggest(name, PLACEHOLDERS, "known placeholders"),
  );
}

const tidy = (text: string): string => text.replaceAll("\r\n", "\n").trimEnd();
