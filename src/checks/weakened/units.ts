/** Where a source file has its tests, and what is around them, in languages whose tests are functions. */
import { closeOf, type Language, openOf, partsOf, type Source } from "./source.ts";

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

interface Style {
  declaration: RegExp;
  /** by name, or by what is in front of the declaration (as code, and as text with comments) */
  isTest(name: string, head: string, text: string): boolean;
  groups: RegExp;
  skipped: RegExp;
  /** at the end of what follows the parameters, where there are no braces */
  expression?: true;
}

const NEVER = /(?!)/g;
const JVM: Style = {
  declaration: /(`[^`\n]+`|\b[A-Za-z_$][\w$]*)\s*\(/g,
  isTest: (_name, head) =>
    /@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b/.test(head),
  groups: /\b(?:class|object|interface)\s+(\w+)[^{;()]{0,300}(?:\([^)]{0,300}\)[^{;]{0,300})?\{/g,
  skipped: /@(?:\w+\.)*(?:Disabled\w*|Ignore)\b/,
  expression: true,
};

const STYLES: Partial<Record<Language, Style>> = {
  go: {
    declaration: /\bfunc\s+(?:\([^)]{0,200}\)\s*)?((?:Test|Fuzz|Example)\w*)\s*\(/g,
    isTest: () => true,
    groups: NEVER,
    skipped: NEVER,
  },
  rust: {
    declaration: /\bfn\s+(\w+)\s*(?:<[^>(]{0,100}>)?\s*\(/g,
    isTest: (_name, head) =>
      /#\[\s*(?:\w+\s*::\s*)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test|case)\b/.test(head),
    groups: /\bmod\s+(\w+)\s*\{/g,
    skipped: /#\[\s*(?:ignore\b|cfg\s*\((?!\s*test\s*\))|cfg_attr\s*\([^\]]*\bignore\b)/,
  },
  php: {
    declaration: /\bfunction\s+(\w+)\s*\(/g,
    isTest: (name, head, text) => /^test/i.test(name) || /#\[[^\]]*\bTest\b/.test(head) || /@test\b/.test(text),
    groups: /\bclass\s+(\w+)[^{;]{0,300}\{/g,
    skipped: NEVER,
  },
  java: JVM,
  kotlin: JVM,
  csharp: {
    declaration: /\b([A-Za-z_]\w*)\s*(?:<[^>(]{0,100}>)?\s*\(/g,
    isTest: (_name, head) =>
      /\[[^\]]*\b(?:Fact|Theory|Test|TestMethod|DataTestMethod|TestCase|TestCaseSource)\b/.test(head),
    groups: /\bclass\s+(\w+)[^{;]{0,300}\{/g,
    skipped: /\bSkip\s*=|\[(?:[^\]]*,)?\s*(?:Ignore|Explicit)\b/,
    expression: true,
  },
};

export function functionUnits(source: Source): Unit[] {
  const style = STYLES[source.language];
  if (!style) return [];
  return [...groupsIn(source, style), ...testsIn(source, style)];
}

function groupsIn(source: Source, style: Style): Unit[] {
  return [...source.bare.matchAll(style.groups)].map((match) => {
    const open = match.index + match[0].length - 1;
    const end = closeOf(source, open) + 1;
    const head = source.bare.slice(headOf(source, match.index), match.index);
    const body: Unit["body"] = [open + 1, end - 1];
    const skipped = style.skipped.test(head);
    return { name: match[1]!, group: true, start: match.index, end, body, skipped, focused: false, rows: 1 };
  });
}

function testsIn(source: Source, style: Style): Unit[] {
  const { bare, text } = source;
  return [...bare.matchAll(style.declaration)].flatMap((match) => {
    const start = headOf(source, match.index);
    const head = bare.slice(start, match.index);
    if (!style.isTest(match[1]!, head, text.slice(start, match.index))) return [];
    const body = bodyAfter(source, closeOf(source, match.index + match[0].length - 1) + 1, style);
    if (body === null) return [];
    const skipped = style.skipped.test(head);
    const name = match[1]!.replaceAll("`", "");
    return [{ name, group: false, start, end: body[1] + 1, body, skipped, focused: false, rows: rowsIn(head) }];
  });
}

/** One line for each set of values: @CsvSource would have to be read, so only what is repeated counts. */
const rowsIn = (head: string) =>
  Math.max(1, head.match(/\[\s*(?:InlineData|TestCase|DataRow)\b|#\[\s*(?:case|test_case)\b/g)?.length ?? 0);

/** Annotations and modifiers in front of a declaration. */
function headOf(source: Source, declaration: number): number {
  const { bare } = source;
  let at = declaration - 1;
  while (at >= 0 && !/[;{}([]/.test(bare[at]!))
    at = bare[at] === ")" || bare[at] === "]" ? openOf(source, at) - 1 : at - 1;
  return at + 1;
}

function bodyAfter(source: Source, from: number, { expression }: Style): Unit["body"] | null {
  const { bare } = source;
  const stop = /[{;=]/.exec(bare.slice(from, from + 500));
  if (!stop || stop[0] === ";") return null;
  const at = from + stop.index;
  if (stop[0] === "{") return [at + 1, closeOf(source, at)];
  if (!expression) return null;
  const line = bare.indexOf("\n", at);
  const brace = bare.indexOf("{", at);
  const end = line < 0 ? bare.length : line;
  return brace >= 0 && brace < end ? [brace + 1, closeOf(source, brace)] : [at + 1, end];
}

// ── Python ──────────────────────────────────────────────────────────────────

const PYTHON_SKIP = /@\s*(?:[\w.]+\.)?(?:skip\w*|xfail|expectedFailure)\b/;

export function pythonUnits(source: Source): Unit[] {
  const { bare } = source;
  const units: Unit[] = [];
  const found = bare.matchAll(/^([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)[^\n]*/gm);
  let functionEnd = 0;
  for (const match of found) {
    const group = match[2] === "class";
    const open = bare.indexOf(":", signatureEnd(source, match.index));
    const end = blockEnd(source, match.index, match[1]!.length);
    // A function inside a function is a helper.
    if (match.index < functionEnd) continue;
    if (!group) functionEnd = end;
    if (!group && !/^test/.test(match[3]!)) continue;
    const start = decoratorsOf(source, match.index);
    const head = bare.slice(start, match.index);
    const skipped =
      PYTHON_SKIP.test(head) || (group && /^[ \t]+__test__[ \t]*=[ \t]*False/m.test(bare.slice(open, end)));
    const rows = rowsOfTable(source, start, match.index);
    units.push({ name: match[3]!, group, start, end, body: [open + 1, end], skipped, focused: false, rows });
  }
  return units;
}

/** After the parameters, whose annotations have colons of their own. */
function signatureEnd(source: Source, from: number): number {
  const open = /[(:]/.exec(source.bare.slice(from, from + 300));
  const at = from + (open?.index ?? 0);
  return open?.[0] === "(" ? closeOf(source, at) : at;
}

/** The first line that is not deeper than the block's own. */
function blockEnd(source: Source, from: number, indent: number): number {
  const { bare } = source;
  let at = bare.indexOf("\n", signatureEnd(source, from));
  while (at >= 0 && at < bare.length) {
    const line = /\n([ \t]*)([^\n]?)/y;
    line.lastIndex = at;
    const [, depth, first] = line.exec(bare) ?? [];
    if (first && depth!.length <= indent && !/[)\]}]/.test(first)) return at;
    at = bare.indexOf("\n", at + 1);
  }
  return bare.length;
}

function decoratorsOf(source: Source, declaration: number): number {
  const { bare } = source;
  let start = declaration;
  for (;;) {
    let end = start;
    while (end > 0 && /\s/.test(bare[end - 1]!)) end -= 1;
    const last = bare[end - 1] === ")" ? openOf(source, end - 1) : end;
    const line = bare.lastIndexOf("\n", last - 1) + 1;
    if (end === 0 || !/^[ \t]*@/.test(bare.slice(line, last))) return start;
    start = line;
  }
}

function rowsOfTable(source: Source, from: number, to: number): number {
  const table = /\bparametrize\s*\([^[]{0,300}?,\s*(?=\[)/.exec(source.bare.slice(from, to));
  if (!table) return 1;
  const open = from + table.index + table[0].length;
  return elementsIn(source, open);
}

/** Of a list that begins here. */
export const elementsIn = (source: Source, open: number) => partsOf(source, open + 1, closeOf(source, open)).length;
