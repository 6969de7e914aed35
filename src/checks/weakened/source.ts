/** Source text with its comments and strings taken out, so that only code is looked at. Lengths and lines stay as they are. */

export type Language = "js" | "python" | "go" | "rust" | "php" | "ruby" | "java" | "kotlin" | "csharp";

const ENDINGS: Record<string, Language> = {
  py: "python",
  go: "go",
  rs: "rust",
  php: "php",
  rb: "ruby",
  java: "java",
  kt: "kotlin",
  kts: "kotlin",
  cs: "csharp",
};

export function languageOf(path: string): Language | null {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return /^[cm]?[jt]sx?$/.test(ending) ? "js" : (ENDINGS[ending] ?? null);
}

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

interface Quote {
  open: string;
  close: string;
  /** may go over line ends */
  long?: true;
  /** a backslash means nothing */
  plain?: true;
  /** code inside, as in a template */
  hole?: string;
}

interface Grammar {
  line: string[];
  block: [open: string, close: string][];
  quotes: Quote[];
  /** "/" may begin a pattern */
  patterns?: true;
}

const SINGLE: Quote = { open: "'", close: "'" };
const DOUBLE: Quote = { open: '"', close: '"' };
const TRIPLE: Quote = { open: '"""', close: '"""', long: true };
const C_LIKE: Grammar = { line: ["//"], block: [["/*", "*/"]], quotes: [TRIPLE, DOUBLE, SINGLE] };

const GRAMMARS: Record<Language, Grammar> = {
  js: {
    line: ["//"],
    block: [["/*", "*/"]],
    quotes: [DOUBLE, SINGLE, { open: "`", close: "`", long: true, hole: "${" }],
    patterns: true,
  },
  python: { line: ["#"], block: [], quotes: [TRIPLE, { open: "'''", close: "'''", long: true }, DOUBLE, SINGLE] },
  go: {
    line: ["//"],
    block: [["/*", "*/"]],
    quotes: [{ open: "`", close: "`", long: true, plain: true }, DOUBLE, SINGLE],
  },
  rust: {
    line: ["//"],
    block: [["/*", "*/"]],
    quotes: [
      { open: 'r##"', close: '"##', long: true, plain: true },
      { open: 'r#"', close: '"#', long: true, plain: true },
      { open: 'r"', close: '"', long: true, plain: true },
      { ...DOUBLE, long: true },
    ],
  },
  php: {
    line: ["//", "#"],
    block: [["/*", "*/"]],
    quotes: [
      { ...DOUBLE, long: true },
      { ...SINGLE, long: true },
    ],
  },
  ruby: { line: ["#"], block: [["\n=begin", "\n=end"]], quotes: [{ ...DOUBLE, long: true }, SINGLE], patterns: true },
  java: C_LIKE,
  kotlin: C_LIKE,
  csharp: { ...C_LIKE, quotes: [TRIPLE, { open: '@"', close: '"', long: true, plain: true }, DOUBLE, SINGLE] },
};

export function readSource(text: string, language: Language): Source {
  const blanked: Blanked = { bare: [], code: [], text, depth: 0, endless: new Set(), failures: 0 };
  scan(blanked, 0, GRAMMARS[language], language, "");
  const bare = blanked.bare.join("");
  return { language, text, bare, code: blanked.code.join(""), partner: partnersIn(bare) };
}

interface Blanked {
  text: string;
  bare: string[];
  code: string[];
  /** of code in strings in code */
  depth: number;
  /** strings that begin, and never end */
  endless: Set<string>;
  /** texts between markers that never end */
  failures: number;
}

const blank = (text: string) => text.replace(/[^\n]/g, " ");

/** Goes through code up to `until` (a closing bracket of its own level), or the end. */
function scan(out: Blanked, from: number, grammar: Grammar, language: Language, until: string): number {
  const { text } = out;
  let at = from;
  let depth = 0;
  while (at < text.length) {
    if (until !== "" && depth === 0 && text[at] === until) return at;
    if (text[at] === "{") depth += 1;
    if (text[at] === "}") depth -= 1;
    const comment = commentAt(text, at, grammar);
    const quote = comment === 0 ? quoteAt(out, at, grammar) : undefined;
    if (comment > 0) {
      const blanks = blank(text.slice(at, at + comment));
      out.bare.push(blanks);
      out.code.push(blanks);
      at += comment;
    } else if (quote) at = string(out, at, quote, grammar, language);
    else at = plain(out, at, grammar, language);
  }
  return at;
}

function commentAt(text: string, at: number, { line, block }: Grammar): number {
  if (line.some((open) => text.startsWith(open, at)) && !text.startsWith("#[", at) && !text.startsWith("#!", at)) {
    const end = text.indexOf("\n", at);
    return (end < 0 ? text.length : end) - at;
  }
  const found = block.find(([open]) => text.startsWith(open, at));
  if (!found) return 0;
  const end = text.indexOf(found[1], at + found[0].length);
  return (end < 0 ? text.length : end + found[1].length) - at;
}

function quoteAt({ text, endless }: Blanked, at: number, { quotes }: Grammar): Quote | undefined {
  // r"…" and @"…" begin with a letter, which may also be the end of a word.
  return quotes.find(
    ({ open }) =>
      text.startsWith(open, at) && !endless.has(open) && !(open[0] === "r" && /\w/.test(text[at - 1] ?? "")),
  );
}

const DEEPEST = 20;

/** A string up to its end; one that does not end where it has to is only a character. */
function string(out: Blanked, from: number, quote: Quote, grammar: Grammar, language: Language): number {
  const { text } = out;
  const keep = (piece: string, bare: string) => {
    out.bare.push(bare);
    out.code.push(piece);
  };
  const marks = { bare: out.bare.length, code: out.code.length };
  keep(quote.open, quote.open);
  let at = from + quote.open.length;
  while (at < text.length) {
    if (text.startsWith(quote.close, at)) {
      keep(quote.close, quote.close);
      return at + quote.close.length;
    }
    if (text[at] === "\n" && !quote.long) break;
    if (quote.hole && out.depth < DEEPEST && text.startsWith(quote.hole, at)) {
      keep(quote.hole, quote.hole);
      out.depth += 1;
      at = scan(out, at + quote.hole.length, grammar, language, "}");
      out.depth -= 1;
      if (at < text.length) keep("}", "}");
      at += 1;
      continue;
    }
    const size = text[at] === "\\" && !quote.plain ? 2 : 1;
    keep(text.slice(at, at + size), blank(text.slice(at, at + size)));
    at += size;
  }
  if (out.depth > 0) return Math.min(at, text.length);
  if (quote.long) out.endless.add(quote.open);
  out.bare.length = marks.bare;
  out.code.length = marks.code;
  keep(quote.open, quote.open);
  return from + quote.open.length;
}

const PATTERN = /\/(?![*/\s])(?:\\.|\[(?:\\.|[^\]\\\n]){0,200}\]|[^/\\[\n]){1,500}\/[a-z]*/y;
const BEFORE_PATTERN = /(?:^|[(,=:[!&|?{};~\n]|\b(?:return|typeof|case|match|when|if|unless|and|or))[ \t]*$/;
const MOST_FAILURES = 20;
/** Nothing begins with these. */
const DULL = /[^"'`/#<{}@\n]+/y;
const DULL_IN_RUST = /[^"'`/#<{}@\nr]+|r(?!["#])/y;
const HEREDOC = /<<[<~-]?\s*(["'`]?)([A-Z_]\w*)\1[^\n]*\n/y;
const CHARACTER = /'(?:\\[^']+|[^'\\\n])'/y;

/** One character, or a whole word, pattern or text between two markers. */
function plain(out: Blanked, at: number, grammar: Grammar, language: Language): number {
  const { text } = out;
  const whole = (size: number, hidden: boolean) => {
    const piece = text.slice(at, at + size);
    out.bare.push(hidden ? blank(piece) : piece);
    out.code.push(piece);
    return at + size;
  };
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  const char = text[at]!;
  const dull = match(language === "rust" ? DULL_IN_RUST : DULL);
  if (dull) return whole(dull[0].length, false);
  if (char === "/" && grammar.patterns && BEFORE_PATTERN.test(text.slice(Math.max(0, at - 20), at))) {
    const pattern = match(PATTERN);
    if (pattern) return whole(pattern[0].length, true);
  }
  if (language === "rust" && char === "'") return whole(match(CHARACTER)?.[0].length ?? 1, true);
  if (char === "<" && (language === "php" || language === "ruby") && out.failures < MOST_FAILURES) {
    const heredoc = match(HEREDOC);
    const rest = heredoc && new RegExp(`^[ \\t]*${heredoc[2]}\\b`, "m").exec(text.slice(at + heredoc[0].length));
    if (heredoc && !rest) out.failures += 1;
    if (heredoc && rest) return whole(heredoc[0].length + rest.index + rest[0].length, true);
  }
  return whole(1, false);
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
export function closeOf({ bare, partner }: Source, open: number): number {
  const close = partner[open] ?? -1;
  return close < 0 ? bare.length : close;
}

/** The same backwards. */
export const openOf = ({ partner }: Source, close: number) => Math.max(0, partner[close] ?? 0);

/** What is between commas of its own level, as places in the text. */
export function partsOf(source: Source, from: number, to: number): [start: number, end: number][] {
  const { bare } = source;
  const parts: [number, number][] = [];
  let start = from;
  for (let at = from; at < to; at++) {
    if (OPENING.includes(bare[at]!)) at = Math.min(closeOf(source, at), to);
    else if (bare[at] === ",") {
      parts.push([start, at]);
      start = at + 1;
    }
  }
  if (bare.slice(start, to).trim() !== "") parts.push([start, to]);
  return parts;
}
