/** session.md as it is read: what says something about tasks as text, and where in the file each part of it stands. */

import { close, FLAGS, fstat } from "../native/disk.ts";
import { openRegular, type ReadFailure, readText } from "../store/files.ts";
import { proseIn, type Splice } from "./core/session-prose.ts";
import { addTo, compare, fill, newPrint, type Print, partOf, roomFor } from "./print.ts";

export interface Notes {
  /** all of it, or without its prose */
  text: string;
  /** of the file */
  print: Print;
  /** its last line has an end */
  closed: boolean;
  gaps: Gap[];
}

/** Prose that was left out: where the dot that stands for it begins and ends, and how many bytes are missing up to there. */
interface Gap {
  dot: number;
  end: number;
  more: number;
}

export type Reading = { ok: true; notes: Notes } | { ok: false; why: ReadFailure; detail?: string };

/** Smaller ones are read as they are. */
const LARGE = 128 * 1024;
const PART = 256 * 1024;
const NEWLINE = 10;

/** One hook reads the same file several times. */
let last: { path: string; notes: Notes } | null = null;

/** `whole`: with its prose. */
export function readNotes(path: string, most: number, whole = false): Reading {
  try {
    const fd = openRegular(path, FLAGS.O_RDONLY);
    try {
      const { size } = fstat(fd);
      if (size > most) return { ok: false, why: "too large" };
      if (!whole && last?.path === path && compare(fd, last.notes.print) === "same")
        return { ok: true, notes: last.notes };
      const notes = readOpened(fd, size, most, whole || size < LARGE);
      last = whole ? last : { path, notes };
      return { ok: true, notes };
    } finally {
      close(fd);
    }
  } catch {
    // Read again as any file, which says what is wrong with it.
    const said = readText(path, most);
    return said.ok ? { ok: false, why: "unreadable" } : said;
  }
}

function readOpened(fd: number, size: number, most: number, whole: boolean): Notes {
  const print = newPrint();
  const kept = keeper(whole);
  let buffer = roomFor(Math.min(size + 1, PART));
  for (let held = 0; ; ) {
    const filled = held + fill(fd, buffer, held, buffer.length - held, print.size);
    addTo(print, partOf(buffer.subarray(held, filled)));
    if (print.size > most) throw new Error("too large");
    const isEnd = filled < buffer.length;
    const until = isEnd ? filled : buffer.lastIndexOf(NEWLINE) + 1;
    kept.add(buffer.subarray(0, until));
    if (isEnd) return { ...kept.all(), print, closed: filled === 0 || buffer[filled - 1] === NEWLINE };
    const next = until === 0 ? roomFor(2 * buffer.length) : buffer;
    next.set(buffer.subarray(until));
    [buffer, held] = [next, filled - until];
  }
}

// ── What is kept ────────────────────────────────────────────────────────────

interface Keeper {
  /** whole lines */
  add(lines: Uint8Array): void;
  all(): Pick<Notes, "text" | "gaps">;
}

export function keeper(whole: boolean): Keeper {
  const gaps: Gap[] = [];
  let [bytes, used, more] = [roomFor(0), 0, 0];
  const keep = (part: Uint8Array) => {
    if (used + part.length > bytes.length) bytes = grown(bytes, used + part.length);
    bytes.set(part, used);
    used += part.length;
  };
  const leaveOut = (part: Uint8Array) => {
    const dot = used;
    keep(part.at(-1) === NEWLINE ? DOT_LINE : DOT_LINE.subarray(0, 1));
    more += part.length - (used - dot);
    gaps.push({ dot, end: used, more });
  };
  const add = (lines: Uint8Array) => {
    // The first line tells how lines end here, and may begin with a mark.
    let from = used > 0 ? 0 : lines.indexOf(NEWLINE) + 1;
    const begin = from;
    keep(lines.subarray(0, from));
    const stretches = whole ? [] : proseIn(lines.subarray(begin));
    for (let at = 0; at < stretches.length; at += 2) {
      const [prose, end] = [begin + stretches[at]!, begin + stretches[at + 1]!];
      if (end - prose <= DOT_LINE.length) continue;
      keep(lines.subarray(from, prose));
      leaveOut(lines.subarray(prose, end));
      from = end;
    }
    keep(lines.subarray(from));
    if (!whole && !isUtf8(lines)) throw new Error("not UTF-8");
  };
  return { add, all: () => ({ text: decoder.decode(bytes.subarray(0, used)), gaps }) };
}

const DOT_LINE = new Uint8Array([46, NEWLINE]);
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Not before it is needed: few files are large. */
const isUtf8 = (bytes: Uint8Array) => (require("node:buffer") as typeof import("node:buffer")).isUtf8(bytes);

function grown(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const larger = roomFor(Math.max(size, 2 * bytes.length));
  larger.set(bytes);
  return larger;
}

// ── Places ──────────────────────────────────────────────────────────────────

/** A change of the text as one of the file, in bytes; null: it touches what was left out. */
export function inFile({ text, gaps }: Notes, { from, to, by }: Splice): Splice | null {
  const begin = bytesIn(text.slice(0, from));
  const end = begin + bytesIn(text.slice(from, to));
  const more = moreBefore(gaps, begin);
  return more === null || more !== moreBefore(gaps, end) ? null : { from: begin + more, to: end + more, by };
}

const bytesIn = (text: string) => new TextEncoder().encode(text).length;

function moreBefore(gaps: Gap[], at: number): number | null {
  let more = 0;
  for (const gap of gaps) {
    if (at < gap.end) return at > gap.dot ? null : more;
    more = gap.more;
  }
  return more;
}
