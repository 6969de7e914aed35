/** YAML → a checked workflow with its prompts read in, or every problem with its place. Cold path: this loads `yaml`. */
import type { Ask, Choice, DocumentSpec, Move, Stage, Workflow } from "../kernel/types/run.ts";
import { checkWorkflow } from "./checks.ts";
import { readDocument } from "./document.ts";
import { finishGates, type NamedGates } from "./gates.ts";
import { type Problem, toTitle } from "./problem.ts";
import { DEFAULT_IDLE, DEFAULT_LAPS, DEFAULT_ROUNDS, WORKFLOW, type WorkflowFile } from "./schema/workflow.ts";
import type { PromptReader } from "./template.ts";

type StageFile = WorkflowFile["stages"][number];
type AskFile = NonNullable<WorkflowFile["asks"]>[string];
type ChoiceFile = AskFile["choices"][string];
type MoveFile = NonNullable<StageFile["stop"]>;

export type { Problem } from "./problem.ts";
export type CompiledWorkflow = { workflow: Workflow } | { errors: Problem[] };

/** `named`: the gates of pawl.yaml, which `use` may mean. */
export function compileWorkflow(
  text: string,
  file: string,
  readPrompt: PromptReader,
  named: NamedGates = {},
): CompiledWorkflow {
  const known = Object.keys(named);
  const read = readDocument(text, file, WORKFLOW, (reading, draft) => checkWorkflow(reading, draft, known), readPrompt);
  return "errors" in read ? read : { workflow: assemble(read.value, file, named) };
}

function assemble(read: WorkflowFile, file: string, named: NamedGates): Workflow {
  const { name, title, signals, document, log, person, reading, tasks, sequences, commands, chains } = read;
  return {
    v: 1,
    name,
    title: title ?? toTitle(name),
    source: file,
    signals,
    ...(document && { document: { flags: {}, ...document } as DocumentSpec }),
    ...(log !== undefined && { log }),
    arm: read.arm ?? [],
    intro: read.say ?? "",
    ...(person !== undefined && { person }),
    stages: read.stages.map((stage) => compileStage(stage, named)),
    asks: mapValues(read.asks ?? {}, (ask, key) => compileAsk(ask, key, named)),
    anywhere: mapValues(read.anywhere ?? {}, (move) => compileMove(move, named)),
    limits: { idle: DEFAULT_IDLE, rounds: DEFAULT_ROUNDS, laps: DEFAULT_LAPS, ...read.limits },
    ...(reading !== undefined && { reading }),
    ...(read.missing === "ask" && { missing: read.missing }),
    ...(tasks && { tasks }),
    ...(read.fresh && { fresh: true as const }),
    ...(sequences && { sequences }),
    ...(commands && { commands }),
    ...(read.watch && { watch: read.watch === true ? ("chain" as const) : read.watch }),
    ...(chains && { chains }),
  };
}

function compileStage({ id, title, say, agent, on, stop, done, infer }: StageFile, named: NamedGates): Stage {
  return {
    id,
    title: title ?? toTitle(id),
    say,
    ...(agent !== undefined && { agent }),
    on: mapValues(on ?? {}, (move) => compileMove(move, named)),
    ...(stop && { stop: compileMove(stop, named) }),
    ...(done !== undefined && { done }),
    ...(infer && { infer }),
  };
}

function compileMove({ gates, ...move }: MoveFile, named: NamedGates): Move {
  const finished = finishGates(gates ?? [], named);
  return finished.length > 0 ? { ...move, gates: finished } : move;
}

function compileAsk(ask: AskFile, name: string, named: NamedGates): Ask {
  const choices = mapValues(ask.choices, (choice, key) => compileChoice(choice, key, named));
  const reason = ask.reason ?? toTitle(name);
  const lines = Object.values(choices).map((choice, index) => `${index + 1}. ${choice.label}`);
  return { text: ask.text, person: ask.person ?? [reason, "", ...lines].join("\n"), reason, choices };
}

function compileChoice({ label, words, ...move }: ChoiceFile, name: string, named: NamedGates): Choice {
  return { ...compileMove(move, named), words: words ?? [name], label: label ?? toTitle(name) };
}

function mapValues<A, B>(record: Record<string, A>, make: (value: A, key: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value, key)]));
}
