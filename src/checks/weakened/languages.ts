/** The languages whose tests are counted: one row says how each is written, and what its tests look like. */

export interface Language {
  ending: RegExp;
  /** what is no code: comments, then strings and patterns, whose quotes stay */
  comments: string;
  strings: string;
  /** functions, classes and modules up to their name; where they end is told by brackets, or by `indented` */
  declared: RegExp;
  indented?: "python" | "ruby";
  groups?: RegExp;
  /** by the declaration itself, or by what is in front of it */
  isTest?(declaration: string, head: string, comments: string): boolean;
  /** tests that are calls with a name and a function */
  calls?: RegExp;
  /** in front of a declaration */
  skipped?: RegExp;
  focused?: RegExp;
  /** one for each time that a table lets a test run */
  rows?: RegExp;
  assertions: RegExp;
  /** a test gives itself up */
  leaves?: RegExp;
  /** a line that takes the whole file out */
  fileLine?: RegExp;
}

const SLASHES = String.raw`\/\/(?!go:build|[ \t]*\+build)[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
/** "#[" is an attribute. */
const HASH = String.raw`#(?!\[)[^\n]*`;

const quoted = (mark: string) => String.raw`${mark}(?:\\[\s\S]|[^${mark}\\\n])*${mark}`;
const long = (mark: string, inside = String.raw`\\[\s\S]|`) =>
  String.raw`${mark}(?:${inside}[^${mark[0]}\\]|\\|(?!${mark})${mark[0]})*${mark}`;
const PATTERN = String.raw`(?<=[(,=:[!&|?{};\n][ \t]{0,9}|return )\/(?![*/\s])(?:\\.|[^/\\\n]){1,200}\/[a-z]*`;
const anyOf = (...parts: string[]) => parts.join("|");
const PLAIN = anyOf(long('"""'), quoted('"'), quoted("'"));

const JVM = {
  comments: SLASHES,
  strings: PLAIN,
  declared: /(`[^`\n]+`|\b[A-Za-z_$][\w$]*)\s{0,9}\([^(){};]{0,300}\)[^(){};=]{0,100}[{=]/g,
  groups: /\b(?:class|object|interface)\s+(\w+)[^{};]{0,300}\{/g,
  isTest: (_declaration: string, head: string) =>
    /@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b/.test(head),
  skipped: /@(?:\w+\.)*(?:Disabled\w*|Ignore)\b/,
  assertions:
    /\b(?:assert\w*|expect\w*|verify\w*|fail)\s{0,9}(?:<[^<>()]{0,100}>)?\s{0,9}\(|\bAssert\.\w+|\.\s{0,9}should\w*\b|\bshould[A-Z]\w*|\bassert\b(?!\s{0,9}[(.])/g,
  leaves: /\bassum(?:e|ing)\w*\s{0,9}\(/,
};

const LANGUAGES: Language[] = [
  {
    ending: /\.[cm]?[jt]sx?$/i,
    comments: SLASHES,
    strings: anyOf(quoted('"'), quoted("'"), long("`"), PATTERN),
    declared:
      /\bfunction\s{0,9}\*?\s{0,9}(\w+)\s{0,9}(?:<[^>]{0,100}>)?\(|\b(?:const|let|var)\s+(\w+)\s{0,9}(?::[^=;]{1,300})?=\s{0,9}(?:async\s{0,9})?(?:function\b[^(]{0,50})?\([^()]{0,300}\)[^(){};=]{0,100}(?:=>|\{)/g,
    calls:
      /(?<![\w$.]|\bfunction\s)(?:(?:t|tap|QUnit|Deno)\.(?=test\b))?(?:x|f)?(?:it|test|specify|describe|context|suite)(?![\w$])/g,
    assertions:
      /\b(?:expect(?!TypeOf)|assert)\w*(?:\s{0,40}\.\s{0,40}(?!assertions|hasAssertions|extend|any|objectContaining|arrayContaining|stringContaining|stringMatching|closeTo)\w+)*\s{0,9}(?:<[^<>()]{0,100}>)?\(|\.\s{0,40}should\b|\bt\.(?:is|not|deepEqual|notDeepEqual|like|true|false|truthy|falsy|throws|notThrows|throwsAsync|notThrowsAsync|regex|snapshot|equal|same|ok|notOk|match|pass|fail|strictEqual)\(/g,
    leaves:
      /\b(?:this|t|ctx|context|test|it|testInfo)\s{0,9}\.\s{0,9}(?:skip|fixme|todo)\s{0,9}\((?!\s{0,9}["'`])|\bt\.skip\(/,
    fileLine: /^(?:describe|test|it)\.skip\(\s{0,9}\)/m,
  },
  {
    ending: /\.py$/i,
    comments: HASH,
    strings: anyOf(long('"""'), long("'''"), quoted('"'), quoted("'")),
    declared: /^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)/gm,
    indented: "python",
    groups: /^[ \t]*class[ \t]+(\w+)/gm,
    isTest: (declaration) => /\bdef[ \t]+test/.test(declaration),
    skipped: /@\s{0,9}(?:[\w.]+\.)?(?:skip\w*|xfail|expectedFailure)\b/,
    rows: /\bparametrize\s{0,9}\([^[]{0,300}?,\s{0,40}(?=\[)/,
    assertions:
      /\bassert\b|\.\s{0,9}(?:assert|fail)\w*\s{0,9}\(|\bassert_\w+\s{0,9}\(|\bpytest\.(?:raises|warns|fail)\(/g,
    leaves: /\b(?:pytest\.(?:skip|xfail|importorskip)|self\.skipTest)\s{0,9}\(|\bSkipTest\b/,
    fileLine:
      /^(?:pytestmark[ \t]*=[^\n]*\b(?:skip\w*|xfail)\b|pytest\.(?:skip|importorskip)\(|raise[ \t]+(?:unittest\.)?SkipTest\b)[^\n]*/m,
  },
  {
    ending: /\.go$/i,
    comments: SLASHES,
    strings: anyOf(long("`", ""), quoted('"'), quoted("'")),
    declared: /\bfunc\s+(?:\([^)]{0,200}\)\s{0,9})?(\w+)\s{0,9}\(/g,
    isTest: (declaration) => /\b(?:Test|Fuzz|Example)\w*\s{0,9}\($/.test(declaration),
    calls: /(?<!\w)\w+\.Run(?=\s{0,9}\()/g,
    assertions:
      /\b\w+\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|Expect|check)\.\w+\(|\bExpect\(|\b[st]\w*\.(?:Equal|NotEqual|NoError|True|False|Nil|NotNil|Len|Contains|Empty|Require|Assert)\(/g,
    leaves: /\.Skip(?:f|Now)?\(/,
    fileLine: /^\/\/(?:go:build|[ \t]*\+build)[ \t][^\n]*/m,
  },
  {
    ending: /\.rs$/i,
    comments: SLASHES,
    // A quote alone begins a lifetime.
    strings: anyOf(String.raw`\br#"[\s\S]*?"#`, long('"'), String.raw`'(?:\\[^']+|[^'\\\n])'`),
    declared: /\bfn\s+(\w+)\s{0,9}(?:<[^>(]{0,100}>)?\(|\bmacro_rules!\s{0,9}(\w+)\s{0,9}\{/g,
    groups: /\bmod\s+(\w+)\s{0,9}\{/g,
    isTest: (_declaration, head) =>
      /#\[\s{0,9}(?:\w+\s{0,9}::\s{0,9})*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test|case)\b/.test(head),
    skipped: /#\[\s{0,9}(?:ignore\b|cfg\s{0,9}\((?!\s{0,9}test\s{0,9}\))|cfg_attr\s{0,9}\([^\]]*\bignore\b)/,
    rows: /#\[\s{0,9}(?:case|test_case)\b/g,
    assertions: /\b\w*assert\w*!|\bpanic!/g,
    fileLine: /^#!\[\s{0,9}cfg\s{0,9}\((?!\s{0,9}test\s{0,9}\))[^\n]*/m,
  },
  {
    ending: /\.php$/i,
    comments: anyOf(SLASHES, HASH),
    strings: anyOf(long('"'), long("'")),
    declared: /\bfunction\s+(\w+)\s{0,9}\(/g,
    groups: /\bclass\s+(\w+)[^{};]{0,300}\{/g,
    isTest: (declaration, head, comments) =>
      /\bfunction\s+test/i.test(declaration) || /#\[[^\]]*\bTest\b/.test(head) || /@test\b/.test(comments),
    calls: /(?<![\w$>:]|\bfunction\s)(?:it|test|describe)(?=\s{0,9}\()/g,
    assertions: /\b(?:assert\w*|expect\w*|fail|should\w*)\s{0,9}\(/g,
    leaves: /\b(?:markTestSkipped|markTestIncomplete)\s{0,9}\(/,
  },
  {
    ending: /\.rb$/i,
    comments: anyOf(HASH, String.raw`(?<=\n)=begin[\s\S]*?(?:\n=end|$)`),
    strings: anyOf(quoted('"'), quoted("'"), PATTERN),
    declared:
      /^[ \t]*(?:def[ \t]+(?:self\.)?(\w+[?!]?)|[xf]?(?:it|specify|example|scenario|test|its)\b(?=[ (]*["'{]|[^\n]*\bdo\b)|(?:pending|skip)\b(?=[^\n]*\bdo\b))/gm,
    indented: "ruby",
    groups:
      /^[ \t]*(?:(?:RSpec\.)?[xf]?(?:describe|context|feature)\b[ (]*([^\n]*?)(?:,|[ \t]do\b)|class[ \t]+(\w+))/gm,
    isTest: (declaration) => /^\s*(?:def[ \t]+test_|(?!def\b)\w)/.test(declaration),
    skipped:
      /^\s*(?:RSpec\.)?(?:x\w|pending|skip)|(?:^|[\s,]):(?:skip|pending)\b|\b(?:skip|pending):\s{0,9}(?!false|nil)/,
    focused: /^\s*(?:RSpec\.)?f(?!eature)\w|(?:^|[\s,]):focus\b|\bfocus:\s{0,9}true/,
    assertions:
      /\bexpect\b|\.\s{0,9}should\w*\b|\bis_expected\b|\b(?:assert|refute)\w*\b|\.(?:must|wont)_\w+|\bflunk\b/g,
    leaves: /\n[ \t]*(?:skip|pending)\b(?![^\n]*\bdo\b)/,
  },
  { ...JVM, ending: /\.java$/i },
  { ...JVM, ending: /\.kts?$/i },
  {
    ...JVM,
    ending: /\.cs$/i,
    strings: anyOf(long('"""'), '@"(?:[^"]|"")*"', quoted('"'), quoted("'")),
    isTest: (_declaration, head) =>
      /\[[^\]]*\b(?:Fact|Theory|Test|TestMethod|DataTestMethod|TestCase|TestCaseSource)\b/.test(head),
    skipped: /\bSkip\s{0,9}=|\[(?:[^\]]*,)?\s{0,9}(?:Ignore|Explicit)\b/,
    rows: /\[\s{0,9}(?:InlineData|TestCase|DataRow)\b/g,
    assertions: /\bAssert\.\w+|\.\s{0,9}Should\w*\(|\.(?:Verify|Received|DidNotReceive)\w*\(|\bVerify\w*\(/g,
    leaves: /\bAssert\.(?:Ignore|Inconclusive)\(|\bSkip\.\w+\(/,
  },
];

export const findLanguage = (path: string): Language | null =>
  LANGUAGES.find(({ ending }) => ending.test(path)) ?? null;

/** Assertions that cannot fail. */
const LITERAL = String.raw`(?:[Tt]rue|[Ff]alse|null|nil|None|undefined|-?\d+(?:\.\d+)?|"[^"\n]*"|'[^'\n]*')`;
const SAME = String.raw`(?:\w|[.$]){1,100}`;
export const TRIVIAL = new RegExp(
  anyOf(
    String.raw`\bexpect\(\s{0,9}${LITERAL}\s{0,9}\)`,
    String.raw`\bexpect\(\s{0,9}(?<a>${SAME})\s{0,9}\)\.to(?:Be|Equal|StrictEqual)\(\s{0,9}\k<a>\s{0,9}\)`,
    String.raw`\b(?:assert(?:True|_true|That)?!?|(?:[Aa]ssert|require)\.(?:ok|isOk|isTrue|IsTrue|True|That))(?:\s{0,9}\(\s{0,9}(?:t,\s{0,9})?|[ \t])(?:[Tt]rue|1)\s{0,9}(?:[,);\n]|$)`,
    String.raw`\b(?:assert(?:False|_false)|(?:[Aa]ssert|require)\.(?:notOk|isFalse|IsFalse|False))\s{0,9}\(\s{0,9}(?:t,\s{0,9})?(?:[Ff]alse|0)\s{0,9}[,)]`,
    String.raw`\bassert\s{0,9}\(?\s{0,9}(?<b>${SAME})\s{0,9}={2,3}\s{0,9}\k<b>\s{0,9}(?:[),;\n]|$)`,
    String.raw`\b[\w.]*(?:[Ee]qual\w*|_eq|[Ss]ame|AreEqual)!?[ (]\s{0,9}(?:t,\s{0,9})?(?<c>${SAME})\s{0,9},\s{0,9}\k<c>\s{0,9}(?:[),;\n]|$)`,
  ),
  "g",
);
