/** The one view of a run that every surface renders. */
import { describe, expect, test } from "bun:test";
import { type RunContext, viewRun } from "../../../src/engine/core/run-view.ts";
import type { Call, Run, Workflow } from "../../../src/kernel/types/run.ts";

const AT = "2026-01-01T00:00:00.000Z";
const stages = ["coding", "review", "testing"].map((id) => ({ id })) as Workflow["stages"];
const context: RunContext = { at: AT, workflow: { arm: ["/auto"], asks: {}, stages }, ownerGone: false };

describe("what a run waits for", () => {
  const base = {
    id: "ab12",
    workflow: "auto-workflow",
    plan: ["coding", "testing"],
    stage: "testing",
    status: "active",
    owner: { host: "claude", session: "s" },
    work: {},
    checks: { base: null },
  } as unknown as Run;
  const checks = (more: Partial<Run["checks"]>) => ({ checks: { base: null, ...more } });
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
      {
        status: "waiting",
        why: "release notes",
        ...checks({ claim: { signal: "X", at: "", rounds: 0, tree: "", open: "person" } }),
      },
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
    [
      "a loop that can go on",
      { workflow: "loop", status: "halted", why: "limit" },
      false,
      ["stopped (limit)", "`pawl loop --resume ab12`"],
    ],
    [
      "the agent ended its turn",
      { stopped_at: AT },
      false,
      ["the agent stopped without a valid signal", "type /pawl:go in its session"],
    ],
    [
      "the agent answered the person's own prompt",
      { stopped_at: AT, paused: { turn: "t", told: true } },
      false,
      ["paused for your own prompt", "type /pawl:go in its session"],
    ],
    [
      "its turn ended, a check goes on",
      { stopped_at: AT, ...checks({ claim: { signal: "X", at: AT, rounds: 0, tree: "", open: "running" } }) },
      false,
      null,
    ],
    ["an iteration ended, the loop goes on", { stopped_at: AT, workflow: "loop" }, false, null],
    ["nobody's", { owner: null }, false, ["no session has it", "type /auto in one"]],
    ["its session is gone", {}, true, ["no session has it", "type /auto in one"]],
  ];
  const formal = { ...context, workflow: { arm: [], asks: {}, stages: [] }, ownerGone: true };
  test("a workflow without a word to type is taken up by command", () => {
    expect(viewRun(base, formal).waits?.how).toBe("let the agent of one run `pawl runs adopt ab12`");
  });

  test.each(rows)("%s", (_name, more, ownerGone, wanted) => {
    const { waits } = viewRun({ ...base, ...more }, { ...context, ownerGone });
    expect(waits && [waits.what, waits.how]).toEqual(wanted);
  });

  const claim = { signal: "BUILT", at: AT, rounds: 0, tree: "" };
  const verdict = (gate: string, verdict: string) => ({ gate, verdict, why: "no runner", at: AT });
  const unproven = {
    a: verdict("unit", "unproven"),
    b: verdict("lint", "pass"),
  } as unknown as Run["checks"]["verdicts"];
  const failed = { ...unproven, c: verdict("types", "fail") } as unknown as Run["checks"]["verdicts"];
  const call: Call = { about: "permission", tool: "Bash", at: AT };

  test("an unproven claim: only the person can say more; a failed gate sends the agent back instead", () => {
    const waits = (verdicts: Run["checks"]["verdicts"], also = {}, more: Partial<Run> = {}) =>
      viewRun({ ...base, ...checks({ claim, verdicts: verdicts! }), ...more }, { ...context, ...also }).waits;
    expect(waits(unproven)).toEqual({
      kind: "approval",
      what: "BUILT is unproven (unit: no runner)",
      how: "`pawl approve ab12`",
      since: AT,
    });
    expect(waits(failed)).toBeNull();
    const untrusted = { ...unproven, c: { ...verdict("types", "unproven"), untrusted: true } };
    const run = { ...base, ...checks({ claim, verdicts: untrusted as unknown as Run["checks"]["verdicts"] & {} }) };
    expect(viewRun(run, context)).toMatchObject({
      waits: {
        kind: "approval",
        what: "BUILT is unproven (commands not approved: types)",
        how: "run `pawl trust` in its project, then type /pawl:go in its session",
      },
      claimed: null,
    });
    expect(waits(unproven, {}, { paused: { turn: "t", told: true } })).toBeNull();
    expect(waits(unproven, { call })).toMatchObject({ kind: "permission" });
    expect(waits(unproven, { call: { ...call, about: "idle" } })).toMatchObject({ kind: "approval" });
  });

  test("a question names its reason and the answers, where the workflow is known", () => {
    const question = { ask: "issues", at: AT, seq: 1, turn: "" };
    const asks = { issues: { choices: { fix: { label: "Fix it" }, go: { label: "Go on" } } } };
    const workflow = { arm: ["/auto"], asks, stages } as unknown as Workflow;
    const run = { ...base, status: "waiting" as const, why: "Issues found", question };
    expect(viewRun(run, { ...context, workflow }).waits).toEqual({
      kind: "question",
      what: "your decision is needed (Issues found)",
      how: "answer in its session: 1 Fix it · 2 Go on",
      since: AT,
    });
  });

  test("what happens, and an instruction that has not arrived", () => {
    const running = { ...base, ...checks({ claim: { ...claim, open: "running" as const } }) };
    const records = [{ kind: "checking", gates: ["unit", "lint"] }];
    expect(viewRun(running, { ...context, records })).toMatchObject({
      doing: "checks running: unit, lint",
      claimed: null,
    });
    expect(viewRun({ ...base, paused: { turn: "t", told: true } }, context).doing).toBe("paused for your own prompt");
    const instruction = { text: "", given_by: "nothing" as const, turn: "", at: AT, times: 1 };
    const pending = (more: Partial<Run>, ownerGone = false) =>
      viewRun({ ...base, ...more }, { ...context, ownerGone }).pending;
    expect(pending({})).toBeNull();
    expect(pending({ pending: instruction })).toBe("the agent gets it with the next prompt in its session");
    expect(pending({ pending: { ...instruction, given_by: "stop" } })).toBe("sent; waiting for delivery");
    expect(pending({ pending: instruction }, true)).toBe(
      "no session has this run: type /auto in one, and it goes on there",
    );
    expect(pending({ pending: instruction, status: "ended" })).toBeNull();
  });

  test("its place: a stage of its workflow, or a phase", () => {
    expect(viewRun(base, context)).toMatchObject({ stage: "TESTING", step: 3, steps: 3, paused: false, task: "" });
    expect(viewRun(base, { ...context, workflow: null })).toMatchObject({ step: 2, steps: 2 });
    const formal = { phase: { current: 3, total: 5, name: "Write\nit", status: "in_progress" } } as Run["formal"];
    expect(viewRun({ ...base, formal: formal! }, context)).toMatchObject({ stage: "Write it", step: 3, steps: 5 });
  });
});
