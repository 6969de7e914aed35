/** The lines of one project's journal into runs. */
import { type FoldLine, foldLine, openRun, type RunState, touchRun } from "./core/fold.ts";
import { type Scanner, scanLine } from "./core/journal-scan.ts";

export interface Counts {
  events: number;
  skipped: number;
}

/** Where runs are that are not at hand. */
export interface Shelf {
  load: (id: string) => RunState | null;
  save: (state: RunState) => void;
  /** as many may be at hand */
  room: number;
  /** A line of a run that is not known: true if somebody else has to fold it. */
  passOn: ((what: "record" | "alive", line: FoldLine, bytes: Buffer, from: number, to: number) => boolean) | null;
}

export interface Fold {
  take: (bytes: Buffer, from: number, to: number) => void;
  skipped: () => void;
  holds: (id: string) => boolean;
  flush: () => void;
}

interface Held {
  state: RunState;
  changed: boolean;
}

export function openFold(scanner: Scanner, counts: Counts, shelf: Shelf): Fold {
  const held = new Map<string, Held>();
  let last: Held | undefined;
  const find = (id: string): Held | undefined => {
    if (last !== undefined && last.state.id === id) return last;
    const known = held.get(id) ?? hold(held, shelf.load(id));
    if (known !== undefined) last = known;
    return known;
  };
  const flush = () => {
    for (const { state, changed } of held.values()) if (changed) shelf.save(state);
    held.clear();
    last = undefined;
  };
  const take = (bytes: Buffer, from: number, to: number) => {
    const what = scanLine(scanner, bytes, from, to);
    if (what === "none") {
      counts.skipped++;
      return;
    }
    counts.events++;
    if (what === "again") return;
    const { line } = scanner;
    let run = find(line.run);
    if (run === undefined && shelf.passOn?.(what, line, bytes, from, to)) {
      counts.events--;
      return;
    }
    if (what === "alive") {
      if (run === undefined) return;
      touchRun(run.state, line.at);
      run.changed = true;
      return;
    }
    if (run === undefined) {
      if (held.size >= shelf.room) flush();
      run = { state: openRun(line), changed: true };
      held.set(line.run, run);
      last = run;
    }
    if (foldLine(run.state, line)) run.changed = true;
  };
  return { take, flush, holds: (id) => held.has(id), skipped: () => counts.skipped++ };
}

function hold(held: Map<string, Held>, state: RunState | null): Held | undefined {
  if (state === null) return undefined;
  const one = { state, changed: false };
  held.set(state.id, one);
  return one;
}
