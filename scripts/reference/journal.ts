import { inWords, WORDS } from "../../src/cli/shared/words.ts";
import type { Json } from "../../src/kernel/types/run.ts";
import { fenced, GENERATED, page, table } from "./markdown.ts";
import { recordedKeys } from "./records.ts";

type Fields = Record<string, Json>;

/** One record of each kind; a test compares kinds and keys with what core records. */
export const EXAMPLES: Record<string, Fields> = {
  armed: { plan: ["memory", "review"], by: "prompt", beside: false, task: null, title: null },
  adopted: { from: "session-1", to: "session-2" },
  released: { why: "" },
  prompted: { said: "/complete-work", injected: false },
  stopped: { said: "All reviewed.", continuing: false },
  signalled: { signal: "REVIEW_COMPLETE", trailing: false },
  multiple_signals: { signals: ["MEMORY_UPDATED", "REVIEW_COMPLETE"] },
  malformed: { lines: ["<promise>review_complete</promise>"] },
  missing: { why: "no signal" },
  ignored: { signal: "REVIEW_COMPLETE", why: "out of order" },
  repeated: { why: "the same message again" },
  gated: {
    signal: "BUILT",
    id: "675cd782b282287e8fe09145",
    gate: "npm test",
    verdict: "pass",
    why: "12 passed",
    tree: "05f1e64b2ff7a99d46a002ac",
    command: "npm test",
    cwd: ".",
    exit: 0,
    ms: 2140,
    digest: "9f86d081884c7d65",
    tests: { runner: "vitest", passed: 12, failed: 0, skipped: 0 },
    flaky: false,
    again: false,
  },
  refused: { gate: "npm test", verdict: "fail", why: "exit 1" },
  held: { signal: "REVIEW_COMPLETE", agents: ["deep-reviewer"] },
  checking: { signal: "BUILT", gates: ["npm test"] },
  approved: {
    signal: "BUILT",
    gate: "npm test",
    id: "675cd782b282287e8fe09145",
    tree: "05f1e64b2ff7a99d46a002ac",
    who: "ann",
    how: "terminal",
    was: "fail",
  },
  changed: { signal: "BUILT", changes: ["- stages.build.on.BUILT.gates.0.run: [npm, test]"] },
  accepted: { who: "ann", why: "" },
  inferred: { signal: "TESTS_PASSING", evidence: "`npm test`: 12 passed (vitest)" },
  asked_agent: { why: "no signal, and nothing that shows one" },
  task_done: { task: "app-12", title: "Sign in with a key" },
  task_begun: { task: "app-13", title: "Sign out everywhere" },
  iteration_begun: { iteration: 2, session: "0b6f…" },
  looped: { iteration: 2, verdict: "continue", why: "Task app-13 is done, two are left.", ms: 84000, cost: 0.31 },
  loop_ended: { outcome: "success", why: "SUCCESS: no ready work is left" },
  advanced: { from: "memory", to: "review", signal: "MEMORY_UPDATED" },
  replanned: { plan: ["review", "commit"] },
  phased: { from: 1, to: 2, name: "Design", status: "in_progress", by: "command" },
  mended: { what: ["required_reading: docs/a.md became @docs/a.md"] },
  unread: { files: ["@docs/a.md"], policy: "enforce" },
  halted: { signal: "COMMIT_FAILED", why: "Git commit failed" },
  asked: { ask: "review-decision", report: "000003-review.md", issues: ["a.ts:1 a bug"] },
  decided: { ask: "review-decision", choice: "continue", how: "prompt" },
  reported: { agent: "deep-reviewer", file: "000003-review.md", signal: "REVIEW_ISSUES_FOUND", said: "1 issue" },
  shown: { report: "000003-review.md" },
  continued: { idle: 1, why: "told" },
  owed: { given_by: "stop" },
  delivered: { given_by: "stop", times: 1 },
  undelivered: { given_by: "stop", turn: "turn-1", times: 1 },
  paused: { why: "the person asked something else" },
  resumed: { why: "Resuming workflow from Step 2 (review)..." },
  checkpointed: { trigger: "auto" },
  restored: { source: "compact" },
  removed: { path: ".claude/work-completion.local.md" },
  commanded: { name: "abort", why: "" },
  doubled: { first: "local", second: "plugin" },
  noticed: { what: "notification", detail: "idle_prompt" },
  left: { reason: "prompt_input_exit" },
  errored: { why: "the host's turn failed: overloaded" },
  ended: { outcome: "completed", signal: "WORKFLOW_COMPLETE", by: "agent", commit: "1a2b3c4d5e6f7a8b" },
};

const LINE = {
  v: 1,
  at: "2026-01-31T12:00:00.000Z",
  run: "cw-1a2b3c4d",
  seq: 4,
  i: 1,
  kind: "signalled",
  host: "claude",
  session: "9637…",
  workflow: "complete-work",
  stage: "review",
  ...EXAMPLES.signalled,
};

const KEYS = [
  ["`v`", "version of the format: 1"],
  ["`at`", "when the event came, UTC"],
  ["`run`, `seq`, `i`", "which run, which commit of it, which record of the commit; together unique"],
  ["`kind`", "what happened; see below"],
  ["`host`, `session`", "who spoke; for commands host is `cli` and session is empty"],
  ["`workflow`, `stage`", "where the run was"],
];

export function journalReference(): string {
  const recorded = recordedKeys();
  const rows = Object.keys(WORDS).map((kind) => {
    const keys = (recorded.get(kind) ?? []).map((key) => `\`${key}\``);
    return [`\`${kind}\``, inWords({ kind, ...EXAMPLES[kind] }), keys.join(", ")];
  });
  return page(
    "# The journal",
    GENERATED,
    "`.pawl/journal/<year>-<month>.jsonl` holds show everything Pawl saw and decided, one JSON object a line. `pawl log` prints it, `pawl log --json` as it is, `pawl explain` tells one run as a story.",
    fenced(JSON.stringify(LINE), "json"),
    "It is a copy of what the runs hold, and after a crash a line may stand there twice: drop doubles by (`run`, `seq`, `i`). Empty lines mean nothing. Skip kinds you do not know: there will be more.",
    "## Every line",
    table(["key", "meaning"], KEYS),
    "## Kinds",
    "With an example of how `pawl explain --all` puts it, and the keys it may have besides those above. A commit that has nothing to tell leaves a line of kind `committed`; a run that was mended after damage on the disk has `errored` with the key `what`.",
    table(["kind", "for example", "keys"], rows),
  );
}
