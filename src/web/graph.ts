/** A run's workflow as stages and ways between them. A question's choices are ways of the stage that asks it. */
import { plain } from "../kernel/text/safe-text.ts";
import type { Move, Run, Stage, Workflow } from "../kernel/types/run.ts";
import { type StageView, stagesOf } from "./now.ts";

interface Edge {
  from: string;
  /** a stage; or `end:<outcome>` and `halt`, which are none */
  to: string;
  label: string;
}

export interface Graph {
  stages: StageView[];
  edges: Edge[];
}

export function graphOf(run: Run, workflow: Workflow | null): Graph {
  if (run.formal || workflow === null) return chain(workflow === null ? [] : stagesOf(run, workflow));
  const planned = new Map(stagesOf(run, workflow).map((stage) => [stage.id, stage]));
  const stages = workflow.stages.map(
    ({ id, title }): StageView => planned.get(id) ?? { id, title: plain(title), state: "open" },
  );
  return { stages, edges: merged(workflow.stages.flatMap((stage, at) => edgesOf(workflow, stage, at))) };
}

function chain(stages: StageView[]): Graph {
  const edges = stages.slice(1).map(({ id }, at) => ({ from: stages[at]!.id, to: id, label: "" }));
  return { stages, edges };
}

function edgesOf(workflow: Workflow, { id, on, stop }: Stage, at: number): Edge[] {
  const next = workflow.stages[at + 1];
  if (workflow.signals === "none") return next ? [{ from: id, to: next.id, label: "by command" }] : [];
  const moves: [string, Move][] = [...Object.entries(on), ...(stop ? [["at every stop", stop] as [string, Move]] : [])];
  return moves.flatMap(([label, move]) =>
    targets(workflow, move, label, new Set()).map((way) => ({ from: id, ...way })),
  );
}

/** `open`: the questions on the way here; one that asks itself again leads nowhere new. */
function targets(workflow: Workflow, move: Move, label: string, open: ReadonlySet<string>): Omit<Edge, "from">[] {
  const to = move.to ?? move.next;
  if (to !== undefined) return [{ to, label: plain(label) }];
  if (move.end !== undefined) return [{ to: `end:${move.end}`, label: plain(label) }];
  if (move.halt !== undefined) return [{ to: "halt", label: plain(label) }];
  const ask = move.ask === undefined || open.has(move.ask) ? undefined : workflow.asks[move.ask];
  if (!ask) return [];
  const below = new Set([...open, move.ask!]);
  return Object.values(ask.choices).flatMap((choice) => targets(workflow, choice, choice.label, below));
}

/** Several ways between the same two stages are one, with all their names. */
function merged(edges: Edge[]): Edge[] {
  const found = new Map<string, Edge>();
  for (const edge of edges) {
    const key = `${edge.from} ${edge.to}`;
    const before = found.get(key);
    found.set(key, before ? { ...before, label: `${before.label}, ${edge.label}` } : edge);
  }
  return [...found.values()];
}
