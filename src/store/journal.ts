/** The append-only record. Commits are the truth, this is their copy: written after them, and again if a crash ate it. */
import { attempt } from "../kernel/attempt.ts";
import type { Commit, Json } from "../kernel/types/run.ts";
import { close, FLAGS, read } from "../native/disk.ts";
import { appendLine, ensureDir, insideRoot, isObject, namesIn, openRegular, parseJson, readTail } from "./files.ts";
import { DIGITS, isMadeOf, join } from "./names.ts";

const FOLDER = ".pawl/journal";
const TAIL = 64 * 1024;
const FARTHEST_TAIL = 8 * 1024 * 1024;
const CHUNK = 1024 * 1024;
const LONGEST_LINE = 64 * 1024 * 1024;
/** Two processes may append in another order than their events began. */
const DISORDER_MS = 10 * 60 * 1000;

export interface JournalLine {
  v: 1;
  at: string;
  run: string;
  seq: number;
  i: number;
  kind: string;
  host: string;
  session: string;
  workflow: string;
  stage: string;
  [key: string]: Json;
}

function monthFile(at: string): string {
  const isDated =
    isMadeOf(at.slice(0, 4), DIGITS) && isMadeOf(at.slice(5, 7), DIGITS) && at[4] === "-" && at[7] === "-";
  return `${FOLDER}/${isDated ? at.slice(0, 7) : "undated"}.jsonl`;
}

// ── Writing ─────────────────────────────────────────────────────────────────

export function appendJournal(root: string, commit: Commit): void {
  const path = insideRoot(root, monthFile(commit.event.at));
  ensureDir(root, FOLDER, "unsynced");
  appendLine(path, `\n${journalLines(commit).join("\n")}\n`);
}

/** A commit without records leaves a line too, for the next load to see that everything followed from it. */
function journalLines({ run, event, records }: Commit): string[] {
  const all = records.length > 0 ? records : [{ kind: "committed" }];
  return all.map(({ kind, ...record }, i) => {
    const key = { v: 1, at: event.at, run: run.id, seq: run.seq, i };
    const about = { host: event.host, session: event.session, workflow: run.workflow, stage: run.stage };
    return JSON.stringify({ ...key, kind, ...about, ...record, ...key });
  });
}

// ── Looking ─────────────────────────────────────────────────────────────────

/** Looks at the end only; farther back just where the end does not reach the commit's own time. */
export function hasJournal(root: string, commit: Commit): boolean {
  const path = insideRoot(root, monthFile(commit.event.at));
  const before = Date.parse(commit.event.at) - DISORDER_MS;
  for (let bytes = TAIL; bytes <= FARTHEST_TAIL; bytes *= 8) {
    const tail = readTail(path, bytes);
    if (tail === null) return false;
    const lines = tail.text.split("\n");
    if (hasAll(lines, commit)) return true;
    if (tail.whole || !(oldest(lines) >= before)) return false;
  }
  return false;
}

/** A power cut may have left the first records of a commit and eaten the others. */
function hasAll(lines: string[], { run, records }: Commit): boolean {
  const start = `"run":${JSON.stringify(run.id)},"seq":${run.seq},"i":`;
  const found = new Set<number>();
  for (const line of lines) {
    const parsed = line.includes(start) ? parseJournalLine(line) : null;
    if (parsed !== null) found.add(parsed.i);
  }
  return found.size >= Math.max(1, records.length);
}

/** NaN: no line tells. */
function oldest(lines: string[]): number {
  for (const line of lines) {
    const parsed = parseJournalLine(line);
    if (parsed !== null) return Date.parse(parsed.at);
  }
  return Number.NaN;
}

/** null: not a record. Anyone may write a journal. */
export function parseJournalLine(text: string): JournalLine | null {
  if (text === "") return null;
  const value = parseJson(text);
  const whole = isObject(value) && value.v === 1 && typeof value.run === "string" && typeof value.kind === "string";
  if (!whole || !Number.isSafeInteger(value.seq) || !Number.isSafeInteger(value.i)) return null;
  return typeof value.at === "string" ? (value as JournalLine) : null;
}

// ── Reading ─────────────────────────────────────────────────────────────────

/** In order, each record once; of one run, where it is named. `stats` counts the lines that are no records. */
export function* readJournal(
  root: string,
  { run }: { run?: string } = {},
  stats: { skipped: number } = { skipped: 0 },
): Generator<JournalLine> {
  const dir = insideRoot(root, FOLDER);
  for (const name of (namesIn(dir) ?? []).filter((name) => name.endsWith(".jsonl")).sort()) {
    const seen = new Map<string, Set<string>>();
    for (const text of linesIn(join(dir, name), stats)) {
      const line = parseJournalLine(text);
      if (line === null) stats.skipped += text === "" ? 0 : 1;
      else if (isNew(seen, line) && (run === undefined || line.run === run)) yield line;
    }
  }
}

/** A commit has one time, so its doubles are in one file. */
function isNew(seen: Map<string, Set<string>>, { run, seq, i }: JournalLine): boolean {
  const keys = seen.get(run) ?? new Set();
  seen.set(run, keys);
  const before = keys.size;
  return keys.add(`${seq}.${i}`).size > before;
}

function* linesIn(path: string, stats: { skipped: number }): Generator<string> {
  const fd = attempt(() => openRegular(path, FLAGS.O_RDONLY), -1);
  if (fd < 0) {
    stats.skipped++;
    return;
  }
  try {
    yield* linesOfFile(fd, stats);
  } finally {
    close(fd);
  }
}

function* linesOfFile(fd: number, stats: { skipped: number }): Generator<string> {
  const chunk = Buffer.allocUnsafe(CHUNK);
  let parts: Buffer[] = [];
  let length = 0;
  for (let got = read(fd, chunk, 0, CHUNK, null); got > 0; got = read(fd, chunk, 0, CHUNK, null)) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1 && end < got; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString();
      parts = [];
      length = 0;
      from = end + 1;
    }
    length += got - from;
    if (length > LONGEST_LINE) {
      parts = [];
      stats.skipped++;
      length = 0;
    } else parts.push(Buffer.from(chunk.subarray(from, got)));
  }
  yield Buffer.concat(parts).toString();
}
