/// <reference lib="dom" />
/** A workflow as a picture: stages from top to bottom, ways back and around at their right. */
import type { GraphData, StageMark } from "./api.ts";
import { svg } from "./dom.ts";
import { stageName } from "./parts.ts";

const WIDTH = 340;
const BOX = { x: 2, width: 204, height: 34 };
const ROW = 62;
const LANE = 16;
const SIGNS = { done: "✓", now: "▶", open: "" } as const;
/** Letters: a sign stands before some, and the stage of now is bold. */
const ROOM = { done: 22, now: 19, open: 24 } as const;

interface Edge {
  from: number;
  to: number;
  label: string;
}

export function workflowGraph(data: GraphData, outcome: string | null): SVGElement {
  const { edges } = data;
  const stages = [...data.stages, ...ends(data, outcome)];
  const rows = new Map(stages.map(({ id }, row) => [id, row]));
  const known = edges.flatMap(({ from, to, label }) => {
    const [a, b] = [rows.get(from), rows.get(to)];
    return a === undefined || b === undefined ? [] : [{ from: a, to: b, label }];
  });
  const words = stages
    .map(({ title, id, state }) => `${title || id} ${state === "open" ? "to come" : state}`)
    .join(", ");
  const height = stages.length * ROW - (ROW - BOX.height) + 8;
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${height}`, class: "graph", role: "img", "aria-label": `Workflow: ${words}` },
    marker(),
    known.filter(isStep).map(step),
    lanes(known.filter((edge) => !isStep(edge))),
    stages.map(box),
  );
}

/** Where a run can end are places of their own, below the stages. */
function ends({ edges }: GraphData, outcome: string | null): StageMark[] {
  const ids = [...new Set(edges.map(({ to }) => to).filter(isEnd))];
  return ids.slice(0, 3).map((id) => {
    const name = id.replace("end:", "");
    return { id, title: name === "halt" ? "stop, kept" : name, state: name === outcome ? "done" : "open" };
  });
}

const isStep = ({ from, to }: Edge): boolean => to === from + 1;
const top = (row: number): number => 4 + row * ROW;
const middle = (row: number): number => top(row) + BOX.height / 2;

function marker(): SVGElement {
  const shape = svg("path", { d: "M0 0 8 4 0 8z", class: "tip" });
  const size = { viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" };
  return svg("defs", {}, svg("marker", { id: "tip", ...size }, shape));
}

const isEnd = (id: string): boolean => id.startsWith("end:") || id === "halt";

function box({ title, id, state }: StageMark, row: number): SVGElement {
  const name = stageName(title || id);
  const shown = clip(name, ROOM[state]);
  return svg(
    "g",
    { class: `node ${state}${isEnd(id) ? " end" : ""}` },
    svg("title", {}, name),
    svg("rect", { x: BOX.x, y: top(row), width: BOX.width, height: BOX.height, rx: isEnd(id) ? 17 : 8 }),
    svg("text", { x: BOX.x + 14, y: middle(row) + 4.5, class: "sign" }, SIGNS[state]),
    svg("text", { x: BOX.x + (state === "open" ? 14 : 34), y: middle(row) + 4.5 }, shown),
  );
}

function step({ from, to, label }: Edge): SVGElement {
  const x = BOX.x + 24;
  const [y1, y2] = [top(from) + BOX.height, top(to) - 1];
  return svg(
    "g",
    { class: "edge" },
    svg("line", { x1: x, y1, x2: x, y2, "marker-end": "url(#tip)" }),
    svg("text", { x: x + 10, y: (y1 + y2) / 2 + 4 }, clip(label, 24)),
  );
}

/** Each way that is no plain step has a lane of its own, the short ones nearest; names stand above all lines. */
function lanes(edges: Edge[]): SVGElement[] {
  const sorted = edges.toSorted((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from)).slice(0, 6);
  return [...sorted.map(around), ...sorted.map(laneName)];
}

const laneAt = (lane: number): number => BOX.x + BOX.width + LANE * (lane + 1);

/** Where a lane leaves its box and where it arrives. */
const laneEnds = ({ from, to }: Edge): [number, number] =>
  from === to ? [middle(from) - 7, middle(from) + 7] : [middle(from) + 5, middle(to) - 5];

function around(edge: Edge, lane: number): SVGElement {
  const right = BOX.x + BOX.width;
  const far = laneAt(lane);
  const [y1, y2] = laneEnds(edge);
  const path = `M${right} ${y1} C${far} ${y1} ${far} ${y1} ${far} ${(y1 + y2) / 2} S${far} ${y2} ${right + 2} ${y2}`;
  const line = svg("path", { d: path, "marker-end": "url(#tip)" }, svg("title", {}, edge.label));
  return svg("g", { class: edge.to > edge.from ? "edge" : "edge back" }, line);
}

function laneName(edge: Edge, lane: number): SVGElement {
  const [y1, y2] = laneEnds(edge);
  const x = laneAt(lane) + 5;
  const room = Math.floor((WIDTH - x) / widthOf(edge.label));
  const text = room > 3 && svg("text", { x, y: (y1 + y2) / 2 + 4 }, clip(edge.label, room));
  return svg("g", { class: "edge" }, text, svg("title", {}, edge.label));
}

/** Of one letter: most signals are in capitals. */
const widthOf = (label: string): number => (label === label.toUpperCase() ? 8.6 : 6);

const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
