/**
 * Reads journal lines as bytes. Pawl writes the keys of a line in one order, so most lines are known by their beginning and
 * need no parsing; whatever looks different is parsed as the JSON it is. Strings that come again and again are made once.
 */
import { BARE_KINDS, type FoldLine, TELLING_KINDS } from "./fold.ts";
import { type Clock, TIME_LENGTH, timeIn } from "./journal-time.ts";
import type { Json } from "./types.ts";

const QUOTE = 34;
const BACKSLASH = 92;
const BRACE = 125;
const ZERO = 48;
const LONGEST_NAME = 200;
const MOST_WORDS = 50_000;
const SLOTS = 1 << 16;

/** 0: counts for nothing, 1: its beginning says all, 2: to be parsed, 3: a prompt, 4: a gate's verdict. */
type Use = 0 | 1 | 2 | 3 | 4;

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
  /** how the last line began, up to the number of its record: the lines of a commit stand together and begin alike */
  begun: Uint8Array;
  begunLength: number;
  /** what stood between kind and stage in the last line that was read so far */
  about: Uint8Array;
  aboutLength: number;
  clock: Clock;
}

const NO_FIELDS = Object.freeze(Object.create(null)) as FoldLine["fields"];

export const openScanner = (): Scanner => ({
  slots: new Array(SLOTS).fill(null),
  words: 0,
  decoder: new TextDecoder(),
  line: { at: 0, run: "", seq: 0, i: 0, kind: "", host: "", session: "", workflow: "", stage: "", fields: NO_FIELDS },
  use: 0,
  at: 0,
  begun: new Uint8Array(LONGEST_NAME + 80),
  begunLength: 0,
  about: new Uint8Array(3 * LONGEST_NAME + 80),
  aboutLength: 0,
  clock: { day: -1, dayMs: 0 },
});

/** What a line is: "record" fills `scanner.line`, "alive" only its `run` and `at`. */
export type Scanned = "record" | "alive" | "none";

export function scanLine(scanner: Scanner, bytes: Uint8Array, from: number, to: number): Scanned {
  if (bytes[to - 1] === BRACE && scanHead(scanner, bytes, from, to)) {
    if (scanner.use === 0) return "alive";
    if (scanner.use === 3) scanner.use = endsWith(bytes, to, INJECTED) ? 0 : endsWith(bytes, to, TYPED) ? 1 : 2;
    if (scanner.use === 0) return "alive";
    if (scanner.use === 1 && scanAbout(scanner, bytes, to)) return "record";
    if (scanner.use === 4 && scanAbout(scanner, bytes, to) && scanGate(scanner, bytes, to)) return "record";
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
const GATE_KEYS = ["signal", "gate", "id", "verdict", "why", "tree"].map((name): [string, number[]] => [
  name,
  codes(`","${name}":"`),
]);
const COMMAND = codes('","command":"');
const NO_COMMAND = codes('","command":null');
const SHORTEST = 80;

function scanHead(scanner: Scanner, bytes: Uint8Array, from: number, to: number): boolean {
  const { line } = scanner;
  if (beginsWith(bytes, from, scanner.begun, scanner.begunLength)) scanner.at = from + scanner.begunLength;
  else if (!scanBeginning(scanner, bytes, from, to)) return false;
  line.i = digits(scanner, bytes);
  if (line.i === -1 || !skip(scanner, bytes, KIND)) return false;
  const kind = word(scanner, bytes, to);
  if (kind === null) return false;
  line.kind = kind.text;
  scanner.use = kind.use;
  return true;
}

function scanBeginning(scanner: Scanner, bytes: Uint8Array, from: number, to: number): boolean {
  const { line } = scanner;
  scanner.begunLength = 0;
  scanner.at = from;
  if (to - from < SHORTEST || !skip(scanner, bytes, AT)) return false;
  const ms = timeIn(scanner.clock, bytes, scanner.at);
  if (ms === -1) return false;
  scanner.at += TIME_LENGTH;
  const run = skip(scanner, bytes, RUN) ? word(scanner, bytes, to) : null;
  if (run === null || !skip(scanner, bytes, SEQ)) return false;
  const seq = digits(scanner, bytes);
  if (seq === -1 || !skip(scanner, bytes, I)) return false;
  line.at = ms;
  line.run = run.text;
  line.seq = seq;
  scanner.begunLength = keep(scanner.begun, bytes, from, scanner.at);
  return true;
}

/** Who and where. The stage is looked at each time, the rest is mostly as before. */
function scanAbout(scanner: Scanner, bytes: Uint8Array, to: number): boolean {
  const from = scanner.at;
  if (beginsWith(bytes, from, scanner.about, scanner.aboutLength)) scanner.at = from + scanner.aboutLength;
  else if (!scanWho(scanner, bytes, to)) return false;
  const stage = word(scanner, bytes, to);
  if (stage === null) return false;
  scanner.line.stage = stage.text;
  scanner.line.fields = NO_FIELDS;
  return true;
}

function scanWho(scanner: Scanner, bytes: Uint8Array, to: number): boolean {
  const from = scanner.at;
  const { line } = scanner;
  scanner.aboutLength = 0;
  const host = skip(scanner, bytes, HOST) ? word(scanner, bytes, to) : null;
  const session = host !== null && skip(scanner, bytes, SESSION) ? word(scanner, bytes, to) : null;
  const workflow = session !== null && skip(scanner, bytes, WORKFLOW) ? word(scanner, bytes, to) : null;
  if (host === null || session === null || workflow === null || !skip(scanner, bytes, STAGE)) return false;
  line.host = host.text;
  line.session = session.text;
  line.workflow = workflow.text;
  scanner.aboutLength = keep(scanner.about, bytes, from, scanner.at);
  return true;
}

/** The verdict of a gate is the only frequent line with fields that matter. They come in this order. */
function scanGate(scanner: Scanner, bytes: Uint8Array, to: number): boolean {
  const found: Record<string, string | null> = {};
  for (const [name, key] of GATE_KEYS) {
    const value = skip(scanner, bytes, key) ? word(scanner, bytes, to) : null;
    if (value === null) return false;
    found[name] = value.text;
  }
  if (skip(scanner, bytes, COMMAND)) {
    const command = word(scanner, bytes, to);
    if (command === null) return false;
    found.command = command.text;
  } else if (!skip(scanner, bytes, NO_COMMAND)) return false;
  scanner.line.fields = found;
  return true;
}

function beginsWith(bytes: Uint8Array, at: number, wanted: Uint8Array, length: number): boolean {
  if (length === 0) return false;
  // The end differs more often than the beginning.
  for (let n = length - 1; n >= 0; n--) if (bytes[at + n] !== wanted[n]) return false;
  return true;
}

function keep(into: Uint8Array, bytes: Uint8Array, from: number, to: number): number {
  for (let n = 0; n < to - from; n++) into[n] = bytes[from + n]!;
  return to - from;
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

// ── Words ───────────────────────────────────────────────────────────────────

/** Printable, and neither the end of a string nor an escape in it. */
const IS_PLAIN = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 32 && byte <= 126 && byte !== QUOTE && byte !== BACKSLASH ? 1 : 0,
);

/** Up to the next quote. null: not plain. */
function word(scanner: Scanner, bytes: Uint8Array, to: number): Word | null {
  const from = scanner.at;
  const end = Math.min(to, from + LONGEST_NAME);
  let at = from;
  let hash = 17;
  for (; at < end; at++) {
    const byte = bytes[at]!;
    if (IS_PLAIN[byte] === 0) break;
    hash = (Math.imul(hash, 31) + byte) | 0;
  }
  if (at === end || bytes[at] !== QUOTE) return null;
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

const USES = new Map<string, Use>([
  ...TELLING_KINDS.map((kind): [string, Use] => [kind, 2]),
  ...BARE_KINDS.map((kind): [string, Use] => [kind, 1]),
  ["prompted", 3],
  ["gated", 4],
]);

const useOf = (kind: string): Use => USES.get(kind) ?? 0;

// ── Parsed ──────────────────────────────────────────────────────────────────

function parseLine(scanner: Scanner, bytes: Uint8Array, from: number, to: number): Scanned {
  const value = parsed(scanner.decoder.decode(bytes.subarray(from, to)));
  if (value === null || value.v !== 1 || !isName(value.run) || !isName(value.kind)) return "none";
  const at = typeof value.at === "string" && value.at.length === TIME_LENGTH ? timeOf(scanner.clock, value.at) : -1;
  if (at === -1 || !isCount(value.seq) || !isCount(value.i)) return "none";
  const { line } = scanner;
  scanner.begunLength = 0;
  scanner.aboutLength = 0;
  Object.assign(line, { at, run: value.run, kind: value.kind, seq: value.seq, i: value.i });
  // What the host injects is not the person's word.
  if (useOf(value.kind) === 0 || (value.kind === "prompted" && value.injected === true)) return "alive";
  line.host = nameOf(value.host);
  line.session = nameOf(value.session);
  line.workflow = nameOf(value.workflow);
  line.stage = nameOf(value.stage);
  line.fields = value;
  return "record";
}

const timeOf = (clock: Clock, at: string) => timeIn(clock, new Uint8Array(codes(at)), 0);
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
