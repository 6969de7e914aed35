/**
 * Reads journal lines as bytes. Pawl writes the keys of a line in one order, so most lines are known by their beginning and
 * need no parsing; whatever looks different is parsed as the JSON it is.
 */
import { type FoldLine, type Look, type Rule, ruleOf } from "./fold.ts";
import { isKept, type Kept, type Key, keep, keyOf, newKept, standsAt } from "./journal-bytes.ts";
import { keyIn, nameOf, parseObject } from "./journal-parse.ts";
import { type Clock, newClock, TIME_LENGTH, timeIn } from "./journal-time.ts";
import { commonWord, LONGEST_NAME, newWords, type Source, type Word, type Words, word } from "./journal-words.ts";

const BRACE = 125;
const ZERO = 48;
const COMMA = 44;
/** as many runs as may go on side by side without looking at their names again */
const ABOUTS = 64;

/** What stood between kind and stage in the last line of a run. */
interface About {
  text: Kept;
  host: string;
  session: string;
  workflow: string;
}

export interface Scanner extends Source {
  words: Words<Rule>;
  /** the line that was read last, used again and again */
  line: FoldLine;
  /** where reading the current line has come to, and where the line ends */
  at: number;
  to: number;
  /** how the last line began, up to the number of its record: the lines of a commit stand together and begin alike */
  begun: Kept;
  /** that the run was alive then has been told */
  isTold: boolean;
  abouts: About[];
  /** where the current run's is kept, if no other run took its place */
  about: About;
  clock: Clock;
}

const NO_FIELDS = Object.freeze(Object.create(null)) as FoldLine["fields"];

const newLine = (): FoldLine => {
  const names = { host: "", session: "", workflow: "", stage: "" };
  return { at: 0, run: "", seq: 0, i: 0, kind: "", rule: ruleOf(""), ...names, fields: NO_FIELDS };
};

export function openScanner(): Scanner {
  const abouts = Array.from({ length: ABOUTS }, () => {
    return { text: newKept(3 * LONGEST_NAME + 80), host: "", session: "", workflow: "" };
  });
  const bytes = new Uint8Array(0);
  return {
    words: newWords(ruleOf),
    bytes,
    view: new DataView(bytes.buffer),
    line: newLine(),
    at: 0,
    to: 0,
    begun: newKept(LONGEST_NAME + 80),
    isTold: false,
    abouts,
    about: abouts[0]!,
    clock: newClock(),
  };
}

/** What a line is: "record" fills `scanner.line`, "alive" only its `run` and `at`, "again" that an "alive" told it all. */
export type Scanned = "record" | "alive" | "again" | "none";

export function scanLine(scanner: Scanner, bytes: Uint8Array, from: number, to: number): Scanned {
  if (bytes !== scanner.bytes) lookInto(scanner, bytes);
  scanner.at = from;
  scanner.to = to;
  const isAgain = isKept(scanner.begun, scanner.view, from, to);
  if (isAgain) scanner.at = from + scanner.begun.length;
  if (bytes[to - 1] === BRACE && (isAgain || scanBeginning(scanner)) && scanKind(scanner)) {
    const { look } = scanner.line.rule;
    if (look === "nothing" || (look === "prompt" && endsWith(scanner, INJECTED))) return alive(scanner);
    if (scanAbout(scanner) && scanFields(scanner, look)) return "record";
  }
  return parseLine(scanner, bytes, from, to);
}

function alive(scanner: Scanner): Scanned {
  if (scanner.isTold) return "again";
  scanner.isTold = true;
  return "alive";
}

function scanFields(scanner: Scanner, look: Look): boolean {
  scanner.line.fields = NO_FIELDS;
  if (look === "bare") return true;
  if (look === "gate") return scanGate(scanner);
  if (look === "end") return scanEnd(scanner);
  if (look === "prompt") return endsWith(scanner, TYPED);
  return parseFields(scanner);
}

function lookInto(scanner: Scanner, bytes: Uint8Array): void {
  scanner.bytes = bytes;
  scanner.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

// ── Known by its beginning ──────────────────────────────────────────────────

const AT = keyOf('{"v":1,"at":"');
const RUN = keyOf('","run":"');
const SEQ = keyOf('","seq":');
const I = [44, 34, 105, 34, 58];
const KIND = keyOf(',"kind":"');
const HOST = keyOf('","host":"');
const SESSION = keyOf('","session":"');
const WORKFLOW = keyOf('","workflow":"');
const STAGE = keyOf('","stage":"');
const INJECTED = keyOf('"injected":true}');
const TYPED = keyOf('"injected":false}');
const SIGNAL = keyOf('","signal":"');
const GATE = keyOf('","gate":"');
const ID = keyOf('","id":"');
const VERDICT = keyOf('","verdict":"');
const WHY = keyOf('","why":"');
const TREE = keyOf('","tree":"');
const COMMAND = keyOf('","command":"');
const NO_COMMAND = keyOf('","command":null');
const OUTCOME = keyOf('","outcome":"');
const SHORTEST = 80;

function scanBeginning(scanner: Scanner): boolean {
  const { line, at: from, bytes } = scanner;
  scanner.begun.length = 0;
  scanner.isTold = false;
  if (scanner.to - from < SHORTEST || !skip(scanner, AT)) return false;
  const ms = timeIn(scanner.clock, scanner.view, scanner.at);
  if (ms === -1) return false;
  scanner.at += TIME_LENGTH;
  const run = skip(scanner, RUN) ? wordIn(scanner) : null;
  const seq = run !== null && skip(scanner, SEQ) ? digits(scanner) : -1;
  if (run === null || run.text === "" || seq === -1) return false;
  for (let n = 0; n < I.length; n++) if (bytes[scanner.at++] !== I[n]) return false;
  line.at = ms;
  line.run = run.text;
  line.seq = seq;
  scanner.about = scanner.abouts[run.number % ABOUTS]!;
  keep(scanner.begun, scanner.view, from, scanner.at);
  return true;
}

function scanKind(scanner: Scanner): boolean {
  const i = digits(scanner);
  const kind = i !== -1 && skip(scanner, KIND) ? commonIn(scanner) : null;
  if (kind === null || kind.text === "" || !isClosed(scanner)) return false;
  scanner.line.i = i;
  scanner.line.kind = kind.text;
  scanner.line.rule = kind.meaning;
  return true;
}

/** Who and where. The stage is looked at each time, the rest is mostly as before. */
function scanAbout(scanner: Scanner): boolean {
  const { line, about, at } = scanner;
  if (isKept(about.text, scanner.view, at, scanner.to)) scanner.at = at + about.text.length;
  else if (!scanWho(scanner)) return false;
  const stage = commonIn(scanner);
  if (stage === null || !isClosed(scanner)) return false;
  line.host = about.host;
  line.session = about.session;
  line.workflow = about.workflow;
  line.stage = stage.text;
  return true;
}

function scanWho(scanner: Scanner): boolean {
  const { about, at: from } = scanner;
  about.text.length = 0;
  const host = skip(scanner, HOST) ? commonIn(scanner) : null;
  const session = host !== null && skip(scanner, SESSION) ? wordIn(scanner) : null;
  const workflow = session !== null && skip(scanner, WORKFLOW) ? commonIn(scanner) : null;
  if (host === null || session === null || workflow === null || !skip(scanner, STAGE)) return false;
  about.host = host.text;
  about.session = session.text;
  about.workflow = workflow.text;
  keep(about.text, scanner.view, from, scanner.at);
  return true;
}

/** The verdict of a gate is the only frequent line with fields that matter. They come in this order. */
function scanGate(scanner: Scanner): boolean {
  const signal = skip(scanner, SIGNAL) ? commonIn(scanner) : null;
  const gate = signal !== null && skip(scanner, GATE) ? commonIn(scanner) : null;
  const id = gate !== null && skip(scanner, ID) ? commonIn(scanner) : null;
  const verdict = id !== null && skip(scanner, VERDICT) ? commonIn(scanner) : null;
  const why = verdict !== null && skip(scanner, WHY) ? commonIn(scanner) : null;
  const tree = why !== null && skip(scanner, TREE) ? commonIn(scanner) : null;
  if (gate === null || id === null || verdict === null || why === null || tree === null) return false;
  const command = skip(scanner, COMMAND) ? commonIn(scanner) : null;
  if (command === null ? !skip(scanner, NO_COMMAND) : !isClosed(scanner)) return false;
  scanner.line.fields = {
    gate: gate.text,
    id: id.text,
    verdict: verdict.text,
    why: why.text,
    tree: tree.text,
    command: command === null ? null : command.text,
  };
  return true;
}

function scanEnd(scanner: Scanner): boolean {
  const outcome = skip(scanner, OUTCOME) ? commonIn(scanner) : null;
  if (outcome === null || !isClosed(scanner)) return false;
  scanner.line.fields = { outcome: outcome.text };
  return true;
}

function skip(scanner: Scanner, key: Key): boolean {
  if (!standsAt(key, scanner.view, scanner.at, scanner.to)) return false;
  scanner.at += key.length;
  return true;
}

const endsWith = ({ view, to }: Scanner, key: Key) => standsAt(key, view, to - key.length, to);

/** Behind a word and its quote comes the next key, or the end. */
function isClosed({ bytes, at }: Scanner): boolean {
  const next = bytes[at + 1];
  return next === COMMA || next === BRACE;
}

function wordIn(scanner: Scanner): Word<Rule> | null {
  const found = word(scanner.words, scanner, scanner.at, scanner.to);
  if (found !== null) scanner.at += found.text.length;
  return found;
}

function commonIn(scanner: Scanner): Word<Rule> | null {
  const found = commonWord(scanner.words, scanner, scanner.at, scanner.to);
  if (found !== null) scanner.at += found.text.length;
  return found;
}

/** -1: no number that we would have written. */
function digits(scanner: Scanner): number {
  const { bytes } = scanner;
  let { at } = scanner;
  let value = 0;
  for (let digit = bytes[at]! - ZERO; digit >= 0 && digit <= 9; digit = bytes[++at]! - ZERO) value = value * 10 + digit;
  const length = at - scanner.at;
  if (length === 0 || length > 9 || (length > 1 && bytes[scanner.at] === ZERO)) return -1;
  scanner.at = at;
  return value;
}

// ── Parsed ──────────────────────────────────────────────────────────────────

/** What stands behind the stage, unless it says something else than the beginning. */
function parseFields(scanner: Scanner): boolean {
  const { bytes, at, to } = scanner;
  const fields =
    bytes[at + 1] === COMMA ? parseObject(`{${scanner.words.decoder.decode(bytes.subarray(at + 2, to))}`) : null;
  if (fields === null || HEAD.some((key) => key in fields)) return false;
  scanner.line.fields = fields;
  return true;
}

const HEAD = ["v", "at", "run", "seq", "i", "kind", "host", "session", "workflow", "stage"];

function parseLine(scanner: Scanner, bytes: Uint8Array, from: number, to: number): Scanned {
  // It may be none, or another run's than its beginning says: the next line is no "again".
  scanner.begun.length = 0;
  const value = parseObject(scanner.words.decoder.decode(bytes.subarray(from, to)));
  const key = value === null ? null : keyIn(scanner.clock, value);
  if (value === null || key === null) return "none";
  const { line } = scanner;
  Object.assign(line, key, { rule: ruleOf(key.kind) });
  // What the host injects is not the person's word.
  const { look } = line.rule;
  if (look === "nothing" || (look === "prompt" && value.injected === true)) return "alive";
  line.host = nameOf(value.host);
  line.session = nameOf(value.session);
  line.workflow = nameOf(value.workflow);
  line.stage = nameOf(value.stage);
  line.fields = value;
  return "record";
}
