/**
 * The status line of a client that asks again and again: what was said last is remembered, with the stamps of all it
 * depends on, and said again as long as they are the same. New figures of cost are kept here at once, and go to the run
 * with the next line that is made anew. Imports nothing but quick.ts.
 *   ~/.local/state/pawl/lines/claude-<session>   the memo as JSON on one line, with room to grow, and below it the line
 */
import { BYTES, BYTES_AT, ffi, type LineLibc, lineLibc as libc } from "./fast-path.ts";

/** As the client counts: since its session began. */
export interface Figures {
  usd: number;
  /** by itself no reason to write */
  ms: number;
  api_ms: number;
  added: number;
  removed: number;
}

/** What the client told last, and when. */
export interface Told {
  at: number;
  figures: Figures | null;
  /** how full the context is, in percent; null: not told */
  context: number | null;
}

export interface Memo {
  v: 1;
  folder: string;
  root: string;
  at: number;
  until: number;
  /** path and stamp, "" where there is nothing */
  seen: [string, string][];
  /** the run it speaks of */
  run: ({ id: string } & Told) | null;
}

const LONGEST_PATH = 4096;
/** Where a second path or a result stands in the one buffer. */
const BEHIND = 2 * LONGEST_PATH;
const LAST_PLAIN = 126;
const SPACE = 32;
const O_NONBLOCK = 0o4000;
const O_CLOEXEC = 0o2000000;
const O_WRONLY = 0o1;
const AT_FDCWD = -100;
const AT_SYMLINK_NOFOLLOW = 0x100;
const STATX_BASIC = 0x7ff;

// ── Said again ──────────────────────────────────────────────────────────────

/** The line as bytes, none if there is nothing to say. null: it has to be made anew. */
export function lineAgain(value: unknown): Uint8Array | null {
  if (libc === null) return null;
  const path = memoPath(value);
  const size = path === null ? 0 : readFile(libc, path);
  if (path === null || size === 0) return mayHaveLine(value) ? null : new Uint8Array();
  const end = BYTES.indexOf(10);
  const memo = end > 0 && end < size ? memoOf(ffi.CString(BYTES_AT, 0, end)) : null;
  const line = BYTES.slice(end + 1, size);
  return memo !== null && isTrue(memo, value) && keepFigures(libc, path, memo, end, value) ? line : null;
}

/** false: nothing was said, and somebody else has to. */
export function sayLine(line: Uint8Array): boolean {
  if (libc === null || line.length > BYTES.length) return false;
  BYTES.set(line);
  for (let from = 0; from < line.length; ) {
    const wrote = libc.write(1, BYTES_AT + from, line.length - from);
    if (wrote <= 0) break; // the reader has closed it
    from += wrote;
  }
  return true;
}

export const memoPath = (value: unknown) => fileOf(value, "lines");

/** null: no session that could have one. */
function fileOf(value: unknown, folder: "lines" | "sessions"): string | null {
  const { session_id: session } = (value ?? {}) as Record<string, unknown>;
  const { HOME } = process.env;
  if (!HOME || typeof session !== "string" || session === "" || session.length > 128 || session.startsWith("."))
    return null;
  return encodeURIComponent(session) === session ? `${HOME}/.local/state/pawl/${folder}/claude-${session}` : null;
}

/** Figures grow. */
const ROOM = 64;
export const memoText = (memo: Memo, line: string) => `${JSON.stringify(memo)}${" ".repeat(ROOM)}\n${line}`;

function memoOf(text: string): Memo | null {
  try {
    const memo = JSON.parse(text) as Memo;
    return memo.v === 1 && Array.isArray(memo.seen) ? memo : null;
  } catch {
    return null;
  }
}

export function folderOf(value: unknown): unknown {
  const { cwd, workspace } = (value ?? {}) as Record<string, unknown>;
  return (workspace as Record<string, unknown> | null | undefined)?.project_dir ?? cwd;
}

function isTrue(memo: Memo, value: unknown): boolean {
  const now = Date.now();
  if (memo.folder !== folderOf(value) || now < memo.at || now >= memo.until) return false;
  for (const [path, stamp] of memo.seen) if (stampOf(path) !== stamp) return false;
  return true;
}

/** false only when certain: no run in this session, and nowhere above it a file that could hold or name tasks. */
function mayHaveLine(value: unknown): boolean {
  const pointer = fileOf(value, "sessions");
  if (pointer !== null && stampOf(pointer) !== "") return true;
  const folder = folderOf(value);
  if (typeof folder !== "string" || !folder.startsWith("/")) return false;
  for (let dir = folder; ; dir = dir.slice(0, dir.lastIndexOf("/"))) {
    for (const name of ["session.md", "agents/session.md", "pawl.yaml"])
      if (stampOf(`${dir}/${name}`) !== "") return true;
    if (dir === "") return false;
  }
}

// ── Cost ────────────────────────────────────────────────────────────────────

export function toldBy(value: unknown): Told {
  const at = Date.now();
  const { cost, context_window: context } = value as Record<string, Record<string, unknown> | null | undefined>;
  const used = context?.used_percentage;
  const full = typeof used === "number" ? numberOf(used) : null;
  if (typeof cost !== "object" || cost === null || typeof cost.total_cost_usd !== "number")
    return { at, figures: null, context: full };
  const figures = {
    usd: numberOf(cost.total_cost_usd),
    ms: numberOf(cost.total_duration_ms),
    api_ms: numberOf(cost.total_api_duration_ms),
    added: numberOf(cost.total_lines_added),
    removed: numberOf(cost.total_lines_removed),
  };
  return { at, figures, context: full };
}

const numberOf = (value: unknown) => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0);

/** false: to be dealt with where a line is made anew, as when a client counts from zero again. */
function keepFigures(c: LineLibc, path: string, memo: Memo, room: number, value: unknown): boolean {
  const { run } = memo;
  if (run === null) return true;
  const told = toldBy(value);
  const { figures, context } = told;
  const known = run.figures;
  if (figures === null) return true;
  if (known === null || figures.usd < known.usd || figures.api_ms < known.api_ms) return false;
  const same = figures.usd === known.usd && figures.api_ms === known.api_ms && context === run.context;
  if (same && figures.added === known.added && figures.removed === known.removed) return true;
  return writeOver(c, path, JSON.stringify({ ...memo, run: { id: run.id, ...told } }), room);
}

/**
 * In its place, in one write, as long as before: to rename another file over it takes as long as all the rest. Who reads it
 * in that moment may find no memo, and makes the line anew; a lost figure comes again with the next message.
 */
function writeOver(c: LineLibc, path: string, memo: string, room: number): boolean {
  const bytes = new TextEncoder().encode(memo);
  const fd = bytes.length <= room ? c.open(pathAt(path), O_WRONLY | O_CLOEXEC, 0) : -1;
  if (fd < 0) return false;
  BYTES.fill(SPACE, 0, room);
  BYTES.set(bytes);
  const isWhole = c.write(fd, BYTES_AT, room) === room;
  c.close(fd);
  return isWhole;
}

// ── Disk ────────────────────────────────────────────────────────────────────

/** What a file is at this moment: which, how long, and when it was changed in any way. "": there is none. */
export function stampOf(path: string): string {
  if (libc?.statx(AT_FDCWD, pathAt(path), AT_SYMLINK_NOFOLLOW, STATX_BASIC, BYTES_AT + BEHIND) !== 0) return "";
  // struct statx: stx_ino, stx_size, stx_ctime
  return `${wordAt(BEHIND + 32)} ${wordAt(BEHIND + 40)} ${wordAt(BEHIND + 96)} ${wordAt(BEHIND + 104)}`;
}

const wordAt = (at: number) =>
  BYTES[at]! + BYTES[at + 1]! * 256 + BYTES[at + 2]! * 65_536 + BYTES[at + 3]! * 16_777_216;

/** 0: there is none, or it is too large to be one. */
function readFile(c: LineLibc, path: string): number {
  const fd = c.open(pathAt(path), O_NONBLOCK | O_CLOEXEC, 0);
  if (fd < 0) return 0;
  const size = c.read(fd, BYTES_AT, BYTES.length);
  c.close(fd);
  return size > 0 && size < BYTES.length ? size : 0;
}

/** One that is too long for any file becomes one that no file has. */
function pathAt(path: string, offset = 0): number {
  let size = 0;
  for (; size < path.length && size < LONGEST_PATH; size++) {
    const code = path.charCodeAt(size);
    if (code > LAST_PLAIN) return encodedAt(path, offset);
    BYTES[offset + size] = code;
  }
  BYTES[offset + (size < LONGEST_PATH ? size : 0)] = 0;
  return BYTES_AT + offset;
}

function encodedAt(path: string, offset: number): number {
  const bytes = new TextEncoder().encode(path);
  const size = bytes.length < LONGEST_PATH ? bytes.length : 0;
  BYTES.set(bytes.subarray(0, size), offset);
  BYTES[offset + size] = 0;
  return BYTES_AT + offset;
}
