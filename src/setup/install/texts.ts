/** The commands, agents and skills that are copied where no plugin brings them. */
import commitManager from "../../../plugin/agents/commit-manager.md" with { type: "text" };
import deepReviewer from "../../../plugin/agents/deep-reviewer.md" with { type: "text" };
import fileCleaner from "../../../plugin/agents/file-cleaner.md" with { type: "text" };
import memoryUpdater from "../../../plugin/agents/memory-updater.md" with { type: "text" };
import oracleReviewer from "../../../plugin/agents/oracle-reviewer.md" with { type: "text" };
import approve from "../../../plugin/commands/approve.md" with { type: "text" };
import auto from "../../../plugin/commands/auto.md" with { type: "text" };
import bdStart from "../../../plugin/commands/bd-start.md" with { type: "text" };
import completeWork from "../../../plugin/commands/complete-work.md" with { type: "text" };
import go from "../../../plugin/commands/go.md" with { type: "text" };
import keys from "../../../plugin/commands/keys.md" with { type: "text" };
import oracleReview from "../../../plugin/commands/oracle-review.md" with { type: "text" };
import until from "../../../plugin/commands/until.md" with { type: "text" };
import commitSkill from "../../../plugin/skills/commit/SKILL.md" with { type: "text" };
import design from "../../../plugin/skills/design/SKILL.md" with { type: "text" };
import handoff from "../../../plugin/skills/handoff/SKILL.md" with { type: "text" };
import handoffHaiku from "../../../plugin/skills/handoff-haiku/SKILL.md" with { type: "text" };
import planAdhoc from "../../../plugin/skills/plan-adhoc/SKILL.md" with { type: "text" };
import planTdd from "../../../plugin/skills/plan-tdd/SKILL.md" with { type: "text" };
import workflow from "../../../plugin/skills/workflow/SKILL.md" with { type: "text" };

import { listWorkflows } from "../../definitions/registry.ts";
import type { Workflow } from "../../kernel/types/run.ts";
import type { Target } from "./target.ts";

export interface Shipped {
  path: string;
  text: string;
  why: string;
  /** where it goes if someone else has that name */
  otherwise?: string;
  /** its name as a skill, which comes before a command of the same name */
  skill?: string;
  /** a name that anybody's project may use for something of its own */
  everyday?: true;
}

/** The client refuses a command it does not know, so each word that arms a workflow of the project's own gets one. */
export function ownCommands({ scope, base }: Target): Shipped[] {
  const origin = scope === "user" ? "user" : "project";
  return listWorkflows(scope === "user" ? "/" : base).flatMap((found) =>
    found.origin === origin && "workflow" in found
      ? found.workflow.arm.flatMap((word) => commandFor(word, found.workflow))
      : [],
  );
}

function commandFor(word: string, { title, stages }: Workflow): Shipped[] {
  const name = /^\/([a-z][a-z0-9-]*)$/.exec(word)?.[1];
  if (!name || SHIPPED.some(({ path }) => path === `.claude/commands/${name}.md`)) return [];
  const head = [
    `description: ${JSON.stringify(title)}`,
    `argument-hint: ${JSON.stringify(stages.map(({ id }) => `[${id}]`).join(" "))}`,
    "disable-model-invocation: true",
  ];
  const body = completeWork.split("\n---\n").at(-1) ?? "";
  const text = `---\n${head.join("\n")}\n---\n${body}`;
  return [{ path: `.claude/commands/${name}.md`, text, why: `the command ${word}, for ${title}` }];
}

const agent = (name: string, text: string): Shipped => ({
  path: `.claude/agents/${name}.md`,
  text,
  why: `the sub-agent ${name}`,
});

const skill = (name: string, text: string): Shipped => ({
  path: `.claude/skills/${name}/SKILL.md`,
  text,
  why: `the skill /${name}`,
  otherwise: `.claude/commands/pawl/${name}.md`,
  skill: name,
});

export const SHIPPED: readonly Shipped[] = [
  {
    path: ".claude/commands/complete-work.md",
    text: completeWork,
    why: "the command /complete-work",
    otherwise: ".claude/commands/pawl/complete-work.md",
  },
  { path: ".claude/commands/pawl/go.md", text: go, why: "the command /pawl:go" },
  { path: ".claude/commands/pawl/until.md", text: until, why: "the command /pawl:until" },
  {
    path: ".claude/commands/auto.md",
    text: auto,
    why: "the command /auto",
    otherwise: ".claude/commands/pawl/auto.md",
  },
  {
    path: ".claude/commands/bd-start.md",
    text: bdStart,
    why: "the command /bd-start",
    otherwise: ".claude/commands/pawl/bd-start.md",
  },
  {
    path: ".claude/commands/oracle-review.md",
    text: oracleReview,
    why: "the command /oracle-review",
    otherwise: ".claude/commands/pawl/oracle-review.md",
  },
  { path: ".claude/commands/pawl/keys.md", text: keys, why: "the command /pawl:keys" },
  { path: ".claude/commands/pawl/approve.md", text: approve, why: "the command /pawl:approve" },
  skill("workflow", workflow),
  ...Object.entries({
    handoff,
    "handoff-haiku": handoffHaiku,
    commit: commitSkill,
    design,
    "plan-adhoc": planAdhoc,
    "plan-tdd": planTdd,
  }).map(([name, text]): Shipped => ({ ...skill(name, text), everyday: true })),
  agent("memory-updater", memoryUpdater),
  agent("deep-reviewer", deepReviewer),
  agent("file-cleaner", fileCleaner),
  agent("commit-manager", commitManager),
  agent("oracle-reviewer", oracleReviewer),
];
