/** What is under way: one line on a terminal, drawn again in place; now and then a line of its own anywhere else. */
import { fit } from "../kernel/text/columns.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import type { JobView } from "./jobs.ts";

export interface Screen {
  write(text: string): void;
  /** 0: no terminal */
  columns: number;
}

export interface Progress {
  show(name: string, seen?: JobView): void;
  /** before anything else is written */
  clear(): void;
}

const REDRAWN_MS = 200;

/** `every_ms`: how often a line of its own is written where nothing can be drawn again. */
export function makeProgress(screen: Screen, every_ms: number): Progress {
  let drawn = false;
  let last = performance.now();
  const clear = () => {
    if (drawn) screen.write("\r\u001b[K");
    drawn = false;
  };
  const show = (name: string, seen?: JobView) => {
    const gone = performance.now() - last;
    if (gone < (screen.columns > 0 ? REDRAWN_MS : every_ms)) return;
    last = performance.now();
    const text = renderLine(name, seen);
    if (screen.columns === 0) screen.write(`${text}\n`);
    else screen.write(`\r\u001b[K${fit(text, screen.columns - 3)}`);
    drawn = screen.columns > 0;
  };
  return { show, clear };
}

function renderLine(name: string, seen?: JobView): string {
  if (!seen) return `… ${oneLine(name)}`;
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(seen.since)) / 1000));
  const said = oneLine(seen.tail.trimEnd().split("\n").at(-1) ?? "");
  return `… ${oneLine(name)}, ${seconds} s${said === "" ? "" : `: ${said}`}`;
}

/** The last lines of a command's output, below its verdict. */
export const indented = (tail = "") =>
  tail
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => `    ${safeText(line)}`);

const oneLine = (text: string) => safeText(text).replace(/\s+/g, " ").trim();
