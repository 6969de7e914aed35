/** `evidence`: what the agent's own tool calls in this stage show. */

import { safeText } from "../../../kernel/text/safe-text.ts";
import type { Fact, Gate, ToolCall } from "../../../kernel/types/run.ts";
import type { TestRun } from "../../../kernel/types/verdict.ts";
import type { Measuring } from "../../measuring.ts";
import { type ShownCounts, shown, testCounts, tooFew } from "./counts.ts";
import { type Finding, fail, kind, pass } from "./kind.ts";

/** The newest run of tests, and a file that was changed after it. */
interface TestEvidence {
  run: TestRun | null;
  edited: string;
}
type Evidence = TestEvidence | ShownCounts;

export const evidence = kind<Evidence>({
  schema: (words) => ({
    check: words.optional(
      words.word("tests", "review", "task-read", "failure"),
      "What the agent's own tool calls in this stage show. tests: a green run, and nothing was changed after it. review: a reviewer approved. task-read: the task was opened again. failure: tests or the review failed.",
    ),
    options: {
      ...testCounts(words),
      from: words.optional(
        words.name,
        "What tool calls show since this stage was entered counts. A run whose plan lacks the stage is not asked.",
      ),
    },
  }),
  needs: "measure",
  outsideRun: () => "a run: it is about the agent's own tool calls",
  measure(measuring, gate) {
    const { since, entered } = measuring.need;
    const calls = measuring.toolCalls(gate.from === undefined ? since : (entered[gate.from] ?? since));
    if (!calls.ok) return { ok: false, why: `the tool calls could not be read (${calls.why})` };
    const { evidence: wanted = "tests" } = gate;
    return wanted === "tests" ? testEvidence(measuring, calls.value) : sign(measuring, calls.value, wanted);
  },
  judge: (gate, _background, _facts, value) => ("shown" in value ? shown(value) : judgeTests(gate, value)),
});

function testEvidence(measuring: Measuring, calls: ToolCall[]): Fact<Evidence> {
  const { last, red, changed } = measuring.readers().testState(calls);
  // A red suite stays red until the same one passes, whatever else is green.
  const run = red ?? last;
  if (run?.verdict !== "pass") return { ok: true, value: { run, edited: "" } };
  const edited = measuring.changedAfter(Date.parse(run.at), measuring.need.names.notes);
  if (!edited.ok) return edited;
  return { ok: true, value: { run, edited: edited.value || (changed ?? "") } };
}

const NO_SIGN = {
  review: "no approving review was found in this step",
  "task-read": "the task was not opened again in this step",
  failure: "neither tests nor a review failed in this step, so there is no way back",
};

function sign({ need, readers }: Measuring, calls: ToolCall[], wanted: keyof typeof NO_SIGN): Fact<Evidence> {
  const { failureIn, judgeReview, shows } = readers();
  const { notes, reviewers } = need.names;
  const review = judgeReview(calls, reviewers);
  const signs = {
    review: () => (review?.verdict === "approved" ? "a reviewer approved" : null),
    "task-read": () =>
      calls.some((call) => shows(call, need.task?.id ?? "", notes)) ? "the task was opened again" : null,
    failure: () => failureIn(calls, reviewers),
  };
  const found = signs[wanted]();
  const missing = wanted === "review" && review ? review.why : NO_SIGN[wanted];
  return { ok: true, value: { shown: found !== null, why: found ?? missing } };
}

/** The last run counts, and only if nothing was touched since it began. */
function judgeTests(gate: Gate, { run, edited }: TestEvidence): Finding {
  if (!run) return fail("no test run was found in this step");
  const what = `\`${safeText(run.command)}\``;
  if (run.verdict !== "pass") return fail(`${what}: ${run.why}`);
  const { passed, skipped } = run.tally!;
  const short = tooFew(gate, passed, skipped);
  if (short) return { ...fail(`${what}: ${short}`), tests: run.tally! };
  if (edited !== "") return fail(`${safeText(edited)} was changed after ${what} was green`);
  return { ...pass(`${what}: ${passed} passed`), tests: run.tally! };
}
