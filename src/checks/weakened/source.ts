/** Source text with its comments and strings taken out, so that only code is looked at. Lengths and lines stay as they are. */
import { LANGUAGES, type Language, type Quote } from "./languages.ts";

export interface Source {
  language: Language;
  text: string;
  /** comments and the inside of strings are blank */
  bare: string;
  /** comments are blank */
  code: string;
  /** for each bracket in `bare` the place of its partner; -1: it has none */
  partner: Int32Array;
}

interface Reading {
  text: string;
  language: Language;
  at: number;
  bare: string;
  code: string;
  /** all that is not plain code */
  token: RegExp;
  /** what began and never ended: from there on it is only a character */
  endless: Set<string>;
  /** where the outermost open template begins, and how many braces are open in the code of each */
  template: number;
  holes: number[];
  failedHeredocs: number;
}

export function readSource(text: string, language: Language): Source {
  const endless = new Set<string>();
  const state = { at: 0, bare: "", code: "", template: 0, holes: [], failedHeredocs: 0 };
  const reading: Reading = { text, language, endless, token: tokenPattern(language, endless), ...state };
  while (reading.at < text.length) {
    reading.token.lastIndex = reading.at;
    const match = reading.token.exec(text);
    take(reading, text.slice(reading.at, match?.index));
    if (match) readToken(reading, match[0], match.groups ?? {});
    else if (reading.holes.length > 0) leaveTemplate(reading);
  }
  const { bare, code } = reading;
  return { language, text, bare, code, partner: partnersIn(bare) };
}

function take(reading: Reading, piece: string, bare = piece, code = piece): void {
  reading.at += piece.length;
  reading.bare += bare;
  reading.code += code;
}

function giveUp(reading: Reading, open: string): void {
  reading.endless.add(open);
  reading.token = tokenPattern(reading.language, reading.endless);
}

const blank = (text: string) => text.replace(/[^\n]/g, " ");

function tokenPattern(language: Language, endless: Set<string>): RegExp {
  const { comments, quotes, templates, heredocs, texts } = LANGUAGES[language];
  const strings = quotes.filter(({ open }) => !endless.has(open)).map(stringPattern);
  const parts = [`(?<comment>${comments.source})`];
  if (strings.length > 0) parts.push(`(?<string>${strings.join("|")})`);
  if (texts) parts.push(`(?<hidden>${texts.source})`);
  if (heredocs && !endless.has("<<")) parts.push(HEREDOC.source);
  if (templates && !endless.has("`")) parts.push("[`{}]");
  return new RegExp(parts.join("|"), "g");
}

/** What does not end where it has to is only its opening. A letter may also be the end of a word. */
function stringPattern({ open, close, long, raw }: Quote): string {
  const other = `[^${close[0]}${raw ? "" : "\\\\"}${long ? "" : "\\n"}]*`;
  const inside = [...(raw ? [] : ["\\\\[\\s\\S]"]), ...(close.length > 1 ? [`${close[0]}(?!${close.slice(1)})`] : [])];
  const more = inside.length > 0 ? `(?:(?:${inside.join("|")})${other})*` : "";
  return `${/^\w/.test(open) ? "(?<!\\w)" : ""}${open}(?:${other}${more}${close})?`;
}

function readToken(reading: Reading, found: string, { comment, string, hidden, word }: Record<string, string>): void {
  if (comment) take(reading, found, blank(found), blank(found));
  else if (hidden) take(reading, found, blank(found));
  else if (word) readHeredoc(reading, found, word);
  else if (!string) readBrace(reading, found);
  else {
    const { open, close, long } = LANGUAGES[reading.language].quotes.find((quote) => found.startsWith(quote.open))!;
    if (found === open && long) giveUp(reading, open);
    take(reading, found, found === open ? open : open + blank(found.slice(open.length, -close.length)) + close);
  }
}

const HEREDOC = /<<[<~-]?\s{0,40}(?<mark>["'`]?)(?<word>[A-Z_]\w*)\k<mark>[^\n]*\n/;
/** "<<" is also an operator: after so many without an end, no more are looked for. */
const MOST_FAILED_HEREDOCS = 20;

function readHeredoc(reading: Reading, head: string, word: string): void {
  const end = new RegExp(`^[ \\t]*${word}\\b`, "gm");
  end.lastIndex = reading.at + head.length;
  if (end.exec(reading.text)) {
    const whole = reading.text.slice(reading.at, end.lastIndex);
    take(reading, whole, blank(whole));
    return;
  }
  reading.failedHeredocs += 1;
  if (reading.failedHeredocs === MOST_FAILED_HEREDOCS) giveUp(reading, "<<");
  take(reading, "<");
}

// ── Templates ───────────────────────────────────────────────────────────────

/** Up to the end of a template, or to code inside it. */
const TEMPLATE_TEXT = /[^`\\$]*(?:(?:\\[\s\S]|\$(?!\{))[^`\\$]*)*(?:`|\$\{)/y;

function readBrace(reading: Reading, found: string): void {
  const { holes } = reading;
  const inHole = holes.length > 0;
  const ends = found === "}" && holes.at(-1) === 0;
  if (found === "`" && !inHole) reading.template = reading.at;
  if (ends) holes.pop();
  else if (inHole && found !== "`") holes[holes.length - 1]! += found === "{" ? 1 : -1;
  take(reading, found);
  if (ends || found === "`") readTemplate(reading);
}

function readTemplate(reading: Reading): void {
  TEMPLATE_TEXT.lastIndex = reading.at;
  const piece = TEMPLATE_TEXT.exec(reading.text)?.[0];
  if (piece === undefined) {
    leaveTemplate(reading);
    return;
  }
  const end = piece.endsWith("`") ? "`" : "${";
  take(reading, piece, blank(piece.slice(0, -end.length)) + end);
  if (end === "${") reading.holes.push(0);
}

function leaveTemplate(reading: Reading): void {
  const { template, bare, code } = reading;
  Object.assign(reading, { at: template, bare: bare.slice(0, template), code: code.slice(0, template), holes: [] });
  giveUp(reading, "`");
}

// ── Brackets ────────────────────────────────────────────────────────────────

const OPENING = "([{";
const CLOSING = ")]}";

function partnersIn(bare: string): Int32Array {
  const partner = new Int32Array(bare.length).fill(-1);
  const open: number[] = [];
  for (let at = 0; at < bare.length; at++) {
    if (OPENING.includes(bare[at]!)) open.push(at);
    else if (CLOSING.includes(bare[at]!)) {
      const start = open.pop();
      if (start === undefined) continue;
      partner[start] = at;
      partner[at] = start;
    }
  }
  return partner;
}

/** Where the bracket at `open` is closed; the end of the text where it is not. */
export function closingIndex({ bare, partner }: Source, open: number): number {
  const close = partner[open] ?? -1;
  return close < 0 ? bare.length : close;
}

export function lineEnd(bare: string, at: number): number {
  const end = bare.indexOf("\n", at);
  return end < 0 ? bare.length : end;
}

/** The same as `closeOf`, backwards. */
export const openingIndex = ({ partner }: Source, close: number) => Math.max(0, partner[close] ?? 0);

/** What is between commas of its own level, as places in the text. */
export function splitParts(source: Source, from: number, to: number): [start: number, end: number][] {
  const { bare } = source;
  const parts: [number, number][] = [];
  let start = from;
  for (let at = from; at < to; at++) {
    if (OPENING.includes(bare[at]!)) at = Math.min(closingIndex(source, at), to);
    else if (bare[at] === ",") {
      parts.push([start, at]);
      start = at + 1;
    }
  }
  if (bare.slice(start, to).trim() !== "") parts.push([start, to]);
  return parts;
}
