/** The results that runners leave as text: a TAP file per test file (prove, tap), and ctest's log. */
import type { TestLine } from "./named.ts";

export interface TextReport {
  tests: TestLine[];
  /** the plan, or the last line, is there and was kept */
  whole: boolean;
}

const TAP_LINE = /^(not )?ok\b(?: +(\d+))?(?: +- +| +-$| +)?(.*)$/;

/** Lines further in belong to subtests, which are tests of their own only by the line that ends them. */
export function readTap(text: string, file: string): TextReport {
  const tests: TestLine[] = [];
  let [planned, isBailed] = [-1, false];
  for (const line of text.split(/\r?\n/)) {
    const plan = /^1\.\.(\d+)(?: *# *skip\b.*)?$/i.exec(line);
    if (plan) planned = Number(plan[1]);
    if (line.startsWith("Bail out!")) isBailed = true;
    const found = plan ? null : TAP_LINE.exec(line);
    if (found) tests.push(tapTest(found, tests.length + 1, file));
  }
  const whole = planned === tests.length && !isBailed;
  if (planned === 0 && tests.length === 0) tests.push({ ev: "test", file, name: ["(all)"], status: "skipped" });
  return { tests, whole };
}

function tapTest([, not, number, rest]: RegExpExecArray, count: number, file: string): TestLine {
  const directive = /(?:^|[^\\])# *(skip|todo)\b.*$/i.exec(rest!);
  const name = rest!
    .slice(0, directive ? rest!.indexOf("#", directive.index) : undefined)
    .replace(/ *\{$|\\(?=[#\\])/g, "")
    .replace(/ +# time=.*$/, "")
    .trim();
  const isLeftOut = directive !== null && (not !== undefined || directive[1]!.toLowerCase() === "skip");
  const status = isLeftOut ? "skipped" : not === undefined ? "passed" : "failed";
  return { ev: "test", file, name: [name === "" ? `test ${number ?? count}` : name], status };
}

/** `disabled`: LastTestsDisabled.log, "3:name"; the log itself calls those passed. */
export function readCtest(log: string, disabled: string): TextReport {
  const leftOut = new Set(disabled.split("\n").map((line) => line.replace(/^\d+:/, "")));
  const tests: TestLine[] = [];
  const parts = log.split(/^\d+\/\d+ Testing: /m).slice(1);
  for (const part of parts) {
    const name = part.slice(0, part.indexOf("\n")).trim();
    const result = part.slice(part.lastIndexOf("\n<end of output>\n"));
    const isGood = /^Test Passed\.$|^Test Pass Reason:$/m.test(result);
    const status = isGood ? (leftOut.has(name) || /^Command: ""$/m.test(part) ? "skipped" : "passed") : "failed";
    tests.push({ ev: "test", name: [name], status });
  }
  return { tests, whole: /^End testing: /m.test(log.slice(-200)) };
}
