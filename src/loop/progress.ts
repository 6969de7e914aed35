/** A loop on a terminal: what happens now in two lines that are drawn again in place, what has happened above them. */

import type { IterationLine, Limits, LoopState } from "../kernel/types/loop.ts";
import { feedWork, openWork, type Work } from "./core/agent-work.ts";
import { type Colour, cutTo, frameOf, type Row, rowOf, titleOf } from "./frame.ts";
import { summaryText } from "./summary.ts";
import type { LoopView, Screen } from "./view.ts";

export interface TerminalOptions {
  procedure: string;
  ai: string;
  /** null: not known */
  limits: Limits | null;
  columns(): number;
  /** what the agent says scrolls by above */
  verbose: boolean;
  /** how it stood when this was opened */
  state?: LoopState;
  /** the first line */
  title?: string;
}

export interface TerminalView extends LoopView {
  /** `ago_ms`: it began that long ago */
  began(iteration: number, max: number | null, session: string, ago_ms?: number): void;
  iterated(line: IterationLine, state: LoopState): void;
  /** The moving lines are gone; the terminal is as it was. */
  stop(): void;
}

const DRAWN_MS = 100;
/** what was not finished is all there will be */
const NEWLINE = new Uint8Array([10]);

export function terminalView(screen: Screen, options: TerminalOptions): TerminalView {
  const { columns, verbose } = options;
  const painter = openPainter((text) => screen.out(text), columns, !process.env.NO_COLOR);
  let state = options.state ?? null;
  let at: { iteration: number; max: number | null; since: number } | null = null;
  let waiting: { until: Date; why: string } | null = null;
  let work = openWork();
  const moving = (): Row[] => {
    const elapsed_ms = at ? performance.now() - at.since : 0;
    const { iteration, max } = at ?? {
      iteration: (state?.iterations ?? 0) + 1,
      max: options.limits?.max_iterations ?? null,
    };
    const wait = waiting && { ...waiting, now: new Date() };
    const { doing, line } = work;
    const moment = { ...options, iteration, max, elapsed_ms, doing, line, state, waiting: wait };
    return at || wait ? frameOf(moment, columns()) : [];
  };
  const tick = () => painter.draw(moving(), verbose ? saidBy(work) : []);
  const timer = setInterval(tick, DRAWN_MS);
  timer.unref();
  const stop = () => {
    clearInterval(timer);
    painter.draw([]);
  };
  painter.draw([], [{ text: cutTo(options.title ?? titleOf(options), columns() - 1), colour: "dim" }]);
  return {
    began(iteration, max, _session, ago_ms = 0) {
      at = { iteration, max, since: performance.now() - ago_ms };
      waiting = null;
      work = openWork();
      tick();
    },
    output: (bytes) => feedWork(work, bytes),
    iterated(line, now) {
      state = now;
      at = null;
      feedWork(work, NEWLINE);
      painter.draw([], [...(verbose ? saidBy(work) : []), rowOf(line, columns())]);
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
  return missed ? [{ text: "  … (more than can be shown)", colour: "dim" }, ...rows] : rows;
}

// ── Drawing ─────────────────────────────────────────────────────────────────

export interface Painter {
  /** The lines that move, and what is put above them for good. */
  draw(moving: Row[], above?: Row[]): void;
}

const CODES: Record<Colour, string> = { none: "", dim: "2", green: "32", red: "31", yellow: "33" };

/**
 * Between two writes the cursor is visible and lines break as always: nothing has to be put right after a kill. Within one,
 * lines do not break, so that a sign whose width the terminal sees otherwise cannot spoil the place.
 */
const within = (drawing: string) => (drawing === "" ? "" : `\u001b[?25l\u001b[?7l${drawing}\u001b[?7h\u001b[?25h`);
const backFrom = (rows: number) => (rows > 1 ? `\r\u001b[${rows - 1}A` : "\r");

/** The cursor rests where the moving lines begin: there it stays when a change of width breaks or joins them. */
export function openPainter(write: (text: string) => void, columns: () => number, colours: boolean): Painter {
  let drawn: Row[] = [];
  let width = columns();
  const painted = ({ text, colour }: Row) =>
    colours && CODES[colour] !== "" && text !== "" ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
  // Not all at once: some terminals keep a copy of a screen that is cleared from its first line on.
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
    draw(moving, above = []) {
      const isInPlace = above.length === 0 && moving.length === drawn.length && width === columns();
      const text = isInPlace ? within(changed(moving)) : fresh(moving, above);
      width = columns();
      drawn = moving;
      if (text !== "") write(text);
    },
  };
}

const isSame = (a: Row, b: Row | undefined) => b !== undefined && a.text === b.text && a.colour === b.colour;
