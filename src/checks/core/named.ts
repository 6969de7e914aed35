/**
 * What Pawl's reporters wrote, as one report. Each runner's process has lines of its own: a `start`, one line for each
 * test as it ends, and an `end` that is missing if something exited before the runner was done.
 */
import type { NamedReport, TestStatus } from "../../kernel/types/verdict.ts";

export interface StartLine {
  ev: "start";
  runner: string;
  version?: string;
  /** absolute; file names of tests are relative to it */
  cwd: string;
}

export interface TestLine {
  ev: "test";
  /** missing or "": the runner knows none, the folder counts */
  file?: string;
  /** suites first */
  name: string[];
  status: string;
  /** one more line about the same test (its teardown failed), not a second test of that name: the worst counts */
  again?: boolean;
}

export interface EndLine {
  ev: "end";
  /** how many tests the runner itself says it had */
  total?: number;
}

export type ReportLine = StartLine | TestLine | EndLine;

/** The lines of one process. `flaw`: why they cannot be all of them. */
export interface ProcessReport {
  lines: ReportLine[];
  flaw?: string;
}

const PASSED = new Set(["passed", "pass", "ok", "flaky", "xpass", "xpassed", "expected"]);
const SKIPPED = new Set([
  "skipped",
  "skip",
  "pending",
  "todo",
  "xfail",
  "xfailed",
  "deselected",
  "disabled",
  "ignored",
]);
const RANK: Record<TestStatus, number> = { skipped: 0, passed: 1, failed: 2 };

/** What is not known to be good is bad. */
export function toStatus(word: string): TestStatus {
  const plain = word.toLowerCase();
  return PASSED.has(plain) ? "passed" : SKIPPED.has(plain) ? "skipped" : "failed";
}

export const worst = (a: TestStatus, b: TestStatus): TestStatus => (RANK[a] >= RANK[b] ? a : b);

/** null: no runner was heard. `roots`: the project's path, and where its links lead. */
export function foldReports(processes: ProcessReport[], roots: string[]): NamedReport | null {
  const heard = processes.filter(({ lines, flaw }) => lines.length > 0 || flaw !== undefined);
  if (heard.length === 0) return null;
  const tests = new Map<string, TestStatus>();
  const files = new Set<string>();
  const flaws: string[] = [];
  for (const { lines, flaw } of heard) {
    const flawed = foldProcess(lines, { tests, files, roots });
    flaws.push(...[flaw, flawed].filter((one) => one !== undefined));
  }
  return {
    runners: heard.map(({ lines }) => nameOf(startOf(lines))),
    ended: heard.filter(({ lines }) => lines.some(({ ev }) => ev === "end")).length,
    tests: Object.fromEntries(tests),
    files: [...files].sort(),
    ...(flaws.length > 0 && { incomplete: [...new Set(flaws)].join("; ") }),
  };
}

interface Folding {
  tests: Map<string, TestStatus>;
  files: Set<string>;
  roots: string[];
}

function foldProcess(lines: ReportLine[], { tests, files, roots }: Folding): string | undefined {
  const cwd = startOf(lines)?.cwd ?? "";
  const last = new Map<string, string>();
  for (const line of lines) {
    if (line.ev !== "test") continue;
    const file = fromRoot(line.file ? resolve(cwd, line.file) : cwd, roots);
    if (line.file && file !== "" && !/^\.\.?(\/|$)|^\//.test(file)) files.add(file);
    const plain = [file || ".", ...line.name.map((part) => bounded(withoutRoots(part, roots)))].join(" > ");
    const before = line.again ? last.get(plain) : undefined;
    const key = before ?? freeKey(tests, plain);
    last.set(plain, key);
    tests.set(key, worst(toStatus(line.status), tests.get(key) ?? "skipped"));
  }
  return lostTests(lines, last.size);
}

/** The runner's own count against what was reported: an exit in the middle that the runner takes for a normal end. */
function lostTests(lines: ReportLine[], names: number): string | undefined {
  const total = Math.max(0, ...lines.map((line) => (line.ev === "end" ? (line.total ?? 0) : 0)));
  const reported = Math.max(names, lines.filter((line) => line.ev === "test" && !line.again).length);
  return total > reported ? `${reported} of ${total} tests reported` : undefined;
}

function freeKey(tests: Map<string, TestStatus>, plain: string): string {
  if (!tests.has(plain)) return plain;
  let count = 2;
  while (tests.has(`${plain} #${count}`)) count++;
  return `${plain} #${count}`;
}

const startOf = (lines: ReportLine[]) => lines.find((line): line is StartLine => line.ev === "start");
const nameOf = (start: StartLine | undefined) =>
  start === undefined ? "unknown" : [start.runner, start.version].filter(Boolean).join(" ");

// ── Names ───────────────────────────────────────────────────────────────────

const LONGEST_PART = 400;

/** A name made of a whole data set: what tells it from others is kept. */
function bounded(part: string): string {
  if (part.length <= LONGEST_PART) return part;
  return `${part.slice(0, LONGEST_PART)}… ${Bun.hash(part).toString(16)}`;
}

/** Some runners put absolute paths into names; the same test has another one in a copy of the project. */
const withoutRoots = (text: string, roots: string[]) =>
  roots.reduce((rest, root) => rest.replaceAll(`${root}/`, "").replaceAll(root, "."), text);

function fromRoot(path: string, roots: string[]): string {
  const root = roots.find((one) => path === one || path.startsWith(`${one}/`));
  return root === undefined ? path : path.slice(root.length + 1);
}

/** Only what a runner's relative name needs: no disk, and no folder of this process. */
function resolve(cwd: string, file: string): string {
  const parts: string[] = [];
  for (const part of (file.startsWith("/") ? file : `${cwd}/${file}`).split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return `/${parts.join("/")}`;
}

// ── Lines ───────────────────────────────────────────────────────────────────

/** A last line without its end belongs to a process that was killed while it wrote. */
export function parseReport(text: string): ProcessReport {
  const lines: ReportLine[] = [];
  let flaw: string | undefined;
  for (const line of text.slice(0, text.lastIndexOf("\n") + 1).split("\n")) {
    if (line === "") continue;
    const read = asLine(line);
    if (read === null) flaw = "a line of a report cannot be read";
    else if (read !== undefined) lines.push(read);
  }
  return { lines, ...(flaw !== undefined && { flaw }) };
}

/** undefined: a kind of line that a reporter writes for people */
function asLine(text: string): ReportLine | null | undefined {
  let value: Partial<StartLine & Omit<TestLine, "ev">> | null;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  const ev: string | undefined = value?.ev;
  if (ev === "start") return isStart(value) ? value : null;
  if (ev === "test") return isTest(value) ? value : null;
  return ev === "end" ? (value as unknown as EndLine) : undefined;
}

const isStart = (value: unknown): value is StartLine => {
  const { runner, cwd } = value as StartLine;
  return typeof runner === "string" && typeof cwd === "string";
};

function isTest(value: unknown): value is TestLine {
  const { name, status, file = "" } = value as TestLine;
  const isText = (part: unknown) => typeof part === "string";
  return Array.isArray(name) && name.every(isText) && isText(status) && isText(file);
}
