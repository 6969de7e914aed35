/**
 * Signals of a loop: `<promise>SUCCESS</promise>` and `<promise>FAILURE</promise>`, exact, anywhere in the agent's own
 * words. Code, quotations and comments are not its own words, nor is the prompt when the agent prints it.
 */
import { readProse } from "../../kernel/text/prose.ts";

export interface LoopSignals {
  success: boolean;
  failure: boolean;
  malformed: string[];
  /** exact tags inside code or a quotation */
  quoted: string[];
}

/** The beginning and the end of what an agent printed; `head` is empty if `tail` is all of it. */
export interface KeptOutput {
  head: Uint8Array;
  tail: Uint8Array;
}

export function signalsIn(message: string, prompt = ""): LoopSignals {
  return read([withoutEscapes(message)], prompt);
}

/** What was between head and tail is gone, so both are read on their own. */
export function signalsInOutput({ head, tail }: KeptOutput, prompt: string): LoopSignals {
  const [first, last] = [head, tail].map((bytes) => withoutEscapes(new TextDecoder().decode(bytes)));
  return head.length === 0 ? read([last!], prompt) : read([first!, fromInsideFence(last!)], prompt);
}

/** A cut may fall inside a fenced block. Agents close their fences: of both readings the one that ends closed is right. */
function fromInsideFence(tail: string): string {
  const inside = `\`\`\`\n${tail}`;
  const endsOpen = (text: string) => readProse(text, () => undefined) === "open";
  return endsOpen(tail) && !endsOpen(inside) ? inside : tail;
}

function read(texts: string[], prompt: string): LoopSignals {
  const signals: LoopSignals = { success: false, failure: false, malformed: [], quoted: [] };
  const echo = echoOf(withoutEscapes(prompt));
  let before = "";
  const worthReading = texts.filter((text) => /promise/i.test(text));
  for (const part of worthReading.flatMap((text) => partsBetweenEchoes(echo, text))) {
    readProse(part, (text, own) => {
      const isEcho: IsEcho = (at, tag) => isEchoed(echo, before + text.slice(Math.max(0, at - ECHO_REACH), at), tag);
      collectTags(signals, text, own, isEcho);
      before = (before + text).slice(-ECHO_REACH);
    });
  }
  return signals;
}

/** Line by line: a sequence that never ends would swallow all that follows it. */
function withoutEscapes(text: string): string {
  if (!text.includes("\x1b")) return text;
  const lines = text.split("\n").map((line) => (line.includes("\x1b") ? Bun.stripANSI(line) : line));
  return lines.join("\n");
}

// ── Tags ────────────────────────────────────────────────────────────────────

/** Does the prompt have this tag at this place of the text? */
type IsEcho = (at: number, tag: string) => boolean;

const MOST_KEPT = 10;
const LONGEST_KEPT = 120;
const EXACT = /<promise>(?:SUCCESS|FAILURE)<\/promise>/g;
const SUCCESS = "<promise>SUCCESS</promise>";
/** Closed in some way, or never closed but with one of the two words. The bounds keep hostile text cheap. */
const CLOSED = /<[ \t]{0,8}promise\b[^<>]{0,80}>([^<]{0,300})<[ \t]{0,8}\/?[ \t]{0,8}promise[ \t]{0,8}>/gi;
const UNCLOSED = /<[ \t]{0,8}promise\b[^<>]{0,80}?(?:>[^<>\w]{0,8})?(?:success|failure)[^<\n]{0,80}/gi;
/** "between <promise> and </promise>" is about tags; a word in capitals is meant as one. */
const MEANT = /[A-Z]{2}|[Ss]ucce|[Ff]ail|^\s*$/;

/** `own` is `text` with quotations masked, or "" if all of it is one. */
function collectTags(signals: LoopSignals, text: string, own: string, isEcho: IsEcho): void {
  if (!/promise/i.test(text)) return;
  for (const { 0: tag, index } of text.matchAll(EXACT)) {
    if (isEcho(index, tag)) continue;
    if (!own.startsWith(tag, index)) keep(signals.quoted, tag);
    else if (tag === SUCCESS) signals.success = true;
    else signals.failure = true;
  }
  if (own !== "") collectMalformed(signals, own.replace(EXACT, masked), isEcho);
}

const masked = (tag: string) => "\u0001".repeat(tag.length);

function collectMalformed(signals: LoopSignals, own: string, isEcho: IsEcho): void {
  const closed = [...own.matchAll(CLOSED)].filter(({ 1: inside = "" }) => MEANT.test(inside));
  const rest = own.replace(CLOSED, masked);
  const found = [...closed, ...rest.matchAll(UNCLOSED)].sort((one, other) => one.index - other.index);
  for (const { 0: tag, index } of found) if (!isEcho(index, tag)) keep(signals.malformed, shortened(tag));
}

/** Masked words and control characters mean nothing to a reader. */
const shortened = (tag: string) =>
  tag
    .replace(/[\u0000-\u001f]+/g, " ")
    .slice(0, LONGEST_KEPT)
    .trimEnd();

function keep(list: string[], tag: string): void {
  if (list.length < MOST_KEPT) list.push(tag);
}

// ── The echoed prompt ───────────────────────────────────────────────────────

/** So many letters before a tag identify its place in the prompt. */
const CONTEXT = 32;
/** A prompt with fewer letters than CONTEXT before its first tag is recognized by its beginning, if it has these. */
const LEAST_BEGINNING = 8;
/** Enough text to find CONTEXT letters in. */
const ECHO_REACH = 1024;

interface Echo {
  letters: string;
  /** the prompt's last line with a letter; "": too short to be searched for */
  lastLine: string;
}

function echoOf(prompt: string): Echo {
  const lastLine =
    prompt
      .split(/[\r\n]/)
      .findLast(hasLetters)
      ?.trim() ?? "";
  return { letters: lettersOf(prompt), lastLine: lastLine.length < LEAST_BEGINNING ? "" : lastLine };
}

/**
 * The prompt shows both signals. A tag is an echo if the letters before it are those before the same tag in the prompt.
 * Only letters and digits count, so it does not matter how the echo was wrapped, indented, framed or marked with `>`.
 */
function isEchoed({ letters }: Echo, before: string, tag: string): boolean {
  if (letters === "") return false;
  const context = lettersOf(before.slice(-ECHO_REACH)).slice(-CONTEXT);
  const wanted = lettersOf(tag);
  if (context.length === CONTEXT && letters.includes(context + wanted)) return true;
  const at = letters.indexOf(wanted);
  if (at < 0 || at >= CONTEXT) return false;
  const beginning = letters.slice(0, at);
  return context === beginning || (at >= LEAST_BEGINNING && context.endsWith(beginning));
}

/** After an echo the agent speaks, even if the prompt or its frame left a fence or a quote open. */
function partsBetweenEchoes({ letters, lastLine }: Echo, text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let end = 0;
  for (let at = nextOf(text, lastLine, 0); at >= 0; at = nextOf(text, lastLine, end)) {
    end = at + text.slice(at).search(/[\r\n]|$/);
    if (!lettersOf(text.slice(Math.max(0, end - ECHO_REACH), end)).endsWith(letters.slice(-CONTEXT))) continue;
    parts.push(text.slice(from, end));
    from = end + text.slice(end).search(/(?<=[\r\n])[^\r\n]*[\p{L}\p{N}]|$/u);
  }
  return [...parts, text.slice(from)];
}

const nextOf = (text: string, line: string, from: number) => (line === "" ? -1 : text.indexOf(line, from));
const hasLetters = (text: string) => /[\p{L}\p{N}]/u.test(text);
const lettersOf = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, "");
