/** The workflows and prompts that come inside the binary. */
import cleanup from "../../../prompts/complete-work/cleanup.md" with { type: "text" };
import commit from "../../../prompts/complete-work/commit.md" with { type: "text" };
import intro from "../../../prompts/complete-work/intro.md" with { type: "text" };
import memory from "../../../prompts/complete-work/memory.md" with { type: "text" };
import review from "../../../prompts/complete-work/review.md" with { type: "text" };
import reviewDecision from "../../../prompts/complete-work/review-decision.md" with { type: "text" };
import autoWorkflow from "../../../workflows/auto-workflow.yaml" with { type: "text" };
import completeWork from "../../../workflows/complete-work.yaml" with { type: "text" };
import custom from "../../../workflows/custom.yaml" with { type: "text" };
import guard from "../../../workflows/guard.yaml" with { type: "text" };
import implementation from "../../../workflows/implementation.yaml" with { type: "text" };
import planning from "../../../workflows/planning.yaml" with { type: "text" };
import qaLoop from "../../../workflows/qa-loop.yaml" with { type: "text" };
import tail from "../../../workflows/tail.yaml" with { type: "text" };
import until from "../../../workflows/until.yaml" with { type: "text" };

export const WORKFLOWS: ReadonlyMap<string, string> = new Map([
  ["complete-work", completeWork],
  ["tail", tail],
  ["until", until],
  ["guard", guard],
  ["auto-workflow", autoWorkflow],
  ["planning", planning],
  ["implementation", implementation],
  ["qa-loop", qaLoop],
  ["custom", custom],
]);

export const PROMPTS: ReadonlyMap<string, string> = new Map([
  ["prompts/complete-work/intro.md", intro],
  ["prompts/complete-work/memory.md", memory],
  ["prompts/complete-work/review.md", review],
  ["prompts/complete-work/review-decision.md", reviewDecision],
  ["prompts/complete-work/cleanup.md", cleanup],
  ["prompts/complete-work/commit.md", commit],
]);
