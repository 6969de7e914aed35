/** Where a source file has its tests, and what is around them. */
import { LANGUAGES, type Style } from "./languages.ts";
import { closingIndex, lineEnd, openingIndex, type Source, splitParts } from "./source.ts";

/** A test, or a group of tests. All numbers are places in the text. */
export interface Unit {
  name: string;
  group: boolean;
  start: number;
  end: number;
  body: [start: number, end: number];
  skipped: boolean;
  focused: boolean;
  /** how many times a table lets it run */
  rows: number;
}

const FINDERS: Partial<Record<Source["language"], (source: Source) => Unit[]>> = {
  python: pythonUnits,
  ruby: rubyUnits,
};

/** In the order of the text, outer ones first. */
export function listUnits(source: Source): Unit[] {
  const find = FINDERS[source.language] ?? ((one: Source) => [...functionUnits(one), ...callUnits(one)]);
  return find(source).sort((a, b) => a.start - b.start || b.end - a.end);
}

// ── Functions ───────────────────────────────────────────────────────────────

function functionUnits(source: Source): Unit[] {
  const { style } = LANGUAGES[source.language];
  return style ? [...groupsIn(source, style), ...testsIn(source, style)] : [];
}

function groupsIn(source: Source, { groups, skipped }: Style): Unit[] {
  return [...source.bare.matchAll(groups ?? /(?!)/g)].map(({ 0: match, 1: name, index: start }) => {
    const open = start + match.length - 1;
    const end = closingIndex(source, open) + 1;
    const head = source.bare.slice(findHead(source, start), start);
    const isSkipped = skipped?.test(head) ?? false;
    return {
      name: name!,
      group: true,
      start,
      end,
      body: [open + 1, end - 1],
      skipped: isSkipped,
      focused: false,
      rows: 1,
    };
  });
}

function testsIn(source: Source, style: Style): Unit[] {
  const { bare, text } = source;
  return [...bare.matchAll(style.declaration)].flatMap((match) => {
    const start = findHead(source, match.index);
    const head = bare.slice(start, match.index);
    if (!style.isTest(match[1]!, head, text.slice(start, match.index))) return [];
    const body = bodyAfter(source, closingIndex(source, match.index + match[0].length - 1) + 1, style);
    if (body === null) return [];
    const skipped = style.skipped?.test(head) ?? false;
    const name = match[1]!.replaceAll("`", "");
    return [{ name, group: false, start, end: body[1] + 1, body, skipped, focused: false, rows: rowsIn(head) }];
  });
}

/** One line for each set of values: @CsvSource would have to be read, so only what is repeated counts. */
const rowsIn = (head: string) =>
  Math.max(1, head.match(/\[\s*(?:InlineData|TestCase|DataRow)\b|#\[\s*(?:case|test_case)\b/g)?.length ?? 0);

/** Annotations and modifiers in front of a declaration. */
function findHead(source: Source, declaration: number): number {
  const { bare } = source;
  let at = declaration - 1;
  while (at >= 0 && !/[;{}([]/.test(bare[at]!))
    at = bare[at] === ")" || bare[at] === "]" ? openingIndex(source, at) - 1 : at - 1;
  return at + 1;
}

function bodyAfter(source: Source, from: number, { expression }: Style): Unit["body"] | null {
  const { bare } = source;
  const stop = /[{;=]/.exec(bare.slice(from, from + 500));
  if (!stop || stop[0] === ";") return null;
  const at = from + stop.index;
  if (stop[0] === "{") return [at + 1, closingIndex(source, at)];
  if (!expression) return null;
  const brace = bare.indexOf("{", at);
  const end = lineEnd(bare, at);
  return brace >= 0 && brace < end ? [brace + 1, closingIndex(source, brace)] : [at + 1, end];
}

// ── Calls with a name and a function: JavaScript, Pest, Go's t.Run ─────────

const GROUPS = new Set(["describe", "context", "suite", "fdescribe", "xdescribe", "fcontext", "xcontext", "feature"]);
const SKIPPING = new Set(["skip", "todo", "fixme", "failing", "fails", "skipIf", "runIf", "todoIf"]);
/** Of the same object, with a name and a function, but no tests. */
const OTHERS = /^(?:step|use|extend|slow|info|configure|expect|mock|(?:before|after)(?:Each|All)?)$/;

function callUnits(source: Source): Unit[] {
  const { calls } = LANGUAGES[source.language];
  return [...source.bare.matchAll(calls ?? /(?!)/g)].flatMap((match) => {
    const call = readCall(source, match.index + match[0].length);
    return call === null ? [] : (readUnit(source, match[1]!, match.index, call) ?? []);
  });
}

interface Call {
  words: string[];
  open: number;
  close: number;
  rows: number;
}

const NEXT_PART = /\s{0,200}(?:\.\s{0,100}(\w+)|[(`])/y;

/** Over ".only", ".each(table)" and ".each`table`" to the brackets with the name and the function. */
function readCall(source: Source, from: number): Call | null {
  const { bare } = source;
  const words: string[] = [];
  let rows = 1;
  NEXT_PART.lastIndex = from;
  for (let next = NEXT_PART.exec(bare); next; next = NEXT_PART.exec(bare)) {
    if (next[1]) {
      words.push(next[1]);
      continue;
    }
    const open = NEXT_PART.lastIndex - 1;
    const isText = bare[open] === "`";
    const close = isText ? bare.indexOf("`", open + 1) : closingIndex(source, open);
    if (close < 0) return null;
    const isTable = isText || (words.length > 0 && /^\s*[(`]/.test(bare.slice(close + 1, close + 100)));
    if (!isTable) return { words, open, close, rows };
    const list = /^\(\s*\[/.exec(bare.slice(open, open + 100));
    // The head of a table that is a text is a line, too.
    if (isText) rows = Math.max(1, bare.slice(open, close).trim().split("\n").length - 2);
    else if (list) rows = Math.max(1, elementsIn(source, open + list[0].length - 1));
    NEXT_PART.lastIndex = close + 1;
  }
  return null;
}

function readUnit(source: Source, word: string, start: number, { words, open, close, rows }: Call): Unit | null {
  const { bare, code } = source;
  const parts = splitParts(source, open + 1, close);
  const first = parts[0];
  if (!first || close === bare.length || words.some((one) => OTHERS.test(one))) return null;
  const name = code.slice(...first).trim();
  const last = parts.at(-1)!;
  const quoted = /^["'`]/.test(name);
  const functional = /=>|\b(?:function|func|fn)\b/.test(bare.slice(last[0], Math.min(last[1], last[0] + 1_000)));
  // `test.skip(isMobile, "why")` is inside a test and is none itself; Go's t.Run(name, …) is the body of the test around it.
  const enough = parts.length > 1 || (quoted && source.language !== "go");
  if (!enough || (!quoted && (!functional || source.language === "go"))) return null;
  // A method that happens to have such a name is declared, not called.
  if (/^\s*\{/.test(bare.slice(close + 1, close + 20))) return null;
  const unwritten = parts.length < 2 && source.language === "js";
  const options = parts
    .slice(1, -1)
    .map((part) => bare.slice(...part))
    .join(",");
  const after = /^(?:\s*->\s*\w+\s*\([^)]*\))*/.exec(bare.slice(close + 1, close + 500))![0];
  const says = (key: string) => new RegExp(String.raw`\b${key}\s*:\s*(?!\s|false\b|undefined\b)`).test(options);
  return {
    name: quoted ? name.slice(1, -1) : name,
    group: GROUPS.has(word) || words.includes("describe"),
    start,
    end: close + 1,
    body: functionBody(source, parts.length < 2 ? [close, close] : last),
    skipped:
      unwritten ||
      word.startsWith("x") ||
      words.some((one) => SKIPPING.has(one)) ||
      says("skip") ||
      says("todo") ||
      /->\s*(?:skip|todo)\b/.test(after),
    focused:
      /^f(?:it|describe|context)$/.test(word) || words.includes("only") || says("only") || /->\s*only\b/.test(after),
    rows,
  };
}

/** Inside the braces, or the expression after the arrow. */
function functionBody(source: Source, [start, end]: [number, number]): [number, number] {
  const { bare } = source;
  const arrow = /=>\s*/.exec(bare.slice(start, Math.min(end, start + 1_000)));
  const parameters = bare.indexOf("(", start);
  const declared = parameters < 0 ? start : closingIndex(source, parameters);
  const bodyStart = arrow ? start + arrow.index + arrow[0].length : declared;
  if (arrow && bare[bodyStart] !== "{") return [bodyStart, end];
  const open = bare.indexOf("{", bodyStart);
  return open < 0 || open >= end ? [start, end] : [open + 1, Math.min(closingIndex(source, open), end)];
}

// ── Python ──────────────────────────────────────────────────────────────────

const PYTHON_SKIP = /@\s*(?:[\w.]+\.)?(?:skip\w*|xfail|expectedFailure)\b/;

function pythonUnits(source: Source): Unit[] {
  const { bare } = source;
  const units: Unit[] = [];
  const found = bare.matchAll(/^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)[^\n]*/gm);
  let functionEnd = 0;
  for (const match of found) {
    const group = match[2] === "class";
    const signature = signatureEnd(source, match.index);
    const open = bare.indexOf(":", signature);
    const end = blockEnd(bare, signature, match[1]!.length, "python");
    // A function inside a function is a helper.
    if (match.index < functionEnd) continue;
    if (!group) functionEnd = end;
    if (!group && !/^test/.test(match[3]!)) continue;
    const start = skipDecorators(source, match.index);
    const head = bare.slice(start, match.index);
    const skipped =
      PYTHON_SKIP.test(head) || (group && /^[ \t]+__test__[ \t]*=[ \t]*False/m.test(bare.slice(open, end)));
    const table = /\bparametrize\s*\([^[]{0,300}?,\s*(?=\[)/.exec(head);
    const rows = table ? elementsIn(source, start + table.index + table[0].length) : 1;
    units.push({ name: match[3]!, group, start, end, body: [open + 1, end], skipped, focused: false, rows });
  }
  return units;
}

/** After the parameters, whose annotations have colons of their own. */
function signatureEnd(source: Source, from: number): number {
  const open = /[(:]/.exec(source.bare.slice(from, from + 300));
  const at = from + (open?.index ?? 0);
  return open?.[0] === "(" ? closingIndex(source, at) : at;
}

/** Python: the first line that is not deeper than the block's own. Ruby: its `end`. */
export function blockEnd(bare: string, from: number, indent: number, language: "python" | "ruby"): number {
  const python = String.raw`\n[ \t]{0,${indent}}[^\s)\]}]`;
  const line = new RegExp(language === "python" ? python : String.raw`\n[ \t]{${indent}}end\b`, "g");
  line.lastIndex = from;
  return line.exec(bare)?.index ?? bare.length;
}

function skipDecorators(source: Source, declaration: number): number {
  const { bare } = source;
  let start = declaration;
  for (;;) {
    let end = start;
    while (end > 0 && /\s/.test(bare[end - 1]!)) end -= 1;
    const last = bare[end - 1] === ")" ? openingIndex(source, end - 1) : end;
    const line = bare.lastIndexOf("\n", last - 1) + 1;
    if (end === 0 || !/^[ \t]*@/.test(bare.slice(line, last))) return start;
    start = line;
  }
}

/** Of a list that begins here. */
const elementsIn = (source: Source, open: number) => splitParts(source, open + 1, closingIndex(source, open)).length;

// ── Ruby ────────────────────────────────────────────────────────────────────

const RUBY =
  /^([ \t]*)(?:RSpec\.)?(x|f)?(describe|context|feature|it|specify|example|scenario|test|pending|skip|its|def[ \t]+(test_\w+)|class[ \t]+(\w+))\b([^\n]*)/gm;

/** Blocks end where a line is as deep as their first one. */
function rubyUnits(source: Source): Unit[] {
  const { bare, code } = source;
  const ends = Map.groupBy(bare.matchAll(/^([ \t]*)end\b/gm), ([, depth]) => depth!.length);
  return [...bare.matchAll(RUBY)].flatMap((match) => {
    const [line, indent, letter = "", word] = match;
    const rest = code.slice(match.index + line.length - match[6]!.length, match.index + line.length);
    const declared = match[4] ?? match[5];
    const opens = declared !== undefined || /\bdo\b|\{/.test(match[6]!);
    // Without a block, these two are inside a test; the others are tests that are not written yet.
    if (!opens && (!/^[ (]*["']/.test(rest) || /^(?:skip|pending)$/.test(word!))) return [];
    const end = opens
      ? rubyEnd(source, match.index, ends.get(indent!.length) ?? [], match[6]!)
      : match.index + line.length;
    const braces = declared === undefined && /\{/.test(match[6]!);
    const name = declared ?? /^[\s(]*(["'])(.*?)\1/.exec(rest)?.[2] ?? rest.replace(/\s*\bdo\b.*$/, "").trim();
    const marks = rest.replace(/(["'])(?:\\.|(?!\1).)*\1/g, "");
    const bodyStart = match.index + (braces ? line.indexOf("{") + 1 : line.length);
    const skipped =
      !opens ||
      letter === "x" ||
      /^(?:pending|skip)$/.test(word!) ||
      /(?:^|[\s,]):(?:skip|pending)\b|\b(?:skip|pending):\s*(?!false|nil)/.test(marks);
    const focused =
      letter === "f" ||
      /(?:^|[\s,]):focus\b|\bfocus:\s*true/.test(marks) ||
      /\n[ \t]*focus\b[^\n]*\n$/.test(bare.slice(Math.max(0, match.index - 200), match.index));
    const group = /^(?:describe|context|feature|class)/.test(word!);
    const body: Unit["body"] = [Math.min(bodyStart, end), end];
    return [{ name, group, start: match.index, end, body, skipped, focused, rows: 1 }];
  });
}

function rubyEnd(source: Source, from: number, ends: RegExpExecArray[], rest: string): number {
  const { bare } = source;
  if (rest.includes("{") && !/\bdo\b/.test(rest)) return closingIndex(source, bare.indexOf("{", from));
  const line = lineEnd(bare, from);
  return /\bend\s*$/.test(rest) ? line : (ends.find(({ index }) => index > line)?.index ?? bare.length);
}
