/**
 * Signals of a loop: `<promise>SUCCESS</promise>` and `<promise>FAILURE</promise>`, exact and alone on a line of the
 * agent's own words. Code, quotations and comments are not its own words, nor is the prompt when the agent prints it.
 */
import { readProse } from "../../kernel/text/prose.ts";

export interface LoopSignals {
  success: boolean;
  failure: boolean;
  /** what explains the one that counts, FAILURE if there are both; null: there is none */
  reason: string | null;
  malformed: string[];
  /** exact tags that are not alone on their line */
  misplaced: string[];
  /** exact tags inside code or a quotation */
  quoted: string[];
}

/** The beginning and the end of the `bytes` that an agent printed; `head` is empty if `tail` is all of it. */
export interface KeptOutput {
  head: Uint8Array;
  tail: Uint8Array;
  bytes: number;
}

export const signalsIn = (message: string, prompt = ""): LoopSignals => read([withoutEscapes(message)], prompt);

/** If something between head and tail is gone, each is read on its own. */
export function signalsInOutput({ head, tail, bytes }: KeptOutput, prompt: string): LoopSignals {
  const decode = (part: Uint8Array) => withoutEscapes(new TextDecoder().decode(part)).replace(SPINNER, "");
  if (head.length + tail.length === bytes) return read([decode(Buffer.concat([head, tail]))], prompt);
  return read([`${decode(head)}${CUT}`, fromInsideFence(CUT + decode(tail))], prompt);
}

/** Copilot draws one at the beginning of a line and writes on behind it, without colors, too. */
const SPINNER = /^[\u2801-\u28ff\b]+/gm;

/** Replaces the rest of the line that was cut: no tag is alone there. In ASCII, or ten megabytes would become twenty. */
const CUT = "...";

/** A cut may fall inside a fenced block. Agents close their fences: of the readings the one that ends closed is right. */
function fromInsideFence(tail: string): string {
  const endsOpen = (text: string) => readProse(text, () => undefined) === "open";
  const inside = ["```", "~~~"].map((fence) => `${fence}\n${tail}`);
  return (endsOpen(tail) && inside.find((text) => !endsOpen(text))) || tail;
}

function read(texts: string[], prompt: string): LoopSignals {
  const signals: LoopSignals = {
    ...{ success: false, failure: false, reason: null },
    ...{ malformed: [], misplaced: [], quoted: [] },
  };
  const passages: Passage[] = [{ signal: "", text: "" }];
  const echo = buildEcho(withoutEscapes(prompt));
  let before = "";
  const worthReading = texts.filter((text) => /promise/i.test(text));
  for (const part of worthReading.flatMap((text) => partsBetweenEchoes(echo, text))) {
    readProse(part, (text, own) => {
      const isEcho: IsEcho = (at, tag) => isEchoed(echo, before + text.slice(Math.max(0, at - ECHO_REACH), at), tag);
      addPassages(passages, text, collectTags(signals, text, own, isEcho));
      before = (before + text).slice(-ECHO_REACH);
    });
  }
  return { ...signals, reason: reasonIn(passages, signals) };
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
const FAILURE = "<promise>FAILURE</promise>";
/** Closed in some way, or never closed but with one of the two words. The bounds keep hostile text cheap. */
const CLOSED = /<[ \t]{0,8}promise\b[^<>]{0,80}>([^<]{0,300})<[ \t]{0,8}\/?[ \t]{0,8}promise[ \t]{0,8}>/gi;
const UNCLOSED = /<[ \t]{0,8}promise\b[^<>]{0,80}?(?:>[^<>\w]{0,8})?(?:success|failure)[^<\n]{0,80}/gi;
/** "between <promise> and </promise>" is about tags; a word in capitals is meant as one. */
const MEANT = /[A-Z]{2}|[Ss]ucce|[Ff]ail|^\s*$/;

/** Returns those that count. `own` is `text` with quotations masked, or "" if all of it is one. */
function collectTags(signals: LoopSignals, text: string, own: string, isEcho: IsEcho): RegExpExecArray[] {
  if (!/promise/i.test(text)) return [];
  const said = [...text.matchAll(EXACT)].filter(({ 0: tag, index }) => !isEcho(index, tag));
  const isOwn = ({ 0: tag, index }: RegExpExecArray) => own.startsWith(tag, index);
  const counted = said.filter((found) => isOwn(found) && isAlone(text, found));
  signals.success ||= counted.some(([tag]) => tag === SUCCESS);
  signals.failure ||= counted.some(([tag]) => tag === FAILURE);
  for (const found of said) {
    if (!isOwn(found)) keep(signals.quoted, found[0]);
    else if (!isAlone(text, found)) keep(signals.misplaced, found[0]);
  }
  if (own !== "") collectMalformed(signals, own.replace(EXACT, masked), isEcho);
  return counted;
}

/** Looks no further than it must: a line may hold any number of tags. */
function isAlone(text: string, { 0: tag, index }: RegExpExecArray): boolean {
  const after = /[ \t]*(?:\n|$)/y;
  after.lastIndex = index + tag.length;
  return /(?:^|\n) {0,3}$/.test(text.slice(Math.max(0, index - 4), index)) && after.test(text);
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

// ── Reasons ─────────────────────────────────────────────────────────────────

/** What follows a signal, up to the next one; the first passage comes before all signals. */
interface Passage {
  signal: string;
  text: string;
}

const LONGEST_REASON = 2_000;
const MOST_LINES_BEFORE = 20;

function addPassages(passages: Passage[], text: string, counted: RegExpExecArray[]): void {
  let from = 0;
  for (const { 0: signal, index } of counted) {
    lengthen(passages.at(-1)!, text.slice(from, index));
    from = index + signal.length;
    // A signal that nothing explains needs no passage.
    if (passages.length > 1 && isEmpty(passages.at(-1)!)) passages.pop();
    passages.push({ signal, text: "" });
  }
  lengthen(passages.at(-1)!, text.slice(from));
}

const isEmpty = ({ text }: Passage) => text.trim() === "";

/** The beginning of an explanation is kept; of what comes before all signals, the end. */
function lengthen(passage: Passage, text: string): void {
  if (passage.signal === "") {
    const all = `${passage.text}\n${text}`;
    passage.text = all.length > 2 * LONGEST_REASON ? all.slice(-LONGEST_REASON) : all;
  } else if (passage.text.length < LONGEST_REASON) passage.text += `\n${text.slice(0, LONGEST_REASON)}`;
}

/** What follows the signal explains it, else what comes before it, unless that explains another one. */
function reasonIn(passages: Passage[], { success, failure }: LoopSignals): string | null {
  if (!success && !failure) return null;
  const winner = failure ? FAILURE : SUCCESS;
  const own = passages.findLast((passage) => passage.signal === winner && !isEmpty(passage));
  if (own) return own.text.trim();
  const [before, first] = passages;
  return first?.signal === winner ? before!.text.trim().split("\n").slice(-MOST_LINES_BEFORE).join("\n") : "";
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

function buildEcho(prompt: string): Echo {
  const lastLine =
    prompt
      .split(/[\r\n]/)
      .findLast(hasLetters)
      ?.trim() ?? "";
  return { letters: onlyLetters(prompt), lastLine: lastLine.length < LEAST_BEGINNING ? "" : lastLine };
}

/**
 * The prompt shows both signals. A tag is an echo if the letters before it are those before the same tag in the prompt.
 * Only letters and digits count, so it does not matter how the echo was wrapped, indented, framed or marked with `>`.
 */
function isEchoed({ letters }: Echo, before: string, tag: string): boolean {
  if (letters === "") return false;
  const context = onlyLetters(before.slice(-ECHO_REACH)).slice(-CONTEXT);
  const wanted = onlyLetters(tag);
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
  for (let at = findNext(text, lastLine, 0); at >= 0; at = findNext(text, lastLine, end)) {
    end = at + text.slice(at).search(/[\r\n]|$/);
    if (!onlyLetters(text.slice(Math.max(0, end - ECHO_REACH), end)).endsWith(letters.slice(-CONTEXT))) continue;
    parts.push(text.slice(from, end));
    from = end + text.slice(end).search(/(?<=[\r\n])[^\r\n]*[\p{L}\p{N}]|$/u);
  }
  return [...parts, text.slice(from)];
}

const findNext = (text: string, line: string, from: number) => (line === "" ? -1 : text.indexOf(line, from));
const hasLetters = (text: string) => /[\p{L}\p{N}]/u.test(text);
const onlyLetters = (text: string) => text.replace(/[^\p{L}\p{N}]+/gu, "");
