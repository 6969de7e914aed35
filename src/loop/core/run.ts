/**
 * The run that a loop and the hooks of its sessions share. Hooks refuse a SUCCESS whose checks fail while the agent can
 * still fix it; the loop alone decides how an iteration counts.
 */
import { formatProof } from "../../engine/core/claim.ts";
import { closeDraft, openDraft, record } from "../../engine/core/draft.ts";
import type { IterationLine, LoopOutcome } from "../../kernel/types/loop.ts";
import type { Procedure } from "../../kernel/types/procedure.ts";
import type { Commit, JournalRecord, Run, Step, Workflow } from "../../kernel/types/run.ts";

export function loopWorkflow({ name, title, source, success, failure, gates }: Procedure): Workflow {
  const say = [
    `You are in one iteration of the procedure ${name}; your first prompt has all of it.`,
    `SUCCESS: ${success}`,
    `FAILURE: ${failure}`,
    "Otherwise end your turn without a signal: the next iteration continues in a fresh session.",
  ].join("\n");
  const stage = {
    id: name,
    title,
    say,
    on: { SUCCESS: { stay: true as const, ...(gates.length > 0 && { gates }) }, FAILURE: { stay: true as const } },
  };
  return {
    v: 1,
    name: "loop",
    title: `Loop: ${title}`,
    source,
    signals: "promise",
    arm: [],
    intro: "",
    stages: [stage],
    asks: {},
    anywhere: {},
    limits: { idle: 6, rounds: 3, laps: 5 },
    procedure: name,
  };
}

type Input = Parameters<typeof openDraft>[0];

/** A fresh session takes the run. Work since the loop began counts: iterations build on one another. */
export function takeIteration(input: Input, iteration: number): Step {
  const draft = openDraft(input);
  const { run, event } = draft;
  run.owner = { host: event.host, session: event.session };
  run.status = "active";
  run.ledger = { ...run.ledger, idle: 0, unbroken: 0, told: [] };
  delete run.paused;
  delete run.checks.claim;
  delete run.pending;
  delete run.why;
  record(draft, "iteration_begun", { iteration, session: event.session });
  return closeDraft(draft, { turn: "none" });
}

export function noteIteration(input: Input, line: IterationLine): Step {
  const draft = openDraft(input);
  const { iteration, verdict, why, elapsed_ms, cost_usd } = line;
  delete draft.run.checks.claim;
  record(draft, "looped", { iteration, verdict, why, ms: Math.round(elapsed_ms), cost: cost_usd });
  return closeDraft(draft, { turn: "none" });
}

/** A loop that can be resumed is only halted. */
export function endLoopRun(input: Input, outcome: LoopOutcome, why: string): Step {
  const draft = openDraft(input);
  const { run } = draft;
  record(draft, "loop_ended", { outcome, why });
  delete run.checks.claim;
  run.why = why;
  if (outcome === "success" || outcome === "aborted") {
    run.status = "ended";
    run.outcome = outcome === "success" ? "completed" : "failed";
    if (outcome === "success") run.done[run.stage] = { at: draft.event.at, signal: "SUCCESS", ...provedBy(run) };
    record(draft, "ended", { outcome: run.outcome, signal: "", by: "loop", commit: null });
  } else run.status = "halted";
  return closeDraft(draft, { turn: "none" });
}

function provedBy({ checks: { verdicts = {} } }: Run): { proof?: string[] } {
  const passed = Object.values(verdicts).filter(({ verdict }) => verdict === "pass");
  return passed.length === 0 ? {} : { proof: passed.map(formatProof) };
}

/** Checks that the loop made itself send no agent back: that one has ended. */
export const happened = ({ event, records }: Commit): JournalRecord[] =>
  event.via === "loop" ? records.filter(({ kind }) => kind !== "continued") : records;
