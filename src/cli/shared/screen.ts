/** What commands show in a terminal: widths, tables, times, names of projects, progress. */
import { visible } from "../../kernel/text/safe-text.ts";
import { type Clock, parseSince, SINCE_WAYS } from "../../kernel/time/since.ts";
import { UserError } from "../../kernel/user-error.ts";
import { localTime } from "../../native/libc.ts";
import { homeDir } from "../../store/home.ts";
import { endAll, type Running } from "../../verify/jobs.ts";
import { makeProgress, type Progress } from "../../verify/progress.ts";
import type { Io } from "./args.ts";

const WIDEST = 100;
const NARROWEST = 60;
const UNKNOWN = 80;

/** As wide as the terminal, but no wider than is read with ease; what goes elsewhere has its whole width. */
export const screenColumns = ({ isTTY }: Io): number =>
  isTTY ? Math.max(NARROWEST, Math.min(WIDEST, process.stdout.columns || UNKNOWN)) : WIDEST;

export const hasColours = ({ isTTY }: Io): boolean => isTTY && !process.env.NO_COLOR;

export const coloured = (text: string, code: string, colours: boolean) =>
  colours ? `\u001b[${code}m${text}\u001b[0m` : text;

/** Columns as wide as their widest cell; a cell longer than `most` pushes its own line only. */
export function table(rows: string[][], most = Number.POSITIVE_INFINITY): string {
  const measureWidth = (column: number) => Math.max(...rows.map((row) => Bun.stringWidth(row[column]!)));
  const widths = (rows[0] ?? []).slice(0, -1).map((_, column) => Math.min(most, measureWidth(column)));
  const padded = (cell: string, width = 0) => cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
  const lines = rows.map((row) => row.map((cell, at) => padded(cell, widths[at])).join("  "));
  return lines.map((line) => line.trimEnd()).join("\n");
}

export type Facts = [name: string, value: string | false | null | undefined][];

/** A line for each fact that is known. */
export const factLines = (facts: Facts, width: number, indent = "") =>
  facts.filter(([, value]) => value).map(([name, value]) => `${indent}${name.padEnd(width)}${value}`);

/** Drawn on stderr, so that stdout holds nothing but the result; `piped` gets a line now and then if there is no terminal. */
export function openProgress(every_ms = Number.POSITIVE_INFINITY, piped?: Io): Progress {
  const columns = process.stderr.isTTY ? process.stderr.columns || 80 : 0;
  const write = (text: string) => void (piped && columns === 0 ? piped.out(text) : process.stderr.write(text));
  return makeProgress({ write, columns }, every_ms);
}

/** Ctrl-C while checks run: they end with us, and `undo` takes back what was prepared. */
export function endWithSignals(running: Running, progress: Progress, io: Io, undo = () => {}): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const end = () => {
    progress.clear();
    const names = endAll(running);
    undo();
    const ended = names.length > 0 ? `ended ${names.map(visible).join(", ")} and everything it started; ` : "";
    io.err(`pawl: interrupted: ${ended}nothing was recorded\n`);
    process.exit(130);
  };
  for (const signal of signals) process.on(signal, end);
  return () => {
    for (const signal of signals) process.off(signal, end);
  };
}

// ── Times ───────────────────────────────────────────────────────────────────

/** The clock on the person's wall. */
const wallClock = (): Clock => ({ now: Date.now(), offset: (ms) => -new Date(ms).getTimezoneOffset() });

export function sinceAsked(text: string): { since: string; at: string } {
  const clock = wallClock();
  const found = parseSince(text, clock);
  if (!found.ok) throw new UserError(`--since ${visible(text)}: ${found.why}`, `write ${SINCE_WAYS}`);
  return { since: new Date(found.ms).toISOString(), at: new Date(clock.now).toISOString() };
}

/** To the minute; the day where it is not today. */
export function clockTime(at: string, now: string): string {
  const [day = "", time = ""] = localTime(at).slice(0, 16).split(" ");
  return localTime(now).startsWith(day) ? time : `${day} ${time}`;
}

// ── Projects ────────────────────────────────────────────────────────────────

export function projectPath(root: string): string {
  const home = homeDir();
  return visible(root.startsWith(`${home}/`) ? `~${root.slice(home.length)}` : root);
}

/** The folder's name; as much of the path before it as tells it apart from the others. */
export function projectNames(roots: string[]): (root: string) => string {
  const end = (root: string, parts: number) => root.split("/").slice(-parts).join("/");
  const isOnly = (root: string, parts: number) =>
    roots.every((one) => one === root || end(one, parts) !== end(root, parts));
  return (root) => visible(end(root, [1, 2, 3, 4].find((parts) => isOnly(root, parts)) ?? 20));
}
