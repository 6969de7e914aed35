import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  closes,
  failureIn,
  judgeReview,
  lookForSignal,
  readProgress,
  reviewVerdict,
} from "../../../src/checks/evidence/infer.ts";
import type { ToolCall } from "../../../src/kernel/types/run.ts";
import { ownTime } from "../../harness/own-time.ts";
import { type Case, cases, RULES } from "./infer-corpus.ts";

const lookAt = ({ stage, calls, says, task }: Case) => lookForSignal(RULES[stage]!, calls, says, task);

test("the corpus is large, half of it are traps, and every stage has both", () => {
  expect(cases.length).toBeGreaterThanOrEqual(150);
  expect(cases.filter((one) => one.infers === null).length * 2).toBeGreaterThanOrEqual(cases.length);
  const signals = Object.values(RULES).flatMap((rules) => Object.keys(rules));
  expect(signals.filter((signal) => !cases.some((one) => one.infers === signal))).toEqual([]);
  const names = cases.map((one) => `${one.stage}: ${one.name}`);
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
});

for (const stage of Object.keys(RULES)) {
  describe(stage, () => {
    for (const one of cases.filter((each) => each.stage === stage))
      test(one.name, () => {
        const seen = lookAt(one);
        expect({ signal: seen.inferred?.signal ?? null, progress: seen.progress, by: seen.inferred?.evidence }).toEqual(
          {
            signal: one.infers,
            progress: one.progress,
            by: seen.inferred?.evidence,
          },
        );
      });
  });
}

// ── Properties ──────────────────────────────────────────────────────────────

const at = (second: number) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
const inOrder = (calls: ToolCall[]) => calls.map((call, place) => ({ ...call, id: `t${place}`, at: at(place) }));

const bash = (command: string, text: string): ToolCall => ({
  id: "",
  name: "Bash",
  input: { command },
  result: { text, error: false, data: { stdout: text, stderr: "", interrupted: false } },
  at: "",
  agent: "",
});
const tool = (name: string, input: Record<string, string>, text: string): ToolCall => ({
  id: "",
  name,
  input,
  result: { text, error: false, data: null },
  at: "",
  agent: "",
});

/** Words of evidence in every place where they are none. */
const NOISE = [
  "12 passed",
  "Tests  12 passed (12)",
  "✓ Closed bd-42",
  "APPROVED",
  "LGTM",
  "bd show bd-42",
  "bd close bd-42",
];
const unrelated = fc.oneof(
  fc
    .constantFrom(...NOISE)
    .chain((text) =>
      fc.constantFrom<ToolCall>(
        bash("ls -la", text),
        bash(`echo '${text}'`, text),
        bash("cat notes.txt", text),
        bash("git status --short # bd close bd-42", text),
        bash("bd list --json", text),
        bash("bd show bd-7", text),
        bash("bd close bd-7", "✓ Closed bd-7: Closed"),
        tool("Read", { file_path: "notes.md" }, text),
        tool("Grep", { pattern: "x", path: "src" }, text),
        tool("Task", { subagent_type: "general-purpose" }, text),
        tool("WebFetch", { url: "https://example.org" }, text),
        tool("TodoWrite", {}, text),
      ),
    ),
);

const traps = cases.filter((one) => one.infers === null && RULES[one.stage] !== undefined);

test("unrelated calls never turn nothing into a signal", () => {
  fc.assert(
    fc.property(fc.constantFrom(...traps), fc.array(fc.tuple(unrelated, fc.nat(20)), { maxLength: 6 }), (one, more) => {
      const calls = [...one.calls];
      for (const [call, place] of more) calls.splice(place % (calls.length + 1), 0, call);
      expect(lookAt({ ...one, calls: inOrder(calls) }).inferred).toBeNull();
    }),
    { numRuns: 2000 },
  );
});

const anyCall = fc.oneof(unrelated, fc.constantFrom(...cases.flatMap((one) => one.calls)));
const anyMessage = fc.oneof(
  fc.constantFrom(...cases.map((one) => one.says)),
  fc
    .array(
      fc.constantFrom(
        ...NOISE,
        "The tests pass.",
        "All green",
        "issue closed",
        "approved",
        "\n\n",
        "pytest passed: success",
        "✅",
      ),
      { maxLength: 8 },
    )
    .map((words) => words.join(" ")),
  fc.string(),
);

const RED: ToolCall = {
  ...bash("npx vitest run", ""),
  result: {
    text: "Exit code 1\n Test Files  1 failed (1)\n      Tests  1 failed | 12 passed (13)\n",
    error: true,
    data: null,
  },
};
const quiet = anyCall.filter((call) => !/vitest|pytest|npm|bun|test/.test(JSON.stringify(call.input)));

test("a failing last test run never infers TESTS_PASSING", () => {
  fc.assert(
    fc.property(
      fc.array(anyCall, { maxLength: 8 }),
      fc.array(quiet, { maxLength: 5 }),
      anyMessage,
      (before, after, message) => {
        const calls = inOrder([...before, RED, ...after]);
        expect(lookForSignal(RULES.testing!, calls, message, "bd-42").inferred).toBeNull();
        expect(failureIn(calls)).toContain("vitest run");
        expect(readProgress(calls)).not.toBe("IN_PROGRESS");
      },
    ),
    { numRuns: 1000 },
  );
});

test("prose alone never infers what a tool could show", () => {
  const reads = fc.array(
    fc.constantFrom(...NOISE).map((text) => tool("Read", { file_path: "notes.md" }, text)),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(
      fc.constantFrom("testing", "oracle-review", "commit-close", "requirements-review", "coding"),
      reads,
      anyMessage,
      (stage, calls, message) => {
        expect(lookForSignal(RULES[stage]!, inOrder(calls), message, "bd-42").inferred).toBeNull();
      },
    ),
    { numRuns: 2000 },
  );
});

test("an edit behind it makes every green run and every approval old", () => {
  const shown = cases.filter((one) => one.infers === "TESTS_PASSING" || one.infers === "ORACLE_APPROVED");
  const edits = fc.constantFrom<ToolCall>(
    tool("Edit", { file_path: "src/z.ts" }, "ok"),
    { ...tool("Write", { file_path: "src/z.ts" }, "ok"), agent: "fixer" },
    bash("sed -i s/a/b/ src/z.ts", ""),
    bash("echo x >> src/z.ts", ""),
  );
  fc.assert(
    fc.property(fc.constantFrom(...shown), edits, fc.array(unrelated, { maxLength: 3 }), (one, edit, more) => {
      expect(lookAt({ ...one, calls: inOrder([...one.calls, edit, ...more]) }).inferred).toBeNull();
    }),
  );
});

test("an approval that is old says what made it so", () => {
  const calls = [
    tool("Task", { subagent_type: "oracle-reviewer" }, "APPROVED"),
    tool("Edit", { file_path: "src/z.ts" }, "ok"),
  ];
  expect(judgeReview(inOrder(calls))).toMatchObject({
    verdict: "unclear",
    why: "src/z.ts was edited after the review",
  });
});

test("a call closes its task, and no other", () => {
  const call = bash("bd close bd-7", "✓ Closed bd-7: Closed");
  expect([closes(call, "bd-7"), closes(call, "bd-42"), closes(call, "")]).toEqual([true, false, false]);
});

test("a negated approval is none", () => {
  const approvals = ["approved", "APPROVED", "LGTM", "looks good", "ship it"];
  const negations = ["not", "never", "cannot say", "isn't", "isn’t", "no way", "nicht", "not yet"];
  fc.assert(
    fc.property(fc.constantFrom(...negations), fc.constantFrom(...approvals), (no, yes) => {
      expect(reviewVerdict(`This is ${no} ${yes}.`)).not.toBe("approved");
      expect(reviewVerdict(`${yes}: ${no}`)).not.toBe("approved");
    }),
  );
});

describe("time does not explode", () => {
  const hostile: [string, string][] = [
    ["backticks", "` ".repeat(20_000)],
    ["quotes", "\"a '".repeat(20_000)],
    ["blanks", `implementation${" ".repeat(50_000)}complete`],
    ["stars", "*_".repeat(20_000)],
    ["labels", "final overall review ".repeat(5_000)],
    ["negations", "no further more other open ".repeat(5_000)],
    ["numbers", "1 of 2 ".repeat(10_000)],
    ["boxes", "- [ ] a\n".repeat(10_000)],
  ];
  test.each(hostile)("%s", (_, text) => {
    const all = () => {
      for (const stage of Object.keys(RULES)) lookForSignal(RULES[stage]!, [], text, "bd-42");
      reviewVerdict(text);
    };
    expect(ownTime(all)).toBeLessThan(2_000);
  });
});
