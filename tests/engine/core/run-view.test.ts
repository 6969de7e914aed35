/** The one view of a run that every surface renders. */
import { describe, expect, test } from "bun:test";
import { type RunContext, viewRun } from "../../../src/engine/core/run-view.ts";
import type { Call, Run, Workflow } from "../../../src/kernel/types/run.ts";

const AT = "2026-01-01T00:00:00.000Z";
const context: RunContext = { at: AT, workflow: { arm: ["/auto"], asks: {} }, ownerGone: false };

describe("what a run waits for", () => {
  const base = {
    id: "ab12",
    workflow: "auto-workflow",
    plan: ["coding", "testing"],
    stage: "testing",
    status: "active",
    owner: { host: "claude", session: "s" },
  } as unknown as Run;
  const rows: [string, Partial<Run>, boolean, [string, string] | null][] = [
    ["nothing, at work", {}, false, null],
    ["a word of the person is their own business", { paused: { turn: "t", told: true } }, false, null],
    [
      "paused by command",
      { paused: { turn: "t", told: true, firm: true } },
      false,
      ["paused by command", "`pawl runs resume ab12`"],
    ],
    [
      "a question",
      { status: "waiting", question: { ask: "issues", at: "", seq: 1, turn: "" } },
      false,
      ["your decision is needed", "answer in its session"],
    ],
    [
      "an approval",
      { status: "waiting", why: "release notes", claim: { signal: "X", at: "", rounds: 0, tree: "", open: "person" } },
      false,
      ["your approval is needed (release notes)", "`pawl approve ab12`"],
    ],
    ["stopped", { status: "halted", why: "stalled" }, false, ["stopped (stalled)", "`pawl runs resume ab12`"]],
    [
      "stopped, its workflow changed",
      { status: "halted", why: "its workflow was changed while it ran" },
      false,
      ["stopped (its workflow was changed while it ran)", "`pawl runs resume --accept ab12`"],
    ],
    ["nobody's", { owner: null }, false, ["no session has it", "type /auto in one"]],
    ["its session is gone", {}, true, ["no session has it", "type /auto in one"]],
  ];
  test.each(rows)("%s", (_name, more, ownerGone, wanted) => {
    const { waits } = viewRun({ ...base, ...more }, { ...context, ownerGone });
    expect(waits && [waits.what, waits.how]).toEqual(wanted);
  });

  const claim = { signal: "BUILT", at: AT, rounds: 0, tree: "" };
  const verdict = (gate: string, verdict: string) => ({ gate, verdict, why: "no runner", at: AT });
  const unproven = { a: verdict("unit", "unproven"), b: verdict("lint", "pass") } as unknown as Run["verdicts"];
  const failed = { ...unproven, c: verdict("types", "fail") } as unknown as Run["verdicts"];
  const call: Call = { about: "permission", tool: "Bash", at: AT };

  test("an unproven claim: only the person can say more; a failed gate sends the agent back instead", () => {
    const waits = (more: Partial<Run>, also = {}) =>
      viewRun({ ...base, claim, ...more }, { ...context, ...also }).waits;
    expect(waits({ verdicts: unproven! })).toEqual({
      kind: "approval",
      what: "BUILT is unproven (unit: no runner)",
      how: "`pawl approve ab12`",
      since: AT,
    });
    expect(waits({ verdicts: failed! })).toBeNull();
    expect(waits({ verdicts: unproven!, paused: { turn: "t", told: true } })).toBeNull();
    expect(waits({ verdicts: unproven! }, { call })).toMatchObject({ kind: "permission" });
    expect(waits({ verdicts: unproven! }, { call: { ...call, about: "idle" } })).toMatchObject({ kind: "approval" });
  });

  test("a question names its reason and the answers, where the workflow is known", () => {
    const question = { ask: "issues", at: AT, seq: 1, turn: "" };
    const asks = { issues: { choices: { fix: { label: "Fix it" }, go: { label: "Go on" } } } };
    const workflow = { arm: ["/auto"], asks } as unknown as Workflow;
    const run = { ...base, status: "waiting" as const, why: "Issues found", question };
    expect(viewRun(run, { ...context, workflow }).waits).toEqual({
      kind: "question",
      what: "your decision is needed (Issues found)",
      how: "answer in its session: 1 Fix it · 2 Go on",
      since: AT,
    });
  });

  test("what happens, and an instruction that has not arrived", () => {
    const running = { ...base, claim: { ...claim, open: "running" as const } };
    const records = [{ kind: "checking", gates: ["unit", "lint"] }];
    expect(viewRun(running, { ...context, records })).toMatchObject({
      doing: "checks running: unit, lint",
      claimed: null,
    });
    expect(viewRun({ ...base, paused: { turn: "t", told: true } }, context).doing).toBe("paused for your own prompt");
    const owed = { text: "", given_by: "nothing" as const, turn: "", at: AT, times: 1 };
    const pending = (more: Partial<Run>, ownerGone = false) =>
      viewRun({ ...base, ...more }, { ...context, ownerGone }).pending;
    expect(pending({})).toBeNull();
    expect(pending({ owed })).toBe("the agent gets it with the next prompt in its session");
    expect(pending({ owed: { ...owed, given_by: "stop" } })).toBe("sent; waiting for delivery");
    expect(pending({ owed }, true)).toBe("no session has this run: type /auto in one, and it goes on there");
    expect(pending({ owed, status: "ended" })).toBeNull();
  });

  test("its place: a stage of its plan, or a phase", () => {
    expect(viewRun(base, context)).toMatchObject({ stage: "TESTING", step: 2, steps: 2, paused: false, task: "" });
    const formal = { phase: { current: 3, total: 5, name: "Write\nit", status: "in_progress" } } as Run["formal"];
    expect(viewRun({ ...base, formal: formal! }, context)).toMatchObject({ stage: "Write it", step: 3, steps: 5 });
  });
});
