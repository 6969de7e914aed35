/** The two proofs about the whole: every stage can be reached, and from every stage the work can come to an end. */
import { quote } from "./problem.ts";
import { type Draft as DraftOf, type Reading, reportAt } from "./read.ts";
import type { WorkflowFile } from "./schema/workflow.ts";

type Draft = DraftOf<WorkflowFile>;
type Move = NonNullable<DraftOf<WorkflowFile["stages"][number]>["stop"]>;

interface Node {
  key: string;
  moves: Move[];
}

const stageKey = (id: string) => `stage ${id}`;
const askKey = (name: string) => `ask ${name}`;

export function checkWays(reading: Reading, draft: Draft): void {
  const nodes = nodesOf(draft);
  const first = draft.stages?.[0]?.id ?? "";
  // Between two tasks a run may wait in the last stage for a fresh conversation.
  const last = draft.tasks ? (draft.stages?.at(-1)?.id ?? first) : first;
  const reached = spread(new Set([stageKey(first), stageKey(last)]), (known) =>
    nodes.filter((n) => known.has(n.key)).flatMap(targets),
  );
  const ending = spread(new Set(nodes.filter(ends).map((n) => n.key)), (known) =>
    nodes.filter((n) => targets(n).some((key) => known.has(key))).map((n) => n.key),
  );
  for (const [index, stage] of (draft.stages ?? []).entries()) {
    const id = stage?.id ?? "";
    const path = `stages/${index}/id`;
    if (!reached.has(stageKey(id))) {
      const hint = `let a signal lead to it ({ to: ${id} }), or remove the stage`;
      reportAt(reading, path, `stage ${quote(id)} cannot be reached from ${quote(first)}`, hint);
    }
    if (!ending.has(stageKey(id))) {
      const hint = "let a signal of this or a later stage lead to { end: completed } (an abort does not count)";
      reportAt(reading, path, `from stage ${quote(id)} the work can never come to an end`, hint);
    }
  }
  for (const name of Object.keys(draft.asks ?? {}).filter((key) => !reached.has(askKey(key)))) {
    const hint = `let a signal lead to it ({ ask: ${name} }), or remove it`;
    reportAt(reading, `asks/${name}@key`, `the question ${quote(name)} is never asked`, hint);
  }
}

function nodesOf(draft: Draft): Node[] {
  const common = Object.values(draft.anywhere ?? {});
  const stages = (draft.stages ?? []).map((stage, index) => ({
    key: stageKey(stage?.id ?? ""),
    moves:
      draft.signals === "none"
        ? byCommand(draft, index)
        : [...Object.values(stage?.on ?? {}), ...(stage?.stop ? [stage.stop] : []), ...common],
  }));
  const asks = Object.entries(draft.asks ?? {}).map(([name, ask]) => ({
    key: askKey(name),
    moves: Object.values(ask.choices ?? {}),
  }));
  return [...stages, ...asks];
}

/** Without signals a person's command leads from each stage to the next, and from the last one out. */
function byCommand(draft: Draft, index: number): Move[] {
  const next = draft.stages?.[index + 1]?.id;
  return [next === undefined ? { end: "completed" } : { to: next }];
}

function targets(node: Node): string[] {
  return node.moves.flatMap((move) => {
    if (move.to !== undefined) return [stageKey(move.to)];
    if (move.next !== undefined) return [stageKey(move.next)];
    return move.ask === undefined ? [] : [askKey(move.ask)];
  });
}

/** An abort is always possible and proves nothing about the work. */
function ends(node: Node): boolean {
  // Without a next task the work is over.
  return node.moves.some((move) => move.next !== undefined || (move.end !== undefined && move.end !== "aborted"));
}

function spread(from: Set<string>, next: (known: Set<string>) => string[]): Set<string> {
  const grown = new Set([...from, ...next(from)]);
  return grown.size === from.size ? grown : spread(grown, next);
}
