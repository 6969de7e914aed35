/**
 * What tool calls prove about the tests. Only a command that runs tests proves anything, and only by its own
 * summary and exit status: text that others printed, old logs and filtered output are no evidence.
 */

import type { Json } from "../../kernel/types/json.ts";
import type { ToolCall } from "../../kernel/types/run.ts";
import type { Tally } from "../../kernel/types/verdict.ts";
import { type Command, isShell, parseShell, type ShellLine } from "./shell.ts";
import { echoedStatus, isBeheaded, isQuoting, ownExit, weakFilter } from "./shell-status.ts";
import { countSummaries, judgeTests, type TestVerdict } from "./tally.ts";
import { type TestCommand, testCommand } from "./test-commands.ts";
import { printsCompileError } from "./test-output.ts";

export { judgeTests, readTally } from "./tally.ts";

export interface TestRun {
  command: string;
  at: string;
  agent: string;
  /** a run of only a part of the tests is never a pass here: it says nothing about the rest */
  verdict: "pass" | "fail" | "none";
  why: string;
  tally: Tally | null;
}

export const BROKEN_OFF =
  /^(?:Error: )?(?:Command timed out|Command was aborted|Command running in background|\[Request interrupted)/;

interface Test {
  command: Command;
  place: number;
  known: TestCommand;
}

/** Which test commands ran, in order. */
export function testRuns(calls: ToolCall[]): TestRun[] {
  return calls.flatMap((call) => (isShell(call.name) ? readRuns(call) : []));
}

function readRuns(call: ToolCall): TestRun[] {
  const shell = parseShell(readCommandLine(call.input));
  const tests = shell.commands.flatMap((command, place): Test[] => {
    const known = testCommand(command.words);
    return known ? [{ command, place, known }] : [];
  });
  if (tests.length === 0) return [];
  const joint = judgeCall(call, shell, tests);
  return tests.map((test, index) => ({
    command: test.command.words.join(" "),
    at: call.at,
    agent: call.agent,
    ...wholeOnly(joint, test.known),
    // the sum belongs to the line, it must not be counted once per command
    tally: index === tests.length - 1 ? joint.tally : null,
  }));
}

function wholeOnly({ verdict, why }: TestVerdict, { partial }: TestCommand): Pick<TestRun, "verdict" | "why"> {
  if (verdict !== "pass" || partial === null) return { verdict, why };
  return { verdict: "none", why: `only a part of the tests was run (${partial}): ${why}` };
}

// ── One call ────────────────────────────────────────────────────────────────

function none(why: string): TestVerdict {
  return { verdict: "none", why, tally: null };
}

function judgeCall(call: ToolCall, shell: ShellLine, tests: Test[]): TestVerdict {
  const { result } = call;
  if (field(call.input, "run_in_background") === true) return none("it was started in the background");
  if (result === null) return none("no result was seen");
  if (textAt(result.data, "backgroundTaskId") !== "") return none("it was moved to the background");
  if (field(result.data, "interrupted") === true || BROKEN_OFF.test(result.text)) return none("it was broken off");
  if (tests.some((test) => test.command.targets.length > 0)) return none("its output went into a file");
  if (tests.some((test) => test.command.negated)) return none("its exit status was not its own");
  const exit = readExit(result);
  if (exit === undefined) return none("the call failed without an exit status");
  return judgeOutput(readOutput(result), exit, shell, tests);
}

function judgeOutput(printed: string, lineExit: number, shell: ShellLine, tests: Test[]): TestVerdict {
  const last = tests.at(-1)!;
  const echoed = echoedStatus(shell, last.place, printed);
  const output = echoed?.output ?? printed;
  const exit = commonExit(
    tests.map((test) => (test === last ? echoed?.exit : null) ?? ownExit(shell, test.place, lineExit)),
  );
  const joint = judgeTests(output, exit);
  const places = tests.map((test) => test.place);
  if (shell.commands.some((_, place) => isQuoting(shell, place, places, echoed !== null)))
    return joint.verdict === "fail" && exit !== null && exit !== 0
      ? joint
      : none("another command of the line may have printed the summary");
  if (!isOwn(joint.tally, tests)) return none("the summary is of another runner");
  if (joint.verdict === "fail")
    return mayNotHaveRun(joint, shell, tests) ? none("an earlier command of the line failed") : joint;
  if (joint.verdict !== "pass") return joint;
  // A compiler before the tests may have failed: whether the tests ran on its result is not known.
  if (shell.commands.some((_, place) => ownExit(shell, place, lineExit) !== 0) && printsCompileError(output))
    return none("a compile error was printed");
  return findDoubt(output, exit, shell, tests) ?? joint;
}

/** 0 if all are; a failure if one is known; else not known. */
function commonExit(exits: (number | null)[]): number | null {
  return exits.find((exit) => exit !== null && exit !== 0) ?? (exits.includes(null) ? null : 0);
}

function findDoubt(output: string, exit: number | null, shell: ShellLine, tests: Test[]): TestVerdict | null {
  if (shell.broken) return none("the line cannot be read to its end");
  const filter = tests.map((test) => weakFilter(shell, test.place)).find((found) => found !== null);
  if (filter) return none(`what \`${filter}\` left of the output proves nothing`);
  if (exit === null && tests.some(({ known, place }) => known.several && isBeheaded(shell, place, output)))
    return none("`tail` may have cut the summary of another run");
  if (tests.length > 1 && countSummaries(output) < tests.length) return none("not every test command shows a summary");
  if (exit === null && tests.some((test) => test.known.threshold))
    return none("a threshold was asked for, and the exit status is not known");
  return null;
}

function isOwn(tally: Tally | null, tests: Test[]): boolean {
  if (tally === null || tests.some((test) => test.known.runners === null)) return true;
  const own = new Set(tests.flatMap((test) => test.known.runners!));
  return tally.runner.split("+").every((runner) => own.has(runner));
}

/** `cd nowhere && npm test` fails, too. */
function mayNotHaveRun(joint: TestVerdict, shell: ShellLine, tests: Test[]): boolean {
  return joint.tally === null && tests.every((test) => shell.commands[test.place]!.before === "&&");
}

// ── The call's own data ─────────────────────────────────────────────────────

export function field(value: Json, name: string): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value[name] : undefined;
}

export function textAt(value: Json, name: string): string {
  const found = field(value, name);
  return typeof found === "string" ? found : "";
}

export function readCommandLine(input: Json): string {
  const command = field(input, "command") ?? field(input, "cmd") ?? "";
  if (typeof command === "string") return command;
  if (!Array.isArray(command)) return "";
  return command.map((word) => `'${String(word).replaceAll("'", "'\\''")}'`).join(" ");
}

type Result = NonNullable<ToolCall["result"]>;

function readExit({ text, error, data }: Result): number | undefined {
  const given = field(data, "exitCode") ?? field(data, "exit_code");
  if (typeof given === "number") return given;
  if (!error) return 0;
  const found = /^(?:Error: )?Exit code (\d{1,3})\b/.exec(text);
  return found ? Number(found[1]) : undefined;
}

function readOutput({ text, data }: Result): string {
  const stdout = field(data, "stdout");
  const stderr = textAt(data, "stderr");
  if (typeof stdout !== "string") return text.replace(/^(?:Error: )?Exit code \d{1,3}\n?/, "");
  return stderr === "" ? stdout : `${stdout}\n${stderr}`;
}
