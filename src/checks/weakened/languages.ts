/** The languages whose tests are read: one row says how each is written, and what its tests look like. */

export interface Quote {
  open: string;
  close: string;
  /** may go over line ends */
  long?: true;
  /** a backslash means nothing */
  raw?: true;
}

/** How tests are declared, in languages whose tests are functions. */
export interface Style {
  declaration: RegExp;
  /** by name, or by what is in front of the declaration (as code, and as text with comments) */
  isTest(name: string, head: string, text: string): boolean;
  groups?: RegExp;
  skipped?: RegExp;
  /** the body may be an expression at the end of what follows the parameters */
  expression?: true;
}

interface LanguageRow {
  ending: RegExp;
  comments: RegExp;
  quotes: Quote[];
  /** strings in backticks, with code inside */
  templates?: true;
  /** texts between two markers, of which the first begins with "<<" */
  heredocs?: true;
  /** other texts that are no code: patterns, characters */
  texts?: RegExp;
  style?: Style;
  /** tests that are calls with a name and a function */
  calls?: RegExp;
  assertions: RegExp;
  /** a test gives itself up */
  leaves?: RegExp;
  /** a line that takes the whole file out */
  fileLine?: RegExp;
  /** any function, for the assertions of helpers */
  declared: RegExp;
}

export type Language = "js" | "python" | "go" | "rust" | "php" | "ruby" | "java" | "kotlin" | "csharp";

const SLASHES = /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/;
/** "#[" is an attribute, "#!" the line that names an interpreter. */
const HASH = /#(?![[!])[^\n]*/;

const SINGLE: Quote = { open: "'", close: "'" };
const DOUBLE: Quote = { open: '"', close: '"' };
const LONG_DOUBLE: Quote = { ...DOUBLE, long: true };
const TRIPLE: Quote = { open: '"""', close: '"""', long: true };
const raw = (open: string, close: string): Quote => ({ open, close, long: true, raw: true });

const PATTERN =
  /(?<=(?:^|[(,=:[!&|?{};~\n]|\b(?:return|typeof|case|match|when|if|unless|and|or))[ \t]*)\/(?![*/\s])(?:\\.|\[(?:\\.|[^\]\\\n]){0,200}\]|[^/\\[\n]){1,500}\/[a-z]*/;

/** Long white space would be tried in every way it can be divided. */
const bounded = ({ source }: RegExp) => new RegExp(source.replaceAll("\\s*", "\\s{0,40}"), "g");

const CALLED = String.raw`(?:expect|assert)\w*(?:\s*\.\s*\w+)*\s*(?:<[^<>()]{0,100}>)?\s*\(`;
const NAMES = "it|test|specify|describe|context|suite|xit|xtest|xspecify|xdescribe|xcontext|fit|fdescribe|fcontext";

const C_LIKE = { comments: SLASHES, quotes: [TRIPLE, DOUBLE, SINGLE] };
const JVM_ASSERTIONS =
  /\b(?:assert\w*|expect\w*|verify\w*|fail)\s*(?:<[^<>()]{0,100}>)?\s*\(|\bAssert\s*\.\s*\w+|\.\s*should\w*\b|\bshould[A-Z]\w*|\.\s*andExpect\s*\(/;
const JVM = {
  ...C_LIKE,
  style: {
    declaration: /(`[^`\n]+`|\b[A-Za-z_$][\w$]*)\s*\(/g,
    isTest: (_name: string, head: string) =>
      /@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b/.test(head),
    groups: /\b(?:class|object|interface)\s+(\w+)[^{;()]{0,300}(?:\([^)]{0,300}\)[^{;]{0,300})?\{/g,
    skipped: /@(?:\w+\.)*(?:Disabled\w*|Ignore)\b/,
    expression: true,
  } as const,
  leaves: /\bassum(?:e|ing)\w*\s*\(/g,
};

export const LANGUAGES: Record<Language, LanguageRow> = {
  js: {
    ending: /\.[cm]?[jt]sx?$/i,
    comments: SLASHES,
    quotes: [DOUBLE, SINGLE],
    templates: true,
    texts: PATTERN,
    calls: new RegExp(
      String.raw`(?<![\w$.]|\bfunction\s)(?:(?:t|tap|QUnit|Deno)\.(?=test\b))?(${NAMES})(?![\w$])`,
      "g",
    ),
    assertions: bounded(
      new RegExp(
        String.raw`\b${CALLED}|\.\s*should\b|\bt\s*\.\s*(?:is|not|deepEqual|notDeepEqual|like|true|false|truthy|falsy|throws|notThrows|throwsAsync|notThrowsAsync|regex|snapshot|equal|same|ok|notOk|match|pass|fail|strictEqual)\s*\(`,
      ),
    ),
    leaves: /\b(?:this|t|ctx|context|test|it|testInfo)\s*\.\s*(?:skip|fixme|todo)\s*\(/g,
    fileLine: /^(?:describe|test|it)\s*\.\s*skip\s*\(\s*\)/m,
    declared:
      /\bfunction\s*\*?\s*(\w+)\s*(?:<[^>]{0,100}>)?\s*\(|\b(?:const|let|var)\s+(\w+)\s*(?::[^=;]{1,300})?=\s*(?:async\s*)?(?:function\b[^(]*)?\(/g,
  },
  python: {
    ending: /\.py$/i,
    comments: HASH,
    quotes: [TRIPLE, { open: "'''", close: "'''", long: true }, DOUBLE, SINGLE],
    assertions: bounded(
      /\bassert\b|\.\s*(?:assert|fail)\w*\s*\(|\bassert_\w+\s*\(|\bpytest\s*\.\s*(?:raises|warns|fail)\s*\(/,
    ),
    leaves: /\b(?:pytest\s*\.\s*(?:skip|xfail|importorskip)|self\s*\.\s*skipTest)\s*\(|\bSkipTest\b/g,
    fileLine:
      /^(?:pytestmark[ \t]*=[^\n]*\b(?:skip\w*|xfail)\b|(?:pytest\s*\.\s*(?:skip|importorskip)\s*\(|raise[ \t]+(?:unittest\s*\.\s*)?SkipTest\b))[^\n]*/m,
    declared: /^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)\s*\(/gm,
  },
  go: {
    ending: /\.go$/i,
    comments: SLASHES,
    quotes: [raw("`", "`"), DOUBLE, SINGLE],
    style: {
      declaration: /\bfunc\s+(?:\([^)]{0,200}\)\s*)?((?:Test|Fuzz|Example)\w*)\s*\(/g,
      isTest: () => true,
    },
    calls: /(?<![\w])\w+\.(Run)(?=\s*\()/g,
    assertions: bounded(
      /\b\w+\s*\.\s*(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\b(?:assert|require|is|Expect|check)\s*\.\s*\w+\s*\(|\bExpect\s*\(|\b[st]\w*\s*\.\s*(?:Equal|NotEqual|NoError|True|False|Nil|NotNil|Len|Contains|Empty|Require|Assert)\s*\(/,
    ),
    leaves: /\.\s*Skip(?:f|Now)?\s*\(/g,
    fileLine: /^\/\/(?:go:build|[ \t]*\+build)[ \t][^\n]*/m,
    declared: /\bfunc\s+(?:\([^)]{0,200}\)\s*)?(\w+)\s*\(/g,
  },
  rust: {
    ending: /\.rs$/i,
    comments: SLASHES,
    quotes: [raw('r##"', '"##'), raw('r#"', '"#'), raw('r"', '"'), LONG_DOUBLE],
    // A quote alone begins a lifetime.
    texts: /'(?:(?:\\[^']+|[^'\\\n])')?/,
    style: {
      declaration: /\bfn\s+(\w+)\s*(?:<[^>(]{0,100}>)?\s*\(/g,
      isTest: (_name, head) =>
        /#\[\s*(?:\w+\s*::\s*)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test|case)\b/.test(head),
      groups: /\bmod\s+(\w+)\s*\{/g,
      skipped: /#\[\s*(?:ignore\b|cfg\s*\((?!\s*test\s*\))|cfg_attr\s*\([^\]]*\bignore\b)/,
    },
    assertions: bounded(/\b\w*assert\w*\s*!|\bpanic\s*!/),
    fileLine: /^#!\[\s*cfg\s*\((?!\s*test\s*\))[^\n]*/m,
    declared: /\bfn\s+(\w+)\s*(?:<[^>(]{0,100}>)?\s*\(|\bmacro_rules\s*!\s*(\w+)\s*\{/g,
  },
  php: {
    ending: /\.php$/i,
    comments: new RegExp(`${SLASHES.source}|${HASH.source}`),
    quotes: [LONG_DOUBLE, { ...SINGLE, long: true }],
    heredocs: true,
    style: {
      declaration: /\bfunction\s+(\w+)\s*\(/g,
      isTest: (name, head, text) => /^test/i.test(name) || /#\[[^\]]*\bTest\b/.test(head) || /@test\b/.test(text),
      groups: /\bclass\s+(\w+)[^{;]{0,300}\{/g,
    },
    calls: /(?<![\w$>:]|\bfunction\s)(it|test|describe)(?=\s*\()/g,
    assertions: bounded(/\b(?:assert\w*|expect\w*|fail|should\w*)\s*\(/),
    leaves: /\b(?:markTestSkipped|markTestIncomplete)\s*\(/g,
    declared: /\bfunction\s+(\w+)\s*\(/g,
  },
  ruby: {
    ending: /\.rb$/i,
    comments: new RegExp(`${HASH.source}|\\n=begin[\\s\\S]*?(?:\\n=end|$)`),
    quotes: [LONG_DOUBLE, SINGLE],
    heredocs: true,
    texts: PATTERN,
    assertions: bounded(
      /\bexpect\b|\.\s*should\w*\b|\bis_expected\b|\b(?:assert|refute)\w*\b|\.\s*(?:must|wont)_\w+|\bflunk\b/,
    ),
    leaves: /^[ \t]*(?:skip|pending)\b/gm,
    declared: /^[ \t]*def[ \t]+(?:self\.)?(\w+[?!]?)/gm,
  },
  java: {
    ...JVM,
    ending: /\.java$/i,
    assertions: bounded(new RegExp(`${JVM_ASSERTIONS.source}|\\bassert\\b(?!\\s*[(.])`)),
    declared: /\b(\w+)\s*\([^()]*\)\s*(?:throws\s[\w.,\s]+)?\{/g,
  },
  kotlin: {
    ...JVM,
    ending: /\.kts?$/i,
    assertions: bounded(JVM_ASSERTIONS),
    declared: /\bfun\s+(?:<[^>]{0,100}>\s*)?(?:[\w.]+\.)?(\w+)\s*\(/g,
  },
  csharp: {
    ...C_LIKE,
    ending: /\.cs$/i,
    quotes: [TRIPLE, raw('@"', '"'), DOUBLE, SINGLE],
    style: {
      declaration: /\b([A-Za-z_]\w*)\s*(?:<[^>(]{0,100}>)?\s*\(/g,
      isTest: (_name, head) =>
        /\[[^\]]*\b(?:Fact|Theory|Test|TestMethod|DataTestMethod|TestCase|TestCaseSource)\b/.test(head),
      groups: /\bclass\s+(\w+)[^{;]{0,300}\{/g,
      skipped: /\bSkip\s*=|\[(?:[^\]]*,)?\s*(?:Ignore|Explicit)\b/,
      expression: true,
    },
    assertions: bounded(
      /\bAssert\s*\.\s*\w+|\.\s*Should\w*\s*\(|\.\s*(?:Verify|Received|DidNotReceive)\w*\s*\(|\bVerify\w*\s*\(/,
    ),
    leaves: /\bAssert\s*\.\s*(?:Ignore|Inconclusive)\s*\(|\bSkip\s*\.\s*\w+\s*\(/g,
    declared: /\b(\w+)\s*\([^()]*\)\s*\{/g,
  },
};

export function findLanguage(path: string): Language | null {
  const found = Object.entries(LANGUAGES).find(([, { ending }]) => ending.test(path));
  return found ? (found[0] as Language) : null;
}
