/** The lines of a test run's output, made comparable: no colours, no carriage returns, one stream per package. */

/** A longer line is no summary; it is also not worth a regular expression. */
const LONGEST = 400;

const ANSI = /\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9A-B]|[=>78])/g;

/** "web:test: …" (turbo), "packages/web test: …" (pnpm), "[web]: …" (yarn) */
const TASK_PREFIX = /^(?:([@\w./-]+:test(?::[\w:-]+)?): ?|([@\w./-]+ test(?::[\w:-]+)?): ?|(\[[@\w./-]+\]): )/;

export function splitLines(output: string): string[] {
  const lines = output.replace(ANSI, "").split("\n");
  // a carriage return in the middle starts the line again: progress, then the result
  return lines
    .flatMap((line) => line.trimEnd().split("\r"))
    .map((line) => (line === POWERSHELL_BLANK ? "" : line.trimEnd()));
}

/** How PowerShell writes an empty line of stderr into a file. */
const POWERSHELL_BLANK = "System.Management.Automation.RemoteException";

/** A Windows console breaks long lines after a space: "Tests: 1 failed, 2 " + "passed, 3 total". */
export const unwrapLines = (output: string) => splitLines(output.replace(ANSI, "").replace(/ \r?\n(?=\S)/g, " "));

export interface Stream {
  lines: string[];
  /** where each line is in the whole output */
  places: number[];
}

/** What several packages print at the same time is told apart by the task's name before each line. */
export function splitStreams(lines: string[]): Stream[] {
  const streams = new Map<string, Stream>();
  for (const [place, line] of lines.entries()) {
    const found = line.length > LONGEST ? null : TASK_PREFIX.exec(line);
    const task = found?.[1] ?? found?.[2] ?? found?.[3] ?? "";
    const stream = streams.get(task) ?? { lines: [], places: [] };
    stream.lines.push(found ? line.slice(found[0].length) : line);
    stream.places.push(place);
    streams.set(task, stream);
  }
  return [...streams.values()];
}

export function match(line: string | undefined, pattern: RegExp): RegExpExecArray | null {
  return line === undefined || line.length > LONGEST ? null : pattern.exec(line);
}

/** The groups of a match as numbers; one that is missing is 0. */
export const readNumbers = (found: RegExpExecArray, from = 1) =>
  found.slice(from).map((count) => Number(count ?? 0)) as [number, number, number, number, number];

/** "1 failed, 2 passed" → { failed: 1, passed: 2 }; null if any part is something else. */
export function countsIn(text: string, separator: string): Record<string, number> | null {
  const counts: Record<string, number> = Object.create(null);
  for (const part of text.split(separator)) {
    const found = /^ *(\d{1,9}) ([a-z][a-z ]*)$/i.exec(part);
    if (!found) return null;
    const word = found[2]!.trim().toLowerCase();
    counts[word] = (counts[word] ?? 0) + Number(found[1]);
  }
  return counts;
}

export function add(counts: Record<string, number>, ...words: string[]): number {
  return words.reduce((sum, word) => sum + (counts[word] ?? 0), 0);
}

/** The place of the nearest line above that is not blank; -1 if there is none. */
export function above(lines: string[], at: number): number {
  let place = at - 1;
  while (place >= 0 && lines[place]!.trim() === "") place--;
  return place;
}

// ── Lines that may follow a summary, or begin a run ─────────────────────────

/** Nothing in these says that anything went wrong. Whatever is not known here leaves a summary open. */
const HARMLESS = [
  /^\s*$/,
  /^(?:✨ +)?Done in [\d.]+ ?m?s\b.*$/,
  /^Done$/,
  /^npm notice\b/,
  /^Ran all test suites(?: matching .*| related to .*| in \d+ projects?)?\.$/,
  /^Force exiting Jest:/,
  /^Jest did not exit one second after/,
  /^A worker process has failed to exit gracefully/,
  /^'?This usually means that there are asynchronous operations/,
  /^ *% Coverage report from \w+$/,
  /^-+(?:\|-+)+$/,
  /^[^|]*(?:\|[^|]*){3,}$/,
  /^=+ Coverage summary =+$/,
  /^(?:Statements|Branches|Functions|Lines) +: [\d.]+% \( \d+\/\d+ \)$/,
  /^=+$/,
  /^Randomized with seed \d+$/,
  /^Coverage report generated for /,
  /^(?:Line|Branch) Coverage: [\d.]+%/,
  /^Generating code coverage report in .* format \.\.\. done/,
  /^\[INFO\](?! BUILD FAILURE)/,
  /^\[WARNING\]/,
  /^ *Tasks: +(\d+) successful, \1 total$/,
  /^ *Cached: +\d+ cached, \d+ total$/,
  /^ *Time: +[\d.]+m?s(?: >>> FULL TURBO)?$/,
  /^lerna success /,
  /^[—–─-]{3,}$/,
  /^ *(?:NX|Lerna \(powered by Nx\)) +Successfully ran target /,
  /^To open last HTML report run:$/,
  /^ *npx playwright show-report\b/,
  /^Build succeeded(?: in [\d.]+s)?\.?$/,
  /^ *\d+ (?:Warning|Error)\(s\)$/,
  /^\d+ actionable tasks?: [\w ,-]+$/,
  /^ *(?:Compiling|Finished|Running|Doc-tests) \S/,
  /^warning: unused/,
];
export const isHarmless = (line: string) => HARMLESS.some((pattern) => match(line, pattern) !== null);

const RUNNER_STARTS = [
  /^=+ test session starts =+$/,
  /^ *(?:RUN|DEV) +v\d/,
  /^bun test v\d/,
  /^TAP version 1[34]$/,
  /^Running \d+ tests? using \d+ workers?/,
  /^running \d+ tests?$/,
  /^PHPUnit \d[\d.]* /,
  /^\[INFO\] +T E S T S$/,
  /^Starting test execution, please wait/,
];
const SCRIPT_STARTS = [/^> [@\w./-]+@\d\S* \S/, /^\$ \S/, /^yarn run v\d/];

/** A runner announces itself: what was summed up before belongs to another run. */
export const startsRunner = (line: string) => RUNNER_STARTS.some((pattern) => match(line, pattern) !== null);
export const startsRun = (line: string) =>
  startsRunner(line) || SCRIPT_STARTS.some((pattern) => match(line, pattern) !== null);

const NO_TESTS =
  /^\s*(?:(?:Error|INFO|✘):? +)?(?:No tests? (?:files? |modules )?(?:were )?found|Can't run because no spec files were found|There are no tests to run|no tests ran|No tests executed!|No test is available in|No examples found\.|\?\s+\S+\s+\[no test files\]|ok\s+\S+\s.*\[no tests to run\]$)/i;
export const saysNoTests = (lines: string[]) => lines.some((line) => match(line, NO_TESTS) !== null);

const WATCHING =
  /^\s*(?:PASS|FAIL)? *Waiting for file changes|^\s*Watch Usage\b|^Watching for file changes|^\[?watch(?: mode)?\]? waiting for changes/i;
export const isWatching = (lines: string[]) => lines.some((line) => match(line, WATCHING) !== null);

const CUT = /\[\d+ (?:lines|characters|bytes) (?:truncated|cut|omitted)|^<persisted-output>|output (?:was )?truncated/i;
export const isCutMark = (line: string) => match(line, CUT) !== null;

const UNMET =
  /FAIL Required test coverage|Coverage failure: total of|[Cc]overage (?:threshold )?for .*(?:not met|does not meet)|below the expected minimum coverage/;
export const missesCoverage = (lines: string[]) => lines.some((line) => match(line, UNMET) !== null);

/** What compilers print, from the first column on; a test's own output is mostly indented. */
const COMPILE_ERROR = [
  /^error(?:\[E\d{4}\]: |: (?:could not compile|aborting due to) )/,
  /\berror TS\d{4,5}: /,
  /^(?:vet: )?\S+\.go:\d+:\d+: \S/,
  /^\S+\.[\w+]+:\d+(?::\d+)?: (?:fatal )?error: /,
  /^(?:SyntaxError|IndentationError|TabError): /,
  /^e: (?:file:\/\/)?\S+\.kts?:/,
  /\berror (?:CS|FS|BC)\d{4}: /,
  /^\[ERROR\] COMPILATION ERROR|^(?:✘ \[ERROR\]|ERROR in|error during build:) ?/,
];
export const printsCompileError = (output: string) =>
  splitLines(output).some((line) => COMPILE_ERROR.some((pattern) => match(line, pattern) !== null));

/** Pieces of failing summaries: something printed in between may have torn one apart. */
const FAILURE_HINTS = [
  /^An error occurred (?:in an?|while loading|outside)/,
  /^ *(?:Test Files|Tests) {2}(?:.* )?[1-9]\d* failed\b/,
  /^ *(?:Type )?Errors {2}[1-9]/,
  /^(?:Test Suites|Tests): +(?:.* )?[1-9]\d* failed, .*total$/,
  /^ *[1-9]\d* fail$/,
  /^[ℹ#] (?:fail|cancelled) [1-9]/,
  /^ {0,2}[1-9]\d* (?:failing|failed)$/,
  /^FAILED \((?:failures|errors|unexpected)/,
  /^(?:FAILURES|ERRORS)!$/,
  /^Tests: \d+, Assertions: \d+.*, (?:Errors|Failures): [1-9]/,
  /^test result: FAILED\./,
  /^(?:=+ )?(?:\d[\w ,]* )?[1-9]\d* (?:failed|errors?)\b[\w ,]* in \d+\.\d+s/,
  /^\d+ examples?, (?:[1-9]\d* failures?|.*occurred outside of examples$)/,
  /^(?:\[\w+\] )?Tests run: \d+, (?:Failures: [1-9]|Failures: 0, Errors: [1-9])/,
  /^\[INFO\] BUILD FAILURE$|^BUILD FAILED\b/,
  /^ *Failed! +- Failed: /,
  /^Test Run (?:Failed|Aborted)\.$/,
  /^FAIL\t\S/,
  /^error: could not compile `/,
  /^Tests Passed: \d+, Failed: [1-9]/,
  /^ {2}Tests: {2,}(?:.* )?[1-9]\d* failed\b/,
  /^\*\* TEST FAILED \*\*$/,
  /^Result: FAIL$/,
  /^\[ {2}FAILED {2}\] \d+ tests?, listed below/,
  /^error: Test failed$/,
];

/** most lines have none of these words: one look instead of many */
const MENTIONS_FAILURE = /fail|error|cancelled|aborted/i;

export function hintsFailure(lines: string[]): boolean {
  const suspects = lines.filter((line) => match(line, MENTIONS_FAILURE) !== null);
  return suspects.some((line) => FAILURE_HINTS.some((pattern) => match(line, pattern) !== null));
}
