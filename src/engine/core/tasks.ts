/** Working through tasks: which task a run has, whether it is still its own, and what comes next. */

import { safeText } from "../../kernel/text/safe-text.ts";
import type { Need, RunTask, Step, TaskFact } from "../../kernel/types/run.ts";
import { actorOf } from "../../kernel/types/task.ts";
import type { Stage, TaskScope, Workflow } from "../../kernel/types/workflow.ts";
import { closeDraft, type Draft, record } from "./draft.ts";
import { dropPending } from "./ledger.ts";

// ── Choosing ────────────────────────────────────────────────────────────────

/** Which stages a task goes through: its label's sequence, or all. */
export function planFor(workflow: Workflow, labels: string[]): string[] {
  const label = Object.keys(workflow.sequences ?? {}).find((one) => labels.includes(one));
  const all = workflow.stages.map((stage) => stage.id);
  const named = label === undefined ? [] : workflow.sequences![label]!;
  const chosen = all.filter((id) => named.some((word) => isStage(workflow.stages, word, id)));
  return chosen.length > 0 ? chosen : all;
}

const isStage = (stages: Stage[], word: string, id: string) =>
  word === id || stages.find((stage) => stage.id === id)?.title === word;

export const nextNeed = (draft: Draft): Need => ({
  kind: "next_task",
  scope: draft.workflow.tasks!,
  actor: actorOf(draft.run.owner?.session ?? draft.event.session),
  wanted: "",
  // The next conversation claims it.
  ...(waitsForClear(draft) && { peek: true }),
});

/** Between two tasks, in the conversation of the first one. */
export const waitsForClear = ({ workflow, run, event }: Draft) =>
  (workflow.fresh === true || run.work.fresh === true) && event.kind !== "start";

export const asRunTask = (found: TaskFact, actor: string, at: string): RunTask => ({
  id: found.id,
  title: found.title,
  text: found.text,
  labels: found.labels,
  tracker: found.tracker,
  ...(found.path !== undefined && { path: found.path }),
  actor,
  claimed_at: at,
});

// ── Still ours? ─────────────────────────────────────────────────────────────

/** Before every advance the claim is read again. null: it is ours. */
export function checkClaim(draft: Draft): Step | null {
  const { run, workflow, facts } = draft;
  if (!run.work.task || !workflow.tasks) return null;
  if (facts.task === undefined) return { need: [{ kind: "task", scope: workflow.tasks, id: run.work.task.id }] };
  if (!facts.task.ok) return stopFor(draft, `the tracker does not answer: ${facts.task.why}`);
  const { state, owner, labels } = facts.task.value;
  if (isLabelled(run.work.task.labels, workflow.tasks) && !isLabelled(labels, workflow.tasks)) {
    return stopFor(draft, `task ${run.work.task.id} is no longer labelled for ${workflow.name}`);
  }
  if (state === "closed" || (state === "claimed" && (owner ?? "") === run.work.task.actor)) return null;
  return stopFor(
    draft,
    `task ${run.work.task.id} is ${state}${owner ? ` and ${safeText(owner)}'s` : ""}, not ours any more`,
  );
}

/** `label` and `label:anything`. */
export const isLabelled = (labels: string[], scope: TaskScope) =>
  scope.labels.some((wanted) => labels.some((label) => label === wanted || label.startsWith(`${wanted}:`)));

/** A failed look-up is never "no work", and no run goes round for ever: everything is kept, and the person hears it. */
export function stopFor(draft: Draft, why: string): Step {
  const { run } = draft;
  run.status = "halted";
  run.why = why;
  dropPending(draft);
  record(draft, "halted", { why });
  draft.log.push(`Stopped: ${why}`);
  return closeDraft(draft, {
    turn: "end",
    person: `Pawl: ${run.workflow} is stopped: ${why}. /pawl:go tries again, \`pawl runs abort\` ends it.`,
  });
}
