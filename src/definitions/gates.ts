/** Gates as they are written → gates as they are pinned: checked, named, with their ids, `use` resolved. */

import { KINDS, kindOf } from "../checks/core/kinds/index.ts";
import type { Gate, Move, Workflow } from "../kernel/types/run.ts";
import { isLoaderVariable } from "../store/processes/loader-variables.ts";
import { quote, suggest } from "./problem.ts";
import { type Draft, type Reading, reportAt } from "./read.ts";
import { CHECK_KEYS, type GateFile, OPTIONS } from "./schema/gate.ts";

export type NamedGates = Record<string, Gate>;
/** What workflows call the project's definition of done: all gates under `done` in pawl.yaml, none where there are none. */
export const DONE = "done";
export type DraftGate = Draft<GateFile>;

/** `known`: the names that `use` may mean; null where nothing is known of the project, so that nothing is refused. */
export function checkGates(reading: Reading, gates: (DraftGate | undefined)[], path: string, known: string[]): void {
  for (const [index, gate] of gates.entries()) if (gate) checkGate(reading, gate, `${path}/${index}`, known);
}

export function checkGate(reading: Reading, gate: DraftGate, path: string, known: string[]): void {
  const kind = CHECK_KEYS.find((key) => Object.hasOwn(gate, key)) ?? "";
  for (const [option, kinds] of OPTIONS) {
    if (!Object.hasOwn(gate, option) || kinds.includes(kind)) continue;
    const hint = `${option} goes with ${kinds.join(", ")}`;
    reportAt(reading, `${path}/${option}@key`, `${quote(option)} means nothing for ${quote(kind)}`, hint);
  }
  if (gate.use !== undefined && gate.use !== DONE && !known.includes(gate.use)) {
    const hint = known.length > 0 ? suggest(gate.use, known, "gates") : "add it under `gates` in pawl.yaml";
    reportAt(reading, `${path}/use`, `pawl.yaml has no gate ${quote(gate.use)}`, hint);
  }
  for (const variable of Object.keys(gate.env ?? {}).filter(isLoaderVariable)) {
    const hint = "it makes programs load other code; say what is needed in the command itself";
    reportAt(reading, `${path}/env/${variable}@key`, `a gate may not set ${variable}`, hint);
  }
  checkGates(reading, gate.all ?? [], `${path}/all`, known);
  checkGates(reading, gate.any ?? [], `${path}/any`, known);
}

/** The gates of a move, one by one: people read which of them failed. */
export const finishGates = (written: GateFile[], named: NamedGates): Gate[] =>
  written.flatMap((gate) => (gate.use === DONE ? (named[DONE]?.all ?? []) : [finishGate(gate, named)]));

export function finishGate(written: GateFile, named: NamedGates): Gate {
  const { name, use, all, any, ...rest } = written;
  if (use !== undefined) return named[use] ?? withId({ all: [] }, DONE);
  const within = {
    ...(all && { all: all.map((gate) => finishGate(gate, named)) }),
    ...(any && { any: any.map((gate) => finishGate(gate, named)) }),
  };
  return withId({ ...rest, ...within }, name);
}

/** What is checked has an id; how it is called, how long a stop waits, what proves it: that does not matter for it. */
export function withId(gate: Omit<Gate, "name" | "id">, name?: string): Gate {
  const { wait: _wait, fault: _fault, ...checked } = gate;
  const sorted = Object.fromEntries(Object.entries(checked).sort(([a], [b]) => (a < b ? -1 : 1)));
  const id = Bun.SHA256.hash(JSON.stringify(sorted), "hex").slice(0, 24);
  return { name: name ?? gateName(gate), id, ...gate };
}

function gateName(gate: Omit<Gate, "name" | "id">): string {
  if (gate.all) return gate.all.map((one) => one.name).join(" and ");
  if (gate.any) return gate.any.map((one) => one.name).join(" or ");
  const [key = "", value] = Object.entries(gate).find(([one]) => Object.hasOwn(KINDS, one)) ?? [];
  const words = Array.isArray(value) ? value.join(", ") : value;
  return kindOf(gate).name?.(gate as Gate) ?? `${key} ${words}`;
}

/** What the person typed takes the place that the workflow keeps for it; without a command it is the definition of done. */
export function withCommand(workflow: Workflow, command: string, named: NamedGates): Workflow {
  const put = (gate: Gate): Gate[] =>
    gate.typed && command === "" ? (named[DONE]?.all ?? []).map(withoutKnown) : [withTyped(gate, command)];
  return mapMoves(workflow, (move) => (move.gates ? { ...move, gates: move.gates.flatMap(put) } : move));
}

/** Where the red tests are the work, none of them is known to fail. */
function withoutKnown(gate: Gate): Gate {
  const { failing: _failing, ...rest } = gate;
  return {
    ...rest,
    ...(gate.all && { all: gate.all.map(withoutKnown) }),
    ...(gate.any && { any: gate.any.map(withoutKnown) }),
  };
}

function withTyped(gate: Gate, command: string): Gate {
  const { name: _name, id: _id, ...rest } = gate;
  if (gate.typed) return withId({ ...rest, shell: command }, command);
  if (!gate.all && !gate.any) return gate;
  const put = (one: Gate) => withTyped(one, command);
  const within = { ...(gate.all && { all: gate.all.map(put) }), ...(gate.any && { any: gate.any.map(put) }) };
  return withId({ ...rest, ...within });
}

/** Every move of its stages, and those that mean the same everywhere, changed; `signal` is null for a stop. */
export function mapMoves(workflow: Workflow, change: (move: Move, signal: string | null) => Move): Workflow {
  const moves = (some: Record<string, Move>) =>
    Object.fromEntries(Object.entries(some).map(([signal, move]) => [signal, change(move, signal)]));
  const stages = workflow.stages.map((stage) => ({
    ...stage,
    on: moves(stage.on),
    ...(stage.stop && { stop: change(stage.stop, null) }),
  }));
  return { ...workflow, stages, anywhere: moves(workflow.anywhere) };
}
