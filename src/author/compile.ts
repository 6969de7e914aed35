/** YAML → a checked workflow with its prompts read in, or every problem with its place. Cold path: this loads `yaml`. */
import { type Document, parseDocument } from "yaml";
import type { Ask, Choice, DocumentSpec, Move, Stage, Workflow } from "../core/types.ts";
import { checkDraft, type Draft, type DraftAsk, type DraftChoice, type DraftStage } from "./checks.ts";
import { type Problem, problemAt } from "./problem.ts";
import { type Reading, readShape } from "./read.ts";
import { DEFAULT_IDLE, WORKFLOW } from "./schema.ts";
import type { PromptReader } from "./template.ts";

export type { Problem } from "./problem.ts";
export type Compiled = { workflow: Workflow } | { errors: Problem[] };

const MAX_BYTES = 256 * 1024;
const MAX_SYNTAX_PROBLEMS = 10;

export function compileWorkflow(text: string, file: string, readPrompt: PromptReader): Compiled {
  if (Buffer.byteLength(text) > MAX_BYTES) return { errors: [tooLarge(file)] };
  try {
    return compileDocument(parse(text), text, file, readPrompt);
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
  return { file, line: 1, column: 1, message, hint: "move long texts into .md files beside it", excerpt: "" };
}

function compileDocument(document: Document, text: string, file: string, readPrompt: PromptReader): Compiled {
  const syntax = syntaxProblems(document, text, file);
  if (document.errors.some((error) => error.code !== "DUPLICATE_KEY")) return { errors: syntax };
  const reading: Reading = {
    file,
    text,
    document,
    readPrompt,
    problems: syntax,
    places: new Map(),
    aliases: 0,
    broken: false,
  };
  const draft = readShape(reading, document.contents, WORKFLOW, "", 0) as Draft | undefined;
  if (draft) checkDraft(reading, draft);
  if (!draft || reading.problems.length > 0) return { errors: inOrder(reading.problems, file) };
  return { workflow: assemble(draft, file) };
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
  DUPLICATE_KEY: ["this key stands here twice", "keep one of the two"],
  MULTIPLE_DOCS: ["a second YAML document begins here", "one file holds one workflow: take the --- out"],
  TAB_AS_INDENT: ["a tab indents this line", "YAML is indented with spaces"],
  TAG_RESOLVE_FAILED: ["this tag means nothing here", "take the ! tag out"],
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

/** Only for a draft without problems: what is required is there. */
function assemble(draft: Draft, file: string): Workflow {
  const name = draft.name ?? "";
  return {
    v: 1,
    name,
    title: draft.title ?? titleOf(name),
    source: file,
    signals: draft.signals ?? "none",
    ...(draft.document && { document: { flags: {}, ...draft.document } as DocumentSpec }),
    ...(draft.log !== undefined && { log: draft.log }),
    arm: (draft.arm ?? []) as string[],
    intro: draft.say ?? "",
    ...(draft.person !== undefined && { person: draft.person }),
    stages: (draft.stages as DraftStage[]).map(stageOf),
    asks: mapValues(draft.asks ?? {}, askOf),
    anywhere: mapValues(draft.anywhere ?? {}, (move) => ({ ...move })),
    limits: { idle: draft.limits?.idle ?? DEFAULT_IDLE },
    ...(draft.reading !== undefined && { reading: draft.reading }),
  };
}

function stageOf(stage: DraftStage): Stage {
  const id = stage.id ?? "";
  return {
    id,
    title: stage.title ?? titleOf(id),
    say: stage.say ?? "",
    ...(stage.agent !== undefined && { agent: stage.agent }),
    on: mapValues(stage.on ?? {}, (move) => ({ ...move })),
  };
}

function askOf(ask: DraftAsk, name: string): Ask {
  const choices = mapValues(ask.choices ?? {}, choiceOf);
  const reason = ask.reason ?? titleOf(name);
  const lines = Object.values(choices).map((choice, index) => `${index + 1}. ${choice.label}`);
  return { text: ask.text ?? "", person: ask.person ?? [reason, "", ...lines].join("\n"), reason, choices };
}

function choiceOf(choice: DraftChoice, name: string): Choice {
  const { label, words, ...move }: DraftChoice = choice;
  return { ...(move as Move), words: (words as string[] | undefined) ?? [name], label: label ?? titleOf(name) };
}

function titleOf(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1).replaceAll("-", " ");
}

function mapValues<A, B>(record: Record<string, A>, make: (value: A, key: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value, key)]));
}
