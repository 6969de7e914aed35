/** Results that runners leave in files. The XML of maven, gradle and .NET is made by hand: they were not run here. */
import { expect, test } from "bun:test";
import { readCtest, readTap } from "../../../src/checks/core/text-report.ts";
import { readJunit, readTrx } from "../../../src/checks/core/xml-report.ts";

type Read = { tests: { name: string[]; status: string; file?: string }[]; whole: boolean } | null;
const short = (read: Read) =>
  read && { tests: read.tests.map((one) => [one.name.join(" > "), one.status]), whole: read.whole };

const JUNIT: [string, string, ReturnType<typeof short>][] = [
  [
    "surefire",
    `<?xml version="1.0" encoding="UTF-8"?><testsuite name="x.FooTest" tests="4">
<testcase name="ok" classname="x.FooTest" time="0.01"/>
<testcase name="bad" classname="x.FooTest" time="0.01"><failure message="a &gt; b" type="E"><![CDATA[<testcase name="fake" time="0"/>]]></failure></testcase>
<testcase name="off" classname="x.FooTest" time="0"><skipped message="x"/></testcase>
<testcase name="flaky" classname="x.FooTest" time="0"><flakyFailure message="x">y</flakyFailure></testcase></testsuite>`,
    {
      tests: [
        ["x.FooTest > ok", "passed"],
        ["x.FooTest > bad", "failed"],
        ["x.FooTest > off", "skipped"],
        ["x.FooTest > flaky", "passed"],
      ],
      whole: true,
    },
  ],
  [
    "entities, a > in a name, single quotes",
    `<testsuites><testcase name='a > "b" &amp;amp; &#65;&#x42;' time='1'></testcase></testsuites>`,
    { tests: [['a > "b" &amp; AB', "passed"]], whole: true },
  ],
  [
    "phpunit: a risky test",
    `<testsuites><testcase name="r" class="A" time="0"><error type="PHPUnit\\Framework\\RiskyTestError">x</error></testcase></testsuites>`,
    { tests: [["A > r", "passed"]], whole: true },
  ],
  [
    "an error is a failure",
    '<testsuites><testcase name="e" time="0"><error type="E">x</error></testcase></testsuites>',
    { tests: [["e", "failed"]], whole: true },
  ],
  ["gtest: only a list", '<testsuites><testcase name="Adds" file="/a.cc" line="2" /></testsuites>', null],
  ["empty, after an exit", "", { tests: [], whole: false }],
  ["cut off", '<testsuites><testcase name="a" time="0"/>', { tests: [["a", "passed"]], whole: false }],
  ["something else", "<coverage/>", null],
];
test.each(JUNIT)("JUnit: %s", (_, xml, wanted) => expect(short(readJunit(xml))).toEqual(wanted));

const TRX = `<TestRun><Results>
<UnitTestResult testId="1" testName="Adds" outcome="Passed"><Output><StdOut>&lt;x&gt;</StdOut></Output></UnitTestResult>
<UnitTestResult testId="2" testName="Adds" outcome="Failed" /><UnitTestResult testId="3" testName="Off" outcome="NotExecuted" />
<UnitTestResult testId="4" testName="Odd" outcome="Timeout" /></Results><TestDefinitions>
<UnitTest name="Adds" storage="/p/bin/a.dll" id="1"><TestMethod className="N.A" name="Adds" /></UnitTest>
<UnitTest name="Adds" storage="/p/bin/a.dll" id="2"><TestMethod className="N.B" name="Adds" /></UnitTest>
</TestDefinitions><ResultSummary outcome="Failed"/></TestRun>`;

test("trx: the class is found by the test's id", () => {
  const tests = [
    ["a.dll > N.A > Adds", "passed"],
    ["a.dll > N.B > Adds", "failed"],
    ["Off", "skipped"],
    ["Odd", "failed"],
  ];
  expect(short(readTrx(TRX))).toEqual({ tests, whole: true });
  expect(readTrx(TRX.replace('<ResultSummary outcome="Failed"', '<ResultSummary outcome="Aborted"'))?.whole).toBe(
    false,
  );
  expect(readTrx("<html/>")).toBeNull();
});

const TAP: [string, string, ReturnType<typeof short>][] = [
  [
    "results and directives",
    "ok 1 - fine\nnot ok 2 - bad\nok 3\nok 4 # skip no\nnot ok 5 - later # TODO x\nok 6 - now # TODO x\nok 7 - a \\# b\n1..7\n",
    {
      tests: [
        ["fine", "passed"],
        ["bad", "failed"],
        ["test 3", "passed"],
        ["test 4", "skipped"],
        ["later", "skipped"],
        ["now", "passed"],
        ["a # b", "passed"],
      ],
      whole: true,
    },
  ],
  [
    "subtests",
    "# Subtest: in\n    not ok 1 - x\n    1..1\nok 1 - in # time=3ms\n1..1\n",
    { tests: [["in", "passed"]], whole: true },
  ],
  ["fewer than planned", "1..2\nok 1 - a\n", { tests: [["a", "passed"]], whole: false }],
  ["no plan", "ok 1 - a\n", { tests: [["a", "passed"]], whole: false }],
  ["all skipped", "1..0 # SKIP why\n", { tests: [["(all)", "skipped"]], whole: true }],
  ["bail out", "1..1\nok 1 - a\nBail out!\n", { tests: [["a", "passed"]], whole: false }],
];
test.each(TAP)("TAP: %s", (_, text, wanted) => expect(short(readTap(text, "t/a.t"))).toEqual(wanted));

test("ctest: a skipped test is called passed in the log", () => {
  const one = (name: string, end: string) =>
    `1/3 Testing: ${name}\n1/3 Test: ${name}\nCommand: "x"\nOutput:\n--\nTest Passed.\n<end of output>\nTest time = 0\n--\n${end}\n\n`;
  const log = `Start testing: now\n${one("a", "Test Passed.")}${one("b", "Test Failed.")}${one("c", "Test Passed.")}`;
  const tests = [
    ["a", "passed"],
    ["b", "failed"],
    ["c", "skipped"],
  ];
  expect(short(readCtest(`${log}End testing: now\n`, "3:c\n"))).toEqual({ tests, whole: true });
  expect(readCtest(log, "").whole).toBe(false);
});
