/**
 * Signals of a loop: `<promise>SUCCESS</promise>` and `<promise>FAILURE</promise>`, exact, anywhere in the agent's own
 * words. Code, quotations and comments are not its own words, nor is the prompt it prints.
 *
 * A stream is cut into blocks at the same places however it arrives; of a block only those paragraphs are read in which
 * something could matter. A paragraph longer than a block is read as several.
 */
import { copyToEscape, ESCAPE, escapeLength, LONGEST_ESCAPE, withoutEscapes } from "../../kernel/text/escapes.ts";
import {
  type Closing,
  endParagraph,
  MARKS,
  openProse,
  type Prose,
  readLine,
  readProse,
} from "../../kernel/text/prose.ts";
import {
  cutInLine,
  lastParagraph,
  lineEnd,
  lineStart,
  nearest,
  nearestOpening,
  type Pattern,
  paragraphStart,
  type Seeker,
  seekIn,
} from "./bytes.ts";
import { ECHO_REACH, type Echo, echoOf, endsEcho, hasLetters, isEchoed, mayEndEcho } from "./echo.ts";
import { collectTags, type LoopSignals, noSignals } from "./tags.ts";

export type { LoopSignals } from "./tags.ts";

export function signalsIn(message: string): LoopSignals {
  const signals = noSignals();
  readProse(withoutEscapes(message), (text, own) => collectTags(signals, text, own, () => false));
  return signals;
}

// ── Stream ──────────────────────────────────────────────────────────────────

const BLOCK = 256 << 10;
/** No tag worth recording is longer. */
const TAG_REACH = 256;
const NOTHING = Buffer.alloc(0);
const NEAR = 48;
const FENCES = [Buffer.from("```"), Buffer.from("~~~")];
const OPENING = Buffer.from("<promise>");

export interface Scan {
  signals: LoopSignals;
  prose: Prose;
  echo: Echo;
  sought: Sought;
  block: number;
  /** what was read last and may be looked back at, then what is to be read */
  data: Buffer;
  /** where in `data` reading goes on */
  from: number;
  end: number;
  /** of what is to be read: how much came after the last cut */
  fresh: number;
  /** an escape sequence that is not whole yet */
  held: Buffer;
  /** stands for the beginning of a line that was cut; "": reading goes on with a new line */
  lineBegan: string;
  /** where the paragraph under way began */
  paragraphAt: number;
  /** the prompt was printed, and nothing came since that has a letter */
  behindEcho: boolean;
}

/** What makes a line worth reading: in the agent's own words, and in a quotation, where only its end and tags count. */
interface Sought {
  own: Pattern[];
  quoted: Record<Closing["mark"], Pattern[]>;
}

function soughtWith({ lastLine }: Echo): Sought {
  const always = lastLine === "" ? [] : [Buffer.from(lastLine)];
  const quoted = MARKS.map((mark) => [mark, [Buffer.from(mark), OPENING, ...always]]);
  return { own: [...FENCES, ...always], quoted: Object.fromEntries(quoted) };
}

/** `block` is for tests. */
export function openScan(prompt: string, block = BLOCK): Scan {
  const echo = echoOf(withoutEscapes(prompt));
  return {
    signals: noSignals(),
    prose: openProse(),
    echo,
    sought: soughtWith(echo),
    block,
    data: Buffer.alloc(ECHO_REACH + 2 * block + TAG_REACH),
    from: 0,
    end: 0,
    fresh: 0,
    held: NOTHING,
    lineBegan: "",
    paragraphAt: 0,
    behindEcho: false,
  };
}

export function feed(scan: Scan, bytes: Uint8Array): void {
  feedText(scan, scan.held.length === 0 ? asBuffer(bytes) : Buffer.concat([scan.held, bytes]), false);
}

export function closeScan(scan: Scan): LoopSignals {
  feedText(scan, scan.held, true);
  readUpTo(scan, scan.end);
  return scan.signals;
}

const asBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Takes escape sequences out; one that is not whole waits for the rest, as long as it could be one. */
function feedText(scan: Scan, bytes: Buffer, isLast: boolean): void {
  scan.held = NOTHING;
  for (let at = 0; at < bytes.length; ) {
    at = append(scan, bytes, at);
    if (scan.fresh === scan.block) readBlock(scan);
    if (bytes[at] !== ESCAPE) continue;
    const length = escapeLength(bytes, at);
    if (length === 0 && !isLast && bytes.length - at < LONGEST_ESCAPE) {
      scan.held = Buffer.from(bytes.subarray(at));
      return;
    }
    at += Math.max(length, 1);
  }
}

/** Up to an escape sequence that is not whole, or as much as there is room for; gives where it stopped. */
function append(scan: Scan, bytes: Buffer, from: number): number {
  const { data } = scan;
  const full = scan.end + scan.block - scan.fresh;
  let at = from;
  let end = scan.end;
  while (at < bytes.length && end < full) {
    const most = Math.min(bytes.length, at + full - end);
    // Coloured text has little between two sequences: not worth a call of the machine's.
    const copied = copyToEscape(bytes, at, Math.min(most, at + NEAR), data, end);
    at += copied;
    end += copied;
    if (bytes[at] === ESCAPE) {
      const length = escapeLength(bytes, at);
      if (length === 0) break;
      at += length;
    } else if (at < most) {
      const found = bytes.subarray(0, most).indexOf(ESCAPE, at);
      const stop = found < 0 ? most : found;
      data.set(bytes.subarray(at, stop), end);
      end += stop - at;
      at = stop;
    }
  }
  scan.fresh += end - scan.end;
  scan.end = end;
  return at;
}

// ── Blocks ──────────────────────────────────────────────────────────────────

/** Up to the last blank line; without one, up to the last line; without that, somewhere in the line. */
function readBlock(scan: Scan): void {
  const bytes = scan.data.subarray(scan.from, scan.end);
  const line = bytes.lastIndexOf("\n") + 1;
  const whole = [lastParagraph(bytes), line].find((at) => at > 0 && bytes.length - at <= scan.block);
  const began =
    line === 0 && scan.lineBegan !== "" ? scan.lineBegan : beginningOf(bytes.toString("latin1", line, line + 4));
  readUpTo(scan, scan.from + (whole ?? cutInLine(bytes, TAG_REACH)));
  scan.lineBegan = whole === undefined ? began : "";
  keepRest(scan);
}

/** The rest of a quoted or indented line is quoted, too. */
const beginningOf = (line: string) => (/^[ \t>]/.test(line) ? line.replace(/[^ \t>]/g, ".") : ".");

function keepRest(scan: Scan): void {
  const start = Math.max(0, scan.from - ECHO_REACH);
  scan.data.copyWithin(0, start, scan.end);
  scan.from -= start;
  scan.end -= start;
  scan.fresh = 0;
}

function readUpTo(scan: Scan, cut: number): void {
  const seeker = seekIn(scan.data.subarray(0, cut));
  let at = scan.from;
  while (at < cut) {
    if (scan.prose.paragraph.length === 0 && !scan.behindEcho) at = nextOfInterest(scan, seeker, at);
    if (at >= cut) break;
    const end = lineEnd(seeker.bytes, at);
    takeLine(scan, at, end);
    at = end + 1;
  }
  endParagraph(scan.prose, (text, own) => tell(scan, scan.paragraphAt, text, own));
  scan.from = cut;
}

/** Where the next line begins that has to be read; Infinity: none has to. */
function nextOfInterest({ prose: { closing }, sought }: Scan, seeker: Seeker, from: number): number {
  const marked = nearest(seeker, closing ? sought.quoted[closing.mark] : sought.own, from);
  const at = closing ? marked : nearestOpening(seeker, from, marked);
  if (at === Number.POSITIVE_INFINITY) return at;
  return closing ? lineStart(seeker.bytes, at, from) : paragraphStart(seeker.bytes, at, from);
}

function takeLine(scan: Scan, from: number, to: number): void {
  const began = from === scan.from ? scan.lineBegan : "";
  const whole = scan.data.toString("utf8", from, to);
  const line = began + (whole.endsWith("\r") ? whole.slice(0, -1) : whole);
  if (!line.includes("\r")) return void takePart(scan, line, from);
  let at = from;
  for (const part of line.split("\r")) {
    takePart(scan, part, at);
    at += Buffer.byteLength(part) + 1;
  }
}

function takePart(scan: Scan, line: string, at: number): void {
  const { prose, echo } = scan;
  const paragraphAt = prose.paragraph.length === 0 ? at : scan.paragraphAt;
  readLine(prose, line, (text, own) => tell(scan, own === "" ? at : paragraphAt, text, own));
  scan.paragraphAt = prose.paragraph.length === 1 ? at : paragraphAt;
  scan.behindEcho = hasLetters(line)
    ? mayEndEcho(echo, line) && endsEcho(echo, textBefore(scan, at) + line)
    : scan.behindEcho;
  if (!scan.behindEcho) return;
  endParagraph(prose, (text, own) => tell(scan, scan.paragraphAt, text, own));
  prose.closing = null;
}

function tell(scan: Scan, at: number, text: string, own: string): void {
  const isEcho = (index: number, tag: string) =>
    isEchoed(scan.echo, textBefore(scan, at) + text.slice(Math.max(0, index - ECHO_REACH), index), tag);
  collectTags(scan.signals, text, own, isEcho);
}

const textBefore = ({ data }: Scan, at: number) => data.toString("utf8", Math.max(0, at - ECHO_REACH), at);
