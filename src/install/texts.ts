/** The commands and agents that are copied where no plugin brings them. */
import commitManager from "../../plugin/agents/commit-manager.md" with { type: "text" };
import deepReviewer from "../../plugin/agents/deep-reviewer.md" with { type: "text" };
import fileCleaner from "../../plugin/agents/file-cleaner.md" with { type: "text" };
import memoryUpdater from "../../plugin/agents/memory-updater.md" with { type: "text" };
import completeWork from "../../plugin/commands/complete-work.md" with { type: "text" };
import go from "../../plugin/commands/go.md" with { type: "text" };

export interface Shipped {
  path: string;
  text: string;
  why: string;
  /** where it goes if someone else has that name */
  otherwise?: string;
}

const agent = (name: string, text: string): Shipped => ({
  path: `.claude/agents/${name}.md`,
  text,
  why: `the sub-agent ${name}`,
});

export const SHIPPED: readonly Shipped[] = [
  {
    path: ".claude/commands/complete-work.md",
    text: completeWork,
    why: "the command /complete-work",
    otherwise: ".claude/commands/pawl/complete-work.md",
  },
  { path: ".claude/commands/pawl/go.md", text: go, why: "the command /pawl:go" },
  agent("memory-updater", memoryUpdater),
  agent("deep-reviewer", deepReviewer),
  agent("file-cleaner", fileCleaner),
  agent("commit-manager", commitManager),
];
