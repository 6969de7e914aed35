/// <reference lib="dom" />
/** Small pictures of figures. Each says in words what it shows. */
import type { Point } from "./api.ts";
import { svg } from "./dom.ts";
import { percent, span } from "./format.ts";

const WIDTH = 120;
const HEIGHT = 28;

/** From the middle run to the slow one, on the scale of the slowest stage. */
export function rangeBar(p50: number, p95: number, most: number): SVGElement {
  const at = (ms: number) => 3 + (most > 0 ? (ms / most) * (WIDTH - 6) : 0);
  return svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} 12`,
      class: "chart range",
      role: "img",
      "aria-label": `p50 ${span(p50)}, p95 ${span(p95)}`,
    },
    svg("rect", { x: 0, y: 5, width: WIDTH, height: 2, rx: 1, class: "rail" }),
    svg("rect", { x: at(p50), y: 4, width: Math.max(1, at(p95) - at(p50)), height: 4, rx: 2, class: "spread" }),
    svg("circle", { cx: at(p50), cy: 6, r: 3, class: "middle" }),
    svg("rect", { x: at(p95) - 1, y: 2, width: 2, height: 8, rx: 1, class: "end" }),
  );
}

export function shareBar(share: number): SVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 60 8", class: "chart share", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 1, width: 60, height: 6, rx: 3, class: "rail" }),
    svg("rect", { x: 0, y: 1, width: Math.max(share > 0 ? 4 : 0, 60 * share), height: 6, rx: 3, class: "filled" }),
  );
}

/** Runs as bars, their usual time as a line over them. */
export function trendChart(stage: string, points: Point[]): SVGElement {
  const known = points.filter(({ p50_ms }) => p50_ms !== null);
  const last = known.at(-1);
  const words = last
    ? `${stage} over time: last ${span(last.p50_ms)}, ${percent(last.success_rate)} led on`
    : `${stage}: no data`;
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart trend", role: "img", "aria-label": words },
    bars(points),
    line(points),
  );
}

function bars(points: Point[]): SVGElement[] {
  const most = Math.max(1, ...points.map(({ runs }) => runs));
  const step = WIDTH / Math.max(1, points.length);
  return points.map(({ runs, at }, i) => {
    const height = (runs / most) * (HEIGHT - 4);
    const place = { x: i * step + 1, y: HEIGHT - height, width: Math.max(1, step - 2), height, rx: 1, class: "bar" };
    return svg("rect", place, svg("title", {}, `${at.slice(0, 10)}: ${runs} runs`));
  });
}

function line(points: Point[]): SVGElement[] {
  const most = Math.max(1, ...points.map(({ p50_ms }) => p50_ms ?? 0));
  const step = WIDTH / Math.max(1, points.length);
  const places = points.flatMap(({ p50_ms }, i) =>
    p50_ms === null ? [] : [{ x: i * step + step / 2, y: 3 + (1 - p50_ms / most) * (HEIGHT - 8) }],
  );
  const last = places.at(-1);
  if (!last) return [];
  const path = places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  return [
    svg("polyline", { points: path, class: "line" }),
    svg("circle", { cx: last.x, cy: last.y, r: 2.2, class: "last" }),
  ];
}
