/** What bun's processes wrote into one pipe, in the order in which it came: that one starts, or its XML at the end. */
import type { ProcessReport, TestLine } from "./named.ts";
import { readNested, type XmlReport } from "./xml-report.ts";

interface BunStart {
  /** of the process that writes the XML */
  id: number;
  version: string;
  cwd: string;
  /** the project's own file, where it has one: nothing comes through the pipe then */
  xml?: string;
  /** started by a test: its results are that test's own business */
  nested?: true;
}

/** A process may start while another one writes. In XML quotes are written otherwise, so this is never a part of it. */
const START = /\{"id":\d+,[^\n]*\}\n/g;
const PIECE = new RegExp(`${START.source}|<\\?xml [\\s\\S]*?</testsuites>\\n?`, "g");

/** null: the file is not there; a report, if it is older than the command */
interface Files {
  read(path: string): string | null;
  readReport(path: string): string | null;
}

export function readBunPipe(text: string, files: Files): ProcessReport[] {
  const open: BunStart[] = [];
  const reports: ProcessReport[] = [];
  const rest = text.replaceAll(PIECE, (piece) => {
    if (piece.startsWith("<")) reports.push(...finish(open, readNested(piece.replaceAll(START, "")), files));
    for (const line of piece.match(START) ?? []) begin(open, JSON.parse(line));
    return "";
  });
  for (const start of open)
    reports.push(...toReport(start, start.xml ? readNested(files.readReport(start.xml) ?? "") : null));
  return rest.trim() === "" ? reports : [...reports, { lines: [], flaw: "what bun wrote cannot be read" }];
}

/** Each worker of a parallel run says it, and each file of an isolated one. */
function begin(open: BunStart[], start: BunStart): void {
  if (!open.some(({ id }) => id === start.id)) open.push(start);
}

function finish(open: BunStart[], report: XmlReport, files: Files): ProcessReport[] {
  const candidates = open.filter(({ xml }) => xml === undefined);
  if (candidates.length === 0) return [{ lines: [], flaw: "a report that no runner announced" }];
  const scores = candidates.map(({ cwd }) => (candidates.length === 1 ? 0 : hits(cwd, report, files)));
  // A runner inside a test ends before the one around it.
  const writer = candidates[scores.lastIndexOf(Math.max(...scores))]!;
  open.splice(open.indexOf(writer), 1);
  return toReport(writer, report);
}

/** Paths are seen from the process's folder, which the XML does not tell: the files that have these tests do. */
const hits = (cwd: string, { tests }: XmlReport, files: Files) =>
  tests.filter(({ file, name }) => files.read(`${cwd}/${file}`)?.includes(name.at(-1)!)).length;

function toReport({ version, cwd, nested }: BunStart, report: XmlReport | null): ProcessReport[] {
  if (nested) return [];
  const tests: TestLine[] = report?.tests ?? [];
  const end = report?.whole ? [{ ev: "end" as const }] : [];
  return [{ lines: [{ ev: "start", runner: "bun", version, cwd }, ...tests, ...end] }];
}
