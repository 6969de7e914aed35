import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "yaml";
import { weakenings } from "../../../src/checks/weakened/weakened.ts";
import { ownTime } from "../../harness/own-time.ts";

interface Sample {
  name: string;
  /** one of: the text itself, "same", or what is done to the text before */
  after?: string;
  cut?: string;
  replace?: [string, string];
  replaceAll?: [string, string];
  append?: string;
  gone?: true;
  /** the file's new name */
  to?: string;
  also?: { path: string; after: string };
  weaker: string[];
}

interface Group {
  path: string;
  before: string;
  cases: Sample[];
}

const CORPUS = join(import.meta.dir, "../../corpus/weakened");
const groups: Group[] = readdirSync(CORPUS).flatMap((name) => parse(readFileSync(join(CORPUS, name), "utf8")));

function found(text: string, part: string): string {
  if (!text.includes(part)) throw new Error(`not in the text before: ${part}`);
  return part;
}

function textAfter(before: string, sample: Sample): string | null {
  if (sample.gone) return null;
  let text = sample.after === undefined || sample.after === "same" ? before : sample.after;
  if (sample.cut !== undefined) text = text.replace(found(text, sample.cut), "");
  if (sample.replace) text = text.replace(found(text, sample.replace[0]), () => sample.replace![1]);
  if (sample.replaceAll) text = text.replaceAll(found(text, sample.replaceAll[0]), sample.replaceAll[1]);
  return text + (sample.append ?? "");
}

for (const { path, before, cases } of groups) {
  describe(path, () => {
    for (const sample of cases) {
      test(sample.name, () => {
        const renamed = sample.to === undefined ? { path } : { path: sample.to, from: path };
        const also = sample.also ? [{ ...sample.also, before: null }] : [];
        const told = weakenings([{ ...renamed, before, after: textAfter(before, sample) }, ...also]);
        expect(told.map(({ kind, what }) => `${kind} ${what}`).sort()).toEqual([...sample.weaker].sort());
      });
    }
  });
}

test("the corpus is large enough", () => {
  expect(groups.flatMap(({ cases }) => cases).length).toBeGreaterThanOrEqual(80);
});

describe("text that nobody wrote", () => {
  const HOSTILE = [
    "(",
    "it(",
    '"',
    "@",
    "def test_a(:\n",
    "`${",
    "/[",
    "it('x',",
    "expect(",
    "<<A\n",
    "class a ",
    "assert    ",
    "func (",
  ];
  const PATHS = ["a.test.ts", "test_a.py", "a_test.go", "a.rs", "ATest.php", "a_spec.rb", "ATest.java", "ATests.cs"];
  test.each(PATHS)("%s is read in time", (path) => {
    for (const piece of HOSTILE) {
      const before = piece.repeat(Math.floor(100_000 / piece.length));
      expect(ownTime(() => void weakenings([{ path, before, after: "" }]))).toBeLessThan(3_000);
    }
  });

  test("a file too long to be read is missed when it is gone", () => {
    const before = "it('x', () => expect(1).toBe(a));\n".repeat(20_000);
    expect(weakenings([{ path: "a.test.ts", before, after: null }])).toEqual([
      { kind: "removed", path: "a.test.ts", what: "a.test.ts" },
    ]);
  });
});

// ── Properties ──────────────────────────────────────────────────────────────

const WRITERS: Record<string, (name: string, checks: number) => string> = {
  "a.test.ts": (name, checks) =>
    `it("${name}", () => {\n${Array.from({ length: checks }, (_, i) => `  expect(work("${name}")).toBe(${i});\n`).join("")}});\n`,
  "test_a.py": (name, checks) =>
    `def test_${name}():\n    work()\n${Array.from({ length: checks }, (_, i) => `    assert work("${name}") == ${i}\n`).join("")}\n\n`,
  "a_test.go": (name, checks) =>
    `func Test${name}(t *testing.T) {\n\twork()\n${Array.from({ length: checks }, (_, i) => `\tassert.Equal(t, ${i}, work())\n`).join("")}}\n\n`,
  "a_spec.rb": (name, checks) =>
    `it "${name}" do\n  work\n${Array.from({ length: checks }, (_, i) => `  expect(work).to eq(${i})\n`).join("")}end\n\n`,
};

const tests = fc.uniqueArray(fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.nat(4)), {
  selector: ([name]) => name,
  maxLength: 8,
});

for (const [path, write] of Object.entries(WRITERS)) {
  const file = (list: [string, number][]) => list.map(([name, checks]) => write(name, checks)).join("");

  test(`${path}: another order is no weaker`, () => {
    const orders = tests.chain((list) =>
      fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
    );
    fc.assert(
      fc.property(orders, ([list, other]) => {
        expect(weakenings([{ path, before: file(list), after: file(other) }])).toEqual([]);
      }),
    );
  });

  test(`${path}: a test more is no weaker, a test less is`, () => {
    fc.assert(
      fc.property(tests, (list) => {
        const fewer = list.slice(0, -1);
        expect(weakenings([{ path, before: file(fewer), after: file(list) }])).toEqual([]);
        const lost = weakenings([{ path, before: file(list), after: file(fewer) }]);
        expect(lost.map(({ kind }) => kind)).toEqual(list.length === 0 ? [] : ["removed"]);
      }),
    );
  });
}

test("any text can be read", () => {
  const pieces = fc.constantFrom(
    "it(",
    '"',
    "'",
    "`",
    "${",
    "}",
    "{",
    ")",
    "\n",
    "/*",
    "*/",
    "//",
    "#",
    "def test_a():",
    "\\",
    "<<~A",
    "/",
  );
  const texts = fc.array(fc.oneof(pieces, fc.string()), { maxLength: 30 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(
      texts,
      texts,
      fc.constantFrom(
        "a.test.ts",
        "test_a.py",
        "a_test.go",
        "a.rs",
        "ATest.php",
        "a_spec.rb",
        "ATest.java",
        "ATests.cs",
        "package.json",
        "jest.config.js",
        "pytest.ini",
      ),
      (before, after, path) => {
        expect(Array.isArray(weakenings([{ path, before, after }]))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});
