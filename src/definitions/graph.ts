/** Pictures of a workflow: for a terminal and for Mermaid; and its rounds. */

import { safeText } from "../kernel/text/safe-text.ts";
import type { Move, Workflow } from "../kernel/types/run.ts";

// ── Terminal ────────────────────────────────────────────────────────────────

export function renderText(workflow: Workflow): string {
  const blocks = workflow.stages.flatMap((stage, index) => {
    const last = index === workflow.stages.length - 1;
    const rail = last ? " " : "│";
    const agent = stage.agent ? `  (agent ${stage.agent})` : "";
    const rows = moveRows(workflow, Object.entries(waysOut(workflow, index)));
    return [`● ${stage.id}  ${stage.title}${agent}`, ...rows.map((row) => `${rail}   ${row}`), ...(last ? [] : [rail])];
  });
  const common = moveRows(workflow, Object.entries(workflow.anywhere)).map((row) => `    ${row}`);
  const tail = common.length > 0 ? ["", "anywhere", ...common] : [];
  return safeText([heading(workflow), "", ...blocks, ...tail].map((row) => row.trimEnd()).join("\n"));
}

function heading(workflow: Workflow): string {
  const armed = workflow.arm.length > 0 ? `, armed by ${workflow.arm.join(" or ")}` : "";
  return `${workflow.name}: ${workflow.title} (signals: ${workflow.signals}${armed})`;
}

/** Without signals the stages follow one another by command. */
function waysOut(workflow: Workflow, index: number): Record<string, Move> {
  const { on = {}, stop } = workflow.stages[index] ?? {};
  if (workflow.signals !== "none") return stop ? { ...on, "at every stop": stop } : on;
  const next = workflow.stages[index + 1];
  return { "by command": next ? { to: next.id } : { end: "completed" } };
}

/**
 * One row per signal; a question's choices follow it, indented. `open` holds the questions above this row: one that asks
 * itself again is named only.
 */
function moveRows(workflow: Workflow, moves: [string, Move][], open: string[] = []): string[] {
  const width = Math.max(0, ...moves.map(([label]) => label.length));
  return moves.flatMap(([label, move]) => {
    const row = `${label.padEnd(width)}  ${describeMove(move, workflow)}${renderGates(move)}`;
    const ask = move.ask === undefined || open.includes(move.ask) ? undefined : workflow.asks[move.ask];
    if (!ask) return [row];
    const choices = Object.values(ask.choices).map((c, index): [string, Move] => [`${index + 1}. ${c.label}`, c]);
    const below = moveRows(workflow, choices, [...open, move.ask!]);
    return [row, ...below.map((line) => `    ${line}`)];
  });
}

function describeMove(move: Move, workflow: Workflow): string {
  if (move.to !== undefined) return `→ ${move.to}`;
  if (move.next !== undefined) return `↻ next task → ${move.next}`;
  if (move.halt !== undefined) return `■ halts: ${move.halt}`;
  if (move.ask !== undefined) return `? asks ${move.ask}: ${workflow.asks[move.ask]?.reason ?? ""}`;
  if (move.end !== undefined) return `◆ ends: ${move.end}`;
  if (move.show !== undefined) return `… shows the ${move.show}`;
  return "· stays";
}

function renderGates(move: Move): string {
  const gates = (move.gates ?? []).map((gate) => gate.name);
  return gates.length > 0 ? `  [gate: ${gates.join(", ")}]` : "";
}

// ── Mermaid ─────────────────────────────────────────────────────────────────

interface Drawing {
  workflow: Workflow;
  /** drawn once each: ends and halts are made when something leads there */
  nodes: Map<string, string>;
  edges: string[];
}

/** Ids are ours (letters, digits, underscore), because Mermaid gives some words a meaning; labels are quoted. */
export function renderMermaid(workflow: Workflow): string {
  const drawing: Drawing = { workflow, nodes: new Map(), edges: [] };
  for (const stage of workflow.stages) drawing.nodes.set(stageId(workflow, stage.id), `["${asLabel(stage.title)}"]`);
  for (const [name, ask] of Object.entries(workflow.asks)) {
    drawing.nodes.set(askId(workflow, name), `{{"${asLabel(ask.reason)}"}}`);
  }
  for (const [index, stage] of workflow.stages.entries()) {
    drawMoves(drawing, stageId(workflow, stage.id), Object.entries(waysOut(workflow, index)), "-->");
  }
  for (const [name, ask] of Object.entries(workflow.asks)) {
    drawMoves(
      drawing,
      askId(workflow, name),
      Object.values(ask.choices).map((choice) => [choice.label, choice]),
      "-->",
    );
  }
  if (Object.keys(workflow.anywhere).length > 0) {
    drawing.nodes.set("anywhere", '(("anywhere"))');
    drawMoves(drawing, "anywhere", Object.entries(workflow.anywhere), "-.->");
  }
  const nodes = [...drawing.nodes].map(([id, shape]) => `  ${id}${shape}`);
  return ["flowchart TD", ...nodes, ...drawing.edges.map((edge) => `  ${edge}`)].join("\n");
}

function drawMoves(drawing: Drawing, from: string, moves: [string, Move][], arrow: string): void {
  for (const [name, move] of moves) {
    const label = asLabel(`${name}${renderGates(move)}`);
    drawing.edges.push(`${from} ${arrow}|"${label}"| ${findTarget(drawing, from, move)}`);
  }
}

function findTarget(drawing: Drawing, from: string, move: Move): string {
  const { workflow, nodes } = drawing;
  if (move.to !== undefined) return stageId(workflow, move.to);
  if (move.next !== undefined) return stageId(workflow, move.next);
  if (move.ask !== undefined) return askId(workflow, move.ask);
  if (move.end !== undefined) return drawn(nodes, `finish_${move.end}`, `(["${asLabel(move.end)}"])`);
  if (move.halt !== undefined) return drawn(nodes, `halt_${from}`, `[/"halted: ${asLabel(move.halt)}"/]`);
  return from;
}

function drawn(nodes: Map<string, string>, id: string, shape: string): string {
  if (!nodes.has(id)) nodes.set(id, shape);
  if (nodes.get(id) === shape) return id;
  return drawn(nodes, `${id}_more`, shape);
}

function stageId(workflow: Workflow, id: string): string {
  return `stage_${workflow.stages.findIndex((stage) => stage.id === id)}`;
}

const askId = (workflow: Workflow, name: string): string => `ask_${Object.keys(workflow.asks).indexOf(name)}`;

/** Mermaid's own entities: # code ; — everything that could end a label or begin markup. */
function asLabel(text: string): string {
  const flat = safeText(text).replace(/\s+/g, " ").trim();
  return flat.replace(/[#"<>&`;{}[\]|\\]/g, (sign) => `#${sign.charCodeAt(0)};`);
}

// ── Rounds ──────────────────────────────────────────────────────────────────

/** The stages that an agent can come back to past no gate and no question: only `limits.laps` ends such a round. */
export function listFreeRound({ stages, anywhere }: Workflow): string[] {
  const waysFrom = (id: string) => {
    const { on = {}, stop } = stages.find((stage) => stage.id === id) ?? {};
    const free = [...Object.values({ ...anywhere, ...on }), ...(stop ? [stop] : [])].filter(({ gates }) => !gates);
    return free.flatMap(({ to }) => to ?? []);
  };
  const reach = (from: string[], known: Set<string>): Set<string> => {
    for (const id of from.filter((one) => !known.has(one))) reach(waysFrom(id), known.add(id));
    return known;
  };
  return stages.map(({ id }) => id).filter((id) => reach(waysFrom(id), new Set()).has(id));
}
