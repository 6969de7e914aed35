/** Where most time is lost, in one sentence with its figures. */
import type { StageStat } from "./types.ts";

/** Fewer stays in stages than this say nothing about a habit. */
export const ENOUGH_ATTEMPTS = 5;

export function findBottleneck(stats: StageStat[]): { sentence: string; evidence: string } | null {
  const attempts = stats.reduce((sum, one) => sum + one.attempts, 0);
  if (attempts < ENOUGH_ATTEMPTS) return null;
  const all = stats.reduce((sum, one) => sum + one.total_ms, 0);
  const worst = stats.reduce((a, b) => (lostIn(b) > lostIn(a) ? b : a));
  if (lostIn(worst) <= 0 || all <= 0) return null;
  const name = `${worst.stage} (${worst.workflow})`;
  return { sentence: sentenceOf(worst, name, all), evidence: evidenceOf(worst, all) };
}

/** What it usually takes, as often as it happened; one night of waiting counts as what it was. */
const lostIn = ({ p50_ms, attempts, waited_ms }: StageStat) => Math.max((p50_ms ?? 0) * attempts, waited_ms);

function sentenceOf(stat: StageStat, name: string, all: number): string {
  const { waited_ms, total_ms, gate_fails, attempts, runs, p50_ms } = stat;
  if (waited_ms * 2 > total_ms)
    return `Most time is lost in ${name} waiting for you: ${duration(waited_ms)} of the ${duration(total_ms)} spent there.`;
  if (gate_fails * 2 >= attempts)
    return `Most time is lost in ${name}, where checks fail: ${times(gate_fails, "failure")} in ${times(attempts, "attempt")}.`;
  if (attempts >= runs * 1.5)
    return `Most time is lost in ${name}, which is done over and over: ${times(attempts, "attempt")} in ${times(runs, "run")}.`;
  const each = duration(p50_ms ?? total_ms / attempts);
  return `Most time is spent in ${name}: ${each} each time, ${share(total_ms, all)} of all time in stages.`;
}

/** Half a second of waiting is how long a hook takes. */
const SHORTEST_WAIT_MS = 1_000;

/** What did not happen is not told. */
function evidenceOf(stat: StageStat, all: number): string {
  const { attempts, runs, p50_ms, p95_ms, total_ms, waited_ms, gate_fails, approximate } = stat;
  const about = approximate ? "about " : "";
  const parts = [
    `${times(attempts, "attempt")} in ${times(runs, "run")}`,
    p50_ms !== null && p95_ms !== null && `p50 ${about}${duration(p50_ms)}, p95 ${about}${duration(p95_ms)}`,
    `${duration(total_ms)} in all, ${share(total_ms, all)} of the time in stages`,
    waited_ms >= SHORTEST_WAIT_MS && `${duration(waited_ms)} waiting for you`,
    gate_fails > 0 && times(gate_fails, "gate failure"),
  ];
  return parts.filter(Boolean).join("; ");
}

const times = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

function share(part: number, all: number): string {
  const percent = Math.round((part / all) * 100);
  return percent === 0 ? "less than 1 %" : `${percent} %`;
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 1) return `${Math.round(ms)} ms`;
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours >= 48) return withRest(Math.floor(hours / 24), "d", hours % 24, "h");
  return withRest(hours, "h", rest, "min");
}

const withRest = (count: number, unit: string, rest: number, smaller: string) =>
  rest === 0 ? `${count} ${unit}` : `${count} ${unit} ${rest} ${smaller}`;
