/** A workflow as a picture: stages from top to bottom, ways back and around at their right. */
import type { Graph } from "../graph.ts";
import type { StageView } from "../now.ts";
import { stageName } from "./format.ts";

const WIDTH = 340;
const BOX = { x: 2, width: 204, height: 34 };
const ROW = 62;
const LANE = 16;
const SIGNS = { done: "✓", now: "▶", open: "" } as const;
/** How many letters fit: some have a sign before them, and the current stage is bold. */
const ROOM = { done: 22, now: 19, open: 24 } as const;

interface Edge {
  from: number;
  to: number;
  label: string;
}

export function WorkflowGraph({ data, outcome }: { data: Graph; outcome: string | null }) {
  const stages = [...data.stages, ...ends(data, outcome)];
  const rows = new Map(stages.map(({ id }, row) => [id, row]));
  const edges = data.edges.flatMap(({ from, to, label }) => {
    const [a, b] = [rows.get(from), rows.get(to)];
    return a === undefined || b === undefined ? [] : [{ from: a, to: b, label }];
  });
  const words = stages.map(({ title, id, state }) => `${title || id} ${state === "open" ? "to come" : state}`);
  const height = stages.length * ROW - (ROW - BOX.height) + 8;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${height}`} class="graph" role="img" aria-label={`Workflow: ${words.join(", ")}`}>
      <defs>
        <marker
          id="tip"
          viewBox="0 0 8 8"
          refX={7}
          refY={4}
          markerWidth={7}
          markerHeight={7}
          orient="auto-start-reverse"
        >
          <path d="M0 0 8 4 0 8z" class="tip" />
        </marker>
      </defs>
      {edges.filter(isStep).map((edge) => (
        <Step key={edge.from} edge={edge} />
      ))}
      <Lanes edges={edges.filter((edge) => !isStep(edge))} />
      {stages.map((stage, row) => (
        <Box key={stage.id} stage={stage} row={row} />
      ))}
    </svg>
  );
}

/** Where a run can end are places of their own, below the stages. */
function ends({ edges }: Graph, outcome: string | null): StageView[] {
  const ids = [...new Set(edges.map(({ to }) => to).filter(isEnd))];
  return ids.slice(0, 3).map((id) => {
    const name = id.replace("end:", "");
    return { id, title: name === "halt" ? "stop, kept" : name, state: name === outcome ? "done" : "open" };
  });
}

const isStep = ({ from, to }: Edge): boolean => to === from + 1;
const isEnd = (id: string): boolean => id.startsWith("end:") || id === "halt";
const top = (row: number): number => 4 + row * ROW;
const middle = (row: number): number => top(row) + BOX.height / 2;

function Box({ stage: { title, id, state }, row }: { stage: StageView; row: number }) {
  const name = stageName(title || id);
  return (
    <g class={`node ${state}${isEnd(id) ? " end" : ""}`}>
      <title>{name}</title>
      <rect x={BOX.x} y={top(row)} width={BOX.width} height={BOX.height} rx={isEnd(id) ? 17 : 8} />
      <text x={BOX.x + 14} y={middle(row) + 4.5} class="sign">
        {SIGNS[state]}
      </text>
      <text x={BOX.x + (state === "open" ? 14 : 34)} y={middle(row) + 4.5}>
        {clip(name, ROOM[state])}
      </text>
    </g>
  );
}

function Step({ edge: { from, to, label } }: { edge: Edge }) {
  const x = BOX.x + 24;
  const [y1, y2] = [top(from) + BOX.height, top(to) - 1];
  return (
    <g class="edge">
      <line x1={x} y1={y1} x2={x} y2={y2} marker-end="url(#tip)" />
      <text x={x + 10} y={(y1 + y2) / 2 + 4}>
        {clip(label, 24)}
      </text>
    </g>
  );
}

/** Each way that is no plain step has a lane of its own, the short ones nearest; names are above all lines. */
function Lanes({ edges }: { edges: Edge[] }) {
  const sorted = edges.toSorted((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from)).slice(0, 6);
  return (
    <>
      {sorted.map((edge, lane) => (
        <Around key={`${edge.from} ${edge.to}`} edge={edge} lane={lane} />
      ))}
      {sorted.map((edge, lane) => (
        <LaneName key={`${edge.from} ${edge.to}`} edge={edge} lane={lane} />
      ))}
    </>
  );
}

const laneAt = (lane: number): number => BOX.x + BOX.width + LANE * (lane + 1);

/** Where a lane leaves its box and where it arrives. */
const laneEnds = ({ from, to }: Edge): [number, number] =>
  from === to ? [middle(from) - 7, middle(from) + 7] : [middle(from) + 5, middle(to) - 5];

function Around({ edge, lane }: { edge: Edge; lane: number }) {
  const right = BOX.x + BOX.width;
  const far = laneAt(lane);
  const [y1, y2] = laneEnds(edge);
  const path = `M${right} ${y1} C${far} ${y1} ${far} ${y1} ${far} ${(y1 + y2) / 2} S${far} ${y2} ${right + 2} ${y2}`;
  return (
    <g class={edge.to > edge.from ? "edge" : "edge back"}>
      <path d={path} marker-end="url(#tip)">
        <title>{edge.label}</title>
      </path>
    </g>
  );
}

function LaneName({ edge, lane }: { edge: Edge; lane: number }) {
  const [y1, y2] = laneEnds(edge);
  const x = laneAt(lane) + 5;
  const room = Math.floor((WIDTH - x) / widthOf(edge.label));
  return (
    <g class="edge">
      {room > 3 && (
        <text x={x} y={(y1 + y2) / 2 + 4}>
          {clip(edge.label, room)}
        </text>
      )}
      <title>{edge.label}</title>
    </g>
  );
}

/** Of one letter: most signals are in capitals. */
const widthOf = (label: string): number => (label === label.toUpperCase() ? 8.6 : 6);

const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
