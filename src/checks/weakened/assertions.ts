/** What a piece of code checks: its assertions, without those that cannot fail. */
import { closeOf, type Language, partsOf, readSource, type Source } from "./source.ts";
import type { Unit } from "./units.ts";

const CALLED = String.raw`(?:expect|assert)\w*(?:\s*\.\s*\w+)*\s*(?:<[^<>()]{0,100}>)?\s*\(`;
const C_LIKE =
  /\b(?:assert\w*|expect\w*|verify\w*|fail)\s*(?:<[^<>()]{0,100}>)?\s*\(|\bAssert\s*\.\s*\w+|\.\s*should\w*\b|\bshould[A-Z]\w*|\.\s*andExpect\s*\(/g;

const ASSERTIONS: Record<Language, RegExp> = {
  js: new RegExp(
    String.raw`\b${CALLED}|\.\s*should\b|\bt\s*\.\s*(?:is|not|deepEqual|notDeepEqual|like|true|false|truthy|falsy|throws|notThrows|throwsAsync|notThrowsAsync|regex|snapshot|equal|same|ok|notOk|match|pass|fail|strictEqual)\s*\(`,
    "g",
  ),
  python: /\bassert\b|\.\s*(?:assert|fail)\w*\s*\(|\bassert_\w+\s*\(|\bpytest\s*\.\s*(?:raises|warns|fail)\s*\(/g,
  go: /\b\w+\s*\.\s*(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\b(?:assert|require|is|Expect|check)\s*\.\s*\w+\s*\(|\bExpect\s*\(|\b[st]\w*\s*\.\s*(?:Equal|NotEqual|NoError|True|False|Nil|NotNil|Len|Contains|Empty|Require|Assert)\s*\(/g,
  rust: /\b\w*assert\w*\s*!|\bpanic\s*!/g,
  php: /\b(?:assert\w*|expect\w*|fail|should\w*)\s*\(/g,
  ruby: /\bexpect\b|\.\s*should\w*\b|\bis_expected\b|\b(?:assert|refute)\w*\b|\.\s*(?:must|wont)_\w+|\bflunk\b/g,
  java: new RegExp(`${C_LIKE.source}|\\bassert\\b(?!\\s*[(.])`, "g"),
  kotlin: C_LIKE,
  csharp: /\bAssert\s*\.\s*\w+|\.\s*Should\w*\s*\(|\.\s*(?:Verify|Received|DidNotReceive)\w*\s*\(|\bVerify\w*\s*\(/g,
};

/** Long white space would be tried in every way it can be divided. */
const BOUNDED = Object.fromEntries(
  Object.entries(ASSERTIONS).map(([language, { source }]) => [
    language,
    new RegExp(source.replaceAll("\\s*", "\\s{0,40}"), "g"),
  ]),
) as Record<Language, RegExp>;

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
  return [...bare.matchAll(BOUNDED[source.language])].flatMap((match) => {
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
    if (/[([{]/.test(bare[at]!)) at = Math.min(closeOf(source, at), to);
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
  const parts = partsOf(source, open + 1, closeOf(source, open)).map((part) => plain.slice(...part));
  return parts.length >= 2 && parts[0] === parts[1];
}

// ── Helpers ─────────────────────────────────────────────────────────────────

const DECLARED: Record<Language, RegExp> = {
  js: /\bfunction\s*\*?\s*(\w+)\s*(?:<[^>]{0,100}>)?\s*\(|\b(?:const|let|var)\s+(\w+)\s*(?::[^=;]{1,300})?=\s*(?:async\s*)?(?:function\b[^(]*)?\(/g,
  python: /^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)\s*\(/gm,
  go: /\bfunc\s+(?:\([^)]{0,200}\)\s*)?(\w+)\s*\(/g,
  rust: /\bfn\s+(\w+)\s*(?:<[^>(]{0,100}>)?\s*\(|\bmacro_rules\s*!\s*(\w+)\s*\{/g,
  php: /\bfunction\s+(\w+)\s*\(/g,
  ruby: /^[ \t]*def[ \t]+(?:self\.)?(\w+[?!]?)/gm,
  java: /\b(\w+)\s*\([^()]*\)\s*(?:throws\s[\w.,\s]+)?\{/g,
  kotlin: /\bfun\s+(?:<[^>]{0,100}>\s*)?(?:[\w.]+\.)?(\w+)\s*\(/g,
  csharp: /\b(\w+)\s*\([^()]*\)\s*\{/g,
};

/** Functions of a file that are no tests, each with what it checks itself and through those it calls. */
export function helpersIn(source: Source, units: Unit[]): Map<string, string[]> {
  const bodies = new Map<string, Unit["body"]>();
  const tests = Map.groupBy(
    units.filter(({ group }) => !group),
    ({ name }) => name,
  );
  for (const match of source.bare.matchAll(DECLARED[source.language])) {
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
  if (language === "python" || language === "ruby") return indentedBody(bare, declaration, language === "ruby");
  const open = bare.indexOf("(", declaration);
  const from = open < 0 ? declaration : closeOf(source, open);
  const rest = /[{;]|=>\s*[^\s{]/.exec(bare.slice(from, from + 500));
  if (!rest || rest[0] === ";") return [from, from];
  const at = from + rest.index;
  return bare[at] === "{"
    ? [at + 1, closeOf(source, at)]
    : [at, bare.indexOf("\n", at) < 0 ? bare.length : bare.indexOf("\n", at)];
}

function indentedBody(bare: string, declaration: number, ends: boolean): Unit["body"] {
  const start = bare.indexOf("\n", declaration);
  const indent = /^\s*/.exec(bare.slice(declaration).replace(/^\n+/, ""))![0].length;
  const stop = new RegExp(ends ? String.raw`^[ \t]{${indent}}end\b` : String.raw`^[ \t]{0,${indent}}[^\s)\]}]`, "m");
  if (start < 0) return [bare.length, bare.length];
  const end = stop.exec(bare.slice(start + 1));
  return [start, end ? start + 1 + end.index : bare.length];
}
