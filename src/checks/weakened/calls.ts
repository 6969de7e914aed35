/** Tests that are calls with a name and a function: JavaScript, Pest, Go's t.Run; and Ruby's blocks. */
import { closeOf, partsOf, type Source } from "./source.ts";
import { elementsIn, type Unit } from "./units.ts";

const GROUPS = new Set(["describe", "context", "suite", "fdescribe", "xdescribe", "fcontext", "xcontext", "feature"]);
const SKIPPING = new Set(["skip", "todo", "fixme", "failing", "fails", "skipIf", "runIf", "todoIf"]);
/** Of the same object, with a name and a function, but no tests. */
const OTHERS = /^(?:step|use|extend|slow|info|configure|expect|mock|(?:before|after)(?:Each|All)?)$/;
const NAMES = "it|test|specify|describe|context|suite|xit|xtest|xspecify|xdescribe|xcontext|fit|fdescribe|fcontext";
const CALLS: Partial<Record<Source["language"], RegExp>> = {
  js: new RegExp(String.raw`(?<![\w$.]|\bfunction\s)(?:(?:t|tap|QUnit|Deno)\.(?=test\b))?(${NAMES})(?![\w$])`, "g"),
  php: /(?<![\w$>:]|\bfunction\s)(it|test|describe)(?=\s*\()/g,
  go: /(?<![\w])\w+\.(Run)(?=\s*\()/g,
};

export function callUnits(source: Source): Unit[] {
  const pattern = CALLS[source.language];
  if (!pattern) return [];
  return [...source.bare.matchAll(pattern)].flatMap((match) => {
    const call = readCall(source, match.index + match[0].length);
    return call === null ? [] : (unitOf(source, match[1]!, match.index, call) ?? []);
  });
}

interface Call {
  words: string[];
  open: number;
  close: number;
  rows: number;
}

/** Over ".only", ".each(table)" and ".each`table`" to the brackets with the name and the function. */
function readCall(source: Source, from: number): Call | null {
  const { bare } = source;
  const words: string[] = [];
  let rows = 1;
  let at = from;
  for (;;) {
    at += /^\s*/.exec(bare.slice(at, at + 200))![0].length;
    const word = /^\.\s*(\w+)/.exec(bare.slice(at, at + 100));
    if (word) {
      words.push(word[1]!);
      at += word[0].length;
    } else if (bare[at] === "`") {
      const end = bare.indexOf("`", at + 1);
      if (end < 0) return null;
      // The head of such a table is a line, too.
      rows = Math.max(1, bare.slice(at, end).trim().split("\n").length - 2);
      at = end + 1;
    } else if (bare[at] === "(") {
      const close = closeOf(source, at);
      if (!/^\s*[(`]/.test(bare.slice(close + 1, close + 100)) || words.length === 0)
        return { words, open: at, close, rows };
      const list = /^\(\s*\[/.exec(bare.slice(at, at + 100));
      if (list) rows = Math.max(1, elementsIn(source, at + list[0].length - 1));
      at = close + 1;
    } else return null;
  }
}

function unitOf(source: Source, word: string, start: number, { words, open, close, rows }: Call): Unit | null {
  const { bare, code } = source;
  const parts = partsOf(source, open + 1, close);
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
  const bodyStart = arrow ? start + arrow.index + arrow[0].length : parametersEnd(source, start);
  if (arrow && bare[bodyStart] !== "{") return [bodyStart, end];
  const open = bare.indexOf("{", bodyStart);
  return open < 0 || open >= end ? [start, end] : [open + 1, Math.min(closeOf(source, open), end)];
}

function parametersEnd(source: Source, start: number): number {
  const open = source.bare.indexOf("(", start);
  return open < 0 ? start : closeOf(source, open);
}

// ── Ruby ────────────────────────────────────────────────────────────────────

const RUBY =
  /^([ \t]*)(?:RSpec\.)?(x|f)?(describe|context|feature|it|specify|example|scenario|test|pending|skip|its|def[ \t]+(test_\w+)|class[ \t]+(\w+))\b([^\n]*)/gm;

/** Blocks end where a line is as deep as their first one. */
export function rubyUnits(source: Source): Unit[] {
  const { bare, code } = source;
  const ends = endsIn(bare);
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
    return [
      {
        name,
        group: /^(?:describe|context|feature|class)/.test(word!),
        start: match.index,
        end,
        body: [Math.min(bodyStart, end), end] as [number, number],
        skipped:
          letter === "x" ||
          /^(?:pending|skip)$/.test(word!) ||
          /(?:^|[\s,]):(?:skip|pending)\b|\b(?:skip|pending):\s*(?!false|nil)/.test(marks) ||
          !opens,
        focused:
          letter === "f" ||
          /(?:^|[\s,]):focus\b|\bfocus:\s*true/.test(marks) ||
          /^[ \t]*focus\b/.test(previousLine(bare, match.index)),
        rows: 1,
      },
    ];
  });
}

function previousLine(bare: string, at: number): string {
  const end = bare.lastIndexOf("\n", at - 1);
  return end <= 0 ? "" : bare.slice(bare.lastIndexOf("\n", end - 1) + 1, end);
}

/** Where the lines with "end" begin, by how deep they are. */
function endsIn(bare: string): Map<number, number[]> {
  const ends = new Map<number, number[]>();
  for (const match of bare.matchAll(/^([ \t]*)end\b/gm)) {
    const depth = match[1]!.length;
    const list = ends.get(depth);
    if (list) list.push(match.index);
    else ends.set(depth, [match.index]);
  }
  return ends;
}

function rubyEnd(source: Source, from: number, ends: number[], rest: string): number {
  const { bare } = source;
  const lineEnd = bare.indexOf("\n", from);
  if (rest.includes("{") && !/\bdo\b/.test(rest)) return closeOf(source, bare.indexOf("{", from));
  if (/\bend\s*$/.test(rest) || lineEnd < 0) return lineEnd < 0 ? bare.length : lineEnd;
  return ends[firstBehind(ends, lineEnd)] ?? bare.length;
}

function firstBehind(places: number[], at: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
