/**
 * Reads journal lines as bytes. Pawl writes the keys of a line in one order, so most lines are known by their beginning and
 * need no parsing; whatever looks different is parsed as the JSON it is. Strings that come again and again are made once.
 */
import { BARE_KINDS, type FoldLine, TELLING_KINDS } from "./fold.ts";
import type { Json } from "./types.ts";

const QUOTE = 34;
const BACKSLASH = 92;
const BRACE = 125;
const ZERO = 48;
const LONGEST_NAME = 200;
const MOST_WORDS = 50_000;
const SLOTS = 1 << 14;

/** 0: counts for nothing, 1: its beginning says all, 2: to be parsed, 3: tells by its end whether to be parsed. */
type Use = 0 | 1 | 2 | 3;

interface Word {
  text: string;
  use: Use;
  next: Word | null;
}

export interface Scanner {
  slots: (Word | null)[];
  words: number;
  decoder: TextDecoder;
  /** the line that was read last, used again and again */
  line: FoldLine;
  use: Use;
  /** where reading the current line has come to */
  at: number;
  /** the beginnings of the last line's run id, to know it again */
  run: Uint8Array;
  runLength: number;
  /** the day of the last time, and its beginning in milliseconds */
  day: number;
  dayMs: number;
}

const NO_FIELDS = Object.freeze(Object.create(null)) as FoldLine["fields"];

export const openScanner = (): Scanner => ({
  slots: new Array(SLOTS).fill(null),
  words: 0,
  decoder: new TextDecoder(),
  line: { at: 0, run: "", seq: 0, i: 0, kind: "", host: "", session: "", workflow: "", stage: "", fields: NO_FIELDS },
  use: 0,
  at: 0,
  run: new Uint8Array(LONGEST_NAME),
  runLength: 0,
  day: -1,
  dayMs: 0,
});

/** What a line is: "record" fills `scanner.line`, "alive" only its `run` and `at`. */
export type Scanned = "record" | "alive" | "none";

export function scanLine(scanner: Scanner, bytes: Uint8Array, from: number, to: number): Scanned {
  if (bytes[to - 1] === BRACE && scanHead(scanner, bytes, from, to)) {
    if (scanner.use === 0) return "alive";
    if (scanner.use === 3) scanner.use = endsWith(bytes, to, INJECTED) ? 0 : endsWith(bytes, to, TYPED) ? 1 : 2;
    if (scanner.use === 0) return "alive";
    if (scanner.use === 1 && scanAbout(scanner, bytes, to)) return "record";
  }
  return parseLine(scanner, bytes, from, to);
}

// ── Known by its beginning ──────────────────────────────────────────────────

const codes = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));
const AT = codes('{"v":1,"at":"');
const RUN = codes('","run":"');
const SEQ = codes('","seq":');
const I = codes(',"i":');
const KIND = codes(',"kind":"');
const HOST = codes('","host":"');
const SESSION = codes('","session":"');
const WORKFLOW = codes('","workflow":"');
const STAGE = codes('","stage":"');
const INJECTED = codes('"injected":true}');
const TYPED = codes('"injected":false}');
const TIME_LENGTH = 24;

function scanHead(scanner: Scanner, bytes: Uint8Array, from: number, to: number): boolean {
  const { line } = scanner;
  scanner.at = from;
  if (!skip(scanner, bytes, AT) || to - from < 80) return false;
  const ms = timeIn(scanner, bytes, scanner.at);
  if (ms === -1) return false;
  line.at = ms;
  scanner.at += TIME_LENGTH;
  if (!skip(scanner, bytes, RUN) || !scanRun(scanner, bytes, to) || !skip(scanner, bytes, SEQ)) return false;
  line.seq = digits(scanner, bytes);
  if (line.seq === -1 || !skip(scanner, bytes, I)) return false;
  line.i = digits(scanner, bytes);
  if (line.i === -1 || !skip(scanner, bytes, KIND)) return false;
  const kind = word(scanner, bytes, to);
  if (kind === null) return false;
  line.kind = kind.text;
  scanner.use = kind.use;
  return true;
}

function scanAbout(scanner: Scanner, bytes: Uint8Array, to: number): boolean {
  const { line } = scanner;
  const host = skip(scanner, bytes, HOST) ? word(scanner, bytes, to) : null;
  const session = host !== null && skip(scanner, bytes, SESSION) ? word(scanner, bytes, to) : null;
  const workflow = session !== null && skip(scanner, bytes, WORKFLOW) ? word(scanner, bytes, to) : null;
  const stage = workflow !== null && skip(scanner, bytes, STAGE) ? word(scanner, bytes, to) : null;
  if (host === null || session === null || workflow === null || stage === null) return false;
  line.host = host.text;
  line.session = session.text;
  line.workflow = workflow.text;
  line.stage = stage.text;
  line.fields = NO_FIELDS;
  return true;
}

function skip(scanner: Scanner, bytes: Uint8Array, wanted: number[]): boolean {
  const { at } = scanner;
  for (let n = 0; n < wanted.length; n++) if (bytes[at + n] !== wanted[n]) return false;
  scanner.at = at + wanted.length;
  return true;
}

function endsWith(bytes: Uint8Array, to: number, wanted: number[]): boolean {
  const at = to - wanted.length;
  for (let n = 0; n < wanted.length; n++) if (bytes[at + n] !== wanted[n]) return false;
  return true;
}

/** -1: no number that we would have written. */
function digits(scanner: Scanner, bytes: Uint8Array): number {
  let { at } = scanner;
  let value = 0;
  for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO) value = value * 10 + digit;
  if (at === scanner.at || at - scanner.at > 9) return -1;
  scanner.at = at;
  return value;
}

/** The records of a commit stand together: most lines are of the same run as the line before. */
function scanRun(scanner: Scanner, bytes: Uint8Array, to: number): boolean {
  const { run, runLength, at } = scanner;
  let same = 0;
  while (same < runLength && bytes[at + same] === run[same]) same++;
  if (same === runLength && runLength > 0 && bytes[at + same] === QUOTE) {
    scanner.at = at + same;
    return true;
  }
  const found = word(scanner, bytes, to);
  if (found === null) return false;
  scanner.line.run = found.text;
  scanner.runLength = scanner.at - at;
  run.set(bytes.subarray(at, scanner.at));
  return true;
}

// ── Words ───────────────────────────────────────────────────────────────────

/** Up to the next quote. null: not plain. */
function word(scanner: Scanner, bytes: Uint8Array, to: number): Word | null {
  const from = scanner.at;
  const end = Math.min(to, from + LONGEST_NAME);
  let at = from;
  let hash = 17;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) break;
    if (byte === BACKSLASH || byte > 126 || byte < 32) return null;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  if (at === end) return null;
  scanner.at = at;
  const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
  for (let one = scanner.slots[slot]!; one !== null; one = one.next!) if (isWord(one.text, bytes, from, at)) return one;
  return addWord(scanner, slot, scanner.decoder.decode(bytes.subarray(from, at)));
}

function isWord(text: string, bytes: Uint8Array, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let n = 0; n < text.length; n++) if (text.charCodeAt(n) !== bytes[from + n]) return false;
  return true;
}

function addWord(scanner: Scanner, slot: number, text: string): Word {
  if (scanner.words >= MOST_WORDS) {
    scanner.slots.fill(null);
    scanner.words = 0;
  }
  const added: Word = { text, use: useOf(text), next: scanner.slots[slot]! };
  scanner.slots[slot] = added;
  scanner.words++;
  return added;
}

function useOf(kind: string): Use {
  if (kind === "prompted") return 3;
  if (BARE_KINDS.includes(kind)) return 1;
  return TELLING_KINDS.includes(kind) ? 2 : 0;
}

// ── Time ────────────────────────────────────────────────────────────────────

const two = (bytes: Uint8Array, at: number) => (bytes[at]! - ZERO) * 10 + bytes[at + 1]! - ZERO;
const DAY_MS = 86_400_000;

/** `2026-01-31T12:00:00.000Z` → milliseconds; -1: something else. Without the clock's help, as core has none. */
function timeIn(scanner: Scanner, bytes: Uint8Array, at: number): number {
  if (bytes[at + 4] !== 45 || bytes[at + 7] !== 45 || bytes[at + 10] !== 84) return -1;
  if (bytes[at + 13] !== 58 || bytes[at + 16] !== 58 || bytes[at + 19] !== 46 || bytes[at + 23] !== 90) return -1;
  for (const n of DIGIT_PLACES) if (bytes[at + n]! < ZERO || bytes[at + n]! > 57) return -1;
  const day = (two(bytes, at) * 100 + two(bytes, at + 2)) * 10_000 + two(bytes, at + 5) * 100 + two(bytes, at + 8);
  if (day !== scanner.day) {
    const days = daysBefore(Math.floor(day / 10_000), Math.floor(day / 100) % 100, day % 100);
    if (days === null) return -1;
    scanner.day = day;
    scanner.dayMs = days * DAY_MS;
  }
  const [hours, minutes, seconds] = [two(bytes, at + 11), two(bytes, at + 14), two(bytes, at + 17)];
  if (hours > 23 || minutes > 59 || seconds > 59) return -1;
  const thousandths = two(bytes, at + 20) * 10 + bytes[at + 22]! - ZERO;
  return scanner.dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + thousandths;
}

const DIGIT_PLACES = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22];
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
const leapsUpTo = (year: number) => Math.floor(year / 4) - Math.floor(year / 100) + Math.floor(year / 400);

/** Days since 1970; null: no such day, or before it. */
function daysBefore(year: number, month: number, day: number): number | null {
  if (year < 1970 || month < 1 || month > 12 || day < 1) return null;
  const february = isLeap(year) ? 1 : 0;
  if (day > MONTH_DAYS[month - 1]! + (month === 2 ? february : 0)) return null;
  const years = (year - 1970) * 365 + leapsUpTo(year - 1) - leapsUpTo(1969);
  const months = MONTH_DAYS.slice(0, month - 1).reduce((sum, one) => sum + one, 0) + (month > 2 ? february : 0);
  return years + months + day - 1;
}

// ── Parsed ──────────────────────────────────────────────────────────────────

function parseLine(scanner: Scanner, bytes: Uint8Array, from: number, to: number): Scanned {
  const value = parsed(scanner.decoder.decode(bytes.subarray(from, to)));
  if (value === null || value.v !== 1 || !isName(value.run) || !isName(value.kind)) return "none";
  const at = typeof value.at === "string" && value.at.length === TIME_LENGTH ? timeOf(scanner, value.at) : -1;
  if (at === -1 || !isCount(value.seq) || !isCount(value.i)) return "none";
  const { line } = scanner;
  scanner.runLength = 0;
  Object.assign(line, { at, run: value.run, kind: value.kind, seq: value.seq, i: value.i });
  if (useOf(value.kind) === 0) return "alive";
  line.host = nameOf(value.host);
  line.session = nameOf(value.session);
  line.workflow = nameOf(value.workflow);
  line.stage = nameOf(value.stage);
  line.fields = value;
  return "record";
}

const timeOf = (scanner: Scanner, at: string) => timeIn(scanner, new Uint8Array(codes(at)), 0);
const isName = (value: Json | undefined): value is string =>
  typeof value === "string" && value !== "" && value.length <= LONGEST_NAME;
const nameOf = (value: Json | undefined) => (typeof value === "string" ? value.slice(0, LONGEST_NAME) : "");
const isCount = (value: Json | undefined) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value < 1e9;

function parsed(text: string): Record<string, Json | undefined> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, Json>)
      : null;
  } catch {
    return null;
  }
}
