import { describe, expect, test } from "bun:test";
import { judgeTurn, type TurnVerdict } from "../../../src/guard/core/turns.ts";
import type { ToolCall } from "../../../src/kernel/types/run.ts";

const PASSED = " Test Files  2 passed (2)\n      Tests  12 passed (12)\n";
const FAILED = " Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 11 passed (12)\n";

/** In short: `edit a.ts`, `green npm test`, `red npm test`, `$ any command`, with `sub:` before it: by a sub-agent. */
function callOf(short: string, index: number): ToolCall {
  const [, sub, word, rest] = /^(sub:)?(\S+) ([\s\S]*)$/.exec(short)!;
  const base = {
    id: `t${index}`,
    at: `2026-01-01T10:00:${String(index).padStart(2, "0")}.000Z`,
    agent: sub ? "a1" : "",
  };
  const result = (text: string, exit: number) => ({
    text: exit === 0 ? text : `Exit code ${exit}\n${text}`,
    error: exit !== 0,
    data: null,
  });
  if (word === "edit") return { ...base, name: "Edit", input: { file_path: rest! }, result: result("ok", 0) };
  if (word === "refused") return { ...base, name: "Edit", input: { file_path: rest! }, result: result("no match", 1) };
  if (word === "notebook") return { ...base, name: "NotebookEdit", input: { notebook_path: rest! }, result: null };
  const output = word === "green" ? PASSED : word === "red" ? FAILED : "";
  return { ...base, name: "Bash", input: { command: rest! }, result: result(output, word === "red" ? 1 : 0) };
}

const judge = (...calls: string[]) => judgeTurn(calls.map(callOf));

describe("the verdict of a turn", () => {
  test.each<[TurnVerdict, string[]]>([
    ["never", []],
    ["never", ["edit a.ts"]],
    ["never", ["edit a.ts", "$ ls"]],
    ["verified", ["edit a.ts", "green npm test"]],
    ["verified", ["green npm test", "edit a.ts", "green npm test"]],
    ["verified", ["edit a.ts", "red npm test", "edit a.ts", "green npm test"]],
    ["verified", ["edit a.ts", "green npm test", "refused a.ts"]],
    ["verified", ["edit a.ts", "green npm test", "$ git commit -am fix"]],
    ["verified", ["edit a.ts", "green npm test", "$ echo x > /tmp/note"]],
    ["verified", ["edit a.ts", "green npm test", "$ rm -rf coverage"]],
    ["verified", ["edit a.ts", "green npm test", "$ git checkout -b fix"]],
    ["verified", ["edit a.ts", "green npm test", "$ git stash list"]],
    ["verified", ["edit a.ts", "green npm test", "$ npm start 2> errors.txt"]],
    ["verified", ["edit a.ts", "green npm test", "$ grep -n 'a > b' a.ts"]],
    ["verified", ["edit a.ts", "green npm test", "$ sed -n 1,5p a.ts"]],
    ["verified", ["green mv a.ts b.ts && npm test"]],
    ["verified", ["edit a.ts", "sub:green npm test"]],
    ["stale", ["edit a.ts", "green npm test", "edit a.ts"]],
    ["stale", ["edit a.ts", "green npm test", "sub:edit b.ts"]],
    ["stale", ["edit a.ts", "green npm test", "notebook n.ipynb"]],
    ["stale", ["edit a.ts", "green npm test", "$ sed -i 's/a/b/' a.ts"]],
    ["stale", ["edit a.ts", "green npm test", "$ cat > a.ts <<'EOF'\nx\nEOF"]],
    ["stale", ["edit a.ts", "green npm test", "$ git stash pop"]],
    ["stale", ["edit a.ts", "green npm test", "$ git -C sub checkout main"]],
    ["stale", ["edit a.ts", "green npm test", "$ cd sub && git apply fix.diff"]],
    ["stale", ["edit a.ts", "green npm test", "$ mv a.ts b.ts"]],
    ["stale", ["edit a.ts", "green npm test", "$ cp /tmp/a.ts a.ts"]],
    ["stale", ["edit a.ts", "green npm test", "$ rm a.ts"]],
    ["stale", ["edit a.ts", "green npm test", "$ patch -p1 < fix.diff"]],
    ["stale", ["edit a.ts", "green npm test", "$ perl -pi -e 's/a/b/' a.ts"]],
    ["stale", ["edit a.ts", "green npm test", "$ bash -c 'rm a.ts'"]],
    ["stale", ["edit a.ts", "green npm test", "edit a.ts", "green npm test -- -t one"]],
    ["failed", ["edit a.ts", "red npm test"]],
    ["failed", ["edit a.ts", "red npm test", "edit a.ts"]],
    ["failed", ["green npm test", "edit a.ts", "red npm test"]],
    ["failed", ["edit a.ts", "sub:red npm test"]],
    ["never", ["edit a.ts", "green npm test -- -t one"]],
    ["never", ["edit a.ts", "green cat old.log"]],
  ])("%s: %j", (verdict, calls) => expect(judge(...calls).verdict).toBe(verdict));
});

test("an edit behind the tests of the same line comes after them", () => {
  const { verdict, edited } = judge("green npm test; git stash pop");
  expect(edited).toEqual(["git stash pop"]);
  expect(verdict).not.toBe("verified");
});

test("what was edited is named once, in order", () => {
  expect(judge("edit b.ts", "edit a.ts", "edit b.ts", "$ sed -i s/x/y/ c.ts d.ts").edited).toEqual([
    "b.ts",
    "a.ts",
    "c.ts",
    "d.ts",
  ]);
});

describe("why, in words", () => {
  test.each<[string[], string]>([
    [["edit a.ts", "green npm test", "edit b.ts"], "b.ts was edited after the last green run (npm test)"],
    [["edit a.ts", "red npm test"], "the last run (npm test) failed"],
    [["edit a.ts"], "no test run followed"],
    [["edit a.ts", "green npm test -- -t one"], "only a part of the tests was run"],
  ])("%j", (calls, why) => expect(judge(...calls).why).toContain(why));
});

test("files that do not count are no edits", () => {
  const calls = ["edit a.ts", "green npm test", "edit README.md"].map(callOf);
  const judged = judgeTurn(calls, (path) => !path.endsWith(".md"));
  expect(judged).toMatchObject({ verdict: "verified", edited: ["a.ts"] });
});
