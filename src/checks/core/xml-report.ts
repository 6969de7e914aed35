/**
 * The results that runners leave as XML: what JUnit began (phpunit, gtest, maven, gradle) and .NET's trx. Only the parts
 * that name tests are read; what a test printed is taken out first, since it may look like them.
 */
import type { TestLine } from "./named.ts";

export interface XmlReport {
  tests: TestLine[];
  /** it has its last line: the runner was not interrupted while it wrote */
  whole: boolean;
}

type Attributes = Record<string, string>;

/** null: not such a file, or a list of tests that did not run */
export function readJunit(xml: string): XmlReport | null {
  const text = withoutContent(xml);
  if (text.trim() === "") return { tests: [], whole: false };
  if (!/<testsuites?\b/.test(text)) return null;
  const cases = elements(text, "testcase");
  const isList = ({ attributes: { time, status, result } }: Element) => (time ?? status ?? result) === undefined;
  if (cases.length > 0 && cases.every(isList)) return null;
  return { tests: cases.map(toTest), whole: /<\/testsuites?>\s*$|<testsuites?\b[^<]*\/>\s*$/.test(text) };
}

function toTest({ attributes, content }: Element): TestLine {
  const { name = "", file } = attributes;
  const owner = attributes.class ?? attributes.classname;
  return {
    ev: "test",
    ...(file?.startsWith("/") && { file }),
    name: owner ? [owner, name] : [name],
    status: statusOf(attributes, content),
  };
}

/** bun's: suites within suites, the outermost one a file; the first line tells how many tests there are. */
export function readNested(xml: string): XmlReport {
  const tests: TestLine[] = [];
  const suites: string[] = [];
  for (const [tag, suite, test, content = ""] of withoutContent(xml).matchAll(NESTED)) {
    const { name = "", file = "" } = attributesIn(suite ?? test ?? "");
    if (test !== undefined)
      tests.push({ ev: "test", file, name: [...suites.slice(1), name], status: statusOf({}, content) });
    else if (suite === undefined) suites.pop();
    else if (!tag.endsWith("/>")) suites.push(name);
  }
  const total = /<testsuites [^>]*\btests="(\d+)"/.exec(xml)?.[1];
  return { tests, whole: /<\/testsuites>\s*$/.test(xml) && Number(total) === tests.length };
}

/** phpunit lists a risky test as an error and passes all the same. A surefire rerun has an element of its own. */
function statusOf({ status, result }: Attributes, content: string): string {
  const problems = [...content.matchAll(/<(?:failure|error)\b([^>]*)/g)].filter(([, more]) => !/RiskyTest/.test(more!));
  if (problems.length > 0) return "failed";
  const isLeftOut = status === "notrun" || result === "skipped" || result === "suppressed";
  return isLeftOut || /<(?:skipped|warning|disabled)\b/.test(content) ? "skipped" : "passed";
}

/** null: not such a file */
export function readTrx(xml: string): XmlReport | null {
  const text = withoutContent(xml);
  if (!/<TestRun\b/.test(text)) return null;
  const owners = new Map(elements(text, "UnitTest").map(ownerOf));
  const tests = elements(text, "UnitTestResult").map(({ attributes }): TestLine => {
    const { testId = "", testName = "", outcome = "" } = attributes;
    return { ev: "test", name: [...(owners.get(testId) ?? []), testName], status: OUTCOMES[outcome] ?? "failed" };
  });
  return { tests, whole: /<\/TestRun>\s*$/.test(text) && !/<ResultSummary\b[^>]*outcome="Aborted"/.test(text) };
}

const OUTCOMES: Record<string, string> = {
  Passed: "passed",
  PassedButRunAborted: "passed",
  Warning: "passed",
  NotExecuted: "skipped",
  NotRunnable: "skipped",
  Inconclusive: "skipped",
  Pending: "skipped",
};

/** The assembly's file and the class: some adapters name only the method. */
function ownerOf({ attributes, content }: Element): [string, string[]] {
  const [method] = elements(content, "TestMethod");
  const assembly = (attributes.storage ?? "").replace(/^.*[\\/]/, "");
  return [attributes.id ?? "", [assembly, method?.attributes.className ?? ""].filter((part) => part !== "")];
}

// ── XML ─────────────────────────────────────────────────────────────────────

interface Element {
  attributes: Attributes;
  content: string;
}

const withoutContent = (xml: string) => xml.replace(/<!\[CDATA\[[\s\S]*?\]\]>|<!--[\s\S]*?-->/g, "");

const IN_TAG = `(?:[^>"']|"[^"]*"|'[^']*')*?`;
const NESTED = new RegExp(
  `<testsuite\\s(${IN_TAG})>|</testsuite>|<testcase\\s(${IN_TAG})(?:/>|>([\\s\\S]*?)</testcase>)`,
  "g",
);

function elements(text: string, name: string): Element[] {
  const pattern = new RegExp(`<${name}(?=[\\s/>])(${IN_TAG})(?:/>|>([\\s\\S]*?)</${name}>)`, "g");
  return [...text.matchAll(pattern)].map(([, tag, content = ""]) => ({ attributes: attributesIn(tag!), content }));
}

function attributesIn(tag: string): Attributes {
  const found = tag.matchAll(/([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g);
  return Object.fromEntries([...found].map(([, name, double, single]) => [name!, decoded(double ?? single ?? "")]));
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const decoded = (text: string) =>
  text.replace(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (all, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name] ?? all;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : all;
  });
