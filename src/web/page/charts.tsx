/** Small pictures of figures. Each says in words what it shows. */
import type { TrendPoint } from "../../insight/types.ts";
import { percent, span } from "./format.ts";

const WIDTH = 120;
const HEIGHT = 28;

/** From the middle run to the slow one, on the scale of the slowest stage. */
export function RangeBar({ p50, p95, most }: { p50: number; p95: number; most: number }) {
  const at = (ms: number) => 3 + (most > 0 ? (ms / most) * (WIDTH - 6) : 0);
  return (
    <svg viewBox={`0 0 ${WIDTH} 12`} class="chart range" role="img" aria-label={`p50 ${span(p50)}, p95 ${span(p95)}`}>
      <rect x={0} y={5} width={WIDTH} height={2} rx={1} class="rail" />
      <rect x={at(p50)} y={4} width={Math.max(1, at(p95) - at(p50))} height={4} rx={2} class="spread" />
      <circle cx={at(p50)} cy={6} r={3} class="middle" />
      <rect x={at(p95) - 1} y={2} width={2} height={8} rx={1} class="end" />
    </svg>
  );
}

export const ShareBar = ({ share }: { share: number }) => (
  <svg viewBox="0 0 60 8" class="chart share" aria-hidden="true">
    <rect x={0} y={1} width={60} height={6} rx={3} class="rail" />
    <rect x={0} y={1} width={Math.max(share > 0 ? 4 : 0, 60 * share)} height={6} rx={3} class="filled" />
  </svg>
);

/** Runs as bars, their usual time as a line over them. */
export function TrendChart({ stage, points }: { stage: string; points: TrendPoint[] }) {
  const last = points.findLast(({ p50_ms }) => p50_ms !== null);
  const words = last
    ? `${stage} over time: last ${span(last.p50_ms)}, ${percent(last.success_rate)} advanced`
    : `${stage}: no data`;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} class="chart trend" role="img" aria-label={words}>
      <Bars points={points} />
      <Line points={points} />
    </svg>
  );
}

function Bars({ points }: { points: TrendPoint[] }) {
  const most = Math.max(1, ...points.map(({ runs }) => runs));
  const step = WIDTH / Math.max(1, points.length);
  return (
    <>
      {points.map(({ runs, at }, i) => {
        const height = (runs / most) * (HEIGHT - 4);
        return (
          <rect
            key={at}
            x={i * step + 1}
            y={HEIGHT - height}
            width={Math.max(1, step - 2)}
            height={height}
            rx={1}
            class="bar"
          >
            <title>{`${at.slice(0, 10)}: ${runs} runs`}</title>
          </rect>
        );
      })}
    </>
  );
}

function Line({ points }: { points: TrendPoint[] }) {
  const most = Math.max(1, ...points.map(({ p50_ms }) => p50_ms ?? 0));
  const step = WIDTH / Math.max(1, points.length);
  const places = points.flatMap(({ p50_ms }, i) =>
    p50_ms === null ? [] : [{ x: i * step + step / 2, y: 3 + (1 - p50_ms / most) * (HEIGHT - 8) }],
  );
  const last = places.at(-1);
  if (!last) return null;
  return (
    <>
      <polyline points={places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")} class="line" />
      <circle cx={last.x} cy={last.y} r={2.2} class="last" />
    </>
  );
}
