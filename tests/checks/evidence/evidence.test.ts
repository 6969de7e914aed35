import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { parse } from "yaml";
import { listChanges } from "../../../src/checks/evidence/edits.ts";
import { judgeTests, readTally, testRuns } from "../../../src/checks/evidence/evidence.ts";
import { parseShell } from "../../../src/checks/evidence/shell.ts";
import { testCommand } from "../../../src/checks/evidence/test-commands.ts";
import { ownTime } from "../../harness/own-time.ts";
import { asCall, asToolCall, callEntries, type OutputEntry, outputs } from "./evidence-corpus.ts";

describe("outputs", () => {
  for (const entry of outputs) {
    test(entry.name, () => {
      const { verdict, passed, failed, skipped, evidence } = entry.expect;
      const judged = judgeTests(entry.output, entry.exit);
      expect({ verdict: judged.verdict, why: judged.why }).toEqual({ verdict, why: judged.why });
      if (passed !== undefined) expect(judged.tally).toMatchObject({ passed, failed: failed!, skipped: skipped! });
      const run = testRuns([asCall(entry.command, entry.exit, entry.output)]).at(-1);
      expect({ word: run?.verdict ?? "absent", why: run?.why }).toEqual({ word: evidence ?? verdict, why: run?.why });
    });
  }
});

describe("tool calls", () => {
  for (const entry of callEntries) {
    test(entry.name, () => {
      const runs = testRuns(entry.calls.map(asToolCall));
      const seen = runs.map(({ command, verdict, why, tally }) => ({ command, verdict, why, passed: tally?.passed }));
      const wanted = entry.runs.map((run, at) => ({
        ...run,
        why: runs[at]?.why,
        passed: run.passed ?? runs[at]?.tally?.passed,
      }));
      expect(seen).toEqual(wanted as typeof seen);
    });
  }
});

describe("corpus", () => {
  const runners = [...new Set(outputs.map((entry) => entry.runner))].filter(
    (runner) => !["traps", "monorepo"].includes(runner),
  );
  const ZERO = /no tests?\b|zero|no examples|no files|collected 0|without tests/;
  const kinds: Record<string, (entry: OutputEntry) => boolean> = {
    pass: ({ expect: { verdict } }) => verdict === "pass",
    fail: ({ expect: { verdict, failed } }) => verdict === "fail" && failed! > 0,
    skip: ({ expect: { verdict, skipped } }) => verdict === "pass" && skipped! > 0,
    "all skipped": ({ expect: { verdict, skipped } }) => verdict === "none" && skipped! > 0,
    "zero tests": ({ name, expect: { verdict } }) => verdict === "none" && ZERO.test(name),
  };
  test("is large, and says where each output is from", () => {
    expect(outputs.length + callEntries.length).toBeGreaterThanOrEqual(200);
    expect(outputs.filter((entry) => entry.source.startsWith("real ")).length).toBeGreaterThanOrEqual(200);
    expect(outputs.filter((entry) => !/^(?:real \S|written )/.test(entry.source))).toEqual([]);
    const names = [...outputs, ...callEntries].map((entry) => entry.name);
    expect(new Set(names).size).toBe(names.length);
  });
  test.each(runners)("%s has every kind of run", (runner) => {
    const own = outputs.filter((entry) => entry.runner === runner);
    expect(Object.keys(kinds).filter((kind) => !own.some(kinds[kind]!))).toEqual([]);
  });
  test("all 29 runners are there", () => expect(runners.length).toBe(29));
});

describe("what a command runs", () => {
  const table = parse(readFileSync(join(import.meta.dir, "../../corpus/test-commands.yaml"), "utf8"));
  for (const [word, lines] of Object.entries(table as Record<"all" | "part" | "none", string[]>))
    test.each(lines)(`${word}: %s`, (line) => {
      const found = testCommand(parseShell(line).commands[0]!.words);
      expect([found === null ? "none" : found.partial === null ? "all" : "part", found?.partial]).toEqual([
        word,
        found?.partial,
      ]);
    });
});

describe("commands of a line", () => {
  const table: [string, string[][]][] = [
    [
      "cd x && npm test 2>&1 | tail -20",
      [
        ["npm", "test"],
        ["tail", "-20"],
      ],
    ],
    [
      "A=1 B='x y' timeout -k 5 60 sudo -E npx -y vitest run > /tmp/o 2>&1; echo \"done $?\"",
      [
        ["vitest", "run"],
        ["echo", "done $?"],
      ],
    ],
    ["bash -lc 'cd a && npm test' || true", [["npm", "test"], ["true"]]],
    ["cat <<'EOF' > x\nnpm test\nEOF\necho $(npm test) `pytest`", [["cat"], ["echo", "$(npm test)", "`pytest`"]]],
    ["cat <<-EOF\n\tpytest\n\tEOF\npytest", [["cat"], ["pytest"]]],
    ["for d in a b; do (cd $d && npm test); done", [["npm", "test"]]],
    [
      "if npm test; then echo ok; fi",
      [
        ["npm", "test"],
        ["echo", "ok"],
      ],
    ],
    ["! pytest", [["pytest"]]],
    ["echo 'npm test && pytest'", [["echo", "npm test && pytest"]]],
    ['echo "a \\"b\\" $(x "y") c"', [["echo", 'a "b" $(x "y") c']]],
    ["npm test # && pytest", [["npm", "test"]]],
    ["echo a#b", [["echo", "a#b"]]],
    ['time -p pytest -k "a and (b)"', [["pytest", "-k", "a and (b)"]]],
    ["npm test \\\n  --silent\npytest", [["npm", "test", "--silent"], ["pytest"]]],
    ["npm test &> out.txt & wait", [["npm", "test"], ["wait"]]],
    ["cmd <(pytest) >(x)", [["cmd", "<(pytest)", ">(x)"]]],
    ["x <<< 'pytest' ; y", [["x"], ["y"]]],
    ["a | b |& c || d && e", [["a"], ["b"], ["c"], ["d"], ["e"]]],
    ["poetry run pytest; pnpm exec jest; bundle exec rspec", [["pytest"], ["jest"], ["rspec"]]],
    ["env -u X FOO=1 nice -n 5 stdbuf -oL pytest", [["pytest"]]],
    ["'", [[""]]],
    ["", []],
  ];
  test.each(table)("%j", (line, commands) => {
    const words = parseShell(line).commands.map((command) => command.words);
    expect(words.filter(([name]) => name !== undefined && name !== "cd")).toEqual(commands);
  });
});

describe("where the output of a line goes", () => {
  const green =
    "Test Suites: 1 passed, 1 total\nTests:       2 passed, 2 total\nSnapshots:   0 total\nTime:        0.4 s\nRan all test suites.";
  const table: [line: string, verdicts: string[], edited: string[]][] = [
    ["npx jest >a.ts", ["none"], ["a.ts"]],
    ["npx jest 1>a.ts", ["none"], ["a.ts"]],
    ["npx jest >>a.ts", ["none"], ["a.ts"]],
    ["npx jest >| a.ts", ["none"], ["a.ts"]],
    ["npx jest &> a.ts", ["none"], ["a.ts"]],
    ["npx jest >a.ts 2>&1", ["none"], ["a.ts"]],
    ["npx jest 2>&1 >a.ts", ["none"], ["a.ts"]],
    [">a.ts npx jest", ["none"], ["a.ts"]],
    ["npx jest >/dev/null", ["none"], []],
    ["npx jest 2>a.ts", ["pass"], []],
    ["npx jest 2> a.ts", ["pass"], []],
    ["npx jest 2>>a.ts", ["pass"], []],
    ["2>a.ts npx jest", ["pass"], []],
    ["npx jest 2>/dev/null", ["pass"], []],
    ["npx jest 2>&1", ["pass"], []],
    ["npx jest 1>&2", ["pass"], []],
    ["npx jest >/dev/stdout", ["pass"], []],
    ["npx jest <a.ts", ["pass"], []],
    ["npx jest 2>&1 | tail -5", ["pass"], []],
    ["npx jest 2>&1 | tail -5 > a.ts", ["pass"], ["a.ts"]],
    ["npx jest 2>a.ts | tail -5", ["pass"], []],
    ["npx jest '>a.ts'", ["none"], []],
    ["bash -c 'npx jest' >a.ts", ["none"], ["a.ts"]],
    ["bash -c 'npx jest >a.ts'", ["none"], ["a.ts"]],
    ["bash -c 'npx jest 2>a.ts'", ["pass"], []],
    ["echo a >a.ts; npx jest", ["pass"], ["a.ts"]],
    ["cat <<EOF >a.ts && npx jest\nnpm test >b.ts\nEOF", ["pass"], ["a.ts"]],
    ["cat >a.ts <<'EOF'\n$(npm test >b.ts)\nEOF\nnpx jest", ["pass"], ["a.ts"]],
    ["git commit -m \"$(cat <<'EOF'\nnpm test > b.ts\nEOF\n)\" && npx jest", ["pass"], []],
    ["echo $(npx jest >a.ts)", [], []],
    ["X=$(npx jest)", [], []],
    ["[[ a > b.ts ]] && npx jest", ["pass"], []],
    ["{ npx jest; } >a.ts", ["none"], ["a.ts"]],
    ["(npx jest) >a.ts", ["none"], ["a.ts"]],
    ["exec >a.ts; npx jest", ["none"], ["a.ts", "a.ts"]],
    ["exec >a.ts 2>&1\nnpx jest", ["none"], ["a.ts", "a.ts"]],
    ["exec &>a.ts && npx jest", ["none"], ["a.ts", "a.ts"]],
    ["bash -c 'exec >a.ts; npx jest'", ["none"], ["a.ts", "a.ts"]],
    ["exec >a.ts; bash -c 'npx jest'", ["none"], ["a.ts", "a.ts"]],
    ["bash -c 'exec >a.ts'; npx jest", ["pass"], ["a.ts"]],
    ["(exec >a.ts); npx jest", ["pass"], ["a.ts"]],
    ["exec 2>a.ts; npx jest", ["pass"], []],
    ["exec 2>&1; npx jest", ["pass"], []],
    ["exec npx jest", ["pass"], []],
  ];
  test.each(table)("%j", (line, verdicts, edited) => {
    const call = asCall(line, 0, green);
    expect(testRuns([call]).map(({ verdict }) => verdict) as string[]).toEqual(verdicts);
    expect(listChanges(call).flatMap((change) => change.edited)).toEqual(edited);
  });

  /** A summary without its end: only an exit status that is known makes it a pass. */
  const open = " Test Files  1 passed (1)\n      Tests  2 passed (2)\n";
  test.each<[line: string, verdict: string]>([
    ["npx vitest run", "pass"],
    ["npx vitest run | cat", "none"],
    ["set -o pipefail; npx vitest run | cat", "pass"],
    ["cd a && set -euo pipefail && npx vitest run | cat", "pass"],
    ["set -o pipefail; set +o pipefail; npx vitest run | cat", "none"],
    ["false || set -o pipefail; npx vitest run | cat", "none"],
    ["set -o pipefail | cat; npx vitest run | cat", "none"],
    ["(set -o pipefail); npx vitest run | cat", "none"],
    ["set -o pipefail; (npx vitest run | cat)", "pass"],
    ["set -o pipefail; bash -c 'npx vitest run | cat'", "none"],
    ["set -o pipefail; bash -c 'npx vitest run' | cat", "pass"],
    ["bash -c 'set -o pipefail'; npx vitest run | cat", "none"],
    ["bash -c 'set -o pipefail; npx vitest run | cat'", "pass"],
    ["bash -o pipefail -c 'npx vitest run | cat'", "pass"],
    ["bash -euo pipefail -c 'npx vitest run | cat'", "pass"],
    ["npx vitest run; true", "none"],
    ["set -e; npx vitest run; true", "pass"],
    ["set -e; npx vitest run && true; true", "none"],
    ["set -e; set +e; npx vitest run; true", "none"],
    ["set -e; bash -c 'npx vitest run; true'", "none"],
    ["bash -ec 'npx vitest run; true'", "pass"],
  ])("the exit status of the tests in %j", (line, verdict) => {
    expect(testRuns([asCall(line, 0, open)]).map((run) => run.verdict) as string[]).toEqual([verdict]);
  });

  /** A shell refuses them, or stops there; what was printed then came from somewhere else. */
  test.each([
    "npx jest ;; echo",
    "npx jest ;; cat old.log",
    "npx jest; ) cat old.log",
    "npx jest && && cat old.log",
    "npx jest; cat 'old.log",
    'npx jest; cat "old.log',
    "npx jest; cat $(old.log",
    "npx jest; cat `old.log",
    "npx jest; fi; cat old.log",
    "npx jest | | cat old.log",
    "cat old.log ;; npx jest",
  ])("%j is never a pass", (line) => {
    const verdicts = testRuns([asCall(line, 0, green)]).map(({ verdict }) => verdict);
    expect(verdicts).not.toContain("pass");
  });
});

describe("properties", () => {
  /** one run each: the cut output of many runs may well show only a good one; testRuns knows about those */
  const red = outputs.filter(
    ({ runner, name, expect: { failed } }) =>
      failed! > 0 &&
      runner !== "monorepo" &&
      !/packages|projects|modules|first|go: ok printed|go: build fails, piped/.test(name),
  );
  /** a test that prints a whole summary and dies with it cannot be told from one that ended there */
  const honest = red.filter(({ name }) => !/print/.test(name));
  const notGreen = outputs.filter(({ expect: { verdict } }) => verdict !== "pass");
  const green = outputs.filter(({ exit, expect: { verdict } }) => verdict === "pass" && exit === 0);
  const of = <T>(list: T[]) => fc.constantFrom(...list);
  const noise = fc.constantFrom(
    "",
    "ok",
    "PASS",
    "12 passed",
    "All tests passed!",
    "✓ adds (3 ms)",
    "0 failed",
    "Tests: all good",
    "\u001b[32mPASS\u001b[39m a.test.js",
    "> echo hi",
    "{}",
    "Done in 1.2s.",
    "=".repeat(80),
    "    at x (y:1:1)",
    "exit 0",
  );
  const verdictOf = (output: string, exit: number | null) => judgeTests(output, exit).verdict;

  test("the end of a red run is never green", () => {
    fc.assert(
      fc.property(of(red), fc.nat(), ({ output }, cut) => {
        const lines = output.split("\n");
        expect(verdictOf(lines.slice(cut % lines.length).join("\n"), null)).not.toBe("pass");
      }),
      { numRuns: 400 },
    );
  });

  test("the beginning of a red run is never green", () => {
    fc.assert(
      fc.property(of(honest), fc.nat(), ({ output }, cut) => {
        expect(verdictOf(output.slice(0, cut % (output.length + 1)), null)).not.toBe("pass");
      }),
      { numRuns: 400 },
    );
  });

  test("inserted lines make nothing green", () => {
    fc.assert(
      fc.property(of(notGreen), fc.array(fc.tuple(fc.nat(), noise), { maxLength: 5 }), ({ output, exit }, inserted) => {
        const lines = output.split("\n");
        for (const [at, line] of inserted) lines.splice(at % (lines.length + 1), 0, line);
        expect(verdictOf(lines.join("\n"), exit)).not.toBe("pass");
      }),
      { numRuns: 400 },
    );
  });

  test("a green run printed inside a red one changes nothing", () => {
    fc.assert(
      fc.property(of(red), of(green), fc.nat(), fc.constantFrom(0, null), ({ output }, quoted, cut, exit) => {
        const lines = output.split("\n");
        const at = cut % (lines.length + 1);
        const mixed = lines.toSpliced(at, 0, ...quoted.output.split("\n")).join("\n");
        // a quotation in the middle of the summary leaves no red summary
        if (!brokenBy(lines, at)) expect(verdictOf(mixed, exit)).toBe("fail");
      }),
      { numRuns: 400 },
    );
  });

  function brokenBy(lines: string[], at: number): boolean {
    const parts = [lines.slice(0, at).join("\n"), lines.slice(at).join("\n")];
    return parts.every((part) => (readTally(part)?.failed ?? 0) === 0);
  }

  test("a red and a green package are red, in any order", () => {
    fc.assert(
      fc.property(of(red), of(green), fc.boolean(), fc.constantFrom(0, 1, null), (bad, good, first, exit) => {
        const [a, b] = first ? [bad, good] : [good, bad];
        const output = `> a@1.0.0 test\n> x\n\n${a.output}\n\n> b@1.0.0 test\n> x\n\n${b.output}`;
        expect(verdictOf(output, exit)).toBe("fail");
      }),
      { numRuns: 400 },
    );
  });

  test("words alone are never green", () => {
    const word = fc.constantFrom(
      "12",
      "0",
      "passed",
      "failed",
      "Tests:",
      "total",
      "ok",
      "PASS",
      "passing",
      "(3ms)",
      "in",
      "0.1s",
      ",",
      "examples,",
      "failures",
      "\n",
      "=====",
      "pass",
      "#",
      "test",
      "result:",
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        const output = words.join(" ");
        const isSummary = readTally(output) !== null;
        // a chance hit has to be a real summary line of its own
        if (isSummary) expect(output).toMatch(/^\s*(?:=+ )?\d+ \w+.* in 0\.1s|\d+ passing \(3ms\)/m);
      }),
      { numRuns: 500 },
    );
  });
});

describe("size", () => {
  const MB = 1_000_000;
  const long: Record<string, string> = {
    letters: "a".repeat(MB),
    digits: "1 passed, ".repeat(MB / 10),
    spaces: " ".repeat(MB),
    equals: "=".repeat(MB),
    escapes: "\u001b[".repeat(MB / 2),
    "open escapes": `\u001b]${"x".repeat(MB)}`,
    "escape parameters": `\u001b[${"1;".repeat(MB / 2)}`,
    pipes: "a|".repeat(MB / 2),
    dashes: "-|".repeat(MB / 2),
    prefixes: "a/".repeat(MB / 2),
    returns: "\r".repeat(MB),
    summaries: " 3 passing (3ms)\n".repeat(MB / 16),
    counts: "  1 failed\n    x\n".repeat(MB / 16),
    results: "--- PASS: TestA (0.00s)\n".repeat(MB / 24),
    json: `{"Action":"${"x".repeat(MB)}`,
    quotes: "'".repeat(MB + 1),
    substitutions: "$(".repeat(MB / 2),
  };
  test.each(Object.keys(long))(
    "1 MB of %s is read in linear time",
    (kind) => {
      const all = () => {
        judgeTests(long[kind]!, null);
        parseShell(long[kind]!);
        testRuns([asCall(`npm test; echo ${long[kind]!.slice(0, 50_000)}`, 0, long[kind]!)]);
      };
      expect(ownTime(all)).toBeLessThan(2_000);
    },
    30_000,
  );
});
