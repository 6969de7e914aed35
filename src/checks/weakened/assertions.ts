/** What a piece of code checks: its assertions, without those that cannot fail. */
import { LANGUAGES } from "./languages.ts";
import { closingIndex, lineEnd, readSource, type Source, splitParts } from "./source.ts";
import { blockEnd, type Unit } from "./units.ts";

/** Of the same name, but only about how to check. */
const NO_ASSERTION =
  /^(?:expect\s*\.\s*(?:assertions|hasAssertions|extend|any|anything|objectContaining|arrayContaining|stringContaining|stringMatching|closeTo|not|addSnapshotSerializer)|expectTypeOf|assert\s*\.\s*(?:Ignore|Inconclusive))/i;

export function assertionsIn(source: Source, [from, to]: Unit["body"], helpers: Map<string, string[]>) {
  const own = ownAssertions(source, from, to);
  const calls = callsIn(source.bare.slice(from, to));
  const lent = calls.flatMap((name) => helpers.get(name) ?? []);
  // A helper of this name is counted by what it does, not as a check of its own.
  const found = own.filter(({ name }) => !helpers.has(name)).map(({ text }) => text);
  const unknown = calls.some((name) => CHECKING.test(name) && !helpers.has(name) && !KNOWN.test(name));
  return { found: [...found, ...lent], unknown };
}

const CHECKING = /^(?:assert|expect|check|verify|ensure|should|must)(?:_|[A-Z])\w/;
/** What the usual libraries call theirs. */
const KNOWN =
  /^(?:assert(?:That|Equals?|NotEquals?|True|False|Null|NotNull|Same|NotSame|Throws|Contains|Raises|In|NotIn|Is\w*|Almost\w*|Array\w*|Count|Empty|Not\w*|Does\w*|All|Greater\w*|Less\w*|Regex\w*|String\w*|Instance\w*|Dict\w*|List\w*|Set\w*|Tuple\w*|Has\w*|Status|Json\w*|_\w+)|assert_\w+|expect(?:Exception\w*|TypeOf|Error|Output\w*)|verify(?:NoMoreInteractions|NoInteractions|All)?)$/;

function callsIn(bare: string): string[] {
  return [...bare.matchAll(/(?<![\w$])([A-Za-z_]\w*)\s*!?\s*\(/g)].map((match) => match[1]!);
}

function ownAssertions(source: Source, from: number, to: number): { name: string; text: string }[] {
  const bare = source.bare.slice(from, to);
  return [...bare.matchAll(LANGUAGES[source.language].assertions)].flatMap((match) => {
    if (NO_ASSERTION.test(match[0])) return [];
    const text = statementAt(source, from + match.index, to);
    if (isTrivial(text)) return [];
    return [{ name: /^\w+/.exec(match[0])?.[0] ?? "", text: text.replace(/\s+/g, "") }];
  });
}

const LONGEST_STATEMENT = 2_000;

/** From its first word over its brackets to the end of the statement, or of the line. */
function statementAt(source: Source, from: number, end: number): string {
  const { bare, code } = source;
  const to = Math.min(end, from + LONGEST_STATEMENT);
  let at = from;
  while (at < to && !/[;\n]/.test(bare[at]!)) {
    if (/[([{]/.test(bare[at]!)) at = Math.min(closingIndex(source, at), to);
    at += 1;
    if (bare[at] === "\n" && /^\s*\./.test(bare.slice(at, at + 80))) at += 1;
  }
  return code.slice(from, Math.min(at, to)).trim();
}

// ── What cannot fail ────────────────────────────────────────────────────────

const LITERAL = String.raw`(?:true|True|false|False|null|nil|None|undefined|-?\d+(?:\.\d+)?|"[^"]*"|'[^']*')`;
const TRIVIAL = [
  new RegExp(String.raw`^expect\s*[({]\s*${LITERAL}\s*[)}]`),
  /^\.?\s*(?:assert|assertTrue|assert_true|assertThat|(?:Assert|assert|require)\s*\.\s*(?:ok|isOk|isTrue|IsTrue|True|That))\s*!?\s*\(?\s*(?:t\s*,\s*)?(?:true|True|1)\s*(?:[,)].*)?$/s,
  /^\.?\s*(?:assertFalse|assert_false|(?:Assert|assert|require)\s*\.\s*(?:notOk|isFalse|IsFalse|False))\s*\(\s*(?:t\s*,\s*)?(?:false|False|0)\s*[,)]/,
  new RegExp(String.raw`^assert\s*\(?\s*(${LITERAL})\s*={1,3}\s*\1\s*\)?$`),
];

function isTrivial(text: string): boolean {
  const plain = text.trim().replace(/;$/, "");
  return TRIVIAL.some((pattern) => pattern.test(plain)) || saysItself(plain);
}

/** assertEquals(a, a), expect(a).toBe(a), assert a == a. */
function saysItself(text: string): boolean {
  const plain = text.replace(/\s+/g, "");
  const expected = /^expect\((.+)\)\.(?:to(?:Be|Equal|StrictEqual)|to\.(?:equal|eql|be))\((.+)\)$/s.exec(plain);
  if (expected) return expected[1] === expected[2];
  const compared = /^assert(.+?)={2,3}(.+)$/s.exec(plain);
  if (compared && !plain.startsWith("assert(") && !/^assert\w*!/.test(plain)) return compared[1] === compared[2];
  const open = plain.indexOf("(");
  if (open < 0 || !/equal|_eq|same|AreEqual/i.test(plain.slice(0, open))) return false;
  const source = readSource(plain, "js");
  const parts = splitParts(source, open + 1, closingIndex(source, open)).map((part) => plain.slice(...part));
  return parts.length >= 2 && parts[0] === parts[1];
}

// ── Helpers ─────────────────────────────────────────────────────────────────

/** Functions of a file that are no tests, each with what it checks itself and through those it calls. */
export function helpersIn(source: Source, units: Unit[]): Map<string, string[]> {
  const bodies = new Map<string, Unit["body"]>();
  const tests = Map.groupBy(
    units.filter(({ group }) => !group),
    ({ name }) => name,
  );
  for (const match of source.bare.matchAll(LANGUAGES[source.language].declared)) {
    const name = match[1] ?? match[2];
    const isTest = (tests.get(name ?? "") ?? []).some((unit) => unit.start <= match.index && match.index < unit.end);
    if (name && !isTest && !/^(?:if|for|while|switch|catch|function)$/.test(name))
      bodies.set(name, helperBody(source, match.index));
  }
  const direct = new Map([...bodies].map(([name, body]) => [name, ownAssertions(source, ...body)]));
  const helpers = new Map<string, string[]>();
  for (const [name, body] of bodies) {
    const lent = callsIn(source.bare.slice(...body)).flatMap((called) =>
      called === name ? [] : (direct.get(called) ?? []),
    );
    const own = direct.get(name)!.filter((one) => !bodies.has(one.name) || one.name === name);
    helpers.set(
      name,
      [...own, ...lent].map(({ text }) => text),
    );
  }
  return helpers;
}

function helperBody(source: Source, declaration: number): Unit["body"] {
  const { bare, language } = source;
  if (language === "python" || language === "ruby") {
    const start = lineEnd(bare, declaration);
    const indent = /^[ \t]*/.exec(bare.slice(declaration, start))![0].length;
    return [start, blockEnd(bare, start, indent, language)];
  }
  const open = bare.indexOf("(", declaration);
  const from = open < 0 ? declaration : closingIndex(source, open);
  const rest = /[{;]|=>\s*[^\s{]/.exec(bare.slice(from, from + 500));
  if (!rest || rest[0] === ";") return [from, from];
  const at = from + rest.index;
  return bare[at] === "{" ? [at + 1, closingIndex(source, at)] : [at, lineEnd(bare, at)];
}
