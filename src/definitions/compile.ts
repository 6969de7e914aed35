/** YAML → a checked workflow with its prompts read in, or every problem with its place. Cold path: this loads `yaml`. */
import type { Ask, Choice, DocumentSpec, Move, Stage, Workflow } from "../kernel/types/run.ts";
import { checkDraft, type Draft, type DraftAsk, type DraftChoice, type DraftMove, type DraftStage } from "./checks.ts";
import { readDocument } from "./document.ts";
import { finishGate, type NamedGates } from "./gates.ts";
import type { Problem } from "./problem.ts";
import type { Reading } from "./read.ts";
import { DEFAULT_IDLE, DEFAULT_ROUNDS, WORKFLOW } from "./schema/workflow.ts";
import type { PromptReader } from "./template.ts";

export type { Problem } from "./problem.ts";
export type Compiled = { workflow: Workflow } | { errors: Problem[] };

/** `named`: the gates of pawl.yaml, which `use` may mean. */
export function compileWorkflow(
  text: string,
  file: string,
  readPrompt: PromptReader,
  named: NamedGates = {},
): Compiled {
  const known = Object.keys(named);
  const check = (reading: Reading, draft: unknown) => checkDraft(reading, draft as Draft, known);
  const read = readDocument(text, file, WORKFLOW, readPrompt, check);
  return "errors" in read ? read : { workflow: assemble(read.draft as Draft, file, named) };
}

/** Only for a draft without problems: what is required is there. */
function assemble(draft: Draft, file: string, named: NamedGates): Workflow {
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
    stages: (draft.stages as DraftStage[]).map((stage) => stageOf(stage, named)),
    asks: mapValues(draft.asks ?? {}, (ask, key) => askOf(ask, key, named)),
    anywhere: mapValues(draft.anywhere ?? {}, (move) => moveOf(move, named)),
    limits: { idle: draft.limits?.idle ?? DEFAULT_IDLE, rounds: draft.limits?.rounds ?? DEFAULT_ROUNDS },
    ...(draft.reading !== undefined && { reading: draft.reading }),
    ...(draft.missing === "ask" && { missing: draft.missing }),
    ...(draft.tasks && { tasks: draft.tasks }),
    ...(draft.fresh === "true" && { fresh: true as const }),
    ...(draft.sequences && { sequences: draft.sequences }),
    ...(draft.commands && { commands: draft.commands }),
    ...(draft.watch === "true" && { watch: true as const }),
    ...(draft.chains && { chains: draft.chains }),
  };
}

function stageOf(stage: DraftStage, named: NamedGates): Stage {
  const id = stage.id ?? "";
  return {
    id,
    title: stage.title ?? titleOf(id),
    say: stage.say ?? "",
    ...(stage.agent !== undefined && { agent: stage.agent }),
    on: mapValues(stage.on ?? {}, (move) => moveOf(move, named)),
    ...(stage.stop && { stop: moveOf(stage.stop, named) }),
    ...(stage.done !== undefined && { done: stage.done }),
    ...(stage.infer && { infer: stage.infer }),
  };
}

function moveOf({ gates, ...move }: DraftMove, named: NamedGates): Move {
  return gates ? { ...move, gates: gates.map((gate) => finishGate(gate!, named)) } : move;
}

function askOf(ask: DraftAsk, name: string, named: NamedGates): Ask {
  const choices = mapValues(ask.choices ?? {}, (choice, key) => choiceOf(choice, key, named));
  const reason = ask.reason ?? titleOf(name);
  const lines = Object.values(choices).map((choice, index) => `${index + 1}. ${choice.label}`);
  return { text: ask.text ?? "", person: ask.person ?? [reason, "", ...lines].join("\n"), reason, choices };
}

function choiceOf(choice: DraftChoice, name: string, named: NamedGates): Choice {
  const { label, words, ...move }: DraftChoice = choice;
  return { ...moveOf(move, named), words: (words as string[] | undefined) ?? [name], label: label ?? titleOf(name) };
}

function titleOf(name: string): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1).replaceAll("-", " ");
}

function mapValues<A, B>(record: Record<string, A>, make: (value: A, key: string) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, make(value, key)]));
}
