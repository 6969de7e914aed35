/** A loop on a terminal: two lines about now, redrawn in place, and what has happened above them. */
import { cut } from "../kernel/text/columns.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { IterationLine, Limits, LoopState } from "../kernel/types/loop.ts";
import { openWork, type Work } from "./core/agent-work.ts";
import { type Colour, costSum, formatLength, type LoopView, money, type Screen, SHOWN, summaryText } from "./view.ts";

/** One line on the screen, in one colour. */
export interface Row {
  text: string;
  colour: Colour;
}

export interface Moment {
  procedure: string;
  iteration: number;
  max: number | null;
  /** of this iteration */
  elapsed_ms: number;
  doing: string;
  line: string;
  state: LoopState | null;
  limits: Limits | null;
  waiting: { until: Date; now: Date; why: string } | null;
}

const LIMIT = /^usage limit(: )?/;

export function renderFrame(moment: Moment, columns: number): Row[] {
  const { procedure, iteration, max, waiting, line, state } = moment;
  const head = [procedure, `iteration ${iteration}${max === null ? "" : ` of ${max}`}`];
  if (waiting) {
    const first = [...head, waitText(waiting)].join(" · ");
    return rows(columns, [first, "yellow"], [`  ${waiting.why.replace(LIMIT, "")}`, "dim"]);
  }
  const cost = state && state.iterations + state.spoilt > 0 ? costSum(state) : "";
  const about = [wholeLength(moment.elapsed_ms), cost, failuresText(moment), moment.doing || "working"];
  return rows(columns, [[...head, ...about].filter(Boolean).join(" · "), "none"], [`  ${line || "…"}`, "dim"]);
}

const rows = (columns: number, ...lines: [string, Colour][]): Row[] =>
  lines.map(([text, colour]) => ({ text: cutTo(`  ${text}`, columns - 1), colour }));

/** usage limit, resuming at 15:00, 1h12m left */
function waitText({ until, now, why }: NonNullable<Moment["waiting"]>): string {
  const left = wholeLength(Math.max(0, until.getTime() - now.getTime()));
  return `${LIMIT.test(why) ? "usage limit, resuming" : "retrying"} at ${clockText(until, now)}, ${left} left`;
}

function clockText(until: Date, now: Date): string {
  const day = until.toDateString();
  const isSoon = until.getTime() - now.getTime() < 120_000;
  return `${day === now.toDateString() ? "" : `${day.slice(0, 3)} `}${until.toTimeString().slice(0, isSoon ? 8 : 5)}`;
}

/** Tenths of a second would only make the line flicker. */
const wholeLength = (ms: number) => (ms < 60_000 ? `${Math.floor(ms / 1_000)}s` : formatLength(ms));

function failuresText({ state, limits }: Moment): string {
  if (!state || state.failures === 0) return "";
  return `${state.failures}${limits ? ` of ${limits.failure_threshold}` : ""} failed in a row`;
}

// ── Above the moving lines ──────────────────────────────────────────────────

export function renderRow({ iteration, verdict, why, elapsed_ms, cost_usd }: IterationLine, columns: number): Row {
  const { mark, word, colour } = SHOWN[verdict];
  const cost = cost_usd === null ? [] : [money(cost_usd)];
  const text = [`${mark} ${iteration} ${word}`, formatLength(elapsed_ms), ...cost, why].join(" · ");
  return { text: cutTo(text, columns - 1), colour };
}

export function renderTitle({
  procedure,
  ai,
  limits,
}: {
  procedure: string;
  ai: string;
  limits: Limits | null;
}): string {
  const head = `pawl loop ${procedure} with ${ai}`;
  if (!limits) return head;
  const most = limits.max_iterations === null ? "any number of iterations" : `${limits.max_iterations} iterations`;
  return `${head} · at most ${most}, ${formatLength(limits.time_limit * 1_000)}, ${money(limits.budget)}`;
}

/** Wide characters count as two: a line that wraps could not be redrawn in place. */
export const cutTo = (text: string, most: number) => cut(safeText(text).replace(/\s/g, " ").trimEnd(), most);

// ── The view ────────────────────────────────────────────────────────────────

export interface TerminalOptions {
  procedure: string;
  ai: string;
  /** null: not known */
  limits: Limits | null;
  columns(): number;
  /** the agent's output scrolls by above */
  verbose: boolean;
  /** when the view was opened */
  state?: LoopState;
  /** the first line */
  title?: string;
}

const DRAWN_MS = 100;
/** ends an unfinished last line */
const NEWLINE = new Uint8Array([10]);

export function terminalView(screen: Screen, options: TerminalOptions): LoopView {
  const { columns, verbose } = options;
  const painter = openPainter((text) => screen.out(text), columns, !process.env.NO_COLOR);
  let state = options.state ?? null;
  let at: { iteration: number; max: number | null; since: number } | null = null;
  let waiting: { until: Date; why: string } | null = null;
  let work = openWork();
  const moving = (): Row[] => {
    const elapsed_ms = at ? performance.now() - at.since : 0;
    const iteration = at?.iteration ?? (state?.iterations ?? 0) + 1;
    const max = at ? at.max : (options.limits?.max_iterations ?? null);
    const wait = waiting && { ...waiting, now: new Date() };
    const { doing, line } = work;
    const moment = { ...options, iteration, max, elapsed_ms, doing, line, state, waiting: wait };
    return at || wait ? renderFrame(moment, columns()) : [];
  };
  const tick = () => painter.draw(moving(), verbose ? saidBy(work) : []);
  const timer = setInterval(tick, DRAWN_MS);
  timer.unref();
  const stop = () => {
    clearInterval(timer);
    painter.draw([]);
  };
  painter.draw([], [{ text: cutTo(options.title ?? renderTitle(options), columns() - 1), colour: "dim" }]);
  return {
    began(iteration, max, _session, ago_ms = 0) {
      at = { iteration, max, since: performance.now() - ago_ms };
      waiting = null;
      work = openWork();
      tick();
    },
    output: (bytes) => work.feed(bytes),
    iterated(line, now) {
      state = now;
      at = null;
      work.feed(NEWLINE);
      painter.draw([], [...(verbose ? saidBy(work) : []), renderRow(line, columns())]);
    },
    waiting(ms, why) {
      waiting = { until: new Date(Date.now() + ms), why };
    },
    ended(last) {
      stop();
      const [head = "", ...rest] = summaryText(last, false).split("\n");
      const colour = last.outcome === "success" ? "green" : "red";
      painter.draw([], [{ text: head, colour }, ...rest.map((text): Row => ({ text, colour: "none" }))]);
    },
    stop,
  };
}

function saidBy(work: Work): Row[] {
  const { lines, missed } = work.take();
  const rows = lines.map((text): Row => ({ text: `  ${text}`, colour: text.startsWith("▸") ? "none" : "dim" }));
  return missed ? [{ text: "  … (too much to show)", colour: "dim" }, ...rows] : rows;
}

// ── Drawing ─────────────────────────────────────────────────────────────────

const CODES: Record<Colour, string> = { none: "", dim: "2", green: "32", red: "31", yellow: "33" };

/**
 * Wrapping and the cursor are off only within a write, so a killed loop leaves a normal terminal. Without wrapping a
 * character whose width the terminal judges differently cannot shift the lines.
 */
const within = (drawing: string) => (drawing === "" ? "" : `\u001b[?25l\u001b[?7l${drawing}\u001b[?7h\u001b[?25h`);
const backFrom = (rows: number) => (rows > 1 ? `\r\u001b[${rows - 1}A` : "\r");

/** The cursor rests where the moving lines begin and stays there when the window is resized. */
export function openPainter(write: (text: string) => void, columns: () => number, colours: boolean) {
  let drawn: Row[] = [];
  let width = columns();
  const painted = ({ text, colour }: Row) =>
    colours && CODES[colour] !== "" && text !== "" ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
  // In two steps: some terminals save a copy of a screen that is cleared from its first line on.
  const erased = () => (drawn.length > 1 ? "\r\u001b[K\r\n\u001b[J\u001b[1A" : drawn.length === 1 ? "\r\u001b[K" : "");
  const changed = (moving: Row[]) => {
    const lines = moving.map((row, at) => (isSame(row, drawn[at]) ? "" : `${painted(row)}\u001b[K`));
    return lines.every((line) => line === "") ? "" : `\r${lines.join("\r\n")}${backFrom(moving.length)}`;
  };
  const fresh = (moving: Row[], above: Row[]) => {
    const lasting = above.map((row) => `${painted(row)}\r\n`).join("");
    const lines = moving.length === 0 ? "" : `${moving.map(painted).join("\r\n")}${backFrom(moving.length)}`;
    return `${within(erased())}${lasting}${within(lines)}`;
  };
  return {
    /** the moving lines, and what stays above them */
    draw(moving: Row[], above: Row[] = []): void {
      const isInPlace = above.length === 0 && moving.length === drawn.length && width === columns();
      const text = isInPlace ? within(changed(moving)) : fresh(moving, above);
      width = columns();
      drawn = moving;
      if (text !== "") write(text);
    },
  };
}

const isSame = (a: Row, b: Row | undefined) => b !== undefined && a.text === b.text && a.colour === b.colour;
